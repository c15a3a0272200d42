/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreeing on contexts, with many processes in one: the module's counter is
 * exchanged for that of whoever runs. Makings of communicators over random sets of
 * processes go on at once, in random order of steps; the messages are imagined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/hang_text.h"
#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.c"
#include "mpi/make/context_agree.h"

/* mpiexec's report of a hang takes contexts for what they are. */
_Static_assert((int)HANG_USE_COLLECTIVE == (int)CONTEXT_COLL, "collectives");
_Static_assert((int)HANG_USE_PARTITIONED == (int)CONTEXT_PART, "partitioned communication");
_Static_assert((int)HANG_USE_INSIDE == (int)CONTEXT_LOCAL + (int)CONTEXT_COLL, "groups");
_Static_assert((int)HANG_USES == (int)CONTEXT_STEP, "all that a communicator has");
_Static_assert((int)HANG_KEPT == (int)COMM_KEPT_TAG, "persistent ones");
_Static_assert((int)HANG_NO_NUMBER == (int)COMM_AGREE_TAG, "what is not counted");

bool os_lock_enabled = false;

void os_lock_slow(struct os_lock *l)
{
    (void)l;
}

void os_unlock_slow(struct os_lock *l)
{
    (void)l;
}

enum {
    PROCESSES = 6,
    MAKINGS = 40,
    STEPS_MAX = 1000000,
    PARTS = 64
};

/* What the module keeps, of each process: as many parts as the places here need. */
static struct state {
    uint32_t next, deals, taken;
    struct place_part *parts[PARTS];
} processes[PROCESSES];

static void enter(const struct state *state)
{
    next = state->next;
    deals = state->deals;
    taken = state->taken;
    memcpy(parts, state->parts, sizeof(state->parts));
}

static void leave(struct state *state)
{
    state->next = next;
    state->deals = deals;
    state->taken = taken;
    memcpy(state->parts, parts, sizeof(state->parts));
}

/* Forget all; halves of so many places. */
static void reset(uint32_t places)
{
    half = places;
    next = taken = deals = 0;
    for (int i = 0; i < PARTS; i++) {
        free(parts[i]);
        parts[i] = NULL;
    }
}

static void reset_all(uint32_t places)
{
    for (int p = 0; p < PROCESSES; p++) {
        enter(&processes[p]);
        reset(places);
        next = (uint32_t)rand() % 10;
        leave(&processes[p]);
    }
}

/* For context_settle(): one process, which always agrees with itself. */
int agree_max(const struct agree *who, uint64_t *values, int count)
{
    (void)who;
    (void)values;
    (void)count;
    return MPI_SUCCESS;
}

/* One making, as far as it has come: what its members do, one at a time. */
struct making {
    bool member[PROCESSES], told[PROCESSES];
    struct context_deal deal[PROCESSES];
    enum { BEGIN, OFFER, CONSIDER, CONCLUDE, END, OVER } phase;
    struct context_bid best;
    uint64_t refused;
    uint32_t context;
    int rounds;
};

static bool all_told(const struct making *m)
{
    for (int p = 0; p < PROCESSES; p++)
        if (m->member[p] && !m->told[p])
            return false;
    return true;
}

static void take_part(struct making *m, int p)
{
    struct context_deal *deal = &m->deal[p];
    struct context_bid bid;
    uint64_t refused = 0;
    switch (m->phase) {
    case BEGIN: context_start(deal); break;
    case OFFER:
        context_offer(deal, &bid);
        context_raise(&m->best, &bid);
        break;
    case CONSIDER:
        assert_int_equal(context_consider(deal, &m->best, &refused), MPI_SUCCESS);
        m->refused |= refused;
        break;
    case CONCLUDE: assert_int_equal(context_conclude(deal, m->refused), !m->refused); break;
    case END: context_end(deal); break;
    case OVER: break;
    }
}

static void go_on(struct making *m)
{
    memset(m->told, 0, sizeof(m->told));
    if (m->phase == CONCLUDE && m->refused) {
        m->phase = OFFER;
        m->best = (struct context_bid){{0}};
        m->refused = 0;
        m->rounds++;
        return;
    }
    m->phase++;
    for (int p = 0; m->phase == OVER && p < PROCESSES; p++)
        if (m->member[p])
            m->context = m->deal[p].context;
}

static void step(struct making *m)
{
    int p = rand() % PROCESSES;
    if (m->phase == OVER || !m->member[p] || m->told[p])
        return;
    m->told[p] = true;
    enter(&processes[p]);
    take_part(m, p);
    leave(&processes[p]);
    if (all_told(m))
        go_on(m);
}

