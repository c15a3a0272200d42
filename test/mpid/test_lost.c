/* SPDX-License-Identifier: BSD-3-Clause */

/* The device where a peer is lost: the receives and probes that it ends, and those that it does not;
 * and contexts that fail. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/mpid/device_test.h"

enum {
    LOW = 0,
    HIGH = 2,
    LAST = 3,
    CONTEXT = 8,
    COLL = CONTEXT + 1, /* fails with any rank */
    OTHER = 16,         /* of a communicator of this process and LOW */
    JOINT = 32,         /* of one of this process and two of another group */
    LONG = 100000
};

/* ---- what the layer above says ---- */

static struct mpid_process ours(int rank)
{
    struct mpid_process process = {.rank = (uint32_t)rank};
    memcpy(&process.gid, &device.env.gid, sizeof(process.gid));
    return process;
}

static struct mpid_process same(const void *object, int i)
{
    (void)object;
    return ours(i);
}

static struct mpid_process me(const void *object, int i)
{
    (void)object;
    return ours(i + BENEATH_ME);
}

static struct mpid_process two(const void *object, int i)
{
    (void)object;
    return ours(i ? LOW : BENEATH_ME);
}

/* This process, and the other group's of rank LOW and of this one's rank. */
static struct mpid_process joint(const void *object, int i)
{
    struct mpid_process process = ours(i == 1 ? LOW : BENEATH_ME);
    (void)object;
    if (i)
        memcpy(&process.gid, &beneath_other, sizeof(process.gid));
    return process;
}

static void each_comm(bool (*take)(void *arg, const struct mpid_comm_view *view), void *arg)
{
    const struct mpid_comm_view views[] = {
        {.context = 0, .size = 1, .rank = 0, .member = me},
        {.context = OTHER, .size = 2, .rank = 0, .member = two},
        {.context = JOINT, .size = 3, .rank = 0, .member = joint},
        {.context = CONTEXT, .size = BENEATH_RANKS, .rank = BENEATH_ME, .member = same},
    };
    for (size_t i = 0; i < sizeof(views) / sizeof(*views) && !take(arg, &views[i]); i++)
        ;
}

static void contexts_of(const struct mpid_gid *gid, uint32_t rank, void (*end)(uint32_t context))
{
    if (memcmp(gid, &device.env.gid, sizeof(*gid)))
        return;
    assert_in_range(rank, 0, BENEATH_RANKS - 1);
    end(COLL);
}

static int count_failed(void)
{
    struct mpid_gid gid;
    uint32_t rank;
    int count = 0;
    while (mpid_failed(count, &gid, &rank))
        count++;
    return count;
}

static int start(void **state)
{
    (void)state;
    beneath_start();
    mpid_set_comms(each_comm);
    mpid_set_failed(contexts_of);
    return 0;
}

/* ---- receives ---- */

static char room[LONG];

static void post(struct mpid_request *request, uint32_t context, int32_t from)
{
    struct mpid_envelope want = {context, from, MPID_ANY};
    struct mpid_bytes into = {.base = room, .len = sizeof(room)};
    mpid_recv(request, from == MPID_ANY ? NULL : beneath_vc((uint32_t)from), &want, &into);
}

static int probe(uint32_t context, int32_t from)
{
    struct mpid_probe probe = {.want = {context, from, 1},
                               .from = from == MPID_ANY ? NULL : beneath_vc((uint32_t)from)};
    return mpid_iprobe(&probe);
}

static bool waits(const struct mpid_request *request)
{
    return !mpid_is_complete(request);
}

static bool is_lost(const struct mpid_request *request)
{
    return mpid_is_complete(request) && request->error == MPID_LOST;
}

static void open(uint32_t rank)
{
    assert_int_equal(beneath_ask(rank), CHAN_ACCEPT);
    beneath_open(rank);
}

static void break_link(uint32_t rank)
{
    beneath.env->sink->lost(&beneath.link[rank].base, -ECONNRESET);
}

