/* SPDX-License-Identifier: BSD-3-Clause */

/* The two segments: filled as told, mapped only when they fit, and the fence over them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/host/fence.h"
#include "bnr/host/table.h"

static struct table table;

static int create(void **state)
{
    static const int apps[] = {0, 0, 1, 1};
    const struct table_spec spec = {
        .world_size = 4, .app_count = 2, .cpus = 3, .apps = apps, .universe_size = 0};
    return table_create(&table, &spec);
}

/* Seven ranks on three hosts that the machine pretends to be. */
static int create_pretended(void **state)
{
    static const int apps[7];
    const struct table_spec spec = {
        .world_size = 7, .app_count = 1, .cpus = 8, .apps = apps, .hosts = 3};
    return table_create(&table, &spec);
}

static int destroy(void **state)
{
    table_detach(&table);
    close(table.head_fd);
    close(table.memory_fd);
    return 0;
}

static void what_is_filled_in_is_read_back(void **state)
{
    struct table t;
    char why[256];
    assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)), 0);
    assert_int_equal(t.world_size, 4);
    assert_int_equal(t.slots, 4);
    assert_int_equal(t.hosts, 1);
    assert_int_equal(table_host(&t, 3)->ranks, 4);
    assert_int_equal(t.head->cpus, 3);
    assert_int_equal(t.rank[2].app, 1);
    assert_int_equal(table_slot(&t, 3), 3);
    assert_int_equal(table_member(&t, 0, 3), 3);
    assert_int_equal(table_member(&t, 0, 4), -1);
    table_started(&table, 1, 77);
    assert_false(table_has_ended(&t, 1));
    table_ended(&table, 1, 9);
    assert_true(table_has_ended(&t, 1));
    assert_int_equal(t.head->ends, 1);
    assert_int_equal(t.order[0], 1);
    assert_int_equal(t.rank[1].status, 9);
    table_detach(&t);
}

static void the_universe_may_be_larger(void **state)
{
    static const int apps[] = {0, 0};
    const struct table_spec spec = {
        .world_size = 2, .app_count = 1, .cpus = 1, .apps = apps, .universe_size = 7};
    struct table t;
    assert_int_equal(table_create(&t, &spec), 0);
    assert_int_equal(t.head->universe_size, 7);
    assert_int_equal(table.head->universe_size, 4);
    table_detach(&t);
    close(t.head_fd);
    close(t.memory_fd);
}

static void ranks_cannot_write_the_table(void **state)
{
    void *base = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, table.head_fd, 0);
    assert_ptr_equal(base, MAP_FAILED);
    assert_int_equal(pwrite(table.head_fd, "x", 1, 0), -1);
}

/* A rank that cuts bytes off would end all others, and mpiexec, by SIGBUS. */
static void no_rank_can_change_a_size(void **state)
{
    const int fds[] = {table.head_fd, table.memory_fd};
    for (int i = 0; i < 2; i++) {
        struct stat st;
        assert_int_equal(fstat(fds[i], &st), 0);
        assert_int_equal(ftruncate(fds[i], st.st_size + 4096), -1);
        assert_int_equal(ftruncate(fds[i], 0), -1);
        assert_int_equal(fcntl(fds[i], F_ADD_SEALS, F_SEAL_WRITE), -1);
    }
    assert_int_equal(pwrite(table.memory_fd, "", 1, 0), 1); /* but write there it can */
}

static void strangers_are_refused_with_a_reason(void **state)
{
    struct table t;
    char why[256];
    int ends[2], small = memfd_create("small", MFD_CLOEXEC), zero = memfd_create("z", MFD_CLOEXEC);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(ftruncate(zero, 1 << 20), 0);
    const struct {
        int head, memory;
    } rows[] = {
        {-1, -1}, {999, 1000}, {ends[0], table.memory_fd}, {small, table.memory_fd},
        {zero, table.memory_fd}, {table.memory_fd, table.memory_fd}, {table.head_fd, zero},
        {table.head_fd, -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        why[0] = 0;
        assert_int_equal(table_attach(&t, rows[i].head, rows[i].memory, why, sizeof(why)),
                         -EPROTO);
        assert_true(why[0]);
    }
    close(ends[0]);
    close(ends[1]);
    close(small);
    close(zero);
}

static void other_makers_are_refused(void **state)
{
    struct table t;
    char why[256];
    table.head->magic = __builtin_bswap64(table.head->magic);
    assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)), -EPROTO);
    assert_non_null(strstr(why, "the other byte order"));
    table.head->magic = __builtin_bswap64(table.head->magic);
    table.head->version++;
    assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)), -EPROTO);
    assert_non_null(strstr(why, "another version"));
}

