/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreeing on a context.
 *
 * Agreed is a number of 62 bits; the context is its place on a ring of RING places. Each process
 * has a counter, next: every number below it was handed to some making of a communicator here,
 * or passed over, and no number is handed out twice.
 *
 *   1. Bid: take the first number from next on whose place is free here, and step behind it. The
 *      number is handed to this making.
 *   2. The members compute the maximum v of their bids.
 *   3. Each accepts v if its place is free here and it is its own bid, or v >= next here: then
 *      next becomes v + 1, which hands v to this making. Otherwise v was handed, or
 *      may have been, to another making in this process, and it refuses.
 *   4. The members compute whether anyone refused. If so, they start again with new bids.
 *
 * Why no two communicators with a common member share a context: the place of
 * each was free when that member accepted it, and is taken until that member has freed the
 * communicator; free and taken are told under the lock.
 * Communicators without a common member may share one: a message is sent within a
 * communicator and arrives at its members only.
 *
 * Why step 4 is needed only under contention: in a process that makes one communicator at a
 * time nothing happens between its bid b and step 3, where next is still b + 1
 * and v >= b; and as long as numbers have not gone round the ring every place from next on is
 * free. So it accepts. Bids say whether that is so; the highest bid says for all whether the
 * numbers have gone round. If it is so for all, all know that all accept.
 *
 * Why it ends: a making is refused where another one got v first, or where the place is
 * in use. Bids after the first leap by a random distance that grows with the round, so that
 * one of the makings under way soon bids highest of all, by more than
 * a step, and that one is refused by no other. In-use places are passed over by whoever refused
 * them; when the bids of one making have gone round the ring, there is no place that
 * is free at all members, and all of them see that in the same round.
 */
#include "mpi/context.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mpi/agree.h"
#include "mpi/comm.h"
#include "os/lock.h"
#include "os/random.h"

enum {
    RING = (INT32_MAX - CONTEXT_FIRST) / CONTEXT_STEP, /* contexts below context_meeting */
    LEAF = 32768                                       /* places in one part of the table */
};

static const uint64_t used_up = UINT64_MAX; /* a bid of who has no free place */
static const uint64_t number_max = UINT64_C(1) << 62;

/* Which places are taken here: bits, in parts that are there while they have one. */
struct leaf {
    uint32_t count;
    uint64_t bits[LEAF / 64];
};

static struct os_lock lock = OS_LOCK_INIT; /* guards all below */
static uint64_t next;
static uint32_t ring = RING; /* a test makes it smaller */
static uint32_t taken;
static struct leaf *leaves[RING / LEAF + 1];

/* Locked. */
static bool is_taken(uint32_t place)
{
    const struct leaf *leaf = leaves[place / LEAF];
    return leaf && leaf->bits[place % LEAF / 64] >> (place % 64) & 1;
}

/* Locked. Take a free place. Returns false where memory is out. */
static bool take(uint32_t place)
{
    struct leaf **leaf = &leaves[place / LEAF];
    if (!*leaf)
        *leaf = calloc(1, sizeof(**leaf));
    if (!*leaf)
        return false;
    (*leaf)->bits[place % LEAF / 64] |= UINT64_C(1) << (place % 64);
    (*leaf)->count++;
    taken++;
    return true;
}

static void release(uint32_t place)
{
    os_lock(&lock);
    struct leaf **leaf = &leaves[place / LEAF];
    if (is_taken(place)) {
        (*leaf)->bits[place % LEAF / 64] &= ~(UINT64_C(1) << (place % 64));
        taken--;
        if (!--(*leaf)->count) {
            free(*leaf);
            *leaf = NULL;
        }
    }
    os_unlock(&lock);
}

void context_release(uint32_t context)
{
    uint32_t place = (context - CONTEXT_FIRST) / CONTEXT_STEP;
    if (context >= CONTEXT_FIRST && place < ring && !(context % CONTEXT_STEP))
        release(place);
}

/* Locked. The first number from value on whose place is free: there is one. */
static uint64_t free_from(uint64_t value)
{
    for (uint32_t place = (uint32_t)(value % ring); is_taken(place);) {
        const struct leaf *leaf = leaves[place / LEAF];
        uint32_t step = leaf->count == LEAF ? LEAF - place % LEAF : 1;
        if (step > ring - place)
            step = ring - place;
        value += step;
        place = place + step == ring ? 0 : place + step;
    }
    return value;
}

struct context_bid context_bid(int round)
{
    uint32_t leap = 0, chance = 0;
    if (round > 0 && !os_random(&chance, sizeof(chance)))
        leap = chance % (2u << (round < 11 ? round : 11));
    os_lock(&lock);
    struct context_bid bid = {used_up, true};
    if (taken < ring && next < number_max) {
        bid.value = free_from(next + leap);
        bid.contended = os_lock_enabled || bid.value >= ring;
        next = bid.value + 1;
    }
    os_unlock(&lock);
    return bid;
}

/* Step 3. */
static bool accept(uint64_t mine, uint64_t value)
{
    uint32_t place = (uint32_t)(value % ring);
    os_lock(&lock);
    bool good = (value == mine || value >= next) && !is_taken(place);
    if (value >= next)
        next = value + 1; /* also where its place is taken: others shall pass it, too */
    good = good && take(place);
    os_unlock(&lock);
    return good;
}

int context_settle(const struct agree *who, struct context_bid mine, struct context_bid best,
                   uint32_t *context)
{
    uint64_t first = best.value;
    for (int round = 1;; round++) {
        if (best.value == used_up || best.value - first > ring)
            return MPI_ERR_OTHER;
        if (best.value < mine.value || best.value >> 63)
            return MPI_ERR_INTERN;
        uint32_t place = (uint32_t)(best.value % ring);
        bool good = accept(mine.value, best.value);
        uint64_t refused = !good;
        int rc = best.contended ? agree_max(who, &refused, 1) : MPI_SUCCESS;
        if (!rc && !refused) {
            *context = CONTEXT_FIRST + place * CONTEXT_STEP;
            return MPI_SUCCESS;
        }
        if (good)
            release(place);
        if (rc)
            return rc;
        if (!best.contended)
            return MPI_ERR_NO_MEM; /* the one reason that is left */
        mine = context_bid(round);
        uint64_t values[2] = {mine.value, mine.contended};
        rc = agree_max(who, values, 2);
        if (rc)
            return rc;
        best = (struct context_bid){values[0], values[1] != 0};
    }
}

int context_agree_among(const struct agree *who, uint64_t *extra, int count, uint32_t *context)
{
    struct context_bid mine = context_bid(0);
    uint64_t values[AGREE_VALUES] = {mine.value, mine.contended};
    for (int i = 0; i < count; i++)
        values[2 + i] = extra[i];
    int rc = agree_max(who, values, 2 + count);
    if (rc)
        return rc;
    for (int i = 0; i < count; i++)
        extra[i] = values[2 + i];
    return context_settle(who, mine, (struct context_bid){values[0], values[1] != 0}, context);
}

int context_agree(struct comm *comm, struct group *group, int tag, uint32_t *context)
{
    struct agree who = {
        .comm = comm,
        .group = group,
        .context = comm->context + (tag < 0 ? CONTEXT_COLL : CONTEXT_GROUP),
        .tag = tag < 0 ? COMM_AGREE_TAG : tag,
    };
    return context_agree_among(&who, NULL, 0, context);
}
