/* SPDX-License-Identifier: BSD-3-Clause */

/* A line on a terminal that says how far something is, and is erased in the end. */
#ifndef BNR_STDIO_PROGRESS_H
#define BNR_STDIO_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_on;
    uint32_t done;    /* as shown last */
    int shown;        /* characters that stand on the terminal */
    uint64_t next_ns; /* not before this */
};

/* Where stderr is no terminal, nothing is ever written. */
void progress_init(struct progress *p, bool is_wanted);
/* Show "3 of 64 hosts", some times a second at most; a terminal that takes nothing is left alone. */
void progress_show(struct progress *p, uint32_t done, uint32_t all);
/* Erase the line: others may write. */
void progress_clear(struct progress *p);

#endif
