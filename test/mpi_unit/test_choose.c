/* SPDX-License-Identifier: BSD-3-Clause */

/* How an algorithm is chosen: names, rows of tuning files, and which row comes first. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mpi.h>

#include "fake_p2p.h"
#include "mpi/coll/algorithm.h"
#include "mpi/coll/choose.h"
#include "mpi/coll/choose_row.h"
#include "mpi/coll/tuning.h"
#include "mpi/comm/comm_hosts.h"
#include "os/settings.h"

/* The setting of each collective has the names of its algorithms. */
static void test_names(void **unused)
{
    for (int kind = 0; kind <= COLL_REDUCE_SCATTER; kind++) {
        char words[256] = "auto", name[64];
        int row = 0;
        for (int i = 0; i < ALGORITHM_COUNT; i++)
            if (algorithms[i].kind == (enum coll_kind)kind) {
                size_t len = strlen(words);
                snprintf(words + len, sizeof(words) - len, "|%s", algorithms[i].name);
            }
        snprintf(name, sizeof(name), "coll_%s", algorithm_kind_name((enum coll_kind)kind));
        while (row < OS_SETTING_COUNT && strcmp(os_settings[row].name, name) != 0)
            row++;
        assert_int_not_equal(row, OS_SETTING_COUNT);
        assert_string_equal(os_settings[row].unit, words);
    }
}

/* Rows of tuning files. */
static void test_tuning(void **unused)
{
    static const struct {
        const char *line;
        int rc;
        int64_t ranks, bytes_from, bytes_to;
        enum algorithm_id algorithm;
    } cases[] = {
        {"bcast 4- 1 64k- any chain", 0, 4, 65536, CHOOSE_MOST, ALGORITHM_BCAST_CHAIN},
        {"  allreduce\t* 2-3 0-1k yes ring \r\n", 0, 0, 0, 1024, ALGORITHM_ALLREDUCE_RING},
        {"barrier 7 * * * tree", 0, 7, 0, CHOOSE_MOST, ALGORITHM_BARRIER_TREE},
        {"", 1, 0, 0, 0, 0},
        {"# bcast", 1, 0, 0, 0, 0},
        {"bcast 4- 1 64k- chain", -EINVAL, 0, 0, 0, 0},
        {"bcast 4- 1 64k- any chain x", -EINVAL, 0, 0, 0, 0},
        {"bcast 4- 1 64k- any ring", -EINVAL, 0, 0, 0, 0},
        {"cast 4- 1 64k- any chain", -EINVAL, 0, 0, 0, 0},
        {"bcast 4-3 1 * any chain", -EINVAL, 0, 0, 0, 0},
        {"bcast -3 1 * any chain", -EINVAL, 0, 0, 0, 0},
        {"bcast 4 1 64q any chain", -EINVAL, 0, 0, 0, 0},
        {"bcast 4 1 99999999999g any chain", -EINVAL, 0, 0, 0, 0},
        {"bcast 4 1 * perhaps chain", -EINVAL, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct choose_row row;
        char why[256] = "";
        assert_int_equal(tuning_parse(cases[i].line, &row, why, sizeof(why)), cases[i].rc);
        assert_int_equal(cases[i].rc < 0, why[0] != 0);
        if (cases[i].rc)
            continue;
        assert_int_equal(row.ranks.from, cases[i].ranks);
        assert_int_equal(row.bytes.from, cases[i].bytes_from);
        assert_int_equal(row.bytes.from + (int64_t)row.bytes.more, cases[i].bytes_to);
        assert_int_equal(row.algorithm, cases[i].algorithm);
    }
}

/* A row that was put comes before the table's, where its algorithm can run. */
static void test_put(void **unused)
{
    struct choose_row row = {
        NEEDS_EVEN, 0, false, {3, 5}, {0, 9}, {0, 9}, ALGORITHM_ALLGATHER_NEIGHBOR};
    struct comm comm = {.size = 4, .peers = 4};
    struct coll c = {.kind = COLL_ALLGATHER, .recv = {.count = 1, .type = MPI_BYTE}};
    coll_over(&c, &comm, &comm_hosts_one);
    enum algorithm_id before = choose_algorithm(&c);
    assert_int_not_equal(before, ALGORITHM_ALLGATHER_NEIGHBOR);
    assert_false(choose_is_forced(&c));
    assert_int_equal(choose_put(&row), 0);
    assert_true(choose_is_forced(&c));
    assert_int_equal(choose_algorithm(&c), ALGORITHM_ALLGATHER_NEIGHBOR);
    c.size = 5; /* not even */
    assert_int_not_equal(choose_algorithm(&c), ALGORITHM_ALLGATHER_NEIGHBOR);
    c.size = 2; /* not in the row */
    assert_int_equal(choose_algorithm(&c), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_tuning),
                                       cmocka_unit_test(test_put)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
