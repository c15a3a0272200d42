/* SPDX-License-Identifier: BSD-3-Clause */

/* A copy for another processor: every byte, and none beside it, at any address and of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/copy.h"

enum { LONGEST = 400, ROOM = LONGEST + 3 * 64 };

static void test_all_bytes(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char from[ROOM], to[ROOM], due[ROOM];
    for (int i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + 1);
    for (size_t at = 0; at <= 64; at++) {
        for (size_t len = 0; len <= LONGEST; len++) {
            memset(to, 0, ROOM);
            memset(due, 0, ROOM);
            memcpy(due + 64 + at, from + at / 3, len);
            os_copy_past(to + 64 + at, from + at / 3, len);
            assert_memory_equal(to, due, ROOM);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
