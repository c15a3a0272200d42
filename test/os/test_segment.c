/* SPDX-License-Identifier: BSD-3-Clause */

/* Segments: parts of one at offsets within pages, as on a machine whose pages are larger than the parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/memory/segment.h"

enum { SIZE = 1 << 18, PART = 300 };

static void test_parts(void **state)
{
    (void)state;
    int fd = os_segment_create("test", SIZE, SIZE);
    assert_true(fd >= 0);
    unsigned char *whole = os_segment_map(fd, 0, SIZE, 1);
    assert_non_null(whole);
    for (uint64_t at = 100; at + PART <= SIZE; at += 4096 + 700) {
        unsigned char *part = os_segment_map(fd, at, PART, 1);
        assert_non_null(part);
        memset(part, 1 + (int)(at % 200), PART);
        for (int i = 0; i < PART; i++)
            assert_int_equal(whole[at + (uint64_t)i], 1 + at % 200);
        assert_int_equal(whole[at - 1], 0);
        os_segment_unmap(part, PART);
        assert_int_equal(whole[at], 1 + at % 200);
    }
    os_segment_unmap(whole, SIZE);
    close(fd);
}

/* A mapping that is left has zero bytes, and the others keep theirs. */
static void test_leave(void **state)
{
    (void)state;
    int fd = os_segment_create("test", SIZE, SIZE);
    unsigned char *whole = os_segment_map(fd, 0, SIZE, 1), *part = os_segment_map(fd, 5000, PART, 1);
    assert_true(whole && part);
    memset(whole, 7, SIZE);
    assert_int_equal(os_segment_leave(part, PART), 0);
    for (int i = 0; i < PART; i++)
        assert_int_equal(part[i], 0);
    memset(part, 9, PART);
    assert_int_equal(whole[5000], 7);
    os_segment_unmap(part, PART);
    os_segment_unmap(whole, SIZE);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
