/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreeing on a context: on one of PLACES places. The lower half is handed out in order, the
 * upper half is drawn from.
 *
 * In order. Each process has a counter, next: every place below it was handed to some making of a
 * communicator here, or passed over. A process that makes one communicator at a time bids next, and
 * steps it; the context is the maximum v of the bids, and next becomes v + 1. Such a process makes
 * no other communicator between its bid and that, so v was never handed out there: no member can
 * object, and no vote is needed. A place of this half is not used again.
 *
 * By drawing. A process in which several communicators may be made at once says so in its bid. Then
 * v comes from the upper half: each bid has a place that is free here and was drawn by lot, and the
 * lot also says whose place it is. A member that has it free, too, accepts and takes it. If any
 * member refuses, those that took it give it back, and all draw again. So no two communicators that
 * have a member in common share a place, as that member takes each only once. However many are made
 * at once, each draws again only where its place is in use, and there are many more places to draw
 * from than are in use, until nearly all are.
 *
 * Communicators without a common member may share one: a message is sent within a communicator
 * and arrives at its members only.
 */
#include "mpi/comm/context.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/lock.h"
#include "os/random.h"

enum {
    PLACES = (INT32_MAX - CONTEXT_FIRST) / CONTEXT_STEP, /* contexts below context_meeting */
    PART_PLACES = 32768, /* places in one part of the table; at least so many to draw from */
    SPARSE = 64,     /* places to draw from for each in use */
    ROUNDS_NEAR = 8, /* of loans */
    ROUNDS_MAX = 256 /* then nearly all are in use */
};

enum { ORDER, SEVERAL, LOT }; /* of struct context_bid.value */

/* The places of the upper half that are taken here: bits, in parts that exist while they have one.
 */
struct place_part {
    uint32_t count;
    uint64_t bits[PART_PLACES / 64];
};

static struct os_lock lock = OS_LOCK_INIT; /* guards all below */
static uint32_t half = PLACES / 2;         /* a test makes it smaller */
static bool several;
static uint32_t next;
static uint32_t deals; /* under way: other communicators are made between their steps */
static uint32_t taken;
static struct place_part *parts[PLACES / 2 / PART_PLACES + 1];

/* ---- the upper half: places are counted from its beginning ---- */

/* Locked. */
static bool is_taken(uint32_t place)
{
    const struct place_part *part = parts[place / PART_PLACES];
    return part && part->bits[place % PART_PLACES / 64] >> (place % 64) & 1;
}

/* Return whether it was free and there was memory. */
static bool take(uint32_t place)
{
    os_lock(&lock);
    struct place_part **part = &parts[place / PART_PLACES];
    bool good = !is_taken(place);
    if (good && !*part)
        *part = calloc(1, sizeof(**part));
    good = good && *part;
    if (good) {
        (*part)->bits[place % PART_PLACES / 64] |= UINT64_C(1) << (place % 64);
        (*part)->count++;
        taken++;
    }
    os_unlock(&lock);
    return good;
}

static void release(uint32_t place)
{
    os_lock(&lock);
    struct place_part **part = &parts[place / PART_PLACES];
    if (is_taken(place)) {
        (*part)->bits[place % PART_PLACES / 64] &= ~(UINT64_C(1) << (place % 64));
        taken--;
        if (!--(*part)->count) {
            free(*part);
            *part = NULL;
        }
    }
    os_unlock(&lock);
}

void context_release(uint32_t context)
{
    uint32_t place = (context - CONTEXT_FIRST) / CONTEXT_STEP;
    if (context >= CONTEXT_FIRST && !(context % CONTEXT_STEP) && place >= half &&
        place < 2 * half)
        release(place - half);
}

/* Locked. A free place by lot, and the lot above it. While few places are in use, few are drawn
 * from: the table stays small. */
