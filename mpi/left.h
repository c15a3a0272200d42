/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Objects that a program leaves behind at MPI_Finalize, for mpiexec --check: requests, communicators
 * and datatypes by the line that made them.
 *
 * While nothing is watched, each made or freed object costs one test.
 */
#ifndef MPI_LEFT_H
#define MPI_LEFT_H

#include <stdbool.h>

enum left_kind { LEFT_REQUEST, LEFT_COMM, LEFT_TYPE };

extern bool left_is_watched;

/* Watch from now on. */
void left_watch(void);
/* An object is made for the program, in the call of MPI that it is in; and it is freed: more often
 * than made is no error. */
void left_note(const void *object, enum left_kind kind);
void left_forget(const void *object);

/* Have someone hear of all objects that are freed, and were watched or may have been. */
void left_on_freed(void (*heard)(const void *object));

static inline void left_made(const void *object, enum left_kind kind)
{
    if (__builtin_expect(left_is_watched, 0))
        left_note(object, kind);
}

static inline void left_freed(const void *object)
{
    if (__builtin_expect(left_is_watched, 0))
        left_forget(object);
}

/* Write a line to stderr for all that is left from each place, and forget it. */
void left_tell(void);

#endif