static void arrive(uint32_t rank, uint32_t context)
{
    struct mpid_envelope env = {context, (int32_t)rank, 1};
    uint64_t word = 5;
    beneath_arrive(rank, packet_message(PACKET_EAGER, &env), &word, sizeof(word));
}

/* A connection breaks: what names the peer ends, what has come is received, all else waits. */
static void test_named(void **state)
{
    (void)state;
    struct mpid_request lost[3], other, any, come, late;
    open(LOW);
    open(HIGH);
    arrive(LOW, OTHER);
    for (int i = 0; i < 3; i++)
        post(&lost[i], CONTEXT, LOW);
    post(&other, CONTEXT, HIGH);
    post(&any, CONTEXT, MPID_ANY);
    assert_int_equal(probe(CONTEXT, LOW), 0);
    break_link(LOW);
    for (int i = 0; i < 3; i++)
        assert_true(is_lost(&lost[i]));
    assert_true(waits(&other) && waits(&any));
    assert_int_equal(probe(CONTEXT, LOW), MPID_NONE_CAN_COME);
    assert_int_equal(probe(CONTEXT, HIGH), 0);
    assert_int_equal(probe(CONTEXT, MPID_ANY), 0);
    assert_int_equal(probe(OTHER, LOW), MPID_FOUND);
    post(&come, OTHER, LOW);
    assert_true(mpid_is_complete(&come) && come.error == MPID_OK);
    post(&late, OTHER, LOW);
    assert_true(is_lost(&late));
    assert_int_equal(device.match.posted_total, 2);
    arrive(HIGH, CONTEXT);
    arrive(HIGH, CONTEXT);
    assert_true(!waits(&other) && !waits(&any));
}

/* The process of a peer ends to which no connection has been made. */
static void test_never_met(void **state)
{
    (void)state;
    struct mpid_request request, late;
    post(&request, CONTEXT, HIGH);
    beneath_end(LOW);
    assert_true(waits(&request));
    beneath_end(HIGH);
    assert_true(is_lost(&request));
    assert_int_equal(probe(CONTEXT, HIGH), MPID_NONE_CAN_COME);
    post(&late, CONTEXT, HIGH);
    assert_true(is_lost(&late));
    assert_int_equal(beneath.links, 0);
}

/* From any: ended by the last of the communicator. */
static void test_any(void **state)
{
    (void)state;
    struct mpid_request any, two_any, own, late;
    open(LOW);
    post(&any, CONTEXT, MPID_ANY);
    post(&two_any, OTHER, MPID_ANY);
    post(&own, 0, MPID_ANY);
    beneath_end(LOW);
    assert_true(waits(&two_any)); /* its connection is still read */
    break_link(LOW);
    assert_true(is_lost(&two_any) && waits(&any));
    beneath_end(HIGH);
    assert_true(waits(&any));
    assert_int_equal(probe(CONTEXT, MPID_ANY), 0);
    beneath_end(LAST);
    assert_true(is_lost(&any) && waits(&own));
    assert_int_equal(probe(CONTEXT, MPID_ANY), MPID_NONE_CAN_COME);
    post(&late, CONTEXT, MPID_ANY);
    assert_true(is_lost(&late));
    mpid_cancel(&own);
    assert_true(own.cancelled);
}

/* Processes that have ended as they should leave this one, which may send to itself. A program may give up a receive from one
 * of them, unless it waits for that; a collective may not. */
static void test_finished(void **state)
{
    (void)state;
    struct mpid_request any, named, awaited, inner;
    beneath.ends_well = true;
    post(&any, OTHER, MPID_ANY);
    post(&named, OTHER, LOW);
    post(&awaited, OTHER, LOW);
    post(&inner, OTHER + 1, LOW);
    mpid_await(&awaited);
    beneath_end(LOW);
    assert_true(waits(&any) && waits(&named));
    assert_true(is_lost(&awaited) && is_lost(&inner));
    assert_int_equal(probe(OTHER, LOW), 0);
    assert_int_equal(count_failed(), 0);
    mpid_await(&named);
    assert_true(is_lost(&named));
    mpid_await(&any);
    assert_true(is_lost(&any));
    post(&any, OTHER, LOW);
    assert_true(waits(&any));
    mpid_cancel(&any);
    assert_true(any.cancelled && any.error == MPID_OK);
}

