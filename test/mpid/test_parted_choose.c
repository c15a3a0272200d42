/* SPDX-License-Identifier: BSD-3-Clause */

/* Whom a job ends where connections are lost between processes that live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpid/peers/parted.h"

enum { PAIRS = 40, RANKS = 12, SEEDS = 20000 };

struct test_case {
    const char *name;
    uint32_t size;
    int pairs[10][2]; /* by, of; ends where both are 0 */
    const char *out;  /* the ranks that end: x */
};

static const struct test_case cases[] = {
    {"nothing is lost", 4, {{0}}, "...."},
    {"both of a pair complain", 4, {{1, 2}, {2, 1}}, "..x."},
    {"the same, in the other order", 4, {{2, 1}, {1, 2}}, "..x."},
    {"one alone complains", 4, {{3, 1}}, ".x.."},
    {"one alone complains, more than once", 4, {{3, 1}, {3, 1}, {3, 1}}, ".x.."},
    {"rank 0 has lost all", 4, {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 3}, {3, 0}}, "x..."},
    {"rank 0 says that it has lost all", 4, {{0, 1}, {0, 2}, {0, 3}}, "x..."},
    {"all have lost rank 1", 4, {{0, 1}, {2, 1}, {3, 1}}, ".x.."},
    {"one host of two ranks, one of three", 5, {{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}}, "xx..."},
    {"two pairs", 5, {{0, 1}, {1, 0}, {3, 4}, {4, 3}}, ".x..x"},
    {"a chain", 5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, ".x.x."},
};

static void ends_those_that_it_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct test_case *c = &cases[i];
        struct parted_pair pairs[10];
        bool out[RANKS] = {false};
        char text[RANKS + 1] = "";
        size_t count = 0;
        for (; count < 10 && (c->pairs[count][0] || c->pairs[count][1]); count++)
            pairs[count] = (struct parted_pair){(uint32_t)c->pairs[count][0], (uint32_t)c->pairs[count][1]};
        size_t chosen = parted_choose(pairs, count, c->size, out);
        for (uint32_t rank = 0; rank < c->size; rank++) {
            text[rank] = out[rank] ? 'x' : '.';
            chosen -= out[rank];
        }
        if (strcmp(text, c->out) != 0 || chosen)
            fail_msg("%s: %s instead of %s", c->name, text, c->out);
    }
}

/* One of each pair ends, whatever the order of the complaints, and it is the same one; each that ends is of a pair. */
static void leaves_no_pair(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct parted_pair pairs[PAIRS], other[PAIRS];
        bool out[RANKS] = {false}, again[RANKS] = {false}, has_pair[RANKS] = {false};
        unsigned dice = seed;
        uint32_t size = 2 + (uint32_t)rand_r(&dice) % (RANKS - 1);
        size_t count = (size_t)rand_r(&dice) % (PAIRS + 1);
        for (size_t i = 0; i < count; i++) {
            uint32_t by = (uint32_t)rand_r(&dice) % size;
            pairs[i] = (struct parted_pair){by, (by + 1 + (uint32_t)rand_r(&dice) % (size - 1)) % size};
            has_pair[pairs[i].by] = has_pair[pairs[i].of] = true;
            size_t at = (size_t)rand_r(&dice) % (i + 1);
            other[i] = other[at];
            other[at] = pairs[i];
        }
        struct parted_pair kept[PAIRS];
        memcpy(kept, pairs, sizeof(kept));
        assert_int_equal(parted_choose(pairs, count, size, out), parted_choose(other, count, size, again));
        assert_memory_equal(out, again, sizeof(out));
        for (size_t i = 0; i < count; i++)
            assert_true(out[kept[i].by] || out[kept[i].of]);
        for (uint32_t rank = 0; rank < size; rank++)
            assert_true(!out[rank] || has_pair[rank]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_those_that_it_should),
        cmocka_unit_test(leaves_no_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
