/* SPDX-License-Identifier: BSD-3-Clause */

/* The engine of messages to all, alone. The simulator tests it with the others, and with deaths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <stdio.h>
#include <cmocka.h>

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

static void the_shape_follows_from_nodes_and_bytes(void **state)
{
    static const struct {
        uint32_t nodes;
        size_t bytes;
        enum tree_mode mode;
    } rows[] = {{1, 8, TREE_DIRECT},        {2, 8, TREE_LINEAR},        {15, 1000, TREE_LINEAR},
                {15, 65535, TREE_LINEAR},   {15, 65536, TREE_BINARY},   {16, 1000, TREE_RADIX},
                {1000, 16383, TREE_RADIX},  {1000, 16384, TREE_BINARY}, {1000, 65536, TREE_BINARY}};
    struct xcast_choice between = xcast_choice_default;
    between.binomial_bytes = 65536;
    assert_int_equal(xcast_mode(&between, 1000, 16384), TREE_BINOMIAL);
    struct xcast_choice forced = {.is_forced = true, .mode = TREE_BINOMIAL};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(xcast_mode(&xcast_choice_default, rows[i].nodes, rows[i].bytes),
                         rows[i].mode);
        assert_int_equal(xcast_mode(&forced, rows[i].nodes, rows[i].bytes), TREE_BINOMIAL);
    }
}

static void addresses_are_kept_apart_from_payloads(void **state)
{
    uint32_t ranges[] = {2, 3, 9, 9};
    struct bytes *data = xcast_address(ranges, 2, "payload", 7);
    struct unpacking u;
    bool mine;
    for (uint32_t node = 0; node < 12; node++) {
        assert_int_equal(xcast_open(data, node, &mine, &u), 0);
        assert_int_equal(mine, node == 2 || node == 3 || node == 9);
        assert_int_equal(u.left, 7);
    }
    data->len = 10;
    assert_int_equal(xcast_open(data, 2, &mine, &u), -EPROTO);
    data->len = 0;
    assert_int_equal(xcast_open(data, 2, &mine, &u), -EPROTO);
    data->len = 27;
    memset(data->at, 0xff, 4);
    assert_int_equal(xcast_open(data, 2, &mine, &u), -EPROTO);
    bytes_unref(data);
}

/* Node 1 of seven, radix 2: parent 0, children 3 and 4. */
static void messages_are_taken_in_order_once(void **state)
{
    struct tree t;
    struct xcast x;
    tree_init(&t, 1, 7, 2);
    xcast_init(&x, &t, &xcast_choice_default);
    assert_int_equal(xcast_rewire(&x, &effects), 0);
    struct bytes *data = xcast_address(NULL, 0, "x", 1);
    struct core_message m = {.kind = MESSAGE_XCAST,
                             .mode = TREE_RADIX,
                             .tag = XCAST_TAG_USER,
                             .number = 2,
                             .group = 2,
                             .data = data};
    assert_int_equal(xcast_message(&x, 0, &m, &effects), 0);
    assert_int_equal(effects.count, 0); /* not its turn */
    m.number = m.group = 1;
    assert_int_equal(xcast_message(&x, 0, &m, &effects), 0);
    assert_int_equal(effects.count, 6);
    assert_int_equal(effects.items[0].kind, EFFECT_DELIVER);
    assert_int_equal(sent(1, 3, MESSAGE_XCAST)->number, 1);
    assert_int_equal(sent(2, 4, MESSAGE_XCAST)->number, 1);
    assert_int_equal(effects.items[3].message.number, 2);
    assert_int_equal(sent(5, 4, MESSAGE_XCAST)->number, 2);
    effects_clear(&effects);
    assert_int_equal(xcast_message(&x, 0, &m, &effects), 0);
    assert_int_equal(effects.count, 0); /* again */
    struct core_message have = {.kind = MESSAGE_HAVE, .number = 2, .other = 2};
    xcast_message(&x, 3, &have, &effects);
    assert_int_equal(effects.count, 0);
    xcast_message(&x, 4, &have, &effects);
    assert_int_equal(sent(0, 0, MESSAGE_HAVE)->other, 2); /* all below have it */
    effects_clear(&effects);
    assert_int_equal(x.log.count, 2);
    xcast_settle(&x, 2);
    assert_int_equal(x.log.count, 0);
    have.other = 9;
    assert_int_equal(xcast_message(&x, 4, &have, &effects), -EPROTO);
    m.mode = TREE_MODE_END;
    assert_int_equal(xcast_message(&x, 0, &m, &effects), -EPROTO);
    bytes_unref(data);
    xcast_fini(&x);
    tree_fini(&t);
}

