/* SPDX-License-Identifier: BSD-3-Clause */

/* Hosts of communicators in a made-up world of 100,000 ranks: right, and once for all of a group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <malloc.h>

#include <cmocka.h>

#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/group.h"
#include "mpi/world.h"

enum { WORLD = 100000, MEMBERS = WORLD / 3, HOSTS = 780, DUPS = 1000, AROUND = 1 << 20 };

struct mpid_world world_facts;

/* Ranks go round the hosts. */
int mpid_node(uint32_t rank)
{
    return (int)(rank % HOSTS);
}

static size_t used(void)
{
    struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

/* About every third rank of the world; this process is one of them. */
static struct group *make_group(void)
{
    memset(&world_facts.gid, 1, sizeof(world_facts.gid));
    world_facts.size = WORLD;
    world_facts.local_ranks = WORLD / HOSTS;
    struct process *list = malloc(MEMBERS * sizeof(*list));
    assert_non_null(list);
    for (uint32_t i = 0; i < MEMBERS; i++)
        list[i] = (struct process){world_facts.gid, 3 * i + i % 2};
    group_init(&list[MEMBERS / 2]);
    struct group *group = group_create(list, MEMBERS);
    assert_non_null(group);
    free(list);
    return group;
}

static struct comm *make_comm(struct group *group)
{
    struct comm *comm = calloc(1, sizeof(*comm));
    assert_non_null(comm);
    *comm = (struct comm){.group = group, .rank = group->rank, .size = group->size};
    return comm;
}

static void test_right(void **state)
{
    (void)state;
    struct group *group = make_group();
    struct comm *comm = make_comm(group);
    const struct comm_hosts *hosts = comm_hosts_of(comm);
    int number[HOSTS], count = 0;
    for (int i = 0; i < HOSTS; i++)
        number[i] = -1;
    for (int i = 0; i < MEMBERS; i++) {
        int node = mpid_node(group_process(group, i).rank);
        number[node] = number[node] < 0 ? count++ : number[node];
        assert_int_equal(hosts->host[i], number[node]);
    }
    assert_int_equal(hosts->count, count);
    assert_int_equal(hosts->mine, hosts->host[group->rank]);
    assert_false(hosts->in_order);
    assert_int_equal(hosts->first[0], 0);
    assert_int_equal(hosts->first[count], MEMBERS);
    for (int h = 0; h < count; h++)
        for (int i = hosts->first[h]; i < hosts->first[h + 1]; i++) {
            assert_int_equal(hosts->host[hosts->ranks[i]], h);
            assert_true(i == hosts->first[h] || hosts->ranks[i] > hosts->ranks[i - 1]);
        }
    free(comm);
    group_unref(group);
}

/* What so many communicators of one group need, beside themselves. */
static void test_shared(void **state)
{
    (void)state;
    size_t before = used();
    struct group *group = make_group();
    size_t of_group = used() - before;
    static struct comm *dups[DUPS];
    for (int i = 0; i < DUPS; i++)
        dups[i] = make_comm(group);
    size_t made = used();
    for (int i = 0; i < DUPS; i++)
        assert_non_null(comm_hosts_of(dups[i]));
    size_t of_hosts = used() - made;
    printf("# %d members, %d communicators: group %zu bytes, hosts %zu\n", MEMBERS, DUPS, of_group, of_hosts);
    assert_true(of_group < AROUND && of_hosts < AROUND);
    const struct comm_hosts *first = comm_hosts_of(dups[0]);
    for (int i = 0; i < DUPS; i++) {
        assert_ptr_equal(comm_hosts_of(dups[i]), first);
        free(dups[i]);
    }
    group_unref(group);
    assert_true(used() < before + AROUND / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
