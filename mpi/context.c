/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreeing on a context.
 *
 * Each process has a counter, next: every value below it was handed to some making
 * of a communicator here, or passed over, and no value is handed out twice.
 *
 *   1. Bid: take next and step it. The value is handed to this making.
 *   2. The members compute the maximum v of their bids.
 *   3. Each accepts v if it is its own bid, or if v >= next here: then next
 *      becomes v + step, which hands v to this making. Otherwise v was handed, or
 *      may have been, to another making in this process, and it refuses.
 *   4. The members compute whether anyone refused. If so, they start again with new bids.
 *
 * Why no two communicators with a common member share a context: the context of
 * each was accepted by that member, which hands each value once, under the lock.
 * Communicators without a common member may share one: a message is sent within a
 * communicator and arrives at its members only.
 *
 * Why step 4 is needed only under contention: in a process that makes one communicator at a
 * time nothing happens between its bid b and step 3, where next is still b + step
 * and v >= b; so it accepts. Bids say whether that is so. If it is so for all, all know
 * that all accept.
 *
 * Why it ends: a making is refused only where another one got v first. Bids
 * after the first leap by a random distance that grows with the round, so that
 * one of the makings under way soon bids highest of all, by more than
 * a step, and that one is refused nowhere.
 *
 * Contexts are not reused: 2^30 communicators, and a process says so when they are used up.
 */
#include "mpi/context.h"

#include <mpi.h>

#include "mpi/agree.h"
#include "mpi/comm.h"
#include "os/lock.h"
#include "os/random.h"

static const uint32_t used_up = UINT32_MAX - 3; /* never a context */

static struct os_lock lock = OS_LOCK_INIT; /* guards next */
static uint32_t next = CONTEXT_FIRST;

struct context_bid context_bid(int round)
{
    uint32_t leap = 1, chance = 0;
    if (round > 0 && !os_random(&chance, sizeof(chance)))
        leap += chance % (2u << (round < 11 ? round : 11));
    os_lock(&lock);
    uint32_t value = used_up;
    if (leap < (used_up - next) / CONTEXT_STEP) {
        value = next + (leap - 1) * CONTEXT_STEP;
        next = value + CONTEXT_STEP;
    }
    os_unlock(&lock);
    return (struct context_bid){value, os_lock_enabled};
}

/* Step 3. */
static bool accept(uint32_t mine, uint32_t value)
{
    os_lock(&lock);
    bool good = value == mine || value >= next;
    if (good && value >= next)
        next = value + CONTEXT_STEP;
    os_unlock(&lock);
    return good;
}

int context_settle(const struct agree *who, struct context_bid mine, struct context_bid best,
                   uint32_t *context)
{
    for (int round = 1;; round++) {
        if (best.value == used_up)
            return MPI_ERR_OTHER;
        if (best.value % CONTEXT_STEP || best.value < CONTEXT_FIRST || best.value > used_up)
            return MPI_ERR_INTERN;
        uint32_t refused = !accept(mine.value, best.value);
        if (best.contended) {
            int rc = agree_max(who, &refused, 1);
            if (rc)
                return rc;
        }
        if (!refused) {
            *context = best.value;
            return MPI_SUCCESS;
        }
        if (!best.contended)
            return MPI_ERR_INTERN;
        mine = context_bid(round);
        uint32_t values[2] = {mine.value, mine.contended};
        int rc = agree_max(who, values, 2);
        if (rc)
            return rc;
        best = (struct context_bid){values[0], values[1]};
    }
}

int context_agree(struct comm *comm, struct group *group, int tag, uint32_t *context)
{
    struct agree who = {comm, group, comm->context + (tag < 0 ? 1 : 2),
                        tag < 0 ? COMM_AGREE_TAG : tag};
    struct context_bid mine = context_bid(0);
    uint32_t values[2] = {mine.value, mine.contended};
    int rc = agree_max(&who, values, 2);
    if (rc)
        return rc;
    return context_settle(&who, mine, (struct context_bid){values[0], values[1]}, context);
}
