/* SPDX-License-Identifier: BSD-3-Clause */

/* Engines alone: fence, key-value space, ends. The simulator tests them together, with deaths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <stdio.h>
#include <cmocka.h>

#include "bnr/core/tree/keys.h"
#include "bnr/core/tree/rank_map.h"
#include "bnr/core/tree/tree.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/core/tree/tree_fence.h"

static struct effects effects;
static const struct rank_block block = {0, 0, 7, 2};
static const struct rank_map group = {5, 14, &block, 1};

static const struct core_message *sent(size_t i, uint32_t to, enum message_kind kind)
{
    assert_true(i < effects.count);
    assert_int_equal(effects.items[i].kind, EFFECT_SEND);
    assert_int_equal(effects.items[i].node, to);
    assert_int_equal(effects.items[i].message.kind, kind);
    return &effects.items[i].message;
}

static struct bytes *text_of(const char *text)
{
    return bytes_create(text, strlen(text));
}

/* ---- fence ---- */

static void a_fence_goes_up_when_all_have_come(void **state)
{
    struct tree t;
    struct tree_fence f;
    tree_init(&t, 1, 7, 2);
    tree_fence_init(&f, &group, &t);
    struct bytes *data = text_of("entries");
    struct tree_fence_entry entry = {1, STATUS_GOOD, 7, data};
    struct core_message part = {.kind = MESSAGE_FENCE,
                                .group = 5,
                                .number = 1,
                                .tag = 1,
                                .other = 7,
                                .flags = MESSAGE_COLLECTED,
                                .data = data};
    assert_int_equal(tree_fence_message(&f, 3, &part, &effects), 0);
    assert_int_equal(tree_fence_enter(&f, &entry, &effects), 0);
    assert_int_equal(tree_fence_enter(&f, &entry, &effects), -EALREADY);
    assert_int_equal(effects.count, 0);
    assert_int_equal(tree_fence_message(&f, 3, &part, &effects), 0); /* twice: once */
    assert_int_equal(tree_fence_message(&f, 4, &part, &effects), 0);
    const struct core_message *sum = sent(0, 0, MESSAGE_FENCE);
    assert_int_equal(sum->tag, 3);
    assert_int_equal(sum->other, 21);
    assert_int_equal(sum->data->len, 21);
    effects_clear(&effects);
    assert_true(tree_fence_released(&f, 1, &effects));
    assert_false(tree_fence_released(&f, 1, &effects));
    assert_int_equal(tree_fence_enter(&f, &entry, &effects), TREE_FENCE_OVER);
    entry.number = 3;
    assert_int_equal(tree_fence_enter(&f, &entry, &effects), -EINVAL);
    bytes_unref(data);
    tree_fence_fini(&f);
    tree_fini(&t);
}

static void long_entries_are_left_out_for_all(void **state)
{
    struct tree t;
    struct tree_fence f;
    tree_init(&t, 0, 7, 2);
    tree_fence_init(&f, &group, &t);
    struct bytes *data = text_of("entries");
    struct tree_fence_entry entry = {1, STATUS_GOOD, 7, data};
    struct core_message part = {.kind = MESSAGE_FENCE,
                                .group = 5,
                                .number = 1,
                                .tag = 3,
                                .flags = MESSAGE_COLLECTED,
                                .data = data};
    struct core_message rest = {
        .kind = MESSAGE_FENCE, .group = 5, .number = 1, .tag = 3, .other = 1 << 20};
    tree_fence_enter(&f, &entry, &effects);
    tree_fence_message(&f, 1, &part, &effects);
    tree_fence_message(&f, 2, &rest, &effects);
    assert_int_equal(effects.count, 1);
    assert_int_equal(effects.items[0].kind, EFFECT_DECIDED);
    assert_int_equal(effects.items[0].message.flags, 0);
    assert_null(effects.items[0].message.data);
    effects_clear(&effects);
    bytes_unref(data);
    tree_fence_fini(&f);
    tree_fini(&t);
}

static void a_loss_ends_a_fence_at_once(void **state)
{
    struct tree t;
    struct tree_fence f;
    tree_init(&t, 0, 7, 2);
    tree_fence_init(&f, &group, &t);
    struct tree_fence_entry entry = {1, STATUS_GOOD, 0, NULL};
    tree_lose(&t, 6);
    tree_fence_rewire(&f, true, &effects);
    assert_int_equal(effects.count, 0);
    tree_fence_enter(&f, &entry, &effects);
    assert_int_equal(effects.items[0].kind, EFFECT_DECIDED);
    assert_int_equal(effects.items[0].message.status, STATUS_PROC_FAILED);
    effects_clear(&effects);
    tree_fence_released(&f, 1, &effects);
    struct core_message part = {.kind = MESSAGE_FENCE, .group = 5, .number = 2, .tag = 3};
    entry.number = 2;
    tree_fence_enter(&f, &entry, &effects);
    tree_fence_message(&f, 1, &part, &effects);
    assert_int_equal(effects.count, 0);
    part.tag = 2; /* without 6 */
    tree_fence_message(&f, 2, &part, &effects);
    assert_int_equal(effects.items[0].message.status, STATUS_GOOD);
    effects_clear(&effects);
    tree_fence_fini(&f);
    tree_fini(&t);
}

