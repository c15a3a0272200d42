/* SPDX-License-Identifier: BSD-3-Clause */

/* The engine of groups, case by case (random plays are test/sim/groups.c); the words of roots, notes, info objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bnr/group/meet.h"
#include "bnr/group/rallies.h"
#include "bnr/host/order.h"
#include "include/bnr.h"

/* ---- three members: 0 is the root, 1 and 2 its children, over links 1 and 2 ---- */

enum { MEMBERS = 3 };

static struct rallies all[MEMBERS];
static struct rallies_member *member[MEMBERS];
static const BNR_Gid gid = {"one of the tests"};
static bool is_cut[MEMBERS];
static int refused;

static int index_of(void *arg)
{
    return (int)((struct rallies *)arg - all);
}

/* Frames come at once. */
static void on_send(void *arg, const struct rally *r, int link, const struct rally_frame *frame)
{
    int from = index_of(arg), to = from ? 0 : link;
    (void)r;
    if (!is_cut[link])
        assert_int_equal(rallies_heard(&all[to], link, &gid, frame), 0);
}

static void on_refuse(void *arg, int link, const BNR_Gid *which)
{
    (void)arg, (void)link, (void)which;
    refused++;
}

static int set_up(void **state)
{
    static const struct rally_hooks hooks = {on_send, NULL, NULL};
    const int child[] = {1, 2};
    (void)state;
    refused = 0;
    for (int i = 0; i < MEMBERS; i++) {
        struct rally r;
        is_cut[i] = false;
        rallies_init(&all[i], &hooks, &all[i]);
        all[i].refuse = on_refuse;
        assert_int_equal(rally_init(&r, i, MEMBERS, i ? i : -1, child, i ? 0 : 2), 0);
        member[i] = rallies_add(&all[i], &gid, &r, NULL);
        assert_non_null(member[i]);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < MEMBERS; i++)
        rallies_fini(&all[i]);
    return 0;
}

static struct rally *of(int i)
{
    return &member[i]->rally;
}

static void begin(int i, uint64_t what, const char *said)
{
    assert_int_equal(rally_begin(of(i), what, 0, said, strlen(said)), 0);
}

static void all_end_with(int code)
{
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(of(i)->state, RALLY_IDLE);
        assert_int_equal(of(i)->code, code);
    }
}

static void a_call_gathers_and_tells(void **state)
{
    size_t at = 0, len;
    int rank, seen = 0;
    const uint8_t *bytes;
    (void)state;
    begin(1, 5, "one");
    begin(0, 5, "");
    assert_int_equal(of(0)->state, RALLY_GATHERS);
    assert_int_equal(rally_begin(of(0), 5, 0, NULL, 0), BNR_ERR_STATE);
    begin(2, 5, "three");
    assert_int_equal(of(0)->state, RALLY_GATHERED);
    while (rally_next(of(0)->bytes, &at, &rank, &bytes, &len)) {
        static const char *const said[] = {"", "one", "three"};
        assert_int_equal(len, strlen(said[rank]));
        assert_memory_equal(bytes, said[rank], len);
        seen += 1 << rank;
    }
    assert_int_equal(seen, 7);
    rally_decide(of(0), 0, "done", 4);
    all_end_with(0);
    for (int i = 0; i < MEMBERS; i++)
        assert_memory_equal(of(i)->bytes->at, "done", 4);
}

static void unequal_calls_do_not_match(void **state)
{
    (void)state;
    begin(0, 5, "");
    begin(1, 5, "");
    begin(2, 6, "");
    all_end_with(BNR_ERR_MISMATCH);
}

static void one_that_leaves_ends_it_for_all(void **state)
{
    (void)state;
    begin(1, 5, "");
    rally_leave(of(1), BNR_ERR_TIMEOUT);
    begin(1, 6, ""); /* it is a call ahead */
    begin(0, 5, "");
    begin(2, 5, "");
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(of(i)->call, i == 1 ? 2 : 1);
    assert_int_equal(of(0)->code, BNR_ERR_TIMEOUT);
    assert_int_equal(of(2)->code, BNR_ERR_TIMEOUT);
    begin(0, 6, "");
    begin(2, 6, "");
    rally_decide(of(0), 0, NULL, 0);
    all_end_with(0);
}

