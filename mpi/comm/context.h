/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Contexts: how the members of a new communicator agree on a number for it; mpi/make/context_agree.h has the
 * messages of that.
 *
 * A communicator has CONTEXT_STEP numbers in a row, used as CONTEXT_* says. They are given back
 * when this process frees it.
 */
#ifndef MPI_CONTEXT_H
#define MPI_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"

enum { CONTEXT_NONE = 0, /* to context_release() */
       CONTEXT_STEP = MPID_CONTEXT_STEP,
       CONTEXT_WORLD = 0, CONTEXT_SELF = CONTEXT_STEP, CONTEXT_FIRST = 2 * CONTEXT_STEP };

/* The offsets from a communicator's context, one for each kind of message. */
enum {
    CONTEXT_P2P = 0,
    CONTEXT_COLL = 1,
    CONTEXT_GROUP = 2,  /* of leaders that greet each other: see mpi/make/comm_from.c */
    CONTEXT_LEADER = 3, /* of MPI_Intercomm_create in its peer communicator, with the user's tags */
    CONTEXT_COUNTER = 4, /* of the shared pointer of a file: see mpi/io/file_counter.h */
    CONTEXT_PART = 5,   /* of partitioned communication: see mpi/request/part.c */
    CONTEXT_LOCAL = 6,  /* context of the communicator inside an intercommunicator, which has
                           collective messages only */
    CONTEXT_WIN = 8     /* of windows: see mpi/win/win_wire.h */
};

/* Contexts from here on belong to no communicator: processes without a common one meet in them. The
 * lower bits are a hash, and so are the tags there. */
static const uint32_t context_meeting = UINT32_C(1) << 31;

enum { CONTEXT_VALUES = 3 };

/* One process's bid for a context; of several, the maximum of each value is taken. */
struct context_bid {
    uint64_t value[CONTEXT_VALUES];
};

/* From here on several communicators may be made at once. */
void context_several(void);

struct context_bid context_bid(void);
void context_raise(struct context_bid *best, const struct context_bid *other);

/* Whether members that make several at once are among those of the best bid: they vote. The others settle
 * without a word. Returns MPI_SUCCESS, or MPI_ERR_INTERN for a bid that no member can have made. */
bool context_needs_vote(const struct context_bid *best);
int context_settle_in_order(const struct context_bid *mine, const struct context_bid *best, uint32_t *context);

/*
 * An agreement step by step, for a caller that takes the maxima over the members itself, while
 * other communicators are made:
 *
 *   context_start()     once
 *   context_offer()     gives a bid: take the maximum over all
 *   context_consider()  takes that, and gives a number: take the maximum of it, too
 *   context_conclude()  takes this; the deal is done, or goes on with context_offer()
 *   context_end()       once
 */
struct context_deal {
    struct context_bid mine;
    int round;
    uint32_t context; /* what it is about; once it is done, the result */
    bool good;        /* for this process */
};
void context_start(struct context_deal *deal);
void context_offer(struct context_deal *deal, struct context_bid *bid);
/* Returns MPI_SUCCESS or an error class: the same at all members. */
int context_consider(struct context_deal *deal, const struct context_bid *best,
                     uint64_t *refused);
/* Returns whether it is done. */
bool context_conclude(struct context_deal *deal, uint64_t refused);
void context_end(struct context_deal *deal);

/*
 * Of some members, those who live agree on a context without a word of the others: each lends a stretch
 * of contexts, all that are free here, and a bitwise AND over the members shows which ones all have lent.
 * lot: the same at all members, as round is.
 */
enum { CONTEXT_LENT = 256 };
struct context_loan {
    uint32_t first;
    uint64_t lent[CONTEXT_LENT / 64];
};
void context_lend(struct context_loan *loan, uint64_t lot, uint32_t round);
/* Take the first of those that all have lent, and give the others back. CONTEXT_NONE: there was none. */
uint32_t context_settle_loan(struct context_loan *loan, const uint64_t *all);

/* Give back a context that this process does not use any more. One that was not agreed on is left
 * alone. */
void context_release(uint32_t context);

#endif