static void damaged_counts_are_refused(void **state)
{
    struct table t;
    char why[256];
    const uint32_t worlds[] = {0, 5000000, 0xffffffffu, 2000};
    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        table.head->world_size = worlds[i];
        assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)),
                         -EPROTO);
    }
    table.head->world_size = 4;
    table.rank[2].slot = 4;
    assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)), 0);
    assert_int_equal(table_slot(&t, 2), -1);
    table_detach(&t);
    const uint32_t hosts[] = {0, 5, 0xffffffffu};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        table.head->hosts = hosts[i];
        assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)),
                         -EPROTO);
    }
    table.head->hosts = 1;
    memset(table.host[0].name, 'x', sizeof(table.host[0].name));
    assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)), -EPROTO);
    table.host[0].name[0] = 0;
    table.members[3] = 4;
    assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)), 0);
    assert_int_equal(table_member(&t, 0, 3), -1);
    table_detach(&t);
}

static void pretended_hosts_get_blocks_of_ranks(void **state)
{
    static const struct {
        int host, local_rank;
    } expected[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {2, 2}};
    struct table t;
    char why[256];
    assert_int_equal(table_attach(&t, table.head_fd, table.memory_fd, why, sizeof(why)), 0);
    assert_int_equal(t.hosts, 3);
    for (int r = 0; r < 7; r++) {
        assert_int_equal(table_node(&t, r), expected[r].host);
        assert_int_equal(t.rank[r].local_rank, expected[r].local_rank);
        assert_int_equal(table_member(&t, expected[r].host, expected[r].local_rank), r);
        assert_int_equal(table_slot(&t, r), r);
    }
    assert_int_equal(table_member(&t, 0, 2), -1);
    assert_int_equal(table_member(&t, 3, 0), -1);
    assert_int_equal(table_host(&t, 6)->ranks, 3);
    assert_int_equal(table_host(&t, 6)->cpus, 3);
    assert_string_not_equal(table_host(&t, 0)->id, table_host(&t, 2)->id);
    assert_string_not_equal(table_host(&t, 2)->name, table_host(&t, 6)->name);
    table_detach(&t);
}

/* Each rank has a processor, and a host has no fewer than one rank. */
static void there_are_no_more_hosts_than_ranks(void **state)
{
    static const int apps[2];
    const struct table_spec spec = {
        .world_size = 2, .app_count = 1, .cpus = 1, .apps = apps, .hosts = 5};
    struct table t;
    assert_int_equal(table_create(&t, &spec), 0);
    assert_int_equal(t.hosts, 2);
    for (int h = 0; h < 2; h++) {
        assert_int_equal(t.host[h].ranks, 1);
        assert_int_equal(t.host[h].cpus, 1);
    }
    table_detach(&t);
    close(t.head_fd);
    close(t.memory_fd);
}

static void regions_do_not_touch(void **state)
{
    for (int r = 0; r < 4; r++) {
        assert_int_equal(table_region_offset(&table, r) % TABLE_ALIGN, 0);
        assert_true(table_region_offset(&table, r) >= table.area_size);
        if (r)
            assert_int_equal(table_region_offset(&table, r) - table_region_offset(&table, r - 1),
                             TABLE_REGION);
        struct kvs log = table_log(&table, r);
        assert_true(log.base >= table.area + (size_t)4 * TABLE_PAGE);
        assert_true(log.base + log.size <= table.area + table.area_size);
    }
}

static void an_abort_message_is_harmless_text(void **state)
{
    char text[TABLE_MESSAGE_MAX];
    memset(table_page(&table, 1)->message, 27, TABLE_MESSAGE_MAX);
    table_abort_message(&table, 1, text);
    assert_string_equal(text, "");
    strcpy(table_page(&table, 1)->message, "a\nb\033[2J\n");
    table_abort_message(&table, 1, text);
    assert_string_equal(text, "a b [2J");
}

static void a_fence_waits_for_the_last(void **state)
{
    struct fence f[4];
    for (int r = 0; r < 4; r++)
        fence_init(&f[r], &table, r);
    for (int turn = 0; turn < 5; turn++) {
        for (int r = 0; r < 4; r++) {
            fence_enter(&f[r]);
            assert_int_equal(fence_poll(&f[0]), r < 3 ? FENCE_WAITING : 0);
            assert_int_equal(fence_check(&f[0]), r < 3 ? FENCE_WAITING : 0);
        }
        for (int r = 0; r < 4; r++)
            assert_int_equal(fence_poll(&f[r]), 0);
    }
}

