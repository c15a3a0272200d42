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

enum { PROCESSES = 6, MAKINGS = 5, LIMIT = 100000 };

static uint32_t counters[PROCESSES];
static bool running_contended;

static struct context_bid bid_as(int process, int round)
{
    next = counters[process];
    os_lock_enabled = running_contended;
    struct context_bid bid = context_bid(round);
    os_lock_enabled = false;
    counters[process] = next;
    return bid;
}

static bool accept_as(int process, uint32_t mine, uint32_t value)
{
    next = counters[process];
    bool good = accept(mine, value);
    counters[process] = next;
    return good;
}

/* The library's own allreduce is not needed here, but for context_settle(): one process, which
 * always agrees with itself. */
int agree_max(const struct agree *who, uint32_t *values, int count)
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
    uint32_t mine[PROCESSES];
    int round, phase; /* 0: bidding, 1: accepting, 2: done */
    uint32_t best;
    bool refused;
};

static bool all_told(const struct making *m)
{
    for (int p = 0; p < PROCESSES; p++)
        if (m->member[p] && !m->told[p])
            return false;
    return true;
}

static void step(struct making *m)
{
    int p = rand() % PROCESSES;
    if (m->phase == 2 || !m->member[p] || m->told[p])
        return;
    m->told[p] = true;
    if (m->phase == 0) {
        m->mine[p] = bid_as(p, m->round).value;
        if (m->mine[p] > m->best)
            m->best = m->mine[p];
    } else if (!accept_as(p, m->mine[p], m->best)) {
        m->refused = true;
    }
    if (!all_told(m))
        return;
    memset(m->told, 0, sizeof(m->told));
    if (m->phase == 0) {
        m->phase = 1;
    } else if (!m->refused) {
        m->phase = 2;
    } else {
        m->phase = 0;
        m->round++;
        m->best = 0;
        m->refused = false;
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

/* Makings that overlap get different contexts, and all of them end. */
static void test_random_schedules(void **state)
{
    (void)state;
    int longest = 0;
    running_contended = true;
    for (unsigned seed = 0; seed < 3000; seed++) {
        struct making makings[MAKINGS];
        srand(seed);
        for (int p = 0; p < PROCESSES; p++)
            counters[p] = CONTEXT_FIRST + CONTEXT_STEP * (uint32_t)(rand() % 10);
        for (int i = 0; i < MAKINGS; i++)
            start(&makings[i]);
        int steps = 0, done = 0;
        while (done < MAKINGS && steps++ < LIMIT) {
            step(&makings[rand() % MAKINGS]);
            done = 0;
            for (int i = 0; i < MAKINGS; i++)
                done += makings[i].phase == 2;
        }
        assert_int_equal(done, MAKINGS);
        for (int i = 0; i < MAKINGS; i++) {
            longest = makings[i].round > longest ? makings[i].round : longest;
            assert_true(makings[i].best >= CONTEXT_FIRST && makings[i].best % CONTEXT_STEP == 0);
            for (int k = 0; k < i; k++)
                assert_true(!overlap(&makings[i], &makings[k]) ||
                            makings[i].best != makings[k].best);
        }
    }
    assert_true(longest > 0); /* there was contention */
    assert_true(longest < 200);
}

/* One making at a time a process: nobody ever refuses, so that the second exchange can be
 * left out. */
static void test_one_at_a_time(void **state)
{
    (void)state;
    running_contended = false;
    srand(1);
    for (int p = 0; p < PROCESSES; p++)
        counters[p] = CONTEXT_FIRST + CONTEXT_STEP * (uint32_t)(rand() % 10);
    for (int i = 0; i < 20000; i++) {
        struct making m;
        start(&m);
        while (m.phase != 2) {
            step(&m);
            assert_int_equal(m.round, 0);
        }
    }
}

static void test_settle(void **state)
{
    (void)state;
    uint32_t context = 0;
    struct agree who = {0};
    next = 400;
    struct context_bid mine = context_bid(0), higher = {800, 0}, odd = {402, 0}, low = {4, 0};
    assert_int_equal(mine.value, 400);
    assert_int_equal(context_settle(&who, mine, higher, &context), MPI_SUCCESS);
    assert_int_equal(context, 800);
    assert_int_equal(context_bid(0).value, 804);
    /* What no honest member bids. */
    assert_int_equal(context_settle(&who, mine, odd, &context), MPI_ERR_INTERN);
    assert_int_equal(context_settle(&who, mine, low, &context), MPI_ERR_INTERN);
}

/* At the end of the numbers the failure is told, to all. */
static void test_used_up(void **state)
{
    (void)state;
    uint32_t context = 0;
    struct agree who = {0};
    next = used_up - 3 * CONTEXT_STEP;
    struct context_bid bid = context_bid(0);
    assert_int_equal(context_settle(&who, bid, bid, &context), MPI_SUCCESS);
    for (int i = 0; i < 5; i++)
        bid = context_bid(0);
    assert_int_equal(context_settle(&who, bid, bid, &context), MPI_ERR_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_schedules),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
