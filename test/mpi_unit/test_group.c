/* SPDX-License-Identifier: BSD-3-Clause */

/* Groups of processes of several worlds, against plain lists; and groups of millions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "mpi/comm/group.h"
#include "test/mpi_unit/fake_vc.h"

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
        ranges += !group->ranks;
        lists += group->ranks != NULL;
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
    assert_null(some->ranks);
    assert_int_equal(some->rank, 0);
    assert_int_equal(some->stride, -4);
    /* An irregular one becomes a list, whose members are found by a search in order. */
    ranks[1]--;
    struct group *list = group_pick(world, ranks, SIZE / 4);
    assert_non_null(list->ranks);
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

/* A group holds the connections that were asked of it, each once, and no other. */
static void test_connections(void **state)
{
    (void)state;
    enum { SIZE = 100, FIRST = 3 };
    struct mpid_gid world_gid = gid(1);
    struct group *world = group_create_range(&world_gid, FIRST, 1, SIZE);
    struct vc **vcs = group_vcs(world);
    for (int i = 0; i < SIZE; i += 7) {
        struct vc *vc = group_vc(world, i);
        assert_ptr_equal(vcs[i], vc);
        assert_ptr_equal(group_vc(world, i), vc);
    }
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(fake_vc_refs((uint32_t)(FIRST + i)), i % 7 == 0);
    group_ref(world);
    group_unref(world);
    assert_int_equal(fake_vc_refs(FIRST), 1);
    group_unref(world);
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(fake_vc_refs((uint32_t)(FIRST + i)), 0);
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
    group_ref(world);
    MPI_Group handle = group_give(world);
    assert_ptr_equal(group_from(handle), world);
    group_take_back(world);
    assert_null(group_from(handle));
    group_take_back(world);
    assert_int_equal(world->size, 3);
    group_unref(world);
    struct group *none = group_pick(group_empty, NULL, 0);
    assert_ptr_equal(none, group_empty);
    if (!none)
        abort(); /* a compiler does not know that the assertion has ended the test */
    assert_ptr_equal(group_give(none), MPI_GROUP_EMPTY);
    assert_null(group_from(MPI_GROUP_NULL));
}

/* ---- sets ---- */

static struct group *random_group(struct process *list, int *n)
{
    *n = rand() % 8 ? random_list(list) : 0;
    struct group *group = group_create(list, *n);
    assert_non_null(group);
    return group;
}

/* Two worlds, and ranges of large strides in them, so that what is computed for ranges is tried. */
static struct group *random_range(struct process *list, int *n)
{
    int size = 1 + rand() % 12, stride = (rand() % 2 ? 1 : -1) * (1 + rand() % 7);
    int first = 100 + rand() % 40;
    struct mpid_gid world = gid(rand() % 8 ? 1 : 2);
    for (int i = 0; i < size; i++)
        list[i] = (struct process){world, (uint32_t)(first + i * stride)};
    *n = size;
    return group_create_range(&world, first, stride, size);
}

static void check_list(struct group *group, const struct process *expect, int n)
{
    assert_non_null(group);
    assert_int_equal(group->size, n);
    for (int i = 0; i < n; i++)
        assert_true(same(group_process(group, i), expect[i]));
    /* What is a range is kept as one. */
    struct group *again = group_create(expect, n);
    assert_true(!group->ranks == !again->ranks);
    assert_int_equal(group_compare(group, again), MPI_IDENT);
    group_unref(again);
    group_unref(group);
}

/* The members of a that are, or are not, in b. */
static int filter(const struct process *a, int na, const struct process *b, int nb, bool members,
                  struct process *out)
{
    int n = 0;
    for (int i = 0; i < na; i++)
        if ((find(b, nb, a[i]) != MPI_UNDEFINED) == members)
            out[n++] = a[i];
    return n;
}

static void test_sets(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 40000; seed++) {
        struct process a[12], b[12], out[24];
        int na, nb;
        srand(seed);
        struct group *left = seed % 2 ? random_range(a, &na) : random_group(a, &na);
        struct group *right = seed % 2 ? random_range(b, &nb) : random_group(b, &nb);
        int common = filter(a, na, b, nb, true, out);
        check_list(group_intersection(left, right), out, common);
        assert_int_equal(group_overlap(left, right), common > 0);
        check_list(group_difference(left, right), out, filter(a, na, b, nb, false, out));
        memcpy(out, a, sizeof(a));
        check_list(group_union(left, right), out, na + filter(b, nb, a, na, false, out + na));
        group_unref(left);
        group_unref(right);
    }
}

/* ---- choosing ---- */