/* ---- contexts ---- */

static int send(struct mpid_request *request, uint32_t context, size_t len)
{
    struct mpid_envelope env = {context, BENEATH_ME, 7};
    struct mpid_bytes bytes = {.base = room, .len = len};
    return mpid_send(beneath_vc(HIGH), &env, &bytes, 0, request);
}

static struct packet_rts next_rts(void)
{
    struct packet_rts rts = {0};
    struct beneath_packet *packet = beneath_sent(HIGH);
    assert_non_null(packet);
    assert_int_equal(packet_type(&packet->head), PACKET_RTS);
    memcpy(&rts, packet->data, sizeof(rts));
    free(packet);
    return rts;
}

static void test_context(void **state)
{
    (void)state;
    static struct mpid_request posted, p2p, kept, asked, matched, waiting, late;
    open(HIGH);
    post(&posted, COLL, HIGH);
    post(&p2p, CONTEXT, HIGH);
    assert_int_equal(send(&asked, COLL, LONG), MPID_STARTED);
    uint32_t asked_id = next_rts().id;
    assert_int_equal(send(&matched, COLL, LONG), MPID_STARTED);
    uint32_t matched_id = next_rts().id;
    assert_int_equal(send(&kept, CONTEXT, LONG), MPID_STARTED);
    (void)next_rts();
    beneath.outcome = CHAN_AGAIN;
    assert_int_equal(send(&waiting, COLL, 8), MPID_STARTED);
    beneath_end(LOW);
    beneath.outcome = 0;
    for (int i = 0; i < 10; i++)
        (void)mpid_progress();
    assert_int_equal(count_failed(), 1);
    assert_true(is_lost(&posted) && is_lost(&waiting));
    assert_true(waits(&p2p) && waits(&kept));
    /* A send whose receiver has been asked waits for its answer. */
    assert_true(waits(&asked) && waits(&matched));
    assert_int_equal(beneath_sent_type(HIGH), PACKET_CANCEL);
    assert_int_equal(beneath_sent_type(HIGH), PACKET_CANCEL);
    assert_int_equal(beneath_sent_type(HIGH), 0);
    beneath_arrive(HIGH, packet_head(PACKET_CANCELLED, asked_id, 1), NULL, 0);
    assert_true(is_lost(&asked) && !asked.cancelled);
    beneath_arrive(HIGH, packet_head(PACKET_DONE, matched_id, MPID_OK), NULL, 0);
    assert_true(mpid_is_complete(&matched) && matched.error == MPID_OK);
    /* What begins now. */
    post(&late, COLL, HIGH);
    assert_true(is_lost(&late));
    assert_int_equal(send(&late, COLL, LONG), MPID_STARTED);
    assert_true(is_lost(&late));
    assert_int_equal(beneath_sent_type(HIGH), 0);
    /* The number is used for another communicator. */
    mpid_forget_context(COLL);
    post(&late, COLL, HIGH);
    assert_true(waits(&late));
    mpid_fail_context(COLL, MPID_LOST);
    assert_true(is_lost(&late));
    mpid_cancel(&p2p);
}

#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, start, device_stop)

/* Processes of another group can send until they have failed, all of them. */
static void test_any_of_another(void **state)
{
    (void)state;
    struct mpid_request any;
    post(&any, JOINT, MPID_ANY);
    beneath.ends_elsewhere = true;
    beneath_end(LOW);
    assert_true(waits(&any));
    assert_int_equal(probe(JOINT, MPID_ANY), 0);
    beneath_end(BENEATH_ME);
    assert_true(is_lost(&any));
    assert_int_equal(probe(JOINT, MPID_ANY), MPID_NONE_CAN_COME);
    beneath.ends_elsewhere = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_named),
        DEVICE_TEST(test_never_met),
        DEVICE_TEST(test_any),
        DEVICE_TEST(test_finished),
        DEVICE_TEST(test_any_of_another),
        DEVICE_TEST(test_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
