/* SPDX-License-Identifier: BSD-3-Clause */

/* Groups of processes of several worlds, against plain lists; and groups of millions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/group.h"

bool os_lock_enabled = false;

static struct mpid_gid gid(int n)
{
    struct mpid_gid made;
    memset(&made, n, sizeof(made));
    return made;
}

static bool same(struct process a, struct process b)
{
    return a.rank == b.rank && !memcmp(&a.gid, &b.gid, sizeof(a.gid));
}

/* A random list without doubles: a range of one world, now and then broken. */
static int random_list(struct process *list)
{
    int n = 1 + rand() % 12, first = 20 + rand() % 50, stride = rand() % 2 ? 1 + rand() % 4 : -1;
    for (int i = 0; i < n; i++)
        list[i] = (struct process){gid(3), (uint32_t)(first + i * stride)};
    for (int k = rand() % 3; k > 0; k--)
        list[rand() % n].gid = gid(rand() % 6);
    if (rand() % 3 == 0) {
        int i = rand() % n, j = rand() % n;
        struct process swap = list[i];
        list[i] = list[j];
        list[j] = swap;
    }
    return n;
}

static int find(const struct process *list, int n, struct process process)
{
    for (int i = 0; i < n; i++)
        if (same(list[i], process))
            return i;
    return MPI_UNDEFINED;
}

static void test_against_lists(void **state)
{
    (void)state;
    int ranges = 0, lists = 0;
    for (unsigned seed = 0; seed < 5000; seed++) {
        struct process list[12];
        srand(seed);
        int n = random_list(list);
        struct process me = list[rand() % n];
        group_init(&me);
        struct group *group = group_create(list, n);
        assert_non_null(group);
        ranges += !group->list;
        lists += group->list != NULL;
        assert_int_equal(group->size, n);
        assert_int_equal(group->rank, find(list, n, me));
        for (int i = 0; i < n; i++) {
            struct process process = group_process(group, i);
            assert_true(same(process, list[i]));
            assert_int_equal(group_find(group, &process), i);
        }
        for (int i = 0; i < 50; i++) {
            struct process process = {gid(rand() % 6), (uint32_t)rand() % 80};
            assert_int_equal(group_find(group, &process), find(list, n, process));
        }
        group_unref(group);
    }
    assert_true(ranges > 500 && lists > 500);
}

static void test_compare(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 5000; seed++) {
        struct process a[12], b[12];
        srand(seed);
        int na = random_list(a), nb = na;
        memcpy(b, a, sizeof(a));
        if (rand() % 4 == 0)
            nb = random_list(b);
        else if (rand() % 2) /* another order */
            for (int i = 0; i < na; i++)
                b[i] = a[na - 1 - i];
        int expect = na == nb ? MPI_IDENT : MPI_UNEQUAL;
        for (int i = 0; i < na && expect != MPI_UNEQUAL; i++) {
            if (find(b, nb, a[i]) == MPI_UNDEFINED)
                expect = MPI_UNEQUAL;
            else if (!same(a[i], b[i]))
                expect = MPI_SIMILAR;
        }
        struct group *left = group_create(a, na), *right = group_create(b, nb);
        assert_int_equal(group_compare(left, right), expect);
        group_unref(left);
        group_unref(right);
    }
}

/* Ranges stay ranges through any regular picking, and take no memory by size. */
static void test_millions(void **state)
{
    (void)state;
    enum { SIZE = 1 << 24 };
    struct mpid_gid world_gid = gid(1);
    struct process me = {world_gid, SIZE - 1};
    group_init(&me);
    struct group *world = group_create_range(&world_gid, 0, 1, SIZE);
    assert_int_equal(world->rank, SIZE - 1);
    int *ranks = malloc(SIZE / 4 * sizeof(*ranks));
    for (int i = 0; i < SIZE / 4; i++)
        ranks[i] = SIZE - 1 - 4 * i;
    struct group *some = group_pick(world, ranks, SIZE / 4);
    assert_null(some->list);
    assert_int_equal(some->rank, 0);
    assert_int_equal(some->stride, -4);
    /* An irregular one becomes a list, whose members are found by a search in order. */
    ranks[1]--;
    struct group *list = group_pick(world, ranks, SIZE / 4);
    assert_non_null(list->list);
    for (int i = 0; i < SIZE / 4; i += 99991) {
        struct process process = group_process(list, i);
        assert_int_equal(group_find(list, &process), i);
    }
    assert_int_equal(group_compare(some, list), MPI_UNEQUAL);
    free(ranks);
    group_unref(list);
    group_unref(some);
    group_unref(world);
}

static void test_shared_parts(void **state)
{
    (void)state;
    struct mpid_gid world_gid = gid(1);
    int all[] = {0, 1, 2};
    struct group *world = group_create_range(&world_gid, 0, 1, 3);
    struct group *same_one = group_pick(world, all, 3);
    assert_ptr_equal(same_one, world);
    assert_ptr_equal(group_vcs(world), group_vcs(same_one));
    group_unref(same_one);
    assert_ptr_equal(group_from(group_handle(world)), world);
    group_unref(world);
    struct group *none = group_pick(group_empty, NULL, 0);
    assert_ptr_equal(none, group_empty);
    assert_ptr_equal(group_handle(none), MPI_GROUP_EMPTY);
    assert_null(group_from(MPI_GROUP_NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_lists),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_millions),
        cmocka_unit_test(test_shared_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