static void a_fence_breaks_by_the_dead_and_the_finalized(void **state)
{
    struct fence f[4];
    for (int r = 0; r < 4; r++)
        fence_init(&f[r], &table, r);
    fence_enter(&f[0]);
    fence_enter(&f[1]);
    table_ended(&table, 1, 0); /* it has come before it ended */
    assert_int_equal(fence_check(&f[0]), FENCE_WAITING);
    atomic_fetch_or(&table_page(&table, 2)->flags, PAGE_FINALIZED);
    assert_int_equal(fence_check(&f[0]), FENCE_BROKEN);
    fence_enter(&f[2]); /* after all: only rank 3 is missing */
    assert_int_equal(fence_check(&f[0]), FENCE_WAITING);
    table_ended(&table, 3, 9);
    assert_int_equal(fence_check(&f[0]), FENCE_BROKEN);
}

/* Two members leave the broken fence and come to the next one before the last living one comes to the first. */
static void a_broken_fence_stays_broken(void **state)
{
    struct fence f[4];
    for (int r = 0; r < 4; r++)
        fence_init(&f[r], &table, r);
    table_ended(&table, 3, 0);
    for (int r = 0; r < 2; r++) {
        fence_enter(&f[r]);
        assert_int_equal(fence_check(&f[r]), FENCE_BROKEN);
    }
    fence_enter(&f[0]); /* the sum of both fences is 4 with the next arrival, that of rank 2 */
    fence_enter(&f[2]);
    assert_int_equal(fence_poll(&f[2]), FENCE_WAITING);
    assert_int_equal(fence_check(&f[2]), FENCE_BROKEN);
}

/* One whose words lie nowhere here has not come, as far as anybody can see. */
static void a_fence_is_not_over_for_ranks_out_of_sight(void **state)
{
    struct fence f[3];
    for (int r = 0; r < 3; r++) {
        fence_init(&f[r], &table, r);
        fence_enter(&f[r]);
    }
    table.rank[3].slot = 4;
    assert_int_equal(fence_check(&f[0]), FENCE_BROKEN);
}

/* A rank that died between its own count and the sum does not keep the others. */
static void the_members_counts_are_the_truth(void **state)
{
    struct fence f[4];
    for (int r = 0; r < 4; r++)
        fence_init(&f[r], &table, r);
    atomic_store(&table_page(&table, 3)->fence_entered, 1);
    for (int r = 0; r < 3; r++)
        fence_enter(&f[r]);
    assert_int_equal(fence_poll(&f[0]), FENCE_WAITING);
    assert_int_equal(fence_check(&f[0]), 0);
}

static void *cross(void *arg)
{
    struct fence *f = arg;
    for (int turn = 0; turn < 2000; turn++) {
        fence_enter(f);
        while (fence_poll(f))
            fence_sleep(f, 50000000);
    }
    return NULL;
}

static void sleepers_are_woken(void **state)
{
    struct fence f[4];
    pthread_t thread[4];
    for (int r = 0; r < 4; r++)
        fence_init(&f[r], &table, r);
    for (int r = 0; r < 4; r++)
        assert_int_equal(pthread_create(&thread[r], NULL, cross, &f[r]), 0);
    for (int r = 0; r < 4; r++)
        pthread_join(thread[r], NULL);
    assert_int_equal(table_page(&table, 0)->fence_done, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_filled_in_is_read_back, create, destroy),
        cmocka_unit_test_setup_teardown(the_universe_may_be_larger, create, destroy),
        cmocka_unit_test_setup_teardown(ranks_cannot_write_the_table, create, destroy),
        cmocka_unit_test_setup_teardown(no_rank_can_change_a_size, create, destroy),
        cmocka_unit_test_setup_teardown(strangers_are_refused_with_a_reason, create, destroy),
        cmocka_unit_test_setup_teardown(other_makers_are_refused, create, destroy),
        cmocka_unit_test_setup_teardown(damaged_counts_are_refused, create, destroy),
        cmocka_unit_test_setup_teardown(pretended_hosts_get_blocks_of_ranks, create_pretended,
                                        destroy),
        cmocka_unit_test(there_are_no_more_hosts_than_ranks),
        cmocka_unit_test_setup_teardown(regions_do_not_touch, create, destroy),
        cmocka_unit_test_setup_teardown(an_abort_message_is_harmless_text, create, destroy),
        cmocka_unit_test_setup_teardown(a_fence_waits_for_the_last, create, destroy),
        cmocka_unit_test_setup_teardown(a_fence_breaks_by_the_dead_and_the_finalized, create,
                                        destroy),
        cmocka_unit_test_setup_teardown(a_broken_fence_stays_broken, create, destroy),
        cmocka_unit_test_setup_teardown(a_fence_is_not_over_for_ranks_out_of_sight, create,
                                        destroy),
        cmocka_unit_test_setup_teardown(the_members_counts_are_the_truth, create, destroy),
        cmocka_unit_test_setup_teardown(sleepers_are_woken, create, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