/* ---- keys ---- */

static struct keys_name name(uint32_t owner, const char *key)
{
    return (struct keys_name){5, owner, key, strlen(key)};
}

static void a_get_waits_for_its_put(void **state)
{
    struct tree t;
    struct keys k;
    tree_init(&t, 1, 7, 2);
    keys_init(&k, &t);
    struct keys_name mine = name(2, "card"), theirs = name(8, "card");
    struct keys_name name_of_never = name(8, "never");
    struct keys_home here = {1, false}, there = {4, false};
    struct bytes *value = text_of("value"), *other = text_of("longer value");
    assert_int_equal(keys_get(&k, &mine, here, 70, 0, &effects), 0);
    assert_int_equal(keys_get(&k, &theirs, there, 71, 0, &effects), 0);
    assert_int_equal(keys_get(&k, &theirs, there, 72, 0, &effects), 0); /* asked once */
    assert_int_equal(effects.count, 1);
    const struct core_message *get = sent(0, 4, MESSAGE_GET);
    struct core_message answer = {
        .kind = MESSAGE_VALUE, .origin = 4, .to = 1, .number = get->number, .data = value};
    effects_clear(&effects);
    assert_int_equal(keys_put(&k, &mine, value, 0, &effects), 0);
    assert_int_equal(effects.items[0].kind, EFFECT_VALUE);
    assert_int_equal(effects.items[0].message.number, 70);
    assert_int_equal(keys_put(&k, &mine, other, 0, &effects), KEYS_EXISTS);
    assert_int_equal(keys_put(&k, &mine, other, KEYS_REPLACE, &effects), 0);
    answer.origin = 3;
    assert_int_equal(keys_message(&k, &answer, false, &effects), -EPROTO); /* not its to say */
    answer.origin = 4;
    assert_int_equal(keys_message(&k, &answer, false, &effects), 0);
    assert_int_equal(effects.count, 3);
    answer.number = sent(2, 4, MESSAGE_GET)->number; /* for the get that came later */
    assert_int_equal(keys_message(&k, &answer, false, &effects), 0);
    effects_clear(&effects);
    keys_get(&k, &theirs, there, 73, KEYS_LATER, &effects);
    assert_int_equal(effects.items[0].kind, EFFECT_VALUE); /* kept */
    keys_get(&k, &name_of_never, there, 74, 0, &effects);
    sent(1, 4, MESSAGE_GET);
    effects_clear(&effects);
    keys_tick(&k, 0, &effects);
    keys_tick(&k, KEYS_RETRY_NS, &effects);
    sent(0, 4, MESSAGE_GET); /* again */
    effects_clear(&effects);
    keys_node_lost(&k, 4, &effects);
    assert_int_equal(effects.items[0].message.status, STATUS_PROC_FAILED);
    effects_clear(&effects);
    bytes_unref(value);
    bytes_unref(other);
    keys_fini(&k);
    tree_fini(&t);
}

/* The owner's node answers a get that waits here. */
static void let_answer(struct keys *k, uint64_t number, struct bytes *value)
{
    struct core_message answer = {
        .kind = MESSAGE_VALUE, .origin = 4, .to = 1, .number = number, .data = value};
    effects_clear(&effects);
    assert_int_equal(keys_message(k, &answer, false, &effects), 0);
}

static uint64_t told(size_t i, const struct bytes *value)
{
    assert_int_equal(effects.items[i].kind, EFFECT_VALUE);
    assert_ptr_equal(effects.items[i].message.data, value);
    return effects.items[i].message.number;
}

