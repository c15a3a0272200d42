/* SPDX-License-Identifier: BSD-3-Clause */

/* A number counts once, in whatever order numbers come. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/heard.h"
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

static void each_sender_has_its_numbers(void **state)
{
    struct os_heard heard = {0};
    for (uint32_t round = 1; round <= 3; round++)
        for (uint32_t i = 0; i < 100; i++) {
            uint8_t group[16] = {(uint8_t)(i % 3)};
            const struct os_heard_sender sender = os_heard_sender(group, i * 31 % 100);
            assert_int_equal(os_heard_take(&heard, &sender, round), 0);
            assert_int_equal(os_heard_take(&heard, &sender, round), -EPROTO);
        }
    assert_int_equal(heard.count, 100);
    os_heard_fini(&heard);
    assert_int_equal(heard.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_counts_once),
        cmocka_unit_test(each_sender_has_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
