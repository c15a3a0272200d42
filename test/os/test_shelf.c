/* SPDX-License-Identifier: BSD-3-Clause */

/* The shelf: elements are apart, zero at first, and stay where they are; read while it grows. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/memory/shelf.h"

enum {
    MANY = 100000,
    READERS = 3
};

struct element {
    uint32_t number;
    _Atomic uint32_t value;
    uint32_t more;
};

static void test_elements(void **state)
{
    (void)state;
    struct os_shelf shelf = {.size = sizeof(struct element)};
    struct element *kept[100];
    assert_null(os_shelf_at(&shelf, 0));
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(os_shelf_reach(&shelf, i), 0);
        struct element *e = os_shelf_at(&shelf, i);
        assert_true(e && !e->number && !e->value && !e->more);
        *e = (struct element){i, i + 1, i + 2};
        if (i < 100)
            kept[i] = e;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        const struct element *e = os_shelf_at(&shelf, i);
        assert_true(e->number == i && e->value == i + 1 && e->more == i + 2);
        assert_true(i >= 100 || e == kept[i]);
    }
    os_shelf_fini(&shelf);
    assert_null(os_shelf_at(&shelf, 0));
}

/* One far away is there at once, and all before it. */
static void test_far(void **state)
{
    (void)state;
    struct os_shelf shelf = {.size = 1};
    assert_int_equal(os_shelf_reach(&shelf, MANY), 0);
    for (uint32_t i = 0; i <= MANY; i++)
        assert_non_null(os_shelf_at(&shelf, i));
    assert_null(os_shelf_at(&shelf, 4 * MANY));
    assert_null(os_shelf_at(&shelf, INT32_MAX));
    assert_null(os_shelf_at(&shelf, UINT32_MAX));
    assert_true(os_shelf_reach(&shelf, UINT32_MAX) < 0);
    os_shelf_fini(&shelf);
}

static struct os_shelf growing = {.size = sizeof(struct element)};
static _Atomic int wrong;

static void *read_all(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < MANY;) {
        struct element *e = os_shelf_at(&growing, i);
        uint32_t value = e ? atomic_load_explicit(&e->value, memory_order_acquire) : 0;
        if (!value)
            continue;
        if (value != i + 1 || e->number != i)
            atomic_fetch_add(&wrong, 1);
        i++;
    }
    return NULL;
}

static void test_readers(void **state)
{
    (void)state;
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_all, NULL), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(os_shelf_reach(&growing, i), 0);
        struct element *e = os_shelf_at(&growing, i);
        e->number = i;
        atomic_store_explicit(&e->value, i + 1, memory_order_release);
    }
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(readers[i], NULL), 0);
    assert_int_equal(wrong, 0);
    os_shelf_fini(&growing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements), cmocka_unit_test(test_far),
                                       cmocka_unit_test(test_readers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