/* While others are answered a get has to wait for its turn, and asks again only after that, or after long. */
static void answers_put_off_asking_again(void **state)
{
    struct tree t;
    struct keys k;
    int64_t now = 0;
    (void)state;
    tree_init(&t, 1, 7, 2);
    keys_init(&k, &t);
    struct keys_name never = name(8, "never"), card = name(8, "card");
    struct keys_home there = {4, false};
    struct bytes *value = text_of("value");
    keys_get(&k, &never, there, 1, 0, &effects);
    keys_tick(&k, now, &effects);
    for (; now < KEYS_RETRY_MAX_NS; now += KEYS_RETRY_NS) {
        effects_clear(&effects);
        keys_tick(&k, now, &effects);
        assert_int_equal(effects.count, 0);
        keys_get(&k, &card, there, 2, 0, &effects);
        let_answer(&k, sent(0, 4, MESSAGE_GET)->number, value);
    }
    effects_clear(&effects);
    keys_tick(&k, now, &effects);
    sent(0, 4, MESSAGE_GET); /* it has waited long */
    effects_clear(&effects);
    keys_tick(&k, now + KEYS_RETRY_NS, &effects);
    assert_int_equal(effects.count, 0);
    keys_tick(&k, now + 2 * KEYS_RETRY_NS, &effects);
    sent(0, 4, MESSAGE_GET); /* twice the time, and no answer */
    effects_clear(&effects);
    bytes_unref(value);
    keys_fini(&k);
    tree_fini(&t);
}

/* A value that was replaced is not found again, neither among fetched values, nor in an answer that
 * was on its way when the later get began. */
static void a_replaced_value_is_fetched_anew(void **state)
{
    struct tree t;
    struct keys k;
    tree_init(&t, 1, 7, 2);
    keys_init(&k, &t);
    struct keys_name theirs = name(8, "card");
    struct keys_home there = {4, false};
    struct bytes *old = text_of("old"), *new = text_of("new");
    keys_get(&k, &theirs, there, 70, 0, &effects);
    let_answer(&k, sent(0, 4, MESSAGE_GET)->number, old);
    assert_int_equal(told(0, old), 70);
    effects_clear(&effects);
    keys_get(&k, &theirs, there, 71, 0, &effects);
    uint64_t number = sent(0, 4, MESSAGE_GET)->number;
    keys_get(&k, &theirs, there, 72, 0, &effects); /* replaced meanwhile */
    keys_get(&k, &theirs, there, 73, 0, &effects);
    assert_int_equal(effects.count, 1);
    let_answer(&k, number, old);
    assert_int_equal(effects.count, 2);
    assert_int_equal(told(0, old), 71);
    let_answer(&k, sent(1, 4, MESSAGE_GET)->number, new); /* once for both */
    assert_int_equal(effects.count, 2);
    assert_int_equal(told(0, new), 72);
    assert_int_equal(told(1, new), 73);
    effects_clear(&effects);
    keys_get(&k, &theirs, there, 74, KEYS_LATER, &effects);
    assert_int_equal(told(0, new), 74);
    effects_clear(&effects);
    keys_get(&k, &theirs, there, 75, 0, &effects);
    effects_clear(&effects);
    tree_lose(&t, 4);
    keys_node_lost(&k, 4, &effects); /* what it had put is still found */
    assert_int_equal(told(0, new), 75);
    effects_clear(&effects);
    keys_get(&k, &theirs, there, 76, 0, &effects);
    assert_int_equal(told(0, new), 76);
    effects_clear(&effects);
    bytes_unref(old);
    bytes_unref(new);
    keys_fini(&k);
    tree_fini(&t);
}

/* What a get for later is told, alone. */
static int later(struct keys *k, const struct keys_name *name, struct keys_home home)
{
    effects_clear(&effects);
    assert_int_equal(keys_get(k, name, home, 72, KEYS_LATER, &effects), 0);
    assert_int_equal(effects.count, 1);
    return effects.items[0].message.status;
}

static void a_key_comes_later(void **state)
{
    struct tree t;
    struct keys k;
    tree_init(&t, 1, 7, 2);
    keys_init(&k, &t);
    struct keys_name theirs = name(8, "card"), mine = name(2, "card");
    struct keys_home here = {1, false}, there = {4, false};
    struct bytes *value = text_of("value");
    assert_int_equal(keys_get(&k, &theirs, there, 70, KEYS_LATER, &effects), 0);
    assert_int_equal(keys_get(&k, &theirs, there, 71, KEYS_LATER, &effects), 0);
    assert_int_equal(effects.count, 3); /* asked once, for good, and both told */
    assert_int_equal(effects.items[0].message.number, 70);
    assert_int_equal(effects.items[0].message.status, STATUS_ASKED);
    const struct core_message *get = sent(1, 4, MESSAGE_GET);
    assert_int_equal(get->flags, KEYS_LATER);
    struct core_message answer = {
        .kind = MESSAGE_VALUE, .origin = 4, .to = 1, .number = get->number, .status = STATUS_ABSENT};
    effects_clear(&effects);
    assert_int_equal(keys_message(&k, &answer, false, &effects), 0); /* not there yet: there is news */
    assert_int_equal(effects.items[0].message.number, KEYS_NO_GETTER);
    assert_int_equal(later(&k, &theirs, there), STATUS_ABSENT);
    answer.status = STATUS_ASKED;
    assert_int_equal(keys_message(&k, &answer, false, &effects), -EPROTO);
    answer.status = STATUS_GOOD, answer.data = value;
    assert_int_equal(keys_message(&k, &answer, false, &effects), 0);
    assert_int_equal(later(&k, &theirs, there), STATUS_GOOD);
    assert_int_equal(later(&k, &mine, here), STATUS_ABSENT);
    struct keys_name never = name(8, "over");
    keys_get(&k, &never, there, 74, KEYS_LATER, &effects), keys_node_lost(&k, 4, &effects);
    assert_int_equal(later(&k, &never, there), STATUS_ABSENT); /* nobody is asked again */
    effects_clear(&effects);
    bytes_unref(value);
    keys_fini(&k);
    tree_fini(&t);
}

