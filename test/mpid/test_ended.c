/* SPDX-License-Identifier: BSD-3-Clause */

/* The device where the process of a peer ends: what it has sent arrives, however late, and then
 * everything with it ends in error. */
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

static void open_both(void)
{
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
}

/* The process of a peer has ended, but not all that it has sent is here: the link is read on, and
 * what is under way arrives. */
static void test_ended(void **state)
{
    (void)state;
    enum {
        LEN = 3000
    };
    static char place[LEN];
    struct mpid_request request, sync;
    struct mpid_envelope want = {4, LOW, 1}, from = {4, LOW, 1};
    struct mpid_bytes into = {.base = place, .len = LEN};
    struct chan_head head = packet_message(PACKET_EAGER, &from);
    void *token;
    open_both();
    mpid_recv(&request, NULL, &want, &into);
    assert_int_equal(send_word(LOW, MPID_SYNC, &sync), MPID_STARTED);
    memset(beneath.env->sink->place(&beneath_vc(LOW)->peer, &head, LEN, &token), 9, LEN);
    beneath_end(LOW);
    assert_state(LOW, VC_OPEN);
    assert_true(beneath.link[LOW].finishing && !beneath.link[HIGH].finishing);
    assert_false(mpid_is_complete(&request) || vc_is_lost(beneath_vc(LOW)));
    beneath.env->sink->landed(&beneath_vc(LOW)->peer, token);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_OK);
    assert_int_equal(place[LEN - 1], 9);
    assert_false(mpid_is_complete(&sync));
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    assert_state(LOW, VC_FAILED);
    assert_true(mpid_is_complete(&sync) && vc_is_lost(beneath_vc(LOW)));
    assert_int_equal(sync.error, MPID_LOST);
    assert_state(HIGH, VC_OPEN);
}

/* A peer asks for a long message to be received, which it lends. */
static void offer_long(uint32_t id, void *place, size_t len, struct mpid_request *request)
{
    struct mpid_envelope env = {4, LOW, (int32_t)id};
    struct mpid_bytes into = {.base = place, .len = len};
    struct {
        struct packet_rts rts;
        char key[8];
    } payload = {{.total = len, .addr = 4096, .id = id, .flags = RTS_HAS_KEY}, "kkkkkkk"};
    payload.key[7] = 'k';
    mpid_recv(request, NULL, &env, &into);
    beneath_arrive(LOW, packet_message(PACKET_RTS, &env), &payload, sizeof(payload));
}

/* A connection is lost while the channel reads out of the peer's memory: the receive is not over before that
 * is, since its place may be written until then. */
static void test_lost_amid_read(void **state)
{
    (void)state;
    enum {
        LEN = 100000
    };
    static char place[LEN], streamed_to[LEN];
    struct mpid_request streamed_one, request;
    beneath_use_keys(true);
    open_both();
    offer_long(1, streamed_to, LEN, &streamed_one);
    offer_long(2, place, LEN, &request);
    assert_ptr_equal(beneath.got, &request);
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    assert_state(LOW, VC_FAILED);
    assert_true(mpid_is_complete(&streamed_one));
    assert_false(mpid_is_complete(&request));
    (void)mpid_progress();
    assert_false(mpid_is_complete(&request));
    beneath_end_get(0);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    assert_state(HIGH, VC_OPEN);
    beneath_use_keys(false);
}

static int streamed;

/* Another peer that always has something to say. */
static void stream(void)
{
    if (++streamed < 100000)
        beneath.during = stream;
}

/* The end of one process is dealt with while another one streams. */
static void test_ended_amid_stream(void **state)
{
    (void)state;
    open_both();
    streamed = 0;
    beneath.during = stream;
    int turns = beneath.turns;
    beneath_end(LOW);
    assert_true(streamed > 0 && streamed < 10000 && beneath.turns - turns < 10000);
    assert_true(beneath.link[LOW].finishing);
    beneath.during = NULL;
}

/* A process has ended before anything was known of it; what it has sent is met afterwards. */
static void met_late(void)
{
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
}

static void test_ended_before_contact(void **state)
{
    (void)state;
    uint64_t word = 5, got = 0;
    struct mpid_request request;
    struct mpid_envelope want = {4, LOW, 1}, from = {4, LOW, 1};
    struct mpid_bytes into = {.base = &got, .len = sizeof(got)};
    beneath_end(HIGH);
    assert_true(vc_is_lost(beneath_vc(HIGH)));
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_int_equal(request.error, MPID_LOST);
    assert_int_equal(beneath.links, 0);
    assert_false(vc_is_lost(beneath_vc(LOW)));
    beneath.end = LOW + 1;
    beneath.during = met_late; /* in the turn that the device gives to each channel */
    while (beneath.end)
        (void)mpid_progress();
    if (beneath_vc(LOW)->state == VC_UNBOUND)
        met_late();
    assert_true(beneath.link[LOW].finishing);
    assert_false(vc_is_lost(beneath_vc(LOW)));
    mpid_recv(&request, NULL, &want, &into);
    beneath_arrive(LOW, packet_message(PACKET_EAGER, &from), &word, sizeof(word));
    assert_true(mpid_is_complete(&request) && got == 5);
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    assert_state(LOW, VC_FAILED);
}

