/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers of handles, which threads ask for at once: a handle has one, whoever asks, and leads
 * back. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpi/handle.h"

enum {
    THREADS = 4,
    MANY = 60000
};

static int numbers[THREADS][MANY];
static pthread_barrier_t barrier;

/* No object is there: a handle is not looked at. */
static void *handle_of(int i)
{
    return (void *)(uintptr_t)(0x100000 + (uintptr_t)i * 16);
}

/* All begin at once, and ask for the same ones in nearly the same order. */
static void *ask(void *arg)
{
    int me = *(int *)arg;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < MANY; i++) {
        int which = i ^ me;
        numbers[me][which] = handle_number(handle_of(which));
        if (handle_of_number(numbers[me][which]) != handle_of(which))
            numbers[me][which] = -1;
    }
    return NULL;
}

static void test_threads(void **state)
{
    static unsigned char seen[HANDLE_CONSTANT_MAX + MANY];
    pthread_t ids[THREADS];
    int who[THREADS];
    (void)state;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        who[i] = i;
        assert_int_equal(pthread_create(&ids[i], NULL, ask, &who[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(ids[i], NULL), 0);
    for (int i = 0; i < MANY; i++) {
        int number = numbers[0][i];
        assert_true(number >= HANDLE_CONSTANT_MAX && number < HANDLE_CONSTANT_MAX + MANY);
        assert_false(seen[number]++);
        for (int k = 1; k < THREADS; k++)
            assert_int_equal(numbers[k][i], number);
    }
}

static void test_none(void **state)
{
    (void)state;
    assert_int_equal(handle_number((void *)0x101), 0x101);
    assert_ptr_equal(handle_of_number(0x101), (void *)0x101);
    assert_null(handle_of_number(-1));
    assert_null(handle_of_number(INT32_MAX));
    assert_null(handle_of_number(INT32_MIN));
    assert_null(handle_of_number(HANDLE_CONSTANT_MAX + MANY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