/* The ranks that the ranges name, or the first that cannot be, which is *bad. */
static int expand(int ranges[][3], int n, int size, int *ranks, int64_t *bad)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (ranges[i][0] != ranges[i][1] && (ranges[i][0] < ranges[i][1]) != (ranges[i][2] > 0)) {
            *bad = ranges[i][0];
            return -1;
        }
        for (int r = ranges[i][0];
             ranges[i][2] > 0 ? r <= ranges[i][1] : r >= ranges[i][1]; r += ranges[i][2]) {
            bool twice = false;
            for (int k = 0; k < count; k++)
                twice |= ranks[k] == r;
            if (r < 0 || r >= size || twice) {
                *bad = r;
                return -1;
            }
            ranks[count++] = r;
        }
    }
    return count;
}

static void test_choose(void **state)
{
    (void)state;
    int good = 0, bad = 0;
    for (unsigned seed = 0; seed < 40000; seed++) {
        struct process list[12], chosen[12], others[12];
        int ranges[2][3], ranks[12], size, rest = 0;
        int64_t wrong = 0;
        struct group_fault fault;
        srand(seed);
        struct group *group = seed % 2 ? random_range(list, &size) : random_group(list, &size);
        int n = rand() % 3;
        for (int i = 0; i < n; i++) {
            ranges[i][0] = rand() % 14 - 1;
            ranges[i][1] = rand() % 14 - 1;
            bool turned = ranges[i][1] < ranges[i][0], wrong_way = !(rand() % 8);
            ranges[i][2] = (turned != wrong_way ? -1 : 1) * (1 + rand() % 3);
        }
        int count = expand(ranges, n, size, ranks, &wrong);
        if (count < 0) {
            bad++;
            assert_null(group_choose_ranges(group, ranges, n, rand() % 2, &fault));
            assert_non_null(fault.wrong);
            assert_int_equal(fault.rank, wrong);
        } else {
            good++;
            for (int i = 0; i < count; i++)
                chosen[i] = list[ranks[i]];
            rest = filter(list, size, chosen, count, false, others);
            check_list(group_choose_ranges(group, ranges, n, false, &fault), chosen, count);
            check_list(group_choose_ranges(group, ranges, n, true, &fault), others, rest);
            check_list(group_choose(group, ranks, count, false, &fault), chosen, count);
            check_list(group_choose(group, ranks, count, true, &fault), others, rest);
        }
        group_unref(group);
    }
    assert_true(good > 5000 && bad > 5000);
}

/* ---- bytes ---- */

static void test_bytes(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct process list[12];
        int n;
        size_t len;
        srand(seed);
        struct group *group = seed % 2 ? random_range(list, &n) : random_group(list, &n);
        char *bytes = group_pack(group, &len);
        group_unref(group);
        size_t whole = len, part = (size_t)rand() % len;
        check_list(group_unpack(bytes, &len), list, n);
        /* Cut or changed, they are nothing, or some group. */
        assert_null(group_unpack(bytes, &part));
        assert_int_equal(part, 0);
        bytes[rand() % 40] ^= (char)(1 << rand() % 8);
        len = whole;
        group_unref(group_unpack(bytes, &len));
        free(bytes);
    }
}

/* ---- sizes ---- */

enum { MANY = 100000, LIMIT_MS = 1000 };

static double clock_start;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void start_clock(void)
{
    clock_start = seconds();
}

/* The time since start_clock() is well below that of anything quadratic. */
static void check_clock(const char *what)
{
    double ms = (seconds() - clock_start) * 1e3;
    printf("%s: %.2f ms\n", what, ms);
    assert_true(ms < LIMIT_MS);
}

static void time_sets(struct group *a, struct group *b, const char *kind)
{
    char what[64];
    struct group *(*const operations[])(struct group *, struct group *) = {
        group_union, group_intersection, group_difference};
    static const char *const names[] = {"union", "intersection", "difference"};
    for (int i = 0; i < 3; i++) {
        start_clock();
        struct group *made = operations[i](a, b);
        assert_non_null(made);
        snprintf(what, sizeof(what), "%s of %s", names[i], kind);
        check_clock(what);
        group_unref(made);
    }
    start_clock();
    assert_int_equal(group_compare(a, a), MPI_IDENT);
    (void)group_compare(a, b);
    for (int i = 0; i < a->size; i++) {
        struct process process = group_process(a, i);
        assert_int_equal(group_find(a, &process), i);
        (void)group_find(b, &process);
    }
    snprintf(what, sizeof(what), "compare and translate of %s", kind);
    check_clock(what);
}

