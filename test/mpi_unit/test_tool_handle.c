/* SPDX-License-Identifier: BSD-3-Clause */

/* Handles of the tool interface: each leads to its own object as long as it is one, as of its own
 * kind; freed ones never come back; nothing else leads anywhere; from many threads too. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mpi/tool/tool_handle.h"

enum {
    MOST = 3000,
    STEPS = 200000,
    KINDS = 4,
    THREADS = 4
};

static bool leads_nowhere(const void *handle)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (tool_handle_find(handle, (enum tool_handle_kind)kind))
            return false;
    return true;
}

struct one {
    void *handle, *was; /* was: before it was dropped */
    enum tool_handle_kind kind;
};

/* One's own, while others have theirs. Returns how many things were wrong. */
static int play(struct one *all, unsigned seed)
{
    int wrong = 0;
    for (int step = 0; step < STEPS; step++) {
        struct one *one = &all[(unsigned)rand_r(&seed) % MOST];
        if (one->handle) {
            for (int kind = 0; kind < KINDS; kind++)
                wrong += tool_handle_find(one->handle, (enum tool_handle_kind)kind) !=
                         (kind == (int)one->kind ? one : NULL);
            wrong += one->was && !leads_nowhere(one->was);
        }
        if (one->handle && rand_r(&seed) % 2) {
            tool_handle_drop(one->handle);
            wrong += !leads_nowhere(one->handle);
            tool_handle_drop(one->handle); /* changes nothing */
            one->was = one->handle;
            one->handle = NULL;
        } else if (!one->handle) {
            one->kind = (enum tool_handle_kind)(rand_r(&seed) % KINDS);
            one->handle = tool_handle_make(one->kind, one);
            wrong += !one->handle || one->handle == one->was;
        }
    }
    for (int i = 0; i < MOST; i++)
        if (all[i].handle)
            tool_handle_drop(all[i].handle);
    return wrong;
}

static void test_random(void **state)
{
    static struct one all[MOST];
    (void)state;
    assert_int_equal(play(all, 7), 0);
}

static void *play_beside(void *arg)
{
    static struct one all[THREADS][MOST];
    int number = *(int *)arg;
    *(int *)arg = play(all[number], (unsigned)number);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, play_beside, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(numbers[i], 0);
    }
}

/* Each bit of a good handle matters, and numbers near a constant of the ABI are none. */
static void test_others(void **state)
{
    int object;
    void *handle = tool_handle_make(TOOL_PVAR, &object);
    (void)state;
    assert_true((uintptr_t)handle > 0x1000);
    assert_ptr_equal(tool_handle_find(handle, TOOL_PVAR), &object);
    for (unsigned bit = 0; bit < 8 * sizeof(handle); bit++) {
        void *other = (void *)((uintptr_t)handle ^ (uintptr_t)1 << bit);
        assert_true(leads_nowhere(other));
        tool_handle_drop(other);
    }
    for (uintptr_t number = 0; number < 0x2000; number++)
        assert_true(leads_nowhere((void *)number) && leads_nowhere((void *)~number));
    assert_ptr_equal(tool_handle_find(handle, TOOL_PVAR), &object);
    tool_handle_drop(handle);
    assert_true(leads_nowhere(handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