static void start(struct making *m)
{
    *m = (struct making){.rounds = 1};
    m->member[rand() % PROCESSES] = true;
    for (int p = 0; p < PROCESSES; p++)
        m->member[p] |= rand() % 2;
}

static void undo(struct making *m)
{
    for (int p = 0; p < PROCESSES; p++) {
        if (!m->member[p])
            continue;
        enter(&processes[p]);
        context_release(m->context);
        leave(&processes[p]);
    }
}

static bool overlap(const struct making *a, const struct making *b)
{
    for (int p = 0; p < PROCESSES; p++)
        if (a->member[p] && b->member[p])
            return true;
    return false;
}

static void run_to_end(struct making *makings, int count, int *longest)
{
    int steps = 0, done = 0;
    while (done < count && steps++ < STEPS_MAX) {
        step(&makings[rand() % count]);
        done = 0;
        for (int i = 0; i < count; i++)
            done += makings[i].phase == OVER;
    }
    assert_int_equal(done, count);
    for (int i = 0; i < count; i++)
        *longest = makings[i].rounds > *longest ? makings[i].rounds : *longest;
}

/* Makings that overlap get different contexts, and all of them end soon. */
static void test_random_schedules(void **state)
{
    (void)state;
    int longest = 0;
    for (unsigned seed = 0; seed < 100; seed++) {
        static struct making makings[MAKINGS];
        srand(seed);
        reset_all(PLACES / 2);
        for (int i = 0; i < MAKINGS; i++)
            start(&makings[i]);
        run_to_end(makings, MAKINGS, &longest);
        for (int i = 0; i < MAKINGS; i++)
            for (int k = 0; k < i; k++)
                assert_true(!overlap(&makings[i], &makings[k]) ||
                            makings[i].context != makings[k].context);
    }
    assert_true(longest < 6);
}

/* Communicators that come and go among few places: those that are there at once and
 * have a member in common never share one. */
static void test_reuse(void **state)
{
    (void)state;
    enum { FEW = 40, LIVING = 20 };
    int longest = 0;
    for (unsigned seed = 0; seed < 300; seed++) {
        struct making living[LIVING] = {0};
        srand(seed);
        reset_all(FEW);
        for (int i = 0; i < 500; i++) {
            struct making *m = &living[rand() % LIVING];
            undo(m);
            start(m);
            run_to_end(m, 1, &longest);
            for (int k = 0; k < LIVING; k++)
                assert_true(&living[k] == m || !overlap(m, &living[k]) ||
                            m->context != living[k].context);
        }
        for (int k = 0; k < LIVING; k++)
            undo(&living[k]);
        for (int p = 0; p < PROCESSES; p++)
            assert_int_equal(processes[p].taken, 0);
    }
    assert_true(longest > 1); /* some drew again */
}

/* What makes one at a time goes in order, and in step with all members: nobody need be asked. */
static void test_in_order(void **state)
{
    (void)state;
    srand(1);
    reset_all(PLACES / 2);
    for (int i = 0; i < 20000; i++) {
        struct context_bid bid[PROCESSES], best = {{0}};
        uint32_t context[PROCESSES], first = 0;
        struct making m;
        start(&m);
        for (int p = 0; p < PROCESSES; p++) {
            if (!m.member[p])
                continue;
            enter(&processes[p]);
            bid[p] = context_bid();
            leave(&processes[p]);
            context_raise(&best, &bid[p]);
        }
        assert_int_equal(best.value[SEVERAL], 0);
        for (int p = 0; p < PROCESSES; p++) {
            if (!m.member[p])
                continue;
            enter(&processes[p]);
            uint32_t before = processes[p].next;
            assert_int_equal(context_settle(NULL, bid[p], best, &context[p]), MPI_SUCCESS);
            assert_true((context[p] - CONTEXT_FIRST) / CONTEXT_STEP + 1 >= before);
            leave(&processes[p]);
            assert_true(!first || context[p] == first);
            first = context[p];
        }
    }
}

/* Make one communicator of this process alone. */
static int make(uint32_t *context)
{
    struct context_bid bid = context_bid();
    return context_settle(NULL, bid, bid, context);
}

