/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of requests: each finds its own, and none but its own, also after reuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "include/mpid.h"
#include "mpid/ground/ids.h"

enum {
    MANY = 5000,
    GENERATIONS = 256
};

static struct mpid_request requests[MANY];

static void test_each_its_own(void **state)
{
    (void)state;
    struct ids ids = {0};
    static uint32_t id[MANY];
    for (int i = 0; i < MANY; i++) {
        id[i] = ids_new(&ids, &requests[i]);
        assert_true(id[i] != 0);
    }
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(ids_find(&ids, id[i]), &requests[i]);
    for (int i = 0; i < MANY; i += 2)
        ids_drop(&ids, id[i]);
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(ids_find(&ids, id[i]), i % 2 ? &requests[i] : NULL);
    for (int i = 0; i < MANY; i += 2) { /* the free ones are reused, under other names */
        uint32_t again = ids_new(&ids, &requests[i]);
        assert_true(again != 0 && ids.count >= MANY && ids.count < 4 * MANY);
        assert_ptr_equal(ids_find(&ids, again), &requests[i]);
    }
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(ids_find(&ids, id[i]), i % 2 ? &requests[i] : NULL);
    ids_fini(&ids);
}

/* An old name finds nothing until its place has been used 256 times. */
static void test_generations(void **state)
{
    (void)state;
    struct ids ids = {0};
    uint32_t first = ids_new(&ids, &requests[0]), id = first;
    for (int i = 1; i < GENERATIONS; i++) {
        ids_drop(&ids, id);
        assert_null(ids_find(&ids, id));
        id = ids_new(&ids, &requests[i]);
        assert_true(id != first);
        assert_null(ids_find(&ids, first));
        assert_ptr_equal(ids_find(&ids, id), &requests[i]);
        ids_drop(&ids, first); /* stale: nothing happens */
        assert_ptr_equal(ids_find(&ids, id), &requests[i]);
    }
    ids_fini(&ids);
}

static void test_forged(void **state)
{
    (void)state;
    struct ids ids = {0};
    assert_null(ids_find(&ids, 0));
    assert_null(ids_find(&ids, 1));
    assert_null(ids_find(&ids, UINT32_MAX));
    ids_drop(&ids, 0);
    ids_drop(&ids, 77);
    uint32_t id = ids_new(&ids, &requests[0]);
    uint64_t seed = 1;
    int found = 0;
    for (int i = 0; i < 1000000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t guess = (uint32_t)(seed >> 32);
        found += guess != id && ids_find(&ids, guess) != NULL;
    }
    assert_int_equal(found, 0);
    ids_drop(&ids, id);
    ids_drop(&ids, id);
    assert_true(ids_new(&ids, &requests[1]) != ids_new(&ids, &requests[2]));
    ids_fini(&ids);
}

/* As many as the header says, and one more only when one is given back. */
static void test_all_names(void **state)
{
    (void)state;
    struct ids ids = {0};
    uint32_t last = 0, count = 0;
    for (uint32_t id; count <= IDS_MAX && (id = ids_new(&ids, &requests[0])); count++)
        last = id;
    assert_int_equal(count, IDS_MAX);
    assert_int_equal(ids_new(&ids, &requests[1]), 0);
    assert_ptr_equal(ids_find(&ids, last), &requests[0]);
    ids_drop(&ids, last);
    uint32_t again = ids_new(&ids, &requests[2]);
    assert_true(again != 0 && again != last);
    assert_ptr_equal(ids_find(&ids, again), &requests[2]);
    assert_int_equal(ids_new(&ids, &requests[1]), 0);
    ids_fini(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_its_own),
                                       cmocka_unit_test(test_generations),
                                       cmocka_unit_test(test_forged),
                                       cmocka_unit_test(test_all_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
