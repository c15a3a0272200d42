/* SPDX-License-Identifier: BSD-3-Clause */

/* Engines say lost messages again, and say nothing again to a node that stands still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/stream/stream.h"
#include "bnr/core/tree/keys.h"
#include "bnr/core/tree/xcast.h"

static struct effects effects;

static const struct core_message *sent(size_t i, uint32_t to, enum message_kind kind)
{
    assert_true(i < effects.count);
    assert_int_equal(effects.items[i].kind, EFFECT_SEND);
    assert_int_equal(effects.items[i].node, to);
    assert_int_equal(effects.items[i].message.kind, kind);
    return &effects.items[i].message;
}

/* How many messages of a kind are among the effects, of number from first on; all are forgotten. */
static int said(enum message_kind kind, uint64_t first)
{
    int count = 0;
    for (size_t i = 0; i < effects.count; i++)
        count += effects.items[i].message.kind == kind && effects.items[i].message.number >= first &&
                 !(effects.items[i].message.flags & MESSAGE_ASK);
    effects_clear(&effects);
    return count;
}

/* A node hands in three messages; the root has got one, and stands still: nothing is said again. */
static void nothing_is_handed_in_again_to_a_root_that_stands_still(void **state)
{
    struct tree t;
    struct xcast x;
    int questions = 0;
    (void)state;
    tree_init(&t, 1, 2, 2);
    xcast_init(&x, &t, &xcast_choice_default);
    xcast_rewire(&x, &effects);
    struct bytes *data = xcast_address(NULL, 0, "x", 1);
    const struct xcast_input input = {XCAST_TAG_USER, XCAST_BY_SIZE, data};
    for (int i = 0; i < 3; i++)
        assert_int_equal(xcast_submit(&x, &input, &effects), 0);
    assert_int_equal(said(MESSAGE_SUBMIT, 1), 3);
    struct core_message numbered = {.kind = MESSAGE_NUMBERED, .number = 1};
    for (int tick = 0; tick < 1000; tick++) {
        xcast_tick(&x, &effects);
        for (size_t i = 0; i < effects.count; i++)
            if (effects.items[i].message.flags & MESSAGE_ASK) {
                questions++;
                numbered.other = effects.items[i].message.number;
            }
        assert_int_equal(said(MESSAGE_SUBMIT, 1), 0);
    }
    assert_in_range(questions, 5, 30);
    assert_int_equal(xcast_submit(&x, &input, &effects), 0); /* after the question */
    effects_clear(&effects);
    numbered.other--; /* an old answer says nothing */
    assert_int_equal(xcast_message(&x, 0, &numbered, &effects), 0);
    assert_int_equal(said(MESSAGE_SUBMIT, 1), 0);
    numbered.other++;
    assert_int_equal(xcast_message(&x, 0, &numbered, &effects), 0);
    assert_int_equal(said(MESSAGE_SUBMIT, 2), 2);
    assert_int_equal(xcast_message(&x, 0, &numbered, &effects), 0);
    assert_int_equal(said(MESSAGE_SUBMIT, 1), 0); /* one answer is enough */
    bytes_unref(data);
    xcast_fini(&x);
    tree_fini(&t);
}

/* The root has no room: it answers the question once it has. */
static void a_refused_node_hands_in_again_when_there_is_room(void **state)
{
    struct tree t;
    struct xcast x;
    (void)state;
    tree_init(&t, 0, 2, 2);
    xcast_init(&x, &t, &xcast_choice_default);
    xcast_rewire(&x, &effects);
    struct bytes *data = xcast_address(NULL, 0, "x", 1);
    struct core_message submit = {
        .kind = MESSAGE_SUBMIT, .origin = 1, .tag = XCAST_TAG_USER, .data = data};
    while (submit.number++ < XCAST_WINDOW + 3)
        assert_int_equal(xcast_message(&x, 1, &submit, &effects), 0);
    const struct core_message question = {
        .kind = MESSAGE_SUBMIT, .flags = MESSAGE_ASK, .origin = 1, .number = 9};
    assert_int_equal(x.have, XCAST_WINDOW);
    effects_clear(&effects);
    assert_int_equal(xcast_message(&x, 1, &question, &effects), 0);
    assert_int_equal(said(MESSAGE_NUMBERED, 0), 0);
    const struct core_message have = {
        .kind = MESSAGE_HAVE, .origin = 1, .number = XCAST_WINDOW, .other = XCAST_WINDOW / 2};
    assert_int_equal(xcast_message(&x, 1, &have, &effects), 0);
    assert_int_equal(effects.count, 1);
    assert_int_equal(sent(0, 1, MESSAGE_NUMBERED)->number, XCAST_WINDOW);
    assert_int_equal(sent(0, 1, MESSAGE_NUMBERED)->other, 9);
    effects_clear(&effects);
    xcast_tick(&x, &effects);
    assert_int_equal(said(MESSAGE_NUMBERED, 0), 0);
    bytes_unref(data);
    xcast_fini(&x);
    tree_fini(&t);
}