static void a_lost_link_breaks_the_group(void **state)
{
    (void)state;
    begin(0, 5, "");
    begin(2, 5, "");
    is_cut[1] = true;
    rallies_lost(&all[0], 1);
    rallies_lost(&all[1], 1);
    begin(1, 5, "");
    all_end_with(BNR_ERR_PROC_FAILED);
    for (int i = 0; i < MEMBERS; i++)
        begin(i, 6, "");
    all_end_with(BNR_ERR_PROC_FAILED);
}

static void a_group_breaks_with_its_base(void **state)
{
    const BNR_Gid other = {"made of that one"};
    struct rally r;
    (void)state;
    assert_int_equal(rally_init(&r, 0, 1, -1, NULL, 0), 0);
    struct rallies_member *made = rallies_add(&all[0], &other, &r, member[0]);
    rally_break(of(0), BNR_ERR_PROC_FAILED);
    assert_int_equal(made->rally.broken, BNR_ERR_PROC_FAILED);
    assert_int_equal(of(2)->broken, BNR_ERR_PROC_FAILED);
}

static void unknown_groups_wait_or_are_refused(void **state)
{
    const BNR_Gid other = {"not known so far"};
    const struct rally_frame up = {RALLY_UP, 1, 0, 5, NULL}, fail = {RALLY_FAIL, 1, -1, 0, NULL};
    const int child[] = {1};
    struct rally r;
    (void)state;
    assert_int_equal(rallies_heard(&all[0], 1, &other, &fail), 0);
    assert_int_equal(refused, 0);
    assert_int_equal(rallies_heard(&all[0], 1, &other, &up), 0);
    assert_int_equal(refused, 1);
    rallies_make(&all[0], 1);
    assert_int_equal(rallies_heard(&all[0], 1, &other, &up), 0);
    rallies_make(&all[0], -1);
    assert_int_equal(refused, 2);
    rallies_make(&all[0], 1);
    assert_int_equal(rallies_heard(&all[0], 1, &other, &fail), 0);
    assert_int_equal(rally_init(&r, 0, 2, -1, child, 1), 0);
    assert_int_equal(rallies_add(&all[0], &other, &r, NULL)->rally.broken, -1);
    rallies_make(&all[0], -1);
    assert_int_equal(refused, 2);
}

static void frames_that_nobody_would_send(void **state)
{
    const struct rally_frame down = {RALLY_DOWN, 1, 0, 0, NULL}, far = {RALLY_UP, 100, 0, 5, NULL};
    const struct rally_frame good = {RALLY_LEAVE, 1, 3, 0, NULL}, none = {(enum rally_kind)9, 1, 0, 0, NULL};
    (void)state;
    assert_int_equal(rallies_heard(&all[0], 1, &gid, &down), BNR_ERR_PROTO); /* from a child */
    assert_int_equal(rallies_heard(&all[1], 1, &gid, &down), BNR_ERR_PROTO); /* before the call */
    assert_int_equal(rallies_heard(&all[0], 1, &gid, &far), BNR_ERR_PROTO);
    assert_int_equal(rallies_heard(&all[0], 1, &gid, &good), BNR_ERR_PROTO); /* a leave with success */
    assert_int_equal(rallies_heard(&all[0], 7, &gid, &good), BNR_ERR_PROTO); /* over another link */
    assert_int_equal(rallies_heard(&all[0], 1, &gid, &none), BNR_ERR_PROTO);
}

/* ---- words, notes, info ---- */

