/* SPDX-License-Identifier: BSD-3-Clause */

/* How far two words are from each other, for "did you mean". */
#ifndef OS_NEAREST_H
#define OS_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    OS_NEAREST_LEN = 63,   /* longer words are not compared */
    OS_NEAREST_FAR = 1000, /* what they are from each other */
};

/* Count the characters that must be put in, left out or replaced, and the neighbours that must
 * change places, to make b of a. Each has its length in bytes, and needs no NUL. OS_NEAREST_FAR
 * where one is too long. */
int os_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* Whether words of these lengths, so far from each other, may be taken for each other. */
bool os_nearest_is_near(int distance, size_t a_len, size_t b_len);

#endif