/* ---- streams ---- */

#define SECOND 1000000000LL

/* A sender without credit asks, ever more seldom, and says the blocks again that the answer lacks. */
static void no_block_is_said_again_to_a_node_that_stands_still(void **state)
{
    struct stream_out out;
    struct stream_in in = {0};
    struct bytes *data = bytes_create("block", 5);
    struct core_message question = {0};
    int questions = 0;
    (void)state;
    stream_out_init(&out, 1, 0, 3, SIZE_MAX);
    for (int i = 0; i < 5; i++)
        assert_int_equal(stream_out_put(&out, data, 0, &effects), 0);
    for (int i = 0; i < 2; i++) /* the others are lost */
        assert_int_equal(stream_in_take(&in, sent((size_t)i, 0, MESSAGE_STREAM)), 0);
    effects_clear(&effects);
    for (int64_t now = 0; now < 3600 * SECOND; now += SECOND / 2) {
        stream_out_tick(&out, false, now, &effects);
        for (size_t i = 0; i < effects.count; i++)
            question = *sent(i, 0, MESSAGE_STREAM);
        questions += (int)effects.count;
        assert_int_equal(said(MESSAGE_STREAM, 1), 0);
    }
    assert_in_range(questions, 100, 130);
    assert_int_equal(stream_in_take(&in, &question), STREAM_OLD);
    struct core_message credit = stream_in_credit(&in, &question, in.taken);
    assert_int_equal(stream_out_put(&out, data, 0, &effects), 0); /* behind the question */
    assert_int_equal(said(MESSAGE_STREAM, 1), 1);
    stream_out_credit(&out, &credit, 3600 * SECOND, &effects);
    assert_int_equal(out.taken, 2);
    assert_int_equal(effects.count, 3);
    assert_int_equal(sent(0, 0, MESSAGE_STREAM)->number, 3);
    effects_clear(&effects);
    stream_out_credit(&out, &credit, 3600 * SECOND, &effects); /* it comes twice */
    assert_int_equal(effects.count, 0);
    credit = (struct core_message){.kind = MESSAGE_CREDIT, .number = 7}; /* of a block that was not said */
    stream_out_credit(&out, &credit, 3600 * SECOND, &effects);
    assert_int_equal(out.taken, 2);
    credit.number = 6;
    stream_out_credit(&out, &credit, 3600 * SECOND, &effects);
    assert_true(stream_out_is_empty(&out));
    assert_int_equal(effects.count, 0);
    bytes_unref(data);
    stream_out_fini(&out);
}

/* How many gets are sent again by now. */
static size_t asked_again(struct keys *k, int64_t now)
{
    keys_tick(k, now, &effects);
    size_t count = effects.count;
    effects_clear(&effects);
    return count;
}

/* The owner's node says that a get waits there: it is sent again after the loss of a node, and seldom. */
static void a_kept_get_is_hardly_ever_sent_again(void **state)
{
    struct tree t;
    struct keys k;
    (void)state;
    tree_init(&t, 1, 7, 2);
    keys_init(&k, &t);
    const struct keys_name theirs = {5, 8, "over", 4};
    const struct keys_home there = {4, false};
    assert_int_equal(keys_get(&k, &theirs, there, 70, KEYS_LATER, &effects), 0);
    struct core_message answer = {.kind = MESSAGE_VALUE, .origin = 4, .to = 1, .status = STATUS_ABSENT};
    answer.number = sent(1, 4, MESSAGE_GET)->number;
    effects_clear(&effects);
    assert_int_equal(asked_again(&k, 0), 0);
    assert_int_equal(asked_again(&k, KEYS_RETRY_NS), 1);
    assert_int_equal(keys_message(&k, &answer, false, &effects), 0);
    assert_int_equal(effects.items[0].message.number, KEYS_NO_GETTER);
    assert_int_equal(effects.items[0].message.tag, theirs.owner);
    effects_clear(&effects);
    assert_int_equal(asked_again(&k, KEYS_RETRY_NS + KEYS_KEPT_NS - 1), 0);
    assert_int_equal(asked_again(&k, KEYS_RETRY_NS + KEYS_KEPT_NS), 1);
    keys_node_lost(&k, 5, &effects); /* an answer may have been on its way there */
    assert_int_equal(asked_again(&k, 2 * KEYS_KEPT_NS), 0);
    assert_int_equal(asked_again(&k, 2 * KEYS_KEPT_NS + KEYS_RETRY_NS), 1);
    effects_clear(&effects);
    keys_fini(&k);
    tree_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_handed_in_again_to_a_root_that_stands_still),
        cmocka_unit_test(a_refused_node_hands_in_again_when_there_is_room),
        cmocka_unit_test(a_kept_get_is_hardly_ever_sent_again),
        cmocka_unit_test(no_block_is_said_again_to_a_node_that_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