/* The same, and the attempt is met after the turn that the device gives to each channel. A receive
 * that names the process ends. */
static void test_met_after_end(void **state)
{
    (void)state;
    uint64_t got;
    struct mpid_request request;
    struct mpid_envelope want = {4, 3, 1};
    struct mpid_bytes into = {.base = &got, .len = sizeof(got)};
    beneath_end(3);
    assert_int_equal(beneath_ask(3), CHAN_ACCEPT);
    beneath_open(3);
    mpid_recv(&request, beneath_vc(3), &want, &into);
    for (int i = 0; i < 3000; i++) {
        (void)mpid_progress();
        if (beneath.link[3].taken && beneath.link[3].finishing)
            beneath.env->sink->lost(&beneath.link[3].base, -ECONNRESET);
    }
    assert_true(vc_is_lost(beneath_vc(3)));
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
}

/* Our own attempt, which a process that has ended never answers. */
static void test_ended_unanswered(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.second_fit = CHAN_MAYBE;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_end(HIGH);
    assert_true(beneath.link[HIGH].finishing);
    assert_false(mpid_is_complete(&request));
    beneath_refuse(HIGH, CHAN_ACCEPT);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    assert_int_equal(beneath.links, 1); /* no other channel is tried */
}

/* A process ends while this one is between two sessions. */
static void test_ended_at_rest(void **state)
{
    (void)state;
    char why[256];
    struct mpid_world world;
    open_both();
    beneath.says[LOW] = beneath.says[HIGH] = "sessions";
    mpid_end_world(true);
    beneath_drain(LOW);
    beneath_drain(HIGH);
    assert_int_equal(mpid_rest(), 0);
    beneath.end = LOW + 1;
    assert_int_equal(mpid_init(false, sizeof(struct mpid_request), &world, why, sizeof(why)), 0);
    assert_int_equal(mpid_use(MPID_SESSIONS), 0);
    assert_int_equal(beneath.end, 0);
    assert_true(beneath.link[LOW].finishing);
    assert_false(vc_is_lost(beneath_vc(LOW)));
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    assert_true(vc_is_lost(beneath_vc(LOW)));
    assert_false(vc_is_lost(beneath_vc(HIGH)));
}

#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, device_start, device_stop)

/* Processes of two groups with the same rank: one ends, and the other has not. */
static void test_two_groups(void **state)
{
    (void)state;
    struct mpid_request there, here;
    struct mpid_envelope want = {4, HIGH, 1};
    struct mpid_bytes into = {0};
    struct mpid_gid gid, failed;
    uint32_t rank;
    memcpy(&gid, &beneath_other, sizeof(gid));
    struct vc *other = mpid_vc_get(&gid, HIGH);
    assert_ptr_not_equal(other, beneath_vc(HIGH));
    mpid_recv(&there, other, &want, &into);
    mpid_recv(&here, beneath_vc(HIGH), &want, &into);
    beneath.ends_elsewhere = true;
    beneath_end(HIGH);
    assert_true(mpid_is_complete(&there) && vc_is_lost(other));
    assert_int_equal(there.error, MPID_LOST);
    assert_false(mpid_is_complete(&here) || vc_is_lost(beneath_vc(HIGH)));
    assert_true(vc_is_ended(other) && !vc_is_ended(beneath_vc(HIGH)));
    assert_false(device_is_ended_rank(HIGH));
    assert_true(mpid_failed(0, &failed, &rank));
    assert_memory_equal(&failed, &gid, sizeof(gid));
    assert_int_equal(rank, HIGH);
    assert_false(mpid_failed(1, &failed, &rank));
    beneath.ends_elsewhere = false;
    beneath_end(HIGH);
    assert_true(mpid_is_complete(&here));
    assert_true(mpid_failed(1, &failed, &rank) && !mpid_failed(2, &failed, &rank));
    beneath_end(HIGH); /* the same again, as after another BNR_Init() */
    assert_false(mpid_failed(2, &failed, &rank));
    mpid_vc_put(other);
}

/* An event of a group or a rank that there is not means nothing. */
static void test_no_such_process(void **state)
{
    (void)state;
    struct mpid_gid gid;
    uint32_t rank;
    beneath_end((uint32_t)beneath_ranks);
    assert_false(mpid_failed(0, &gid, &rank));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_two_groups),
        DEVICE_TEST(test_no_such_process),
        DEVICE_TEST(test_ended),
        DEVICE_TEST(test_lost_amid_read),
        DEVICE_TEST(test_ended_amid_stream),
        DEVICE_TEST(test_ended_before_contact),
        DEVICE_TEST(test_met_after_end),
        DEVICE_TEST(test_ended_unanswered),
        DEVICE_TEST(test_ended_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
