/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory of another process of this host that is not mapped here, as in windows of MPI_Win_create:
 * read and written by the kernel, without the other process. A kernel or a container may refuse
 * that, and a number of a process may mean another one here; so the first access to each target
 * reads a word that only it can have. Several threads may do so at once, and find the same.
 *
 * In a dynamic window only the target knows which memory is attached: it shows pieces beside the
 * word, and an origin reads these before each access. Of those that are not shown there, as they
 * are too many or change just now, the target is asked.
 */
#ifndef MPI_WIN_REACH_H
#define MPI_WIN_REACH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of a window that its process shows to others of its host; zero at first. */
struct win_shown {
    uint64_t word; /* random: nobody else has it */
    struct win_shown_piece {
        uint64_t base, size; /* size 0: none */
        uint64_t check;      /* of the two and the word: so a piece that is half written is known */
    } pieces[32];
};

/* Where a process is found. */
struct win_reach {
    int64_t pid; /* 0: not by this way */
    uint64_t shown_at, word;
    uint64_t base;
    _Atomic uint8_t found; /* whether it is: enum in win_reach.c; 0: not tried */
};

/* Of this process, which shows this, and gives it its word. It must stay. Not by this way where there is no random
 * number. */
struct win_reach win_reach_of(struct win_shown *shown, const void *base);
/* Show a piece of memory, if there is room; or show it no longer. One thread at a time. */
void win_reach_show(struct win_shown *shown, uint64_t base, uint64_t size);
void win_reach_hide(struct win_shown *shown, uint64_t base);
/* Whether the process can be reached; the answer is kept. */
bool win_reach_try(struct win_reach *reach);
/* Whether one that can be reached shows a piece that has all of these bytes. */
bool win_reach_shows(const struct win_reach *reach, uint64_t at, uint64_t len);
/* Copy bytes to an offset from base, or from there. Returns whether all were copied: where not,
 * some may have been. */
bool win_reach_write(const struct win_reach *reach, uint64_t offset, const void *from, size_t len);
bool win_reach_read(const struct win_reach *reach, uint64_t offset, void *to, size_t len);

#endif
