/* SPDX-License-Identifier: BSD-3-Clause */

/* Stretches of memory against a map of single bytes, from printed seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/type/type_runs.h"
#include "mpi/type/type_stretch.h"

enum { BYTES = 256, ROUNDS = 20000, RUNS = 12 };

/* Runs that the fake below gives in the place of a datatype's. */
static struct {
    int64_t offset, len;
} runs[RUNS];
static int run_count;

int type_runs(const struct type *type, MPI_Count count, type_run_fn *visit, void *arg)
{
    int rc = 0;
    (void)type, (void)count;
    for (int i = 0; i < run_count && !rc; i++)
        rc = visit(arg, runs[i].offset, runs[i].len);
    return rc;
}

static unsigned random_below(unsigned most)
{
    return (unsigned)rand() % most;
}

static struct stretch any_stretch(void)
{
    struct stretch s = {.at = random_below(60), .len = 1 + random_below(9), .count = 1 + random_below(6)};
    s.step = s.len + random_below(12);
    return s;
}

static void mark(const struct stretch *s, char map[BYTES])
{
    for (uint64_t i = 0; i < s->count; i++)
        memset(map + s->at + i * s->step, 1, s->len);
}

static void meets(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        struct stretch a = any_stretch(), b = any_stretch();
        char of_a[BYTES] = {0}, of_b[BYTES] = {0};
        uint64_t at = 0, len = 0;
        bool both = false;
        mark(&a, of_a);
        mark(&b, of_b);
        for (int i = 0; i < BYTES; i++)
            both = both || (of_a[i] && of_b[i]);
        assert_int_equal(stretch_meets(&a, &b, &at, &len), both);
        for (uint64_t i = at; both && i < at + len; i++)
            assert_true(of_a[i] && of_b[i]);
        assert_true(!both || len);
    }
}

/* What grows holds both, and nothing else. */
static void grows(void **state)
{
    (void)state;
    srand(2);
    for (int round = 0; round < ROUNDS; round++) {
        struct stretch a = any_stretch(), b = any_stretch(), old = a;
        char before[BYTES] = {0}, after[BYTES] = {0};
        mark(&a, before);
        mark(&b, before);
        if (stretch_covers(&a, &b)) {
            mark(&a, after);
            assert_true(a.count == 1 || !memcmp(before, after, BYTES));
            continue;
        }
        if (!stretch_grow(&a, &b)) {
            assert_memory_equal(&a, &old, sizeof(a));
            continue;
        }
        mark(&a, after);
        assert_memory_equal(before, after, BYTES);
    }
}

/* The stretches of any runs hold their bytes, and few stretches are needed where runs are regular. */
static void gathers(void **state)
{
    struct stretch all[RUNS];
    struct type type = {.size = 1};
    (void)state;
    srand(3);
    for (int round = 0; round < ROUNDS; round++) {
        char due[BYTES] = {0}, map[BYTES] = {0};
        bool regular = round % 2;
        int64_t step = (int64_t)random_below(10) + 8, first = random_below(40);
        run_count = 1 + (int)random_below(RUNS - 1);
        for (int i = 0; i < run_count; i++) {
            runs[i].len = regular ? 4 : 1 + random_below(8);
            runs[i].offset = regular ? first + step * (round % 4 == 1 ? i : run_count - 1 - i) : random_below(200);
            memset(due + runs[i].offset, 1, (size_t)runs[i].len);
        }
        int n = type_stretches(&type, 1, 0, all, RUNS);
        assert_true(n > 0 && (n == 1 || !regular));
        for (int i = 0; i < n; i++)
            mark(&all[i], map);
        assert_memory_equal(due, map, BYTES);
        assert_true(type_stretches(&type, 1, 0, all, 1) == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(meets), cmocka_unit_test(grows),
                                       cmocka_unit_test(gathers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
