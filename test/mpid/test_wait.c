/* SPDX-License-Identifier: BSD-3-Clause */

/* How a wait passes its time: in which order, for how long, and what starts it anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/poll.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "mpid/wait/wait.h"
#include "os/clock.h"
#include "os/settings.h"

enum {
    PLENTY = 100000000
};

/* Steps of each kind before the first sleep; each kind comes after the one before it. */
struct steps {
    int count[3];
    uint64_t ns;
};

static struct steps run(struct wait *wait)
{
    struct steps steps = {{0}, os_now_ns()};
    enum wait_step last = WAIT_SPIN;
    for (int i = 0; i < PLENTY && last != WAIT_SLEEP; i++) {
        enum wait_step step = wait_step(wait);
        assert_true(step >= last);
        steps.count[step]++;
        last = step;
    }
    assert_int_equal(last, WAIT_SLEEP);
    steps.ns = os_now_ns() - steps.ns;
    return steps;
}

static void test_own_core(void **state)
{
    (void)state;
    struct wait wait;
    wait_init(2, 4);
    for (int i = 0; i < 3; i++) { /* each wait has its whole budget */
        uint64_t begun = os_now_ns();
        wait_begin(&wait);
        struct steps steps = run(&wait);
        assert_true(steps.count[WAIT_SPIN] > 0 && steps.count[WAIT_YIELD] > 0);
        assert_true(steps.ns < 1000000000u);
        assert_true(wait.dated && wait.since_ns >= begun && wait.since_ns - begun < 1000000000u);
        for (int j = 0; j < 100; j++) /* and from then on it sleeps */
            assert_int_equal(wait_step(&wait), WAIT_SLEEP);
    }
    wait_fini();
}

static void test_shared_core(void **state)
{
    (void)state;
    struct wait wait;
    wait_init(5, 4);
    wait_begin(&wait);
    struct steps steps = run(&wait);
    assert_int_equal(steps.count[WAIT_SPIN], 0);
    assert_true(steps.count[WAIT_YIELD] > 0 && steps.count[WAIT_YIELD] < 100);
    wait_again(&wait);
    steps = run(&wait);
    assert_int_equal(steps.count[WAIT_SPIN], 0);
    assert_true(steps.count[WAIT_YIELD] > 0);
    wait_fini();
}

/* The most spins of several waits: a wait whose processor does other work meanwhile spins less. */
static int spins_now(void)
{
    int most = 0;
    for (int i = 0; i < 50; i++) {
        struct wait wait;
        wait_begin(&wait);
        int spins = run(&wait).count[WAIT_SPIN];
        most = spins > most ? spins : most;
    }
    return most;
}

/* A thread aside sleeps at once, also after something has come; and other waits learn nothing of it. */
static void test_aside(void **state)
{
    (void)state;
    struct wait wait;
    wait_init(2, 4);
    int before = spins_now();
    wait_begin(&wait);
    wait.aside = true;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(wait_step(&wait), WAIT_SLEEP);
        wait_again(&wait);
    }
    wait_end(&wait);
    assert_true(spins_now() > before / 2);
    wait_fini();
}

/* Where a yield that lets another run brings it again and again, spinning gets shorter, but
 * never ends; where spinning brings it, it gets longer again. */
static void test_learns(void **state)
{
    (void)state;
    struct wait wait;
    wait_init(2, 4);
    int before = spins_now();
    for (int i = 0; i < 40; i++) {
        wait_begin(&wait);
        while (wait_step(&wait) == WAIT_SPIN) {
        }
        wait.handed = 1;
        wait_end(&wait);
    }
    int least = spins_now();
    assert_true(least > 0 && least < before);
    for (int i = 0; i < 40; i++) {
        wait_begin(&wait);
        (void)wait_step(&wait);
        wait_end(&wait);
    }
    assert_true(spins_now() > least);
    wait_fini();
}

/* Waits that last till they sleep; each yield let another run, or none did. */
static void wait_long(int waits, bool handed)
{
    struct wait wait;
    for (int i = 0; i < waits; i++) {
        wait_begin(&wait);
        int yields = run(&wait).count[WAIT_YIELD];
        wait.handed = handed ? (uint32_t)yields : 0;
        wait_end(&wait);
    }
}

static int yields_now(void)
{
    struct wait wait;
    wait_begin(&wait);
    return run(&wait).count[WAIT_YIELD];
}

/* Where yields let others run, waits come to yield little, and where they no longer do as much as before; that is
 * less where ranks outnumber processors. */
static void test_learns_yields(void **state)
{
    (void)state;
    int most[2], least[2];
    for (int shared = 0; shared < 2; shared++) {
        wait_init(shared ? 5 : 2, 4);
        most[shared] = yields_now();
        wait_long(20, true);
        least[shared] = yields_now();
        wait_long(20, false);
        assert_int_equal(yields_now(), most[shared]);
        wait_fini();
    }
    assert_true(most[1] < most[0] && least[1] < most[1]);
    assert_int_equal(least[0], least[1]);
}

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

static void test_self(void **state)
{
    (void)state;
    wait_init(2, 4);
    assert_int_equal(wait_self_fd(), -1);
    wait_self_ring();
    wait_self_drain();
    wait_fini();
    wait_init(2, 4);
    wait_share();
    assert_true(wait_self_fd() >= 0 && !is_readable(wait_self_fd()));
    wait_self_ring();
    wait_self_ring();
    assert_true(is_readable(wait_self_fd()));
    wait_self_drain();
    assert_true(!is_readable(wait_self_fd()));
    wait_fini();
    assert_int_equal(wait_self_fd(), -1);
}

/* Where no descriptor can be had, that is known. */
static void test_deaf(void **state)
{
    (void)state;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    wait_init(2, 4);
    assert_false(wait_is_deaf());
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    wait_share();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(wait_is_deaf());
    assert_int_equal(wait_self_fd(), -1);
    wait_self_ring();
    wait_share();
    assert_true(!wait_is_deaf() && wait_self_fd() >= 0);
    wait_fini();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_core),
                                       cmocka_unit_test(test_shared_core),
                                       cmocka_unit_test(test_aside),
                                       cmocka_unit_test(test_learns),
                                       cmocka_unit_test(test_learns_yields),
                                       cmocka_unit_test(test_self),
                                       cmocka_unit_test(test_deaf)};
    char why[256];
    if (os_settings_load(why, sizeof(why)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