/* Node 1 of seven, radix 2, behind which nobody is in the shape: what it gets late goes on to the children that lack it. */
static void what_comes_late_goes_on_at_once(void **state)
{
    struct tree t;
    struct xcast x;
    (void)state;
    tree_init(&t, 1, 7, 2);
    xcast_init(&x, &t, &xcast_choice_default);
    assert_int_equal(xcast_rewire(&x, &effects), 0);
    struct bytes *data = xcast_address(NULL, 0, "x", 1);
    struct core_message m = {.kind = MESSAGE_XCAST, .mode = TREE_LINEAR, .tag = XCAST_TAG_USER, .number = 1, .group = 1,
                             .data = data};
    assert_int_equal(xcast_message(&x, 0, &m, &effects), 0);
    assert_int_equal(effects.count, 1); /* in its shape: it is delivered */
    effects_clear(&effects);
    m.number = m.group = 2;
    m.flags = MESSAGE_HELP;
    const struct core_message have = {.kind = MESSAGE_HAVE, .origin = 3, .number = 2, .other = 2};
    xcast_message(&x, 3, &have, &effects);
    assert_int_equal(xcast_message(&x, 0, &m, &effects), 0);
    assert_int_equal(effects.count, 2);
    assert_int_equal(sent(1, 4, MESSAGE_XCAST)->flags, MESSAGE_HELP);
    effects_clear(&effects);
    m.number = m.group = 3;
    m.flags = 0;
    assert_int_equal(xcast_message(&x, 0, &m, &effects), 0);
    assert_int_equal(effects.count, 1);
    effects_clear(&effects);
    bytes_unref(data);
    xcast_fini(&x);
    tree_fini(&t);
}

/* Give a node all XCASTs that the root has sent to it. Returns how many there were. */
static int bring(struct xcast *to, const struct effects *from)
{
    int count = 0;
    for (size_t i = 0; i < from->count; i++)
        if (from->items[i].kind == EFFECT_SEND && from->items[i].node == to->tree->self) {
            assert_int_equal(xcast_message(to, 0, &from->items[i].message, &effects), 0);
            count++;
        }
    return count;
}

/* A message of 100 bytes in parts of 30: each goes on at once, and the whole is delivered once. The
 * parts of an origin that is lost are forgotten. */
static void what_is_long_goes_in_parts(void **state)
{
    struct tree root_tree, leaf_tree;
    struct xcast root, leaf;
    struct xcast_choice choice = xcast_choice_default;
    struct effects sent = {0};
    char text[100];
    choice.part_bytes = 30;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    tree_init(&root_tree, 0, 3, 2);
    tree_init(&leaf_tree, 1, 3, 2);
    xcast_init(&root, &root_tree, &choice);
    xcast_init(&leaf, &leaf_tree, &choice);
    xcast_rewire(&root, &sent);
    struct bytes *data = xcast_address(NULL, 0, text, sizeof(text));
    const struct xcast_input input = {XCAST_TAG_USER, TREE_BINARY + 1, data};
    assert_int_equal(xcast_submit(&root, &input, &sent), 0);
    effects_clear(&effects);
    assert_int_equal(bring(&leaf, &sent), 4);
    size_t delivered = 0;
    for (size_t i = 0; i < effects.count; i++) {
        const struct effect *e = &effects.items[i];
        if (e->kind != EFFECT_DELIVER)
            continue;
        assert_int_equal(delivered++, 0);
        assert_int_equal(e->message.data->len, data->len);
        assert_memory_equal(e->message.data->at, data->at, data->len);
    }
    assert_int_equal(delivered, 1);
    effects_clear(&sent);
    struct core_message part = {.kind = MESSAGE_SUBMIT, .origin = 2, .tag = XCAST_TAG_USER, .number = 1,
                                .flags = MESSAGE_MORE, .other = sizeof(text), .data = data};
    assert_int_equal(xcast_message(&root, 2, &part, &sent), 0);
    const uint8_t two[] = {0, 0, 0, 2};
    struct bytes *lost = xcast_address(NULL, 0, two, sizeof(two));
    const struct xcast_input loss = {XCAST_TAG_LOST, XCAST_BY_SIZE, lost};
    assert_non_null(root.joins);
    assert_int_equal(xcast_submit(&root, &loss, &sent), 0);
    assert_null(root.joins);
    part.flags = 0;
    part.number = 2;
    size_t before = sent.count;
    assert_int_equal(xcast_message(&root, 2, &part, &sent), 0);
    assert_int_equal(sent.count, before); /* the dead say nothing more */
    bring(&leaf, &sent);
    assert_null(leaf.joins);
    bytes_unref(data);
    bytes_unref(lost);
    effects_fini(&sent);
    effects_clear(&effects);
    xcast_fini(&root);
    xcast_fini(&leaf);
    tree_fini(&root_tree);
    tree_fini(&leaf_tree);
}

