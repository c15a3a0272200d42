/* SPDX-License-Identifier: BSD-3-Clause */

/* The MPI call that a thread is in, and the place in the program that has called it, found on the
 * thread's own stack. */
#ifndef MPID_CALL_SITE_H
#define MPID_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_site {
    char function[64]; /* of MPI, as the user has called it; "": unknown */
    char module[512];  /* the file that has called it, */
    uintptr_t offset;  /* and where in that file */
    const char *symbol;
};

/* Find the innermost call of MPI. in_handler: look only behind the signal frame that the stack ends
 * in. Slow. */
void call_site_find(struct call_site *site, bool in_handler);

/* Write "solver.c:12" or "a.out+0x1f" into text; "" where the place is unknown. It may take up to
 * two seconds. */
void call_site_line(const struct call_site *site, char *text, size_t size);

#endif