static void others_are_answered(void **state)
{
    struct tree t;
    struct keys k;
    tree_init(&t, 1, 7, 2);
    keys_init(&k, &t);
    struct bytes *key = text_of("card"), *value = text_of("value");
    struct core_message get = {
        .kind = MESSAGE_GET, .origin = 6, .to = 1, .group = 5, .tag = 2, .number = 9, .data = key};
    assert_int_equal(keys_message(&k, &get, false, &effects), 0);
    assert_int_equal(keys_message(&k, &get, false, &effects), 0); /* sent again: waits once */
    struct core_message patient = get;
    patient.origin = 5, patient.flags = KEYS_LATER;
    for (int i = 0; i < 2; i++) { /* told each time that it is not there, and waits */
        assert_int_equal(keys_message(&k, &patient, false, &effects), 0);
        assert_int_equal(sent(i, 5, MESSAGE_VALUE)->status, STATUS_ABSENT);
    }
    effects_clear(&effects);
    struct keys_name mine = name(2, "card");
    keys_put(&k, &mine, value, 0, &effects);
    assert_int_equal(effects.count, 2);
    assert_int_equal(sent(0, 6, MESSAGE_VALUE)->number, 9);
    assert_int_equal(sent(1, 5, MESSAGE_VALUE)->status, STATUS_GOOD);
    effects_clear(&effects);
    get.tag = 3;
    keys_message(&k, &get, true, &effects);
    assert_int_equal(sent(0, 6, MESSAGE_VALUE)->status, STATUS_PROC_FAILED);
    effects_clear(&effects);
    keys_message(&k, &get, false, &effects);
    keys_owner_ended(&k, 5, 3, &effects);
    assert_int_equal(sent(0, 6, MESSAGE_VALUE)->status, STATUS_PROC_FAILED);
    effects_clear(&effects);
    get.flags = KEYS_NOWAIT;
    keys_message(&k, &get, false, &effects);
    assert_int_equal(sent(0, 6, MESSAGE_VALUE)->status, STATUS_ABSENT);
    effects_clear(&effects);
    get.data = NULL;
    assert_int_equal(keys_message(&k, &get, false, &effects), -EPROTO);
    bytes_unref(key);
    bytes_unref(value);
    keys_fini(&k);
    tree_fini(&t);
}

/* All ranks of a large job ask for one key before it is put. */
static void many_may_wait(void **state)
{
    struct tree t;
    struct keys k;
    tree_init(&t, 1, 100000, 8);
    keys_init(&k, &t);
    struct bytes *key = text_of("card"), *value = text_of("value");
    int taken = 0;
    for (int again = 0; again < 2; again++)
        for (uint32_t from = 2; from < 100000; from++) {
            struct core_message get = {.kind = MESSAGE_GET,
                                       .origin = from,
                                       .to = 1,
                                       .group = 5,
                                       .tag = 2,
                                       .number = 1,
                                       .data = key};
            int rc = keys_message(&k, &get, false, &effects);
            assert_true(rc == 0 || rc == -ENOBUFS);
            taken += rc == 0;
        }
    assert_int_equal(taken, 2 * KEYS_WAIT_MAX);
    struct keys_name mine = name(2, "card");
    keys_put(&k, &mine, value, 0, &effects);
    assert_int_equal(effects.count, KEYS_WAIT_MAX);
    effects_clear(&effects);
    bytes_unref(key);
    bytes_unref(value);
    keys_fini(&k);
    tree_fini(&t);
}

