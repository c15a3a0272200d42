/* SPDX-License-Identifier: BSD-3-Clause */

/* Room: random parts taken and given back, against a map of each grain. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mpid/memory/region_room.h"

enum { GRAINS = 200, PARTS = 50, STEPS = 20000, SEEDS = 20 };

/* The first run of free grains that is long enough, or GRAINS. */
static int first_free(const bool *taken, int count)
{
    for (int at = 0; at + count <= GRAINS; at++) {
        int free_count = 0;
        while (free_count < count && !taken[at + free_count])
            free_count++;
        if (free_count == count)
            return at;
    }
    return GRAINS;
}

static void run(unsigned seed)
{
    struct region_room room = {.size = (uint64_t)GRAINS * REGION_GRAIN};
    bool taken[GRAINS] = {false};
    int at[PARTS], count[PARTS] = {0};
    srandom(seed);
    for (int step = 0; step < STEPS; step++) {
        int i = (int)(random() % PARTS);
        uint64_t where = 1;
        if (count[i]) {
            region_room_give(&room, (uint64_t)at[i] * REGION_GRAIN);
            for (int g = 0; g < count[i]; g++)
                taken[at[i] + g] = false;
            count[i] = 0;
            continue;
        }
        uint64_t size = 1 + (uint64_t)random() % (20 * REGION_GRAIN);
        int grains = (int)((size + REGION_GRAIN - 1) / REGION_GRAIN);
        int expected = first_free(taken, grains);
        int rc = region_room_take(&room, size, &where);
        assert_int_equal(rc, expected < GRAINS ? 0 : -ENOSPC);
        if (rc)
            continue;
        assert_int_equal(where, (uint64_t)expected * REGION_GRAIN);
        at[i] = expected;
        count[i] = grains;
        for (int g = 0; g < grains; g++)
            taken[expected + g] = true;
    }
    region_room_fini(&room);
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++)
        run(seed);
}

static void test_limits(void **state)
{
    struct region_room room = {.size = 3 * REGION_GRAIN};
    uint64_t at;
    (void)state;
    assert_int_equal(region_room_take(&room, 0, &at), -ENOSPC);
    assert_int_equal(region_room_take(&room, 3 * REGION_GRAIN + 1, &at), -ENOSPC);
    assert_int_equal(region_room_take(&room, UINT64_MAX, &at), -ENOSPC);
    assert_int_equal(region_room_take(&room, 3 * REGION_GRAIN, &at), 0);
    assert_int_equal(region_room_take(&room, 1, &at), -ENOSPC);
    region_room_give(&room, REGION_GRAIN); /* no part begins there */
    assert_int_equal(region_room_take(&room, 1, &at), -ENOSPC);
    region_room_give(&room, 0);
    assert_int_equal(region_room_take(&room, 1, &at), 0);
    assert_int_equal(at, 0);
    region_room_fini(&room);
    room.size = 0;
    assert_int_equal(region_room_take(&room, 1, &at), -ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
