/* SPDX-License-Identifier: BSD-3-Clause */

/* Zeroed memory is zero at every size, and takes room once it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/memory/zeroes.h"

static void all_of_it_is_zero_again_and_again(void **state)
{
    static const size_t sizes[] = {0, 1, 8, 4095, 4096, 4097, 100000};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            unsigned char *memory = os_zeroes_get(sizes[i]);
            assert_non_null(memory);
            for (size_t at = 0; at < sizes[i]; at++)
                assert_int_equal(memory[at], 0);
            memset(memory, 0xff, sizes[i]);
            os_zeroes_put(memory, sizes[i]);
        }
    os_zeroes_put(NULL, 8);
    os_zeroes_put(NULL, 8192);
    assert_null(os_zeroes_get(SIZE_MAX / 2));
}

static void a_page_takes_room_once_it_is_written(void **state)
{
    enum { PAGES = 64, WRITTEN = 40 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char there[PAGES], *memory = os_zeroes_get(PAGES * page);
    assert_non_null(memory);
    memory[WRITTEN * page + 1] = 1;
    assert_int_equal(mincore(memory, PAGES * page, there), 0);
    for (int i = 0; i < PAGES; i++)
        assert_int_equal(there[i] & 1, i == WRITTEN);
    os_zeroes_put(memory, PAGES * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_zero_again_and_again),
        cmocka_unit_test(a_page_takes_room_once_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
