/* SPDX-License-Identifier: BSD-3-Clause */

/* Pools: objects that are apart, aligned, zeroed at first and kept later, few or many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "os/memory/pool.h"

enum { MANY = 50000, FIRST = 16 };

static int by_address(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* size: as asked for; stride: as it must come out. */
static void check_many(size_t size, size_t stride)
{
    static char *object[MANY];
    struct os_pool pool;
    os_pool_init(&pool, size, FIRST);
    for (int i = 0; i < MANY; i++) {
        object[i] = os_pool_get(&pool);
        assert_non_null(object[i]);
        assert_int_equal((uintptr_t)object[i] % 64, 0);
        for (size_t at = 0; at < stride; at++)
            assert_int_equal(object[i][at], 0);
        memset(object[i], i | 1, stride);
    }
    for (int i = 0; i < MANY; i++)
        assert_true(object[i][0] == (char)(i | 1) && object[i][stride - 1] == (char)(i | 1));
    qsort(object, MANY, sizeof(object[0]), by_address);
    for (int i = 1; i < MANY; i++)
        assert_true(object[i] - object[i - 1] >= (ptrdiff_t)stride);
    for (int i = 0; i < MANY; i++)
        os_pool_put(&pool, object[i]);
    os_pool_fini(&pool);
}

static void test_many(void **state)
{
    (void)state;
    check_many(1, 64);
    check_many(64, 64);
    check_many(200, 256);
}

static void test_reuse(void **state)
{
    (void)state;
    struct os_pool pool;
    os_pool_init(&pool, 128, FIRST);
    char *first = os_pool_get(&pool), *second = os_pool_get(&pool);
    memset(first, 1, 128);
    memset(second, 2, 128);
    os_pool_put(&pool, first);
    os_pool_put(&pool, second);
    assert_ptr_equal(os_pool_get(&pool), second);
    assert_ptr_equal(os_pool_get(&pool), first);
    assert_int_equal(first[127], 1); /* but for its first word, as it was */
    assert_int_equal(second[8], 2);
    os_pool_fini(&pool);
    os_pool_fini(&(struct os_pool){0});
}

/* Larger than any slab would grow to. */
static void test_large(void **state)
{
    (void)state;
    struct os_pool pool;
    size_t size = (size_t)3 << 20;
    os_pool_init(&pool, size, 1);
    char *first = os_pool_get(&pool), *second = os_pool_get(&pool);
    assert_true(first && second);
    memset(first, 1, size);
    memset(second, 2, size);
    assert_int_equal(first[size - 1], 1);
    os_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
