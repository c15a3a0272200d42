/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreements among the members of a communicator that live: mpi/comm/consensus.h over notices. All
 * members begin those of one communicator in the same order. This process takes part in one after the
 * other: so the result of one shows that every survivor has those before it, whose engines go then. Of the last one
 * MPI_Finalize shows that, by one more that is about nothing. A member that sees another one beyond it knows, too.
 *
 * An agreement that comes to nothing is tried again, in rounds. What is agreed upon are words, of
 * which all members that take part get the bitwise AND:
 *
 *   1             a kind's own
 *   crew_words()  ones, but for the member's own bit: so ones stay at those that took no part
 *   crew_words()  ones, but for members that it knows to have failed
 *   the rest      a kind's own
 */
#ifndef MPI_ACCORD_H
#define MPI_ACCORD_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/ft/crew.h"

struct comm;
struct request;

enum accord_kind {
    ACCORD_AGREE = 1,
    ACCORD_SHRINK = 2,
    ACCORD_END = 3, /* accord.c's own: all members have the results of those before, and are in MPI_Finalize */
    ACCORD_KINDS
};

enum { ACCORD_ROUNDS = 64 }; /* of one agreement, at most */

/* One agreement of this process: the beginning of a kind's own struct, from malloc(). */
struct deed {
    struct crew_task task; /* run: once it is over, or has failed; gives the deed back */
    struct deed *next;
    enum accord_kind kind;
    struct comm *comm;
    struct request *request; /* goes on until run completes it */
    uint32_t round;
    bool has_joined;
    int error_class; /* MPI_SUCCESS: the agreement works */
    uint32_t key;    /* accord.c's */
    /* Locked: fill in the words that are the kind's own; and take those that came out, with the bits
     * of the members that are left. Returns whether that is all: else there is another round. */
    void (*give)(struct deed *deed, const struct crew *crew, uint64_t *first, uint64_t *rest);
    bool (*take)(struct deed *deed, const struct crew *crew, uint64_t first, const uint64_t *rest,
                 const uint64_t *left);
};

/* Begin one. Returns MPI_SUCCESS; or MPI_ERR_NO_MEM or MPI_ERR_OTHER (there are too many members), with
 * the deed left to the caller. */
int accord_begin(struct deed *deed, struct request **request, struct comm *comm);

/* The words of a kind that come last. */
uint32_t accord_rest(const struct crew *crew, enum accord_kind kind);

/* MPIX_Comm_agree: once the request is complete, *flag is the AND of all. */
int agree_begin(struct comm *comm, int *flag, struct request **request);
/* MPIX_Comm_shrink. */
int shrink_begin(struct comm *comm, MPI_Comm *newcomm, struct request **request);

#endif
