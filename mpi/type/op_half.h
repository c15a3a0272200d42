/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers of half precision (IEEE 754 binary16), computed as float and rounded to even. */
#ifndef MPI_OP_HALF_H
#define MPI_OP_HALF_H

#include <stdint.h>
#include <string.h>

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* No branches, so that loops become vector code, and no floats below the normal numbers, which are
 * slow. A half has 112 too little in its exponent when its bits are moved to where a float's are.
 */
static inline float from_half(uint16_t half)
{
    const uint32_t least = 113u << 23; /* the smallest normal half */
    uint32_t moved = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t below = bits_of(float_of(least + moved) - float_of(least));
    uint32_t bits = moved < 1u << 23 ? below : moved + (112u << 23);
    bits = moved >= 0x0f800000 ? moved | 0x7f800000 : bits; /* infinite, or not a number */
    return float_of(bits | sign);
}

static inline uint16_t to_half(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, most = bits & 0x7fffffff;
    uint32_t normal = (most + 0xfff + (most >> 13 & 1) - 0x38000000) >> 13;
    uint32_t small = bits_of(float_of(most) + 0.5f) - 0x3f000000; /* 1/2 leaves units of 2^-24 */
    uint32_t half = most < 0x38800000 ? small : normal;           /* below the normal numbers */
    half = most >= 0x477ff000 ? 0x7c00 : half; /* rounds to more than the largest */
    half = most > 0x7f800000 ? 0x7e00 | (most >> 13 & 0x3ff) : half; /* not a number */
    return (uint16_t)(sign | half);
}

#endif