static void roots_come_to_the_same_group(void **state)
{
    struct meet_part a = {{"a"}, 2}, b[] = {{{"b"}, 3}, {{"c"}, 1}};
    struct meet one = {.why = MEET_MERGE, .relation = MEET_SPAWNED, .gid = {"a"}, .wanted = {"b"}, .proposal = {"x"}, .size = 2,
                       .part_count = 1, .part = &a, .door = "here"};
    struct meet two = {.why = MEET_MERGE, .relation = MEET_SPAWNER, .gid = {"b"}, .wanted = {"a"}, .proposal = {"y"}, .size = 4,
                       .part_count = 2, .part = b, .door = ""};
    uint8_t bytes[256];
    struct meet read;
    BNR_Gid first, second;
    bool swap;
    (void)state;
    meet_put(&two, bytes);
    assert_int_equal(meet_get(&read, bytes, meet_len(&two)), 0);
    assert_int_equal(meet_get(&(struct meet){0}, bytes, meet_len(&two) - 1), BNR_ERR_PROTO);
    assert_int_equal(meet_join(&one, &read, &first, &swap), 0);
    assert_true(swap); /* the spawner comes first */
    assert_int_equal(meet_join(&read, &one, &second, &swap), 0);
    assert_false(swap);
    assert_memory_equal(&first, &second, sizeof(first));
    two.relation = MEET_STRANGER;
    assert_int_equal(meet_join(&one, &two, &first, &swap), BNR_ERR_MISMATCH);
    two.relation = MEET_SPAWNER;
    two.wanted = (BNR_Gid){"somebody else"};
    assert_int_equal(meet_join(&one, &two, &first, &swap), BNR_ERR_MISMATCH);
    two.wanted = one.gid;
    b[1].gid = a.gid;
    assert_int_equal(meet_join(&one, &two, &first, &swap), BNR_ERR_ARG);
    meet_fini(&read);
}

static void notes_come_back(void **state)
{
    struct order_note note = {{1, 2}, {3, 255}, 5, 7, "vireo1.00@::1"}, read;
    char text[ORDER_NOTE_MAX];
    (void)state;
    order_note_put(text, &note);
    assert_int_equal(order_note_get(&read, text), 0);
    assert_memory_equal(read.gid, note.gid, sizeof(note.gid));
    assert_memory_equal(read.parent, note.parent, sizeof(note.parent));
    assert_int_equal(read.size, 5);
    assert_int_equal(read.parent_size, 7);
    assert_string_equal(read.door, note.door);
    assert_int_not_equal(order_note_get(&read, "vireo1.00"), 0);
    text[8] = 'x';
    assert_int_not_equal(order_note_get(&read, text), 0);
}

static void info_keeps_pairs(void **state)
{
    BNR_Info info, copy;
    char text[BNR_MAX_INFO_KEY + 1];
    int count;
    size_t len;
    (void)state;
    assert_int_equal(BNR_Info_create(&info), 0);
    assert_int_equal(BNR_Info_set(info, "one", "1"), 0);
    assert_int_equal(BNR_Info_set(info, "two", "22"), 0);
    assert_int_equal(BNR_Info_set(info, "one", "111"), 0);
    assert_int_equal(BNR_Info_set(info, "", "1"), BNR_ERR_ARG);
    assert_int_equal(BNR_Info_dup(info, &copy), 0);
    assert_int_equal(BNR_Info_free(&info), 0);
    assert_null(info);
    assert_int_equal(BNR_Info_get_nkeys(copy, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(BNR_Info_get_nthkey(copy, 1, text), 0);
    assert_string_equal(text, "two");
    assert_int_equal(BNR_Info_get_nthkey(copy, 2, text), BNR_ERR_ARG);
    assert_int_equal(BNR_Info_get_valuelen(copy, "one", &len), 0);
    assert_int_equal(len, 3);
    assert_int_equal(BNR_Info_get(copy, "one", text, 3), BNR_ERR_TRUNC);
    assert_int_equal(BNR_Info_get(copy, "one", text, 4), 0);
    assert_string_equal(text, "111");
    assert_int_equal(BNR_Info_delete(copy, "one"), 0);
    assert_int_equal(BNR_Info_delete(copy, "one"), BNR_ERR_NOT_FOUND);
    assert_int_equal(BNR_Info_get(copy, "one", text, 4), BNR_ERR_NOT_FOUND);
    assert_int_equal(BNR_Info_free(&copy), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_gathers_and_tells, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unequal_calls_do_not_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_leaves_ends_it_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_link_breaks_the_group, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_group_breaks_with_its_base, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_groups_wait_or_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frames_that_nobody_would_send, set_up, tear_down),
        cmocka_unit_test(roots_come_to_the_same_group),
        cmocka_unit_test(notes_come_back),
        cmocka_unit_test(info_keeps_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
