/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What comes in: messages that land in place while their link is lost, messages that cannot be,
 * and the order of those that come in one turn. The peers are the test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/mpid/device_test.h"

enum {
    LOW = 0,
    HIGH = 2
}; /* peers of lower and higher rank than ours */

static int start(void **state)
{
    (void)state;
    beneath_start();
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    return 0;
}

/* A message that is still arriving when its peer is lost: claimed by a receive, taken by a
 * probe, and wanted by nobody. */
static void test_lost_arriving(void **state)
{
    (void)state;
    enum {
        LEN = 3000
    };
    static char place[LEN];
    struct mpid_request request;
    struct mpid_envelope want = {4, MPID_ANY, MPID_ANY}, from = {4, 0, 1};
    struct mpid_probe probe = {.want = want, .take = true};
    struct mpid_bytes into = {.base = place, .len = LEN};
    struct chan_head head = packet_message(PACKET_EAGER, &from);
    void *token;
    memset(beneath.env->sink->place(&beneath_vc(LOW)->peer, &head, LEN, &token), 1, LEN);
    assert_int_equal(mpid_probe(&probe), MPID_FOUND);
    assert_int_equal(probe.len, LEN);
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    mpid_recv_message(&request, probe.message, &into);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    memset(beneath.env->sink->place(&beneath_vc(HIGH)->peer, &head, LEN, &token), 1, LEN);
    mpid_recv(&request, NULL, &want, &into);
    assert_false(mpid_is_complete(&request));
    beneath.env->sink->lost(&beneath.link[HIGH].base, -ECONNRESET);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    assert_int_equal(beneath_ask(3), CHAN_ACCEPT);
    beneath_open(3);
    memset(beneath.env->sink->place(&beneath_vc(3)->peer, &head, LEN, &token), 1, LEN);
    beneath.env->sink->lost(&beneath.link[3].base, -ECONNRESET);
    assert_int_equal(mpid_probe(&probe), 0);
}

/* There is no place for a message that cannot be, and none is kept where a link is lost. */
static void test_no_place(void **state)
{
    (void)state;
    struct mpid_envelope impossible = {4, -1, 3}, good = {4, HIGH, 3};
    struct chan_head head = packet_message(PACKET_EAGER, &impossible);
    char word[8];
    struct mpid_request request;
    struct mpid_bytes into = {.base = word, .len = sizeof(word)};
    void *token;
    assert_null(beneath.env->sink->place(&beneath_vc(LOW)->peer, &head, 3000, &token));
    assert_state(LOW, VC_FAILED);
    assert_null(beneath_vc(LOW)->landing);
    mpid_recv(&request, NULL, &good, &into);
    head = packet_message(PACKET_EAGER, &good); /* longer than its buffer: lands beside it */
    memset(beneath.env->sink->place(&beneath_vc(HIGH)->peer, &head, 3000, &token), 1, 3000);
    assert_non_null(beneath_vc(HIGH)->landing->temp);
    beneath.env->sink->lost(&beneath.link[HIGH].base, -ECONNRESET);
    assert_null(beneath_vc(HIGH)->landing);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
}

/* A receive of any rank and tag takes no message of an impossible one; its peer is lost. */
static void wanted_of_any(int32_t rank, int32_t tag)
{
    uint64_t word = 1;
    struct mpid_envelope from = {4, rank, tag};
    struct mpid_wanted wanted = {.mask = ~(MPID_ANY_RANK_BITS | MPID_ANY_TAG_BITS),
                                 .context = 4,
                                 .base = &word,
                                 .len = sizeof(word)};
    device.wanted = &wanted; /* as within mpid_recv_now() */
    beneath_arrive(LOW, packet_message(PACKET_EAGER, &from), &word, sizeof(word));
    assert_ptr_equal(device.wanted, rank < 0 || tag < 0 ? &wanted : NULL);
    device.wanted = NULL;
    assert_state(LOW, rank < 0 || tag < 0 ? VC_FAILED : VC_OPEN);
}

static void test_wanted(void **state)
{
    (void)state;
    wanted_of_any(0, 1);
}

static void test_wanted_impossible_rank(void **state)
{
    (void)state;
    wanted_of_any(INT32_MIN, 1);
}

static void test_wanted_impossible_tag(void **state)
{
    (void)state;
    wanted_of_any(0, -1);
}

/* What comes in one turn is received in order, though the first one is too long for the fast
 * path, and is asked for by a blocking receive. */
static void test_no_overtaking(void **state)
{
    (void)state;
    uint64_t word = 1;
    struct mpid_envelope from = {4, 0, 1};
    struct packet_rts rts = {.total = 50000, .id = 9};
    struct mpid_wanted wanted = {.sender = mpid_sender(0, 1),
                                 .mask = ~(uint64_t)0,
                                 .context = 4,
                                 .base = &word,
                                 .len = sizeof(word)};
    device.wanted = &wanted; /* as within mpid_recv_now() */
    beneath_arrive(LOW, packet_message(PACKET_RTS, &from), &rts, sizeof(rts));
    beneath_arrive(LOW, packet_message(PACKET_EAGER, &from), &word, sizeof(word));
    assert_ptr_equal(device.wanted, &wanted);
    device.wanted = NULL;
    assert_int_equal(device.match.arrived_total, 2);
}

#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, start, device_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_lost_arriving),          DEVICE_TEST(test_no_place),
        DEVICE_TEST(test_wanted),                 DEVICE_TEST(test_wanted_impossible_rank),
        DEVICE_TEST(test_wanted_impossible_tag),  DEVICE_TEST(test_no_overtaking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