static void time_choice(struct group *from, const int *ranks, const char *kind)
{
    struct group_fault fault;
    char what[64];
    int(*ranges)[3] = malloc(MANY / 2 * sizeof(*ranges));
    for (int i = 0; i < MANY / 2; i++) {
        int at = i % 2 ? MANY - 2 * (i / 2) - 1 : 2 * (i / 2);
        ranges[i][0] = ranges[i][1] = at;
        ranges[i][2] = 1;
    }
    for (int others = 0; others < 2; others++) {
        start_clock();
        struct group *made = group_choose(from, ranks, MANY / 2, others, &fault);
        assert_non_null(made);
        snprintf(what, sizeof(what), "%s of %s", others ? "excl" : "incl", kind);
        check_clock(what);
        group_unref(made);
        start_clock();
        made = group_choose_ranges(from, ranges, MANY / 2, others, &fault);
        assert_non_null(made);
        snprintf(what, sizeof(what), "%s of %s", others ? "range_excl" : "range_incl", kind);
        check_clock(what);
        group_unref(made);
    }
    free(ranges);
}

static void test_times(void **state)
{
    (void)state;
    struct mpid_gid world = gid(1);
    struct process me = {world, 0};
    struct process *list = malloc(MANY * sizeof(*list));
    int *ranks = malloc(MANY * sizeof(*ranks));
    group_init(&me);
    for (int i = 0; i < MANY; i++) {
        list[i] = (struct process){gid(1 + i % 3), (uint32_t)i};
        ranks[i] = i;
    }
    srand(1);
    for (int i = MANY - 1; i > 0; i--) { /* shuffled */
        int j = rand() % (i + 1), rank = ranks[i];
        struct process process = list[i];
        list[i] = list[j];
        list[j] = process;
        ranks[i] = ranks[j];
        ranks[j] = rank;
    }
    struct group *range = group_create_range(&world, 0, 1, MANY);
    struct group *strided = group_create_range(&world, MANY / 2, 3, MANY);
    struct group *lists = group_create(list, MANY), *half = group_create(list, MANY / 2);
    struct group *shuffled = group_pick(range, ranks, MANY);
    assert_int_equal(group_compare(range, shuffled), MPI_SIMILAR);
    time_sets(range, strided, "ranges");
    time_sets(lists, half, "lists");
    time_sets(shuffled, lists, "two lists");
    time_sets(range, shuffled, "a range and a list");
    time_choice(range, ranks, "a range");
    time_choice(lists, ranks, "a list");
    group_unref(range);
    group_unref(strided);
    group_unref(lists);
    group_unref(half);
    group_unref(shuffled);
    free(ranks);
    free(list);
}

/* What stays a range takes no memory by size: sets of 2^31 - 1 processes. */
static void test_ranges_stay(void **state)
{
    (void)state;
    struct mpid_gid world_gid = gid(1);
    struct group_fault fault;
    struct group *world = group_create_range(&world_gid, 0, 1, INT32_MAX);
    struct group *odd = group_create_range(&world_gid, 1, 2, INT32_MAX / 2);
    struct group *third = group_create_range(&world_gid, INT32_MAX - 1, -3, INT32_MAX / 3);
    struct group *tail = group_create_range(&world_gid, INT32_MAX - 5, 1, 5);
    struct group *made = group_intersection(odd, third);
    assert_true(!made->ranks && made->stride == 6 && made->size > INT32_MAX / 6 - 2);
    group_unref(made);
    made = group_intersection(world, third);
    assert_true(made->stride == 3 && made->size == third->size);
    group_unref(made);
    struct group *body = group_difference(world, tail);
    assert_true(!body->ranks && body->size == INT32_MAX - 5);
    made = group_union(body, tail);
    assert_int_equal(group_compare(made, world), MPI_IDENT);
    group_unref(made);
    assert_ptr_equal(group_difference(third, world), group_empty);
    int ranges[][3] = {{INT32_MAX - 1, 0, -2}}, head[][3] = {{9, 0, -1}};
    made = group_choose_ranges(world, ranges, 1, false, &fault);
    assert_true(!made->ranks && made->stride == -2);
    assert_int_equal(group_compare(made, world), MPI_UNEQUAL);
    group_unref(made);
    made = group_choose_ranges(world, head, 1, true, &fault);
    assert_true(!made->ranks && made->first == 10 && made->size == INT32_MAX - 10);
    group_unref(made);
    group_unref(body);
    group_unref(world);
    group_unref(odd);
    group_unref(third);
    group_unref(tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_lists),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_millions),
        cmocka_unit_test(test_connections),
        cmocka_unit_test(test_shared_parts),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_ranges_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