static uint64_t draw(void)
{
    uint32_t lot[2] = {0, next}, range = PART_PLACES;
    (void)os_random(lot, sizeof(lot)); /* without memory it may take more rounds */
    while (range < half && range / SPARSE < taken)
        range *= 2;
    uint32_t place = lot[1] % (range < half ? range : half);
    for (uint32_t i = 0; i < half && is_taken(place); i++)
        place = place + 1 < half ? place + 1 : 0;
    return (uint64_t)lot[0] << 32 | place;
}

/* ---- bids ---- */

void context_several(void)
{
    os_lock(&lock);
    several = true;
    os_unlock(&lock);
}

struct context_bid context_bid(void)
{
    struct context_bid bid = {{0}};
    os_lock(&lock);
    bid.value[SEVERAL] = several || deals || next >= half;
    if (!bid.value[SEVERAL])
        bid.value[ORDER] = next++;
    bid.value[LOT] = draw();
    os_unlock(&lock);
    return bid;
}

void context_raise(struct context_bid *best, const struct context_bid *other)
{
    for (int i = 0; i < CONTEXT_VALUES; i++)
        if (other->value[i] > best->value[i])
            best->value[i] = other->value[i];
}

bool context_needs_vote(const struct context_bid *best)
{
    return best->value[SEVERAL];
}

int context_settle_in_order(const struct context_bid *mine, const struct context_bid *best, uint32_t *context)
{
    uint64_t place = best->value[ORDER];
    if (place < mine->value[ORDER] || place >= half)
        return MPI_ERR_INTERN;
    os_lock(&lock);
    if (next <= place)
        next = (uint32_t)place + 1;
    os_unlock(&lock);
    *context = CONTEXT_FIRST + (uint32_t)place * CONTEXT_STEP;
    return MPI_SUCCESS;
}

/* ---- step by step ---- */

void context_start(struct context_deal *deal)
{
    *deal = (struct context_deal){.round = 0};
    os_lock(&lock);
    deals++;
    os_unlock(&lock);
}

void context_end(struct context_deal *deal)
{
    (void)deal;
    os_lock(&lock);
    deals--;
    os_unlock(&lock);
}

void context_offer(struct context_deal *deal, struct context_bid *bid)
{
    *bid = deal->mine = context_bid();
    bid->value[SEVERAL] = 1;
}

int context_consider(struct context_deal *deal, const struct context_bid *best, uint64_t *refused)
{
    uint32_t place = (uint32_t)best->value[LOT];
    if (++deal->round > ROUNDS_MAX)
        return MPI_ERR_OTHER;
    if (place >= half)
        return MPI_ERR_INTERN;
    deal->context = CONTEXT_FIRST + (half + place) * CONTEXT_STEP;
    deal->good = take(place);
    *refused = !deal->good;
    return MPI_SUCCESS;
}

bool context_conclude(struct context_deal *deal, uint64_t refused)
{
    if (refused && deal->good)
        context_release(deal->context);
    return !refused;
}

/* ---- by loans ---- */

/* The first rounds keep to one part of the table. */
void context_lend(struct context_loan *loan, uint64_t lot, uint32_t round)
{
    uint32_t range = PART_PLACES < half && round < ROUNDS_NEAR ? PART_PLACES : half;
    uint64_t mixed = (lot + round + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    *loan = (struct context_loan){.first = (uint32_t)((mixed >> 32) % (range / CONTEXT_LENT)) * CONTEXT_LENT};
    for (uint32_t i = 0; i < CONTEXT_LENT; i++)
        if (take(loan->first + i))
            loan->lent[i / 64] |= UINT64_C(1) << i % 64;
}

uint32_t context_settle_loan(struct context_loan *loan, const uint64_t *all)
{
    uint32_t chosen = CONTEXT_LENT;
    for (uint32_t i = 0; i < CONTEXT_LENT; i++) {
        bool mine = loan->lent[i / 64] >> i % 64 & 1;
        if (mine && all[i / 64] >> i % 64 & 1 && chosen == CONTEXT_LENT)
            chosen = i;
        else if (mine)
            release(loan->first + i);
    }
    return chosen == CONTEXT_LENT ? CONTEXT_NONE
                                  : CONTEXT_FIRST + (half + loan->first + chosen) * CONTEXT_STEP;
}
