/* SPDX-License-Identifier: BSD-3-Clause */

/* Sleeping on several words: any of them wakes, none is missed, and time passes. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/clock.h"
#include "os/futex.h"

enum { MS = 1000000, LONG_NS = 2000 * MS, WORDS = 3, ROUNDS = 30 };

static _Atomic uint32_t words[WORDS];

static void *change_later(void *arg)
{
    _Atomic uint32_t *word = arg;
    usleep(2000);
    atomic_fetch_add(word, 1);
    os_futex_wake(word, 1);
    return NULL;
}

static void look(struct os_futex_seen seen[WORDS])
{
    for (int i = 0; i < WORDS; i++)
        seen[i] = (struct os_futex_seen){&words[i], atomic_load(&words[i])};
}

static void test_any_word_wakes(void **state)
{
    struct os_futex_seen seen[WORDS];
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        _Atomic uint32_t *word = &words[i % WORDS];
        pthread_t thread;
        look(seen);
        uint32_t before = atomic_load(word);
        assert_int_equal(pthread_create(&thread, NULL, change_later, word), 0);
        uint64_t began = os_now_ns();
        while (atomic_load(word) == before) { /* an old kernel looks at times */
            (void)os_futex_wait_any(seen, WORDS, LONG_NS);
            assert_true(os_now_ns() - began < LONG_NS);
        }
        pthread_join(thread, NULL);
    }
}

static void test_changed_before(void **state)
{
    struct os_futex_seen seen[WORDS];
    (void)state;
    look(seen);
    atomic_fetch_add(&words[WORDS - 1], 1);
    uint64_t began = os_now_ns();
    (void)os_futex_wait_any(seen, WORDS, LONG_NS);
    assert_true(os_now_ns() - began < LONG_NS);
}

static void test_time_passes(void **state)
{
    struct os_futex_seen seen[WORDS];
    (void)state;
    look(seen);
    int rc = os_futex_wait_any(seen, WORDS, 3 * MS);
    assert_true(rc == -ETIMEDOUT || rc == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_word_wakes),
                                       cmocka_unit_test(test_changed_before),
                                       cmocka_unit_test(test_time_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
