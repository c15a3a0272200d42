/* SPDX-License-Identifier: BSD-3-Clause */

/* Agreeing on a context at once, with messages to all members; mpi/comm/context.h says how they settle. */
#ifndef MPI_CONTEXT_AGREE_H
#define MPI_CONTEXT_AGREE_H

#include <stdint.h>

#include "mpi/comm/context.h"

struct agree;
struct comm;
struct group;

/* Settle on a context: mine is this process's bid, and best the maximum over all members. Argument
 * who: the members. Returns MPI_SUCCESS or an error class: MPI_ERR_OTHER if all are in use. */
int context_settle(const struct agree *who, struct context_bid mine, struct context_bid best,
                   uint32_t *context);

/* Agree on a fresh context with all members of who. extra has count more values, AGREE_VALUES -
 * CONTEXT_VALUES at most, which become the maximum over all. */
int context_agree_among(const struct agree *who, uint64_t *extra, int count, uint32_t *context);

/* The same with all members of comm, an intracommunicator, in the order of its collectives. Where
 * group is not NULL, with the members of the group alone. */
int context_agree(struct comm *comm, struct group *group, uint32_t *context);

#endif
