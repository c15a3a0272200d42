/* SPDX-License-Identifier: BSD-3-Clause */

/* Endpoint slots: those of built-in channels, and those of the tail, by the same calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "slots.h"
#include "test/mpid/device_test.h"

enum { PEER = 2, LOADED = 20 };

static int slot_of(const char *name)
{
    return beneath.env->endpoint_slot_register(beneath.env->device, name);
}

static void test_static(void **state)
{
    struct chan_peer *peer = &beneath_vc(PEER)->peer;
    int value;
    (void)state;
    for (int i = 0; i < ENDPOINT_SLOTS; i++) {
        assert_int_equal(slot_of(slot_names[i]), i);
        assert_null(chan_slot_get(peer, i));
        assert_int_equal(chan_slot_set(beneath.env, peer, i, &value), 0);
        assert_ptr_equal(beneath_vc(PEER)->slot[i], &value);
        assert_int_equal(chan_slot_set(beneath.env, peer, i, NULL), 0);
    }
    assert_null(peer->tail); /* nothing was allocated */
}

static void test_tail(void **state)
{
    struct chan_peer *peer = &beneath_vc(PEER)->peer, *other = &beneath_vc(PEER + 1)->peer;
    int slots[LOADED], values[LOADED];
    (void)state;
    for (int i = 0; i < LOADED; i++) {
        char name[16];
        snprintf(name, sizeof(name), "loaded%d", i);
        slots[i] = slot_of(name);
        assert_true(slots[i] >= CHAN_SLOT_DYNAMIC);
        assert_int_equal(slot_of(name), slots[i]);
        assert_null(chan_slot_get(peer, slots[i])); /* also while the tail is shorter */
        assert_int_equal(chan_slot_set(beneath.env, peer, slots[i], NULL), 0);
        assert_int_equal(chan_slot_set(beneath.env, peer, slots[i], &values[i]), 0);
    }
    for (int i = 0; i < LOADED; i++) {
        assert_ptr_equal(chan_slot_get(peer, slots[i]), &values[i]);
        assert_null(chan_slot_get(other, slots[i]));
        assert_int_equal(chan_slot_set(beneath.env, peer, slots[i], NULL), 0);
    }
    assert_null(other->tail);
}

#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, device_start, device_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {DEVICE_TEST(test_static), DEVICE_TEST(test_tail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
