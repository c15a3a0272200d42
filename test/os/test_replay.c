/* SPDX-License-Identifier: BSD-3-Clause */

/* A number counts once, in whatever order numbers come. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/replay.h"

static void a_number_counts_once(void **state)
{
    struct os_replay replay = {0};
    static const struct {
        uint64_t number;
        int rc;
    } rows[] = {{0, -EPROTO},    {1, 0},          {1, -EPROTO},
                {4, 0},          {3, 0},          {3, -EPROTO},
                {4, -EPROTO},    {70, 0},         {2, -EPROTO},
                {7, 0},          {6, -EPROTO},    {7, -EPROTO},
                {5000, 0},       {70, -EPROTO},   {4999, 0},
                {5000, -EPROTO}, {UINT64_MAX, 0}, {UINT64_MAX, -EPROTO}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(os_replay_take(&replay, rows[i].number), rows[i].rc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
