/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory of another process of this host that is not mapped here, as in windows of MPI_Win_create:
 * read and written by the kernel, without the other process. A kernel or a container may refuse
 * that, and a number of a process may mean another one here; so the first access to each target
 * reads a word that only it can have. Several threads may do so at once, and find the same.
 */
#ifndef MPI_WIN_REACH_H
#define MPI_WIN_REACH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a process is found. */
struct win_reach {
    int64_t pid; /* 0: not by this way */
    uint64_t word_at, word;
    uint64_t base;
    _Atomic uint8_t found; /* whether it is: enum in win_reach.c; 0: not tried */
};

/* Of this process, whose word this is. It must stay. */
struct win_reach win_reach_of(const uint64_t *word, const void *base);
/* Whether the process can be reached; the answer is kept. */
bool win_reach_try(struct win_reach *reach);
/* Copy bytes to an offset from base, or from there. Returns whether all were copied: where not,
 * some may have been. */
bool win_reach_write(const struct win_reach *reach, uint64_t offset, const void *from, size_t len);
bool win_reach_read(const struct win_reach *reach, uint64_t offset, void *to, size_t len);

#endif
