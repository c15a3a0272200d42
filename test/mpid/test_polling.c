/* SPDX-License-Identifier: BSD-3-Clause */

/* When polls that find nothing yield, and when they sleep: by a clock that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpid/wait/polling.h"
#include "os/settings.h"

enum {
    US = 1000,
    MS = 1000 * US,
    ALONE_NS = 500,       /* a yield that lets nobody run */
    POLLED_NS = 5 * US,   /* one that lets others poll */
    COMPUTED_NS = 3 * MS, /* one that lets another compute */
    POLL_NS = 100
};

/* What so many polls have come to. */
struct outcome {
    int yields, sleeps, steps;
};

static uint64_t now_ns;

/* So many vain polls, with so much work of the program between them; each yield takes so long. */
static struct outcome polls(struct polling *p, int count, uint64_t work_ns, uint64_t yield_ns)
{
    struct outcome outcome = {0};
    for (int i = 0; i < count; i++) {
        now_ns += POLL_NS + work_ns;
        if (--p->left > 0)
            continue;
        outcome.steps++;
        if (!polling_yields(p, now_ns))
            continue;
        now_ns += yield_ns;
        outcome.yields++;
        outcome.sleeps += polling_yielded(p, now_ns, yield_ns);
    }
    return outcome;
}

static struct polling begin(int ranks, int cpus)
{
    now_ns = 1000 * (uint64_t)MS;
    polling_init(ranks, cpus);
    return polling;
}

/* Polls of a process with a processor of its own count, and little else. */
static void test_alone(void **state)
{
    (void)state;
    struct polling p = begin(2, 4);
    uint64_t began_ns = now_ns;
    struct outcome outcome = polls(&p, 1000000, 0, ALONE_NS);
    assert_true(outcome.yields > 0 && outcome.yields < 400);
    assert_true(outcome.steps <= 1000000 / 16 + 1);
    assert_int_equal(outcome.sleeps, 0);
    assert_true(now_ns - began_ns < 1000000ull * POLL_NS / 100 * 101);
}

/* It finds out by itself that it shares its processor, and that it does no more. */
static void test_changes(void **state)
{
    (void)state;
    struct polling p = begin(2, 4);
    (void)polls(&p, 100000, 0, ALONE_NS);
    struct outcome outcome = polls(&p, 10000, 0, POLLED_NS);
    assert_true(outcome.yields > 5000);
    outcome = polls(&p, 1000000, 0, ALONE_NS);
    assert_true(outcome.yields < 400);
}

/* Where ranks outnumber processors the first vain poll yields. */
static void test_outnumbered(void **state)
{
    (void)state;
    struct polling p = begin(5, 4);
    assert_int_equal(polls(&p, 1, 0, POLLED_NS).yields, 1);
    assert_int_equal(polls(&p, 100, 0, POLLED_NS).yields, 100);
    p = begin(5, 4);
    assert_true(polls(&p, 1000000, 0, ALONE_NS).yields < 400);
}

/* Where all poll it sleeps, after a while; not where another computes, or the program itself. */
static void test_sleeps(void **state)
{
    (void)state;
    struct polling p = begin(5, 4);
    assert_int_equal(polls(&p, 10, 0, POLLED_NS).sleeps, 0);
    assert_true(polls(&p, 100, 0, POLLED_NS).sleeps > 80);
    assert_int_equal(polls(&p, 100, 0, COMPUTED_NS).sleeps, 0);
    assert_int_equal(polls(&p, 1000, 10 * US, POLLED_NS).sleeps, 0);
}

/* A program that works between its polls gets on beside one that computes. */
static void test_works(void **state)
{
    (void)state;
    struct polling p = begin(5, 4);
    (void)polls(&p, 100, 0, COMPUTED_NS);
    uint64_t began_ns = now_ns, work_ns = 50 * (uint64_t)US;
    struct outcome outcome = polls(&p, 1000, work_ns, COMPUTED_NS);
    assert_true(outcome.yields > 10);
    assert_true(1000 * work_ns * 6 > now_ns - began_ns);
}

/* Polls of a process whose yields let nobody run, though others take the processor for taken_ns after each ran_ns of
 * its own. Returns the sleeps. */
static int deaf_polls(struct polling *p, int count, uint64_t ran_ns, uint64_t taken_ns, bool sleeps)
{
    static struct polling_use use;
    uint64_t had_ns = 0;
    int slept = 0;
    for (int i = 0; i < count; i++) {
        now_ns += POLL_NS + ALONE_NS;
        had_ns += POLL_NS + ALONE_NS;
        use.ran_ns += POLL_NS + ALONE_NS;
        if (taken_ns && had_ns >= ran_ns) {
            had_ns = 0;
            now_ns += taken_ns;
            use.preempted += !sleeps;
            use.slept += sleeps;
        }
        if (--p->left > 0 || !polling_yields(p, now_ns))
            continue;
        polling_compare(p, now_ns, &use);
        if (polling_yielded(p, now_ns, ALONE_NS)) {
            p->looked_ns = now_ns += 100 * US;
            use.slept++;
            had_ns = 0; /* others have run */
            slept++;
        }
    }
    return slept;
}

/* Where the kernel parts ranks, yields let none run: it sleeps. */
static void test_deaf(void **state)
{
    (void)state;
    for (int cpus = 1; cpus <= 4; cpus += 3) {
        struct polling p = begin(2, cpus);
        assert_true(deaf_polls(&p, 20000, 3 * MS, 3 * MS, false) > 1000);
        p = begin(2, cpus);
        assert_int_equal(deaf_polls(&p, 200000, 0, 0, false), 0);                  /* alone */
        assert_int_equal(deaf_polls(&p, 200000, 10 * MS, 50 * US, false), 0);      /* short work of the system */
        assert_int_equal(deaf_polls(&p, 200000, 3 * MS, 3 * MS, true), 0);         /* it slept for something else */
        assert_int_equal(polls(&p, 1000, 10 * US, ALONE_NS).sleeps, 0);
    }
}

/* It hears that yields work again. */
static void test_hears_again(void **state)
{
    (void)state;
    struct polling p = begin(5, 4);
    assert_true(deaf_polls(&p, 20000, 3 * MS, 3 * MS, false) > 1000);
    now_ns += 2000 * (uint64_t)MS;
    assert_int_equal(deaf_polls(&p, 100000, 0, 0, false), 0);
    assert_true(polls(&p, 10000, 0, POLLED_NS).yields > 5000);
}

/* Who wants no yields gets none. */
static void test_never(void **state)
{
    (void)state;
    assert_int_equal(os_setting_put(OS_SETTING_YIELDS, "0"), 0);
    struct polling p = begin(5, 4);
    assert_int_equal(polls(&p, 100000, 0, POLLED_NS).yields, 0);
}

int main(void)
{
    char why[256];
    if (os_settings_load(why, sizeof(why)))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone), cmocka_unit_test(test_changes), cmocka_unit_test(test_outnumbered),
        cmocka_unit_test(test_sleeps), cmocka_unit_test(test_works), cmocka_unit_test(test_deaf),
        cmocka_unit_test(test_hears_again), cmocka_unit_test(test_never), /* the setting stays */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
