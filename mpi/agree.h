/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two small collectives, for making communicators. They work over part of a
 * communicator, in any of its contexts, where no communicator is there yet that
 * has just these members. Both return MPI_SUCCESS or an error class.
 */
#ifndef MPI_AGREE_H
#define MPI_AGREE_H

#include <stddef.h>
#include <stdint.h>

struct comm;
struct group;

/* Who takes part: all of comm, or the members of a group within it. */
struct agree {
    struct comm *comm;
    const struct group *group; /* NULL: all */
    uint32_t context;
    int tag;
};

/* values[i] becomes the maximum over the members; count is 4 at most. */
int agree_max(const struct agree *who, uint32_t *values, int count);

/* all has a block of size bytes for each member, in order; mine is set. Sets the
 * others. */
int agree_gather(const struct agree *who, void *all, size_t size);

#endif
