/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * In which order processes have ended. wait() tells of several that have ended in the order in
 * which they were started; the kernel's queue of ready descriptors keeps the order of their ends.
 */
#ifndef BNR_EXITS_H
#define BNR_EXITS_H

struct exits {
    int queue; /* -1: the order cannot be told here */
};

void exits_init(struct exits *e);
void exits_fini(struct exits *e);

/* Watch the process of a rank by its descriptor, which is taken over; -1 leaves it out. */
void exits_add(struct exits *e, int rank, int pidfd);

/* The rank whose process ended first among those not told yet, or -1. */
int exits_next(struct exits *e);

#endif
