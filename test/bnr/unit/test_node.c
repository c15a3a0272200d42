/* SPDX-License-Identifier: BSD-3-Clause */

/* A node alone: its engines together give their daemon the right effects. The simulator tests many nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <stdio.h>
#include <cmocka.h>

#include "bnr/core/tree/node.h"

/* How many effects of a kind are about a node. */
static int count(const struct effects *effects, enum effect_kind kind, uint32_t node)
{
    int found = 0;
    for (size_t i = 0; i < effects->count; i++)
        found += effects->items[i].kind == kind && effects->items[i].node == node;
    return found;
}

/* The root of radix 2 hears that its child 2 and that one's child 5 are lost: it takes over 6, 11 and 12. */
static void many_losses_make_the_neighbours_anew_once(void **state)
{
    struct node_engine n;
    struct effects effects = {0};
    const struct node_settings settings = {
        .self = 0, .count = 15, .radix = 2, .liveness_ns = LIVENESS_LIMIT_NS, .choice = xcast_choice_default};
    static const uint32_t lost[] = {2, 5};
    struct packing p = {0};
    (void)state;
    assert_int_equal(node_init(&n, &settings, 0, &effects), 0);
    assert_int_equal(node_link(&n, 1, LINK_MADE, 0, &effects), 0);
    effects_clear(&effects);
    pack_u32(&p, lost[0]);
    pack_u32(&p, lost[1]);
    const struct core_message message = {.kind = MESSAGE_LOST, .origin = 1, .data = pack_end(&p)};
    assert_int_equal(node_message(&n, 1, &message, 0, &effects), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(count(&effects, EFFECT_LOST, lost[i]), 1);
        assert_int_equal(count(&effects, EFFECT_CONNECT, lost[i]), 0);
    }
    assert_int_equal(count(&effects, EFFECT_CONNECT, 6), 1);
    assert_int_equal(count(&effects, EFFECT_CONNECT, 11), 1);
    assert_int_equal(count(&effects, EFFECT_CONNECT, 12), 1);
    assert_int_equal(count(&effects, EFFECT_DISCONNECT, 2), 1);
    effects_clear(&effects);
    assert_int_equal(node_message(&n, 1, &message, 0, &effects), 0);
    assert_int_equal(effects.count, 0); /* all that is known */
    bytes_unref(message.data);
    effects_fini(&effects);
    node_fini(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_losses_make_the_neighbours_anew_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