/* What no link carries in one message, as an order may be, is never many messages either. */
static void what_is_very_long_goes_in_few_parts(void **state)
{
    struct tree root_tree, leaf_tree;
    struct xcast root, leaf;
    struct effects sent = {0};
    struct bytes *payload = bytes_create(NULL, 2 * MESSAGE_DATA_MAX + 1), *too_long;
    (void)state;
    for (size_t i = 0; i < payload->len; i += 997)
        payload->at[i] = (uint8_t)(i * 2654435761u >> 24);
    struct bytes *data = xcast_address(NULL, 0, payload->at, payload->len);
    const struct xcast_input input = {XCAST_TAG_USER, XCAST_BY_SIZE, data};
    tree_init(&root_tree, 0, 2, 2);
    tree_init(&leaf_tree, 1, 2, 2);
    xcast_init(&root, &root_tree, &xcast_choice_default);
    xcast_init(&leaf, &leaf_tree, &xcast_choice_default);
    xcast_rewire(&root, &sent);
    assert_int_equal(xcast_submit(&root, &input, &sent), 0);
    effects_clear(&effects);
    assert_in_range(bring(&leaf, &sent), 2, XCAST_PARTS_MAX);
    size_t delivered = 0;
    for (size_t i = 0; i < effects.count; i++) {
        const struct core_message *m = &effects.items[i].message;
        if (effects.items[i].kind != EFFECT_DELIVER)
            continue;
        delivered++;
        assert_int_equal(m->data->len, data->len);
        assert_memory_equal(m->data->at, data->at, data->len);
    }
    assert_int_equal(delivered, 1);
    too_long = bytes_create("", 1);
    too_long->len = XCAST_DATA_MAX + 1; /* which is all that is looked at */
    const struct xcast_input refused = {XCAST_TAG_USER, XCAST_BY_SIZE, too_long};
    assert_int_equal(xcast_submit(&root, &refused, &sent), -EMSGSIZE);
    bytes_unref(too_long);
    bytes_unref(payload);
    bytes_unref(data);
    effects_fini(&sent);
    effects_clear(&effects);
    xcast_fini(&root);
    xcast_fini(&leaf);
    tree_fini(&root_tree);
    tree_fini(&leaf_tree);
}

/* Seven nodes, radix 2; node 5 is addressed, whose parent in the routing tree is 2. */
static void what_is_for_some_goes_to_them_alone(void **state)
{
    static const struct {
        enum tree_mode mode;
        const char *told; /* for each effect: to whom, and whether with data */
    } rows[] = {{TREE_RADIX, "1- 2+ "},
                {TREE_LINEAR, "1- 2+ 3- 4- 5+ 6- "},
                {TREE_BINOMIAL, "1+ 2+ 4- "},
                {TREE_BINARY, "1- 2+ "},
                {TREE_DIRECT, "1- 2+ 3- 4- 5+ 5+ 5+ 6- "}};
    static const struct rank_block seven = {0, 0, 7, 3};
    static const struct rank_map ranks = {1, 21, &seven, 1};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tree t;
        struct xcast x;
        uint32_t range[] = {5, 5};
        char told[64] = "";
        tree_init(&t, 0, 7, 2);
        xcast_init(&x, &t, &xcast_choice_default);
        x.ranks = &ranks;
        xcast_rewire(&x, &effects);
        struct bytes *data = xcast_address(range, 1, "secret", 6);
        const struct xcast_input input = {XCAST_TAG_USER, (uint8_t)(rows[i].mode + 1), data};
        assert_int_equal(xcast_submit(&x, &input, &effects), 0);
        for (size_t e = 0; e < effects.count; e++) {
            bool is_whole = !(effects.items[e].message.flags & MESSAGE_STRIPPED);
            if (effects.items[e].kind != EFFECT_SEND)
                continue;
            assert_int_equal(effects.items[e].message.data->len, is_whole ? 18 : 12);
            snprintf(told + strlen(told), sizeof(told) - strlen(told), "%u%c ",
                     (unsigned)effects.items[e].node, is_whole ? '+' : '-');
        }
        effects_clear(&effects);
        bytes_unref(data);
        xcast_fini(&x);
        tree_fini(&t);
        assert_string_equal(told, rows[i].told);
    }
}