static void the_space_of_replaced_values_is_free(void **state)
{
    struct tree t;
    struct keys k;
    tree_init(&t, 1, 7, 2);
    keys_init(&k, &t);
    struct keys_name mine = name(2, "card");
    for (int i = 0; i < 100000; i++) {
        struct bytes *value = bytes_create(NULL, 1000);
        assert_int_equal(keys_put(&k, &mine, value, KEYS_REPLACE, &effects), 0);
        bytes_unref(value);
    }
    assert_int_equal(k.own_bytes, 1000);
    for (uint32_t i = 0; i < 100; i++) { /* older fetched values give way to newer ones */
        struct keys_name theirs = name(8, (char[]){(char)('0' + i), 0});
        struct bytes *value = bytes_create(NULL, 500000);
        struct packing p = {0};
        keys_pack(&p, &theirs, value);
        struct bytes *entries = pack_end(&p);
        assert_int_equal(keys_collected(&k, 5, entries), 0);
        entries->len -= 1;
        assert_int_equal(keys_collected(&k, 5, entries), -EPROTO);
        bytes_unref(entries);
        bytes_unref(value);
    }
    assert_true(k.cached_bytes <= KEYS_CACHE_MAX);
    assert_int_equal(k.own_bytes, 1000);
    keys_fini(&k);
    tree_fini(&t);
}

/* ---- ends ---- */

static void ends_come_as_runs(void **state)
{
    struct tree t;
    struct rollup r;
    tree_init(&t, 0, 7, 2);
    rollup_init(&r, &group, &t);
    struct rollup_run runs[] = {{4, 3, 0, 0}, {0, 2, 0, 0}, {1, 6, 0, 0}, {8, 2, 9, 0}};
    uint32_t ranks = 0;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rollup_ended(&r, &runs[i], &effects), 0);
    for (size_t i = 0; i < effects.count; i++) {
        struct unpacking u = unpack_begin(effects.items[i].message.data);
        struct rollup_run run;
        assert_int_equal(effects.items[i].kind, EFFECT_RANKS_ENDED);
        while (rollup_unpack(&u, &run))
            ranks += run.count;
    }
    assert_int_equal(ranks, 9);
    assert_int_equal(r.all.count, 2); /* 0 to 6, 8 and 9 */
    assert_true(rollup_has_ended(&r, 6));
    assert_false(rollup_has_ended(&r, 7));
    effects_clear(&effects);
    tree_lose(&t, 3);
    rollup_node_lost(&r, 3, &effects); /* ranks 6 and 7; 6 is known already */
    struct unpacking u = unpack_begin(effects.items[0].message.data);
    struct rollup_run run;
    assert_true(rollup_unpack(&u, &run));
    assert_int_equal(run.first, 7);
    assert_int_equal(run.count, 1);
    assert_int_equal(run.flags, ROLLUP_NODE_LOST);
    effects_clear(&effects);
    struct rollup_run bad = {13, 2, 0, 0};
    assert_int_equal(rollup_ended(&r, &bad, &effects), -EINVAL);
    rollup_fini(&r);
    tree_fini(&t);
}

static void a_node_tells_when_all_have_ended(void **state)
{
    struct tree t;
    struct rollup r;
    tree_init(&t, 3, 7, 2);
    rollup_init(&r, &group, &t);
    struct rollup_run one = {6, 1, 0, 0}, two = {7, 1, 0, 0};
    rollup_ended(&r, &one, &effects);
    assert_int_equal(effects.count, 0);
    rollup_ended(&r, &two, &effects);
    assert_int_equal(sent(0, 1, MESSAGE_ENDED)->data->len, 16);
    effects_clear(&effects);
    rollup_tick(&r, &effects);
    assert_int_equal(effects.count, 0); /* nothing is new */
    rollup_greet(&r, &effects);
    sent(0, 1, MESSAGE_ENDED); /* all again */
    effects_clear(&effects);
    rollup_fini(&r);
    tree_fini(&t);
}

static int end(void **state)
{
    effects_fini(&effects);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fence_goes_up_when_all_have_come),
        cmocka_unit_test(long_entries_are_left_out_for_all),
        cmocka_unit_test(a_loss_ends_a_fence_at_once),
        cmocka_unit_test(a_get_waits_for_its_put),
        cmocka_unit_test(answers_put_off_asking_again),
        cmocka_unit_test(a_replaced_value_is_fetched_anew),
        cmocka_unit_test(a_key_comes_later),
        cmocka_unit_test(others_are_answered),
        cmocka_unit_test(many_may_wait),
        cmocka_unit_test(the_space_of_replaced_values_is_free),
        cmocka_unit_test(ends_come_as_runs),
        cmocka_unit_test(a_node_tells_when_all_have_ended),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
