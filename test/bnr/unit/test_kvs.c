/* SPDX-License-Identifier: BSD-3-Clause */

/* The log engine: what is put is found, and no bytes of a peer lead a reader astray. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/host/kvs.h"

enum { SIZE = 1024 };

static _Alignas(8) uint8_t memory[SIZE];
static _Atomic uint64_t used;
static const struct kvs log_ = {memory, SIZE, &used};

static int reset(void **state)
{
    memset(memory, 0, sizeof(memory));
    used = 0;
    return 0;
}

static void a_key_is_found_and_a_missing_one_is_absent(void **state)
{
    const void *value;
    size_t len;
    assert_int_equal(kvs_get(&log_, "a", &value, &len), KVS_ABSENT);
    assert_int_equal(kvs_put(&log_, "a", "one", 3, 0), 0);
    assert_int_equal(kvs_put(&log_, "ab", "", 0, 0), 0);
    assert_int_equal(kvs_get(&log_, "a", &value, &len), 0);
    assert_int_equal(len, 3);
    assert_memory_equal(value, "one", 3);
    assert_int_equal(kvs_get(&log_, "ab", &value, &len), 0);
    assert_int_equal(len, 0);
    assert_int_equal(kvs_get(&log_, "abc", &value, &len), KVS_ABSENT);
}

static void a_second_put_needs_replace(void **state)
{
    const void *value;
    size_t len;
    assert_int_equal(kvs_put(&log_, "k", "old", 3, 0), 0);
    assert_int_equal(kvs_put(&log_, "k", "new", 3, 0), KVS_EXISTS);
    assert_int_equal(kvs_put(&log_, "k", "newer", 5, 1), 0);
    assert_int_equal(kvs_get(&log_, "k", &value, &len), 0);
    assert_memory_equal(value, "newer", 5);
}

static void a_full_log_refuses_and_keeps_what_it_has(void **state)
{
    char key[16];
    const void *value;
    size_t len;
    int rc = 0, count = 0;
    while (!rc) {
        key[0] = (char)('a' + count % 26);
        key[1] = (char)('a' + count / 26);
        key[2] = 0;
        rc = kvs_put(&log_, key, "0123456789", 10, 0);
        count += !rc;
    }
    assert_int_equal(rc, KVS_FULL);
    assert_int_equal(count, SIZE / 24);
    assert_int_equal(kvs_put(&log_, "zz", NULL, (size_t)1 << 40, 0), KVS_FULL);
    assert_int_equal(kvs_get(&log_, "aa", &value, &len), 0);
    assert_int_equal(len, 10);
}

static void damaged_logs_are_refused(void **state)
{
    const struct {
        uint32_t key_len, value_len;
        uint64_t used;
    } rows[] = {
        {1, 0xffffffffu, 16},          /* a value beyond the watermark */
        {0xffffffffu, 0xffffffffu, 16}, /* lengths whose sum wraps 32 bits */
        {0, 8, 16},                    /* an empty key */
        {1, 1, SIZE + 8},              /* a watermark beyond the log */
        {1, 1, 12},                    /* one that is not aligned */
        {1, 1, UINT64_MAX - 7},
    };
    const void *value;
    size_t len;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t head[2] = {rows[i].key_len, rows[i].value_len};
        memcpy(memory, head, sizeof(head));
        used = rows[i].used;
        assert_int_equal(kvs_get(&log_, "k", &value, &len), -EPROTO);
        assert_int_equal(kvs_put(&log_, "k", "v", 1, 0), -EPROTO);
    }
}

static void random_bytes_never_lead_out_of_the_log(void **state)
{
    uint8_t *exact = malloc(256); /* of its own, so that a sanitizer sees a step outside */
    struct kvs small = {exact, 256, &used};
    srandom(7);
    for (int turn = 0; turn < 20000; turn++) {
        for (int i = 0; i < 256; i++)
            exact[i] = (uint8_t)(random() % 8 ? 0 : random());
        used = (uint64_t)random() % 33 * 8;
        const void *value = exact;
        size_t len = 0;
        if (!kvs_get(&small, "\1", &value, &len))
            assert_true((const uint8_t *)value >= exact &&
                        (const uint8_t *)value + len <= exact + 256);
    }
    free(exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_key_is_found_and_a_missing_one_is_absent, reset),
        cmocka_unit_test_setup(a_second_put_needs_replace, reset),
        cmocka_unit_test_setup(a_full_log_refuses_and_keeps_what_it_has, reset),
        cmocka_unit_test_setup(damaged_logs_are_refused, reset),
        cmocka_unit_test_setup(random_bytes_never_lead_out_of_the_log, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
