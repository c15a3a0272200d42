/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Small collectives, for making communicators. They work over part of a
 * communicator, in any of its contexts, where no communicator is there yet that
 * has just these members; and over two such halves that know each other by one member each.
 * All return MPI_SUCCESS or an error class.
 */
#ifndef MPI_AGREE_H
#define MPI_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/request/p2p.h"

struct comm;
struct group;
struct request;

enum { AGREE_VALUES = 24 };

/* The members that take part: all of comm, or the members of a group within it; and, where bridged,
 * those of another half. */
struct agree {
    struct comm *comm; /* an intracommunicator */
    const struct group *group; /* NULL: all */
    uint32_t context;
    int tag;
    bool bridged;
    int leader; /* this half's leader, by its number in the half, that talks to ... */
    struct p2p_side
        other;  /* ... the leader of the other half; only the leader's own value counts */
    int *pipe;  /* of the leader: a socket to the other leader instead; NULL: none */
    int failed; /* of the leader: agree_swap() is to end with it, in this half */
    struct request *give_up; /* once it is complete every wait ends; NULL: none */
};

/* What blocks consist of: words of 64 bits are numbers to all members, whatever their byte orders are. */
enum agree_unit { AGREE_BYTES, AGREE_WORDS };

/* values[i] becomes the maximum over the members; count is AGREE_VALUES at most. */
int agree_max(const struct agree *who, uint64_t *values, int count);

/* Gather: all has a block of size bytes for each member of who->comm, in order; mine is set. Sets
 * the others. */
int agree_gather(const struct agree *who, enum agree_unit unit, void *all, size_t size);

/* Give the other half len bytes; only the leader's call needs to have them. All members get the
 * other half's bytes, in memory of malloc(). */
int agree_swap(const struct agree *who, enum agree_unit unit, const void *mine, size_t len, void **theirs,
               size_t *their_len);

/* Receive a number from any process that other->comm leads to, as long as other's peer lives. */
int agree_hear(const struct p2p_side *other, int *from, int *word);

#endif