static void test_settle(void **state)
{
    (void)state;
    uint32_t context = 0, drawn = 0;
    struct context_deal deal;
    reset(PLACES / 2);
    next = 50;
    struct context_bid mine = context_bid(), higher = {{100}}, low = {{4}};
    struct context_bid strange = {{0, 1, UINT32_MAX}}, huge = {{UINT64_MAX}};
    assert_int_equal(mine.value[ORDER], 50);
    assert_int_equal(context_settle(NULL, mine, higher, &context), MPI_SUCCESS);
    assert_int_equal(context, CONTEXT_FIRST + 100 * CONTEXT_STEP);
    assert_int_equal(next, 101);
    /* What no honest member bids. */
    assert_int_equal(context_settle(NULL, mine, low, &context), MPI_ERR_INTERN);
    assert_int_equal(context_settle(NULL, mine, huge, &context), MPI_ERR_INTERN);
    assert_int_equal(context_settle(NULL, mine, strange, &context), MPI_ERR_INTERN);
    /* While a deal is under way all is drawn. */
    context_start(&deal);
    assert_int_equal(make(&drawn), MPI_SUCCESS);
    assert_true(drawn >= CONTEXT_FIRST + PLACES / 2 * CONTEXT_STEP);
    context_end(&deal);
    assert_int_equal(make(&context), MPI_SUCCESS);
    assert_int_equal(context, CONTEXT_FIRST + 101 * CONTEXT_STEP);
    assert_int_equal(taken, 1);
    context_release(CONTEXT_WORLD);
    context_release(CONTEXT_SELF);
    context_release(drawn + CONTEXT_LOCAL);
    context_release(context);
    context_release(context_meeting | 8);
    context_release(UINT32_MAX);
    assert_int_equal(taken, 1);
    context_release(drawn);
    context_release(drawn);
    assert_int_equal(taken, 0);
}

/* Members lend what they have free in a stretch that is the same for all. */
static void test_loans(void **state)
{
    (void)state;
    enum { MEMBERS = 3 };
    uint32_t context[MEMBERS] = {0};
    reset_all(PLACES / 2);
    for (int trial = 0; trial < 200; trial++) {
        uint32_t round = 0;
        do {
            struct context_loan loan[MEMBERS], other;
            uint64_t all[CONTEXT_LENT / 64];
            memset(all, 0xff, sizeof(all));
            for (int p = 0; p < MEMBERS; p++) {
                enter(&processes[p]);
                uint32_t before = taken;
                context_lend(&loan[p], 7, round); /* the same lot: it is used up in the end */
                context_lend(&other, 7, round);   /* nothing is lent twice */
                for (int i = 0; i < CONTEXT_LENT / 64; i++) {
                    assert_int_equal(other.lent[i], 0);
                    all[i] &= loan[p].lent[i];
                }
                assert_int_equal(context_settle_loan(&other, all), CONTEXT_NONE);
                assert_true(taken >= before && taken <= before + CONTEXT_LENT);
                leave(&processes[p]);
            }
            for (int p = 0; p < MEMBERS; p++) {
                enter(&processes[p]);
                uint32_t before = taken, given = 0;
                for (int i = 0; i < CONTEXT_LENT; i++)
                    given += loan[p].lent[i / 64] >> i % 64 & 1;
                context[p] = context_settle_loan(&loan[p], all);
                assert_int_equal(context[p], context[0]);
                assert_int_equal(taken, before - given + (context[p] != CONTEXT_NONE));
                if (context[p] && trial % 3 == p) /* one member keeps it, and others do not */
                    context_release(context[p]);
                leave(&processes[p]);
            }
        } while (!context[0] && ++round < 64);
        assert_true(context[0] >= CONTEXT_FIRST + PLACES / 2 * CONTEXT_STEP);
    }
}

/* When all are in use the failure is told, and what is given back is given out again. */
static void test_used_up(void **state)
{
    (void)state;
    enum {
        HALF = 2 * PART_PLACES + 7
    };
    uint32_t context = 0, again = 0;
    reset(HALF);
    for (int i = 0; i < 2 * HALF; i++)
        assert_int_equal(make(&context), MPI_SUCCESS);
    assert_int_equal(taken, HALF);
    assert_int_equal(make(&context), MPI_ERR_OTHER);
    for (uint32_t place = HALF + 5; place < 2 * HALF; place += PART_PLACES - 1) {
        context = CONTEXT_FIRST + place * CONTEXT_STEP;
        context_release(context);
        assert_int_equal(make(&again), MPI_SUCCESS);
        assert_int_equal(again, context);
    }
    reset(PLACES / 2);
    assert_true(CONTEXT_FIRST + PLACES * CONTEXT_STEP < context_meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_schedules), cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_in_order),         cmocka_unit_test(test_settle),
        cmocka_unit_test(test_loans),
        cmocka_unit_test(test_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
