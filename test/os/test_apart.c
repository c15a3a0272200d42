/* SPDX-License-Identifier: BSD-3-Clause */

/* A thread that shares its processor moves to another, and stays free to run on all. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/cpu/apart.h"
#include "os/clock.h"

enum { MS = 1000000, TRIES = 20 };

static cpu_set_t all;

/* Whether one of calls in a row has the thread move. */
static bool moves_within(int calls)
{
    int here = sched_getcpu();
    for (int i = 0; i < calls; i++)
        os_apart_shared();
    return sched_getcpu() != here;
}

static void assert_is_free(void)
{
    cpu_set_t now;
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_true(CPU_EQUAL(&now, &all));
}

/* The system, too, may move the thread: what counts is what happens nearly always. */
static void test_moves(void **state)
{
    (void)state;
    int moved = 0;
    if (CPU_COUNT(&all) < 2)
        skip();
    for (int i = 0; i < TRIES; i++)
        moved += moves_within(16);
    assert_true(moved <= TRIES / 4); /* nothing is allowed yet */
    os_apart_allow(2, 2);
    moved = 0;
    for (int ms = 2; ms <= 256 && !moved; ms *= 2) { /* it may be preempted, or moved back at once */
        usleep(ms * 1000);
        moved = moves_within(16);
    }
    assert_true(moved);
    assert_is_free();
}

static void test_moves_ever_more_rarely(void **state)
{
    (void)state;
    int moved = 0;
    if (CPU_COUNT(&all) < 2)
        skip();
    for (int tries = 0; tries < 5 && moved < 2; tries++) { /* on a busy machine it may be moved back at once */
        moved = 0;
        os_apart_allow(2, 2);
        for (uint64_t end = os_now_ns() + (uint64_t)500 * MS; os_now_ns() < end;)
            moved += moves_within(1);
    }
    assert_in_range(moved, 2, 100); /* after 2, 4, 8 ... ms: 8, and those of the system */
    assert_is_free();
}

/* How often of TRIES the thread leaves its processor, where another thread works on it, or on the next. */
static int leaves(int ranks, bool other)
{
    int left = 0;
    os_apart_allow(ranks, 2);
    for (int i = 0; i < TRIES; i++) {
        int here = sched_getcpu();
        os_apart_leave(here + other);
        left += sched_getcpu() != here;
    }
    return left;
}

static void test_leaves_one_that_works_on(void **state)
{
    (void)state;
    if (CPU_COUNT(&all) < 2)
        skip();
    assert_true(leaves(1, false) > TRIES / 2);
    assert_true(leaves(1, true) <= TRIES / 4);  /* that one is elsewhere */
    assert_true(leaves(2, false) <= TRIES / 4); /* no processor is spare */
    assert_is_free();
}

static void test_stays_where_bound(void **state)
{
    (void)state;
    cpu_set_t one, now;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    os_apart_allow(2, 2);
    for (uint64_t end = os_now_ns() + (uint64_t)20 * MS; os_now_ns() < end;)
        os_apart_shared();
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_true(CPU_EQUAL(&now, &one));
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_moves_ever_more_rarely),
        cmocka_unit_test(test_leaves_one_that_works_on),
        cmocka_unit_test(test_stays_where_bound),
    };
    if (sched_getaffinity(0, sizeof(all), &all))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
