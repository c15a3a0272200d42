/* SPDX-License-Identifier: BSD-3-Clause */

/* A copy for another processor: every byte, and none beside it, at any address and of any length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/memory/copy.h"

enum {
    LONG = 400,
    ROOM = 6000
};

static unsigned char from[ROOM], to[ROOM], due[ROOM];

static void check(size_t at, size_t len)
{
    memset(to, 0, ROOM);
    memset(due, 0, ROOM);
    memcpy(due + 64 + at, from + at / 3, len);
    os_copy_over(to + 64 + at, from + at / 3, len);
    assert_memory_equal(to, due, ROOM);
}

static void test_all_bytes(void **state)
{
    static const size_t longer[] = {1023, 1024, 1025, 2049, 4096, 5121};
    (void)state;
    for (int i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + i / 256 + 1);
    for (size_t at = 0; at <= 64; at++) {
        for (size_t len = 0; len <= LONG; len++)
            check(at, len);
        for (size_t i = 0; i < sizeof(longer) / sizeof(*longer); i++)
            check(at, longer[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
