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

#include "mpi/context.c"

bool os_lock_enabled = false;

void os_lock_slow(struct os_lock *l)
{
    (void)l;
}

void os_unlock_slow(struct os_lock *l)
{
    (void)l;
}

enum { PROCESSES = 6, MAKINGS = 5, LIMIT = 100000, LEAVES = 32 };

/* What the module keeps, of each process: as many leaves as the numbers here need. */
static struct state {
    uint64_t next;
    uint32_t taken;
    struct leaf *leaves[LEAVES];
} processes[PROCESSES];
static bool running_contended;

static void enter(const struct state *state)
{
    next = state->next;
    taken = state->taken;
    memcpy(leaves, state->leaves, sizeof(state->leaves));
}

static void leave(struct state *state)
{
    state->next = next;
    state->taken = taken;
    memcpy(state->leaves, leaves, sizeof(state->leaves));
    assert_true(next < LEAVES * (uint64_t)LEAF);
}

/* Forget all; a ring of so many places. */
static void reset(uint32_t places)
{
    ring = places;
    next = taken = 0;
    for (int i = 0; i < LEAVES; i++) {
        free(leaves[i]);
        leaves[i] = NULL;
    }
}

static void reset_all(uint32_t places)
{
    for (int p = 0; p < PROCESSES; p++) {
        enter(&processes[p]);
        reset(places);
        leave(&processes[p]);
    }
}

static struct context_bid bid_as(int process, int round)
{
    enter(&processes[process]);
    os_lock_enabled = running_contended;
    struct context_bid bid = context_bid(round);
    os_lock_enabled = false;
    leave(&processes[process]);
    return bid;
}

static bool accept_as(int process, uint64_t mine, uint64_t value)
{
    enter(&processes[process]);
    bool good = accept(mine, value);
    leave(&processes[process]);
    return good;
}

static void release_as(int process, uint64_t value)
{
    enter(&processes[process]);
    release((uint32_t)(value % ring));
    leave(&processes[process]);
}

/* The library's own allreduce is not needed here, but for context_settle(): one process, which
 * always agrees with itself. */
int agree_max(const struct agree *who, uint64_t *values, int count)
{
    (void)who;
    (void)values;
    (void)count;
    return MPI_SUCCESS;
}

/* One making, as far as it has come: bids and answers of its members, one step at a time. */
struct making {
    bool member[PROCESSES];
    bool told[PROCESSES]; /* in this phase */
    bool accepted[PROCESSES];
    uint64_t mine[PROCESSES];
    int round, phase; /* 0: bidding, 1: accepting, 2: done */
    uint64_t best;
    bool contended, refused;
};

static bool all_told(const struct making *m)
{
    for (int p = 0; p < PROCESSES; p++)
        if (m->member[p] && !m->told[p])
            return false;
    return true;
}

static void bid(struct making *m, int p)
{
    struct context_bid made = bid_as(p, m->round);
    m->mine[p] = made.value;
    m->contended |= made.contended;
    if (made.value > m->best)
        m->best = made.value;
}

static void undo(struct making *m)
{
    for (int p = 0; p < PROCESSES; p++)
        if (m->accepted[p])
            release_as(p, m->best);
    memset(m->accepted, 0, sizeof(m->accepted));
}

static void step(struct making *m)
{
    int p = rand() % PROCESSES;
    if (m->phase == 2 || !m->member[p] || m->told[p])
        return;
    m->told[p] = true;
    if (m->phase == 0) {
        bid(m, p);
    } else {
        assert_true(m->best != used_up);
        m->accepted[p] = accept_as(p, m->mine[p], m->best);
        m->refused |= !m->accepted[p];
    }
    if (!all_told(m))
        return;
    memset(m->told, 0, sizeof(m->told));
    if (m->phase == 0) {
        m->phase = 1;
    } else if (!m->refused) {
        m->phase = 2;
    } else {
        assert_true(m->contended); /* else nobody would have asked */
        undo(m);
        m->phase = 0;
        m->round++;
        m->best = 0;
        m->contended = m->refused = false;
    }
}

static void start(struct making *m)
{
    *m = (struct making){0};
    m->member[rand() % PROCESSES] = true;
    for (int p = 0; p < PROCESSES; p++)
        m->member[p] |= rand() % 2;
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
    while (done < count && steps++ < LIMIT) {
        step(&makings[rand() % count]);
        done = 0;
        for (int i = 0; i < count; i++)
            done += makings[i].phase == 2;
    }
    assert_int_equal(done, count);
    for (int i = 0; i < count; i++)
        *longest = makings[i].round > *longest ? makings[i].round : *longest;
}

