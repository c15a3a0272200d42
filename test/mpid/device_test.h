/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What tests of the whole device have in common: a device for each, over beneath.h, a short send,
 * and a look at a connection. A test includes cmocka.h and what that needs first.
 */
#ifndef TEST_MPID_DEVICE_TEST_H
#define TEST_MPID_DEVICE_TEST_H

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "test/mpid/beneath.h"

static inline int device_start(void **state)
{
    (void)state;
    beneath_start();
    return 0;
}

static inline int device_stop(void **state)
{
    (void)state;
    beneath_stop();
    return 0;
}

/* Start a send of 8 bytes. Returns what mpid_send() does. */
static inline int send_word(uint32_t rank, unsigned mode, struct mpid_request *request)
{
    static const struct mpid_envelope own = {4, BENEATH_ME, 7};
    static const uint64_t word = 0x1122334455667788u;
    struct mpid_bytes bytes = {.base = (void *)(uintptr_t)&word, .len = sizeof(word)};
    return mpid_send(beneath_vc(rank), &own, &bytes, mode, request);
}

static inline void assert_state(uint32_t rank, enum vc_state state)
{
    assert_string_equal(vc_state_name((enum vc_state)beneath_vc(rank)->state),
                        vc_state_name(state));
}

#endif
