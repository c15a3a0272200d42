/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers that look random, and are the same for the same seed. */
#ifndef TEST_SOAK_DICE_H
#define TEST_SOAK_DICE_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t dice_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* 0 to count - 1. */
static inline int dice_below(uint64_t *state, int count)
{
    return (int)(dice_next(state) % (uint64_t)count);
}

static inline int dice_between(uint64_t *state, int least, int most)
{
    return least + dice_below(state, most - least + 1);
}

static inline bool dice_chance(uint64_t *state, int percent)
{
    return dice_below(state, 100) < percent;
}

#endif
