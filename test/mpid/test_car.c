/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests of several CARs: complete when all are over, in any order; failed when one has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/mpid/device_test.h"

enum { PEER = 2 };

static const struct mpid_envelope theirs = {4, PEER, 1}, mine = {4, BENEATH_ME, 1};
static struct mpid_request request, first, second;
static uint32_t word, out = 9;
static int calls;

static int start(void **state)
{
    (void)state;
    beneath_start();
    assert_int_equal(beneath_ask(PEER), CHAN_ACCEPT);
    beneath_open(PEER);
    memset(&request, 0xff, sizeof(request)); /* recycled */
    memset(&first, 0xff, sizeof(first));
    memset(&second, 0xff, sizeof(second));
    calls = 0;
    return 0;
}

static void receive(void)
{
    struct mpid_bytes bytes = {.base = &word, .len = sizeof(word)};
    mpid_recv(&request, beneath_vc((uint32_t)theirs.rank), &theirs, &bytes);
}

/* A send that is over once the peer says so. */
static void add(struct mpid_request *car)
{
    struct mpid_bytes bytes = {.base = &out, .len = sizeof(out)};
    assert_int_equal(mpid_send(beneath_vc(PEER), &mine, &bytes, MPID_SYNC, car), MPID_STARTED);
    free(beneath_sent(PEER));
    mpid_add_car(&request, car);
}

static void message_arrives(void)
{
    beneath_arrive(PEER, packet_message(PACKET_EAGER, &theirs), &word, sizeof(word));
}

static void is_matched(const struct mpid_request *car)
{
    beneath_arrive(PEER, packet_head(PACKET_DONE, car->id, 0), NULL, 0);
}

/* Each of three in each of six orders. */
static void test_all_orders(void **state)
{
    (void)state;
    static const char *const orders[] = {"rfs", "rsf", "frs", "fsr", "srf", "sfr"};
    for (int i = 0; i < 6; i++) {
        receive();
        add(&first);
        add(&second);
        for (int k = 0; k < 3; k++) {
            assert_false(mpid_is_complete(&request));
            assert_int_equal(atomic_load(&request.pending), 3 - k);
            if (orders[i][k] == 'r')
                message_arrives();
            else
                is_matched(orders[i][k] == 'f' ? &first : &second);
        }
        assert_true(mpid_is_complete(&request));
        assert_true(mpid_is_complete(&first) && mpid_is_complete(&second));
        assert_int_equal(request.error, MPID_OK);
    }
}

/* The receive is over before the CAR is added, and the CAR before it is. */
static void test_late(void **state)
{
    (void)state;
    receive();
    message_arrives();
    assert_true(mpid_is_complete(&request));
    add(&first);
    assert_false(mpid_is_complete(&request));
    is_matched(&first);
    assert_true(mpid_is_complete(&request));
    mpid_add_car(&request, &first);
    assert_true(mpid_is_complete(&request));
}

static void note(struct mpid_request *over)
{
    assert_ptr_equal(over, &request);
    calls++;
}

static void test_handler(void **state)
{
    (void)state;
    receive();
    add(&first);
    assert_true(mpid_when_done(&request, note));
    message_arrives();
    (void)mpid_progress();
    assert_int_equal(calls, 0);
    is_matched(&first);
    (void)mpid_progress();
    assert_int_equal(calls, 1);
    assert_true(mpid_is_complete(&request));
}

/* The send fails: the receive is withdrawn, and the next message is not for it. */
static void test_failure(void **state)
{
    (void)state;
    receive();
    add(&first);
    beneath.env->sink->lost(&beneath.link[PEER].base, -32);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    assert_int_equal(device.match.posted_total, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_orders, start, device_stop),
        cmocka_unit_test_setup_teardown(test_late, start, device_stop),
        cmocka_unit_test_setup_teardown(test_handler, start, device_stop),
        cmocka_unit_test_setup_teardown(test_failure, start, device_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
