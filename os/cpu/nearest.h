/* SPDX-License-Identifier: BSD-3-Clause */

/* The distance of two words, for "did you mean". */
#ifndef OS_NEAREST_H
#define OS_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    OS_NEAREST_LEN = 63,   /* longer words are not compared */
    OS_NEAREST_FAR = 1000, /* the distance of words that are not compared */
};

/* Count the edits that make b of a: characters put in, left out or replaced, and neighbours
 * exchanged. Each word has its length in bytes and needs no NUL. Returns OS_NEAREST_FAR if one is
 * too long. */
int os_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* Whether words of these lengths and this distance may be mistaken for each other. */
bool os_nearest_is_near(int distance, size_t a_len, size_t b_len);

#endif