/* Makings that overlap get different contexts, and all of them end. */
static void test_random_schedules(void **state)
{
    (void)state;
    int longest = 0;
    running_contended = true;
    for (unsigned seed = 0; seed < 3000; seed++) {
        struct making makings[MAKINGS];
        srand(seed);
        reset_all(RING);
        for (int p = 0; p < PROCESSES; p++)
            processes[p].next = (uint64_t)(rand() % 10);
        for (int i = 0; i < MAKINGS; i++)
            start(&makings[i]);
        run_to_end(makings, MAKINGS, &longest);
        for (int i = 0; i < MAKINGS; i++)
            for (int k = 0; k < i; k++)
                assert_true(!overlap(&makings[i], &makings[k]) ||
                            makings[i].best != makings[k].best);
    }
    assert_true(longest > 0); /* there was contention */
    assert_true(longest < 200);
}

/* Communicators that come and go on a ring of few places: those that are there at once and
 * have a member in common never share one. */
static void test_reuse(void **state)
{
    (void)state;
    enum { PLACES = 40, LIVING = 20 };
    int longest = 0, laps = 0;
    for (unsigned seed = 0; seed < 300; seed++) {
        struct making living[LIVING] = {0};
        srand(seed);
        reset_all(PLACES);
        running_contended = seed % 2;
        for (int p = 0; p < PROCESSES; p++)
            processes[p].next = (uint64_t)(rand() % 10);
        for (int i = 0; i < 500; i++) {
            struct making *m = &living[rand() % LIVING];
            undo(m);
            start(m);
            run_to_end(m, 1, &longest);
            laps += m->best / PLACES > 0;
            for (int k = 0; k < LIVING; k++)
                assert_true(&living[k] == m || !overlap(m, &living[k]) ||
                            m->best % PLACES != living[k].best % PLACES);
        }
    }
    assert_true(laps > 300 * 400);
    assert_true(longest > 0);
    reset_all(RING);
}

/* One making at a time a process: before numbers go round nobody ever refuses, so that the second
 * exchange can be left out. */
static void test_one_at_a_time(void **state)
{
    (void)state;
    running_contended = false;
    srand(1);
    reset_all(RING);
    for (int p = 0; p < PROCESSES; p++)
        processes[p].next = (uint64_t)(rand() % 10);
    for (int i = 0; i < 20000; i++) {
        struct making m;
        start(&m);
        while (m.phase != 2) {
            step(&m);
            assert_int_equal(m.round, 0);
            assert_false(m.contended);
        }
    }
    reset_all(RING);
}

static void test_settle(void **state)
{
    (void)state;
    uint32_t context = 0;
    struct agree who = {0};
    reset(RING);
    next = 50;
    struct context_bid mine = context_bid(0), higher = {100, 0}, low = {4, 0};
    struct context_bid huge = {UINT64_MAX - 1, 1};
    assert_int_equal(mine.value, 50);
    assert_int_equal(context_settle(&who, mine, higher, &context), MPI_SUCCESS);
    assert_int_equal(context, CONTEXT_FIRST + 100 * CONTEXT_STEP);
    assert_int_equal(context_bid(0).value, 101);
    /* What no honest member bids. */
    assert_int_equal(context_settle(&who, mine, low, &context), MPI_ERR_INTERN);
    assert_int_equal(context_settle(&who, mine, huge, &context), MPI_ERR_INTERN);
    context_release(CONTEXT_WORLD);
    context_release(CONTEXT_SELF);
    context_release(context + CONTEXT_LOCAL);
    context_release(context_meeting | 8);
    assert_int_equal(taken, 1);
    context_release(context);
    context_release(context);
    assert_int_equal(taken, 0);
}

/* Make one communicator of this process alone. */
static int make(uint32_t *context)
{
    struct agree who = {0};
    struct context_bid bid = context_bid(0);
    return context_settle(&who, bid, bid, context);
}

/* When all are in use the failure is told, and what is given back is given out again. */
static void test_used_up(void **state)
{
    (void)state;
    enum { PLACES = 3 * LEAF + 7 };
    uint32_t context = 0, again = 0;
    reset(PLACES);
    for (int i = 0; i < PLACES; i++)
        assert_int_equal(make(&context), MPI_SUCCESS);
    assert_int_equal(make(&context), MPI_ERR_OTHER);
    assert_int_equal(make(&context), MPI_ERR_OTHER);
    for (uint32_t place = 5; place < PLACES; place += LEAF - 1) {
        context = CONTEXT_FIRST + place * CONTEXT_STEP;
        context_release(context);
        assert_int_equal(make(&again), MPI_SUCCESS);
        assert_int_equal(again, context);
    }
    reset(RING);
    assert_true(CONTEXT_FIRST + (RING - 1) * CONTEXT_STEP + CONTEXT_STEP - 1 < context_meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_schedules),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
