/* SPDX-License-Identifier: BSD-3-Clause */

/* A copy for another processor; see copy.h. */
#include "os/copy.h"

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { LINE = 64 };

#if defined(__SSE2__)
/* Whole lines. */
static void stream(char *to, const char *from, size_t len)
{
    for (size_t at = 0; at < len; at += LINE) {
        const __m128i *in = (const __m128i *)(const void *)(from + at);
        __m128i *out = (__m128i *)(void *)(to + at);
        __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
        __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    _mm_sfence();
}
#else
static void stream(char *to, const char *from, size_t len)
{
    memcpy(to, from, len);
}
#endif

void os_copy_past(void *to, const void *from, size_t len)
{
    size_t before = (LINE - (uintptr_t)to % LINE) % LINE, head = before < len ? before : len;
    size_t lines = (len - head) / LINE * LINE;
    memcpy(to, from, head);
    stream((char *)to + head, (const char *)from + head, lines);
    memcpy((char *)to + head + lines, (const char *)from + head + lines, len - head - lines);
}
