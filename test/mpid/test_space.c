/* SPDX-License-Identifier: BSD-3-Clause */

/* Space that modules reserve in objects of other layers: in order, aligned, and in time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "include/mpid.h"

static void test_offsets(void **state)
{
    (void)state;
    mpid_space_open(MPID_SPACE_COMM, 13);
    int one = mpid_space_reserve(MPID_SPACE_COMM, 1, 1);
    int two = mpid_space_reserve(MPID_SPACE_COMM, 24, 8);
    int line = mpid_space_reserve(MPID_SPACE_COMM, 64, 64);
    int none = mpid_space_reserve(MPID_SPACE_COMM, 0, 1);
    assert_int_equal(one, 13);
    assert_int_equal(two, 16);
    assert_int_equal(line, 64);
    assert_int_equal(none, 128);
    assert_int_equal(mpid_space_seal(MPID_SPACE_COMM), 128);
}

static void test_in_time(void **state)
{
    (void)state;
    assert_int_equal(mpid_space_reserve(MPID_SPACE_VC, 8, 8), -ENOSPC); /* no maker yet */
    mpid_space_open(MPID_SPACE_VC, 100);
    assert_int_equal(mpid_space_reserve(MPID_SPACE_VC, 8, 8), 104);
    assert_int_equal(mpid_space_seal(MPID_SPACE_VC), 112);
    assert_int_equal(mpid_space_reserve(MPID_SPACE_VC, 8, 8), -ENOSPC);
    assert_int_equal(mpid_space_seal(MPID_SPACE_VC), 112);
    mpid_space_open(MPID_SPACE_VC, 40); /* the device begins anew */
    assert_int_equal(mpid_space_reserve(MPID_SPACE_VC, 8, 8), 40);
}

static void test_kinds_apart(void **state)
{
    (void)state;
    mpid_space_open(MPID_SPACE_REQUEST, 10);
    mpid_space_open(MPID_SPACE_REGION, 20);
    assert_int_equal(mpid_space_seal(MPID_SPACE_REQUEST), 10);
    assert_int_equal(mpid_space_reserve(MPID_SPACE_REQUEST, 1, 1), -ENOSPC);
    assert_int_equal(mpid_space_reserve(MPID_SPACE_REGION, 1, 1), 20);
}

static void test_alignments(void **state)
{
    (void)state;
    mpid_space_open(MPID_SPACE_REGION, 20);
    assert_int_equal(mpid_space_reserve(MPID_SPACE_REGION, 8, 0), -EINVAL);
    assert_int_equal(mpid_space_reserve(MPID_SPACE_REGION, 8, 24), -EINVAL);
    assert_int_equal(mpid_space_reserve(MPID_SPACE_REGION, 8, 128), -EINVAL);
    assert_int_equal(mpid_space_seal(MPID_SPACE_REGION), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_in_time),
        cmocka_unit_test(test_kinds_apart),
        cmocka_unit_test(test_alignments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
