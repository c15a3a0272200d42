/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Delivery of completions: handlers run in the order of completions, one at a time, unlocked; they
 * may send and receive, complete other requests, and free their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/mpid/device_test.h"

enum { PEER = 2, COUNT = 5 };

static const struct mpid_envelope theirs = {4, PEER, 1};
static struct mpid_request requests[COUNT], next;
static uint32_t words[COUNT], word;
static int order[2 * COUNT], calls, depth;

static int start(void **state)
{
    (void)state;
    os_lock_enabled = true; /* as where several threads may call */
    beneath_start();
    assert_int_equal(beneath_ask(PEER), CHAN_ACCEPT);
    beneath_open(PEER);
    memset(requests, 0, sizeof(requests));
    calls = depth = 0;
    return 0;
}

static void post(struct mpid_request *request, uint32_t *to)
{
    struct mpid_bytes bytes = {.base = to, .len = sizeof(*to)};
    mpid_recv(request, beneath_vc((uint32_t)theirs.rank), &theirs, &bytes);
}

static void arrive(uint32_t value)
{
    beneath_arrive(PEER, packet_message(PACKET_EAGER, &theirs), &value, sizeof(value));
}

static void note(struct mpid_request *request)
{
    assert_int_equal(depth++, 0);
    assert_true(mpid_is_complete(request));
    assert_true(os_trylock(&device.lock)); /* nobody holds it */
    os_unlock(&device.lock);
    order[calls++] = (int)(request - requests);
    (void)mpid_progress(); /* delivers nothing in here */
    depth--;
}

static void post_all(void (*done)(struct mpid_request *request))
{
    for (int i = 0; i < COUNT; i++) {
        post(&requests[i], &words[i]);
        assert_true(mpid_when_done(&requests[i], done));
    }
}

static void test_order(void **state)
{
    (void)state;
    post_all(note);
    for (uint32_t i = 0; i < COUNT; i++)
        arrive(i);
    assert_int_equal(calls, 0); /* the queue is not run where a message arrives */
    for (int i = 0; i < COUNT; i++)
        assert_false(mpid_is_complete(&requests[i]));
    assert_true(mpid_progress());
    assert_int_equal(calls, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(order[i], i);
        assert_int_equal(words[i], i);
    }
    assert_false(mpid_when_done(&requests[0], note));
    (void)mpid_progress();
    assert_int_equal(calls, COUNT);
}

/* Cancels the request after the next, whose handler then comes last. */
static void cancel_another(struct mpid_request *request)
{
    if (request == &requests[0])
        mpid_cancel(&requests[2]);
    note(request);
}

static void test_order_within(void **state)
{
    (void)state;
    static const int expected[] = {0, 1, 2};
    post_all(cancel_another);
    arrive(7);
    arrive(8);
    (void)mpid_progress();
    assert_int_equal(calls, 3);
    assert_memory_equal(order, expected, sizeof(expected));
    assert_true(requests[2].cancelled);
    mpid_cancel(&requests[3]);
    mpid_cancel(&requests[4]);
    (void)mpid_progress();
    assert_int_equal(calls, COUNT);
}

/* Answers what has come, and receives the next message. */
static void answer(struct mpid_request *request)
{
    struct mpid_envelope mine = {4, BENEATH_ME, 1};
    struct mpid_bytes bytes = {.base = &words[0], .len = sizeof(words[0])};
    assert_int_equal(mpid_send(beneath_vc(PEER), &mine, &bytes, 0, NULL), 0);
    post(&next, &word);
    assert_true(mpid_when_done(&next, note));
    free(request);
}

static void test_send_and_receive(void **state)
{
    (void)state;
    struct mpid_request *request = calloc(1, sizeof(*request));
    post(request, &words[0]);
    assert_true(mpid_when_done(request, answer));
    arrive(3);
    (void)mpid_progress();
    struct beneath_packet *packet = beneath_sent(PEER);
    assert_non_null(packet);
    assert_int_equal(packet_type(&packet->head), PACKET_EAGER);
    free(packet);
    arrive(4);
    assert_int_equal(calls, 0);
    (void)mpid_progress();
    assert_int_equal(calls, 1);
    assert_int_equal(word, 4);
}

/* A wait for a request with a handler ends when it is delivered, by this thread. */
static void test_wait(void **state)
{
    (void)state;
    post(&requests[0], &words[0]);
    assert_true(mpid_when_done(&requests[0], note));
    arrive(5);
    mpid_wait(&requests[0]);
    assert_int_equal(words[0], 5);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, start, device_stop),
        cmocka_unit_test_setup_teardown(test_order_within, start, device_stop),
        cmocka_unit_test_setup_teardown(test_send_and_receive, start, device_stop),
        cmocka_unit_test_setup_teardown(test_wait, start, device_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