static void too_much_under_way_waits(void **state)
{
    struct tree t;
    struct xcast x;
    int rc = 0, count = 0;
    tree_init(&t, 0, 2, 2);
    xcast_init(&x, &t, &xcast_choice_default);
    xcast_rewire(&x, &effects);
    struct bytes *data = xcast_address(NULL, 0, "x", 1);
    const struct xcast_input input = {XCAST_TAG_USER, XCAST_BY_SIZE, data};
    const struct xcast_input own = {XCAST_TAG_RELEASE, XCAST_BY_SIZE, data};
    while (!rc && count < 2 * XCAST_WINDOW) {
        rc = xcast_submit(&x, &input, &effects);
        count += !rc;
    }
    assert_int_equal(rc, XCAST_AGAIN);
    assert_int_equal(count, XCAST_WINDOW);
    assert_int_equal(xcast_submit(&x, &own, &effects), 0); /* our own go first */
    effects_clear(&effects);
    bytes_unref(data);
    xcast_fini(&x);
    tree_fini(&t);
}

/* How many messages for a node are among the effects, which are forgotten. */
static int sent_to(uint32_t node)
{
    int count = 0;
    for (size_t i = 0; i < effects.count; i++)
        count += effects.items[i].kind == EFFECT_SEND && effects.items[i].node == node;
    effects_clear(&effects);
    return count;
}

static void a_message_goes_over_a_link_once(void **state)
{
    struct tree t;
    struct xcast x;
    const struct core_message attach = {.kind = MESSAGE_ATTACH, .origin = 1};
    tree_init(&t, 0, 2, 2);
    xcast_init(&x, &t, &xcast_choice_default);
    xcast_rewire(&x, &effects);
    struct bytes *data = xcast_address(NULL, 0, "x", 1);
    const struct xcast_input input = {XCAST_TAG_USER, XCAST_BY_SIZE, data};
    xcast_relinked(&x, 1);
    assert_int_equal(xcast_submit(&x, &input, &effects), 0);
    assert_int_equal(sent_to(1), 1);
    assert_int_equal(xcast_attached(&x, 1, &attach, &effects), 0);
    assert_int_equal(sent_to(1), 0); /* it is on its way */
    assert_int_equal(xcast_attached(&x, 1, &attach, &effects), 0);
    assert_int_equal(sent_to(1), 1); /* the child says again that it lacks it */
    xcast_relinked(&x, 1);
    assert_int_equal(xcast_attached(&x, 1, &attach, &effects), 0);
    assert_int_equal(sent_to(1), 1);
    bytes_unref(data);
    xcast_fini(&x);
    tree_fini(&t);
}

static int end(void **state)
{
    (void)state;
    effects_fini(&effects);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shape_follows_from_nodes_and_bytes),
        cmocka_unit_test(addresses_are_kept_apart_from_payloads),
        cmocka_unit_test(messages_are_taken_in_order_once),
        cmocka_unit_test(what_comes_late_goes_on_at_once),
        cmocka_unit_test(what_is_long_goes_in_parts),
        cmocka_unit_test(what_is_very_long_goes_in_few_parts),
        cmocka_unit_test(what_is_for_some_goes_to_them_alone),
        cmocka_unit_test(too_much_under_way_waits),
        cmocka_unit_test(a_message_goes_over_a_link_once),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
