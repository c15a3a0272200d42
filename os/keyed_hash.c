/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * SipHash-2-4 as Aumasson and Bernstein published it: two rounds for each word
 * of text, four at the end, 64 bits out. All words are little-endian.
 */
#include "os/keyed_hash.h"

struct state {
    uint64_t a, b, c, d;
};

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void rounds(struct state *s, int count)
{
    while (count--) {
        s->a += s->b;
        s->c += s->d;
        s->b = rotate(s->b, 13) ^ s->a;
        s->d = rotate(s->d, 16) ^ s->c;
        s->a = rotate(s->a, 32);
        s->c += s->b;
        s->a += s->d;
        s->b = rotate(s->b, 17) ^ s->c;
        s->d = rotate(s->d, 21) ^ s->a;
        s->c = rotate(s->c, 32);
    }
}

/* Up to eight bytes as a little-endian number. */
static uint64_t word_of(const uint8_t *bytes, size_t len)
{
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void absorb(struct state *s, uint64_t word)
{
    s->d ^= word;
    rounds(s, 2);
    s->a ^= word;
}

uint64_t os_keyed_hash(const uint8_t key[16], const void *text, size_t len)
{
    const uint8_t *bytes = text;
    uint64_t low = word_of(key, 8), high = word_of(key + 8, 8);
    struct state s = {low ^ 0x736f6d6570736575u, high ^ 0x646f72616e646f6du,
                      low ^ 0x6c7967656e657261u, high ^ 0x7465646279746573u};
    size_t whole = len & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8)
        absorb(&s, word_of(bytes + i, 8));
    absorb(&s, word_of(bytes + whole, len - whole) | (uint64_t)len << 56);
    s.c ^= 0xff;
    rounds(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}
