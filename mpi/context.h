/* SPDX-License-Identifier: BSD-3-Clause */

/* Contexts: how the members of a new communicator agree on a number for it. */
#ifndef MPI_CONTEXT_H
#define MPI_CONTEXT_H

#include <stdint.h>

struct agree;

enum { CONTEXT_WORLD = 0, CONTEXT_SELF = 4, CONTEXT_FIRST = 8, CONTEXT_STEP = 4 };

/* One process's bid for a context; of two, the maximum of each value is taken. */
struct context_bid {
    uint32_t value;
    uint32_t contended; /* whether this process may make several communicators at once */
};

struct context_bid context_bid(int round);

/* Settle on a context: mine is this process's bid, and best the maximum over all
 * members, who are named by who. Returns MPI_SUCCESS or an error class. */
int context_settle(const struct agree *who, struct context_bid mine, struct context_bid best,
                   uint32_t *context);

#endif
