/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rendezvous by halves, where the sender cannot write into the receiver's memory, or the receiver
 * cannot read the sender's; with keys; and without names for requests. The other side is the test.
 */
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
    PEER = 2,
    LEN = 64 << 10,
    HALF = LEN / 2,
    FIRST = 5, /* the receiver's name of the message, or of its first half */
    SECOND = 6 /* of its second one */
};

static uint8_t memory[LEN];
static const struct mpid_bytes bytes = {.base = memory, .len = LEN};
static const struct mpid_envelope envelope = {4, BENEATH_ME, 1}, theirs = {4, PEER, 1};

static int start(void **state)
{
    (void)state;
    beneath_start();
    assert_int_equal(beneath_ask(PEER), CHAN_ACCEPT);
    beneath_open(PEER);
    for (size_t i = 0; i < LEN; i++)
        memory[i] = (uint8_t)(i / 8);
    return 0;
}

static struct beneath_packet *next_of(uint32_t type)
{
    struct beneath_packet *packet = beneath_sent(PEER);
    assert_non_null(packet);
    assert_int_equal(packet_type(&packet->head), type);
    return packet;
}

static void done_arrives(uint32_t id, uint64_t error)
{
    beneath_arrive(PEER, packet_head(PACKET_DONE, id, error), NULL, 0);
}

/* ---- the sender ---- */

/* Start a send, and let the receiver ask for halves. */
static void lend(struct mpid_request *send)
{
    struct packet_cts cts = {.receiver_id = FIRST,
                             .second_id = SECOND,
                             .engine = ENGINE_SPLIT,
                             .addr = (uintptr_t)memory,
                             .limit = LEN,
                             .split = HALF};
    assert_int_equal(mpid_send(beneath_vc(PEER), &envelope, &bytes, 0, send), MPID_STARTED);
    free(next_of(PACKET_RTS));
    cts.sender_id = send->id;
    beneath_arrive(PEER, packet_head(PACKET_CTS, 0, 0), &cts, sizeof(cts));
}

/* The receiver has been told that its second half is there. */
static void told_written(void)
{
    struct beneath_packet *packet = next_of(PACKET_DONE);
    assert_int_equal(packet_id(&packet->head), SECOND);
    assert_int_equal(packet->head.word[1], MPID_OK);
    free(packet);
}

static void test_push(void **state)
{
    (void)state;
    struct mpid_request send;
    lend(&send);
    told_written();
    assert_false(mpid_is_complete(&send));
    done_arrives(send.id, MPID_OK);
    assert_true(mpid_is_complete(&send));
}

/* DATA packets of these bytes have been sent; those of the two halves in turns. */
static void sent_as_data(uint64_t from, uint64_t to)
{
    uint64_t at[2] = {from, HALF};
    while ((at[0] < HALF && from < HALF) || at[1] < to) {
        struct beneath_packet *packet = next_of(PACKET_DATA);
        uint64_t *next = &at[packet_id(&packet->head) == SECOND];
        assert_int_equal(packet->head.word[1], *next);
        assert_memory_equal(packet->data, memory + *next, packet->len);
        *next += packet->len;
        free(packet);
    }
}

/* The half that cannot be written is streamed. The send is complete once it is out, and the
 * receiver has read the other half, be that before or after. */
static void stream_half(bool reads_first)
{
    struct mpid_request send;
    beneath.direct_fails = true;
    lend(&send);
    assert_null(beneath_sent(PEER));
    if (reads_first)
        done_arrives(send.id, MPID_OK);
    assert_false(mpid_is_complete(&send));
    (void)mpid_progress();
    sent_as_data(HALF, LEN);
    assert_null(beneath_sent(PEER));
    assert_int_equal(mpid_is_complete(&send), reads_first);
    if (!reads_first)
        done_arrives(send.id, MPID_OK);
    assert_true(mpid_is_complete(&send));
    assert_int_equal(send.error, MPID_OK);
    assert_int_equal(beneath_vc(PEER)->unfinished, 0);
}

static void test_stream_then_read(void **state)
{
    (void)state;
    stream_half(false);
}

static void test_read_then_stream(void **state)
{
    (void)state;
    stream_half(true);
}

/* The receiver asks for its half as a stream. */
static void ask_again(uint32_t id, uint64_t limit)
{
    struct packet_cts cts = {.sender_id = id, .receiver_id = FIRST, .limit = limit};
    beneath_arrive(PEER, packet_head(PACKET_CTS, 0, 0), &cts, sizeof(cts));
}

static void assert_sent(const struct mpid_request *send)
{
    assert_null(beneath_sent(PEER));
    assert_true(mpid_is_complete(send));
    assert_int_equal(send->error, MPID_OK);
    assert_int_equal(beneath_vc(PEER)->unfinished, 0);
    assert_int_equal(beneath_vc(PEER)->state, VC_OPEN);
}

static void test_unreadable(void **state)
{
    (void)state;
    struct mpid_request send;
    lend(&send);
    told_written();
    ask_again(send.id, HALF);
    assert_false(mpid_is_complete(&send));
    (void)mpid_progress();
    sent_as_data(0, HALF);
    assert_sent(&send);
}

/* Neither can be copied: the receiver asks before the sender's half is out, or after. */
static void stream_both(bool asks_first)
{
    struct mpid_request send;
    beneath.direct_fails = true;
    lend(&send);
    if (asks_first)
        ask_again(send.id, HALF);
    (void)mpid_progress();
    sent_as_data(asks_first ? 0 : HALF, LEN);
    if (!asks_first) {
        assert_null(beneath_sent(PEER));
        assert_false(mpid_is_complete(&send));
        ask_again(send.id, HALF);
        (void)mpid_progress();
        sent_as_data(0, HALF);
    }
    assert_sent(&send);
}

static void test_unreadable_at_once(void **state)
{
    (void)state;
    stream_both(true);
}

static void test_unreadable_later(void **state)
{
    (void)state;
    stream_both(false);
}

/* A fragment that the channel still reads is waited for. */
static void test_unreadable_pending(void **state)
{
    (void)state;
    struct mpid_request send;
    beneath.direct_fails = true;
    lend(&send);
    beneath.outcome = CHAN_PENDING;
    (void)mpid_progress();
    ask_again(send.id, HALF);
    for (int i = 0; i < 100 && !mpid_is_complete(&send); i++) {
        beneath_drain(PEER);
        (void)mpid_progress();
    }
    assert_sent(&send);
}

static void test_second_cts_of_another_half(void **state)
{
    (void)state;
    struct mpid_request send;
    lend(&send);
    told_written();
    ask_again(send.id, LEN);
    assert_int_equal(beneath_vc(PEER)->state, VC_FAILED);
    assert_int_equal(send.error, MPID_LOST);
}

static void test_third_cts(void **state)
{
    (void)state;
    struct mpid_request send;
    lend(&send);
    told_written();
    ask_again(send.id, HALF);
    ask_again(send.id, HALF);
    assert_int_equal(beneath_vc(PEER)->state, VC_FAILED);
    assert_int_equal(send.error, MPID_LOST);
}

/* ---- the receiver ---- */

/* Receive one message, as the engine wants it that the device has chosen. */
static enum packet_engine receive_one(void)
{
    struct mpid_request recv;
    struct packet_rts rts = {.total = LEN, .addr = 4096, .id = 9};
    struct packet_cts cts;
    mpid_recv(&recv, NULL, &theirs, &bytes);
    beneath_arrive(PEER, packet_message(PACKET_RTS, &theirs), &rts, sizeof(rts));
    if (mpid_is_complete(&recv)) {
        free(next_of(PACKET_DONE));
        return ENGINE_PULL;
    }
    struct beneath_packet *packet = next_of(PACKET_CTS);
    memcpy(&cts, packet->data, sizeof(cts));
    free(packet);
    if (cts.engine == ENGINE_SPLIT)
        free(next_of(PACKET_DONE));
    for (uint64_t at = cts.split; at < LEN; at += 8192) { /* also where we could have written */
        assert_false(mpid_is_complete(&recv));
        uint32_t id = cts.engine == ENGINE_SPLIT ? cts.second_id : cts.receiver_id;
        beneath_arrive(PEER, packet_head(PACKET_DATA, id, at), memory, 8192);
    }
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_OK);
    return (enum packet_engine)cts.engine;
}

static void test_streamed_half(void **state)
{
    (void)state;
    int halves = 0, rounds = 0;
    while (rounds++ < 100 && !halves)
        halves += receive_one() == ENGINE_SPLIT;
    assert_int_equal(halves, 1);
    while (rounds++ < 100)
        halves += receive_one() == ENGINE_SPLIT;
    assert_int_equal(halves, 1); /* never again */
}

/* Arrivals of DATA up to here. */
static void data_arrives(uint32_t id, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at < to; at += 8192)
        beneath_arrive(PEER, packet_head(PACKET_DATA, id, at), memory, 8192);
}

/* Have a receive ask for halves, which it has found to be quick. */
static struct packet_cts receive_halves(struct mpid_request *recv)
{
    struct packet_rts rts = {.total = LEN, .addr = 4096, .id = 9};
    struct packet_cts cts;
    mpid_recv(recv, NULL, &theirs, &bytes);
    beneath_arrive(PEER, packet_message(PACKET_RTS, &theirs), &rts, sizeof(rts));
    struct beneath_packet *packet = next_of(PACKET_CTS);
    memcpy(&cts, packet->data, sizeof(cts));
    free(packet);
    assert_int_equal(cts.engine, ENGINE_SPLIT);
    assert_int_equal(cts.limit, LEN);
    assert_int_equal(cts.split, HALF);
    assert_int_not_equal(cts.second_id, 0);
    assert_int_not_equal(cts.second_id, cts.receiver_id);
    return cts;
}

/* Each engine in turn, so that the next message comes by halves. */
static void try_engines(void)
{
    for (int i = 0; i < 5; i++)
        (void)receive_one();
    beneath_vc(PEER)->no_split = false; /* as receive_one() does not write */
}

/* The first half is read at once, the second one comes by itself. */
static void test_receive_halves(void **state)
{
    (void)state;
    struct mpid_request recv;
    try_engines();
    uint64_t before = device.stats.engine[ENGINE_SPLIT];
    struct packet_cts cts = receive_halves(&recv);
    struct beneath_packet *packet = next_of(PACKET_DONE);
    assert_int_equal(packet_id(&packet->head), 9);
    free(packet);
    assert_int_equal(atomic_load(&recv.pending), 1);
    done_arrives(cts.second_id, MPID_OK);
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_OK);
    assert_int_equal(recv.count, LEN);
    assert_int_equal(device.stats.engine[ENGINE_SPLIT], before + 1);
    assert_null(beneath_vc(PEER)->arriving);
}

/* A message whose sender's memory cannot be read, though that of others before it could: what
 * the sender has written counts, and the rest is asked for. Either half may be there first. */
static void receive_unreadable(bool peer_writes, bool second_first)
{
    struct mpid_request recv;
    struct packet_cts cts;
    try_engines();
    beneath.direct_fails = true;
    uint32_t second = receive_halves(&recv).second_id;
    assert_int_equal(beneath_vc(PEER)->state, VC_OPEN);
    struct beneath_packet *packet = next_of(PACKET_CTS);
    memcpy(&cts, packet->data, sizeof(cts));
    free(packet);
    assert_int_equal(cts.engine, ENGINE_STREAM);
    assert_int_equal(cts.sender_id, 9);
    assert_int_equal(cts.limit, HALF);
    assert_int_equal(cts.second_id, 0);
    if (!second_first)
        data_arrives(cts.receiver_id, 0, HALF);
    assert_int_equal(atomic_load(&recv.pending), second_first ? 2 : 1);
    if (peer_writes)
        done_arrives(second, MPID_OK);
    else
        data_arrives(second, HALF, LEN);
    assert_int_equal(mpid_is_complete(&recv), !second_first);
    if (second_first)
        data_arrives(cts.receiver_id, 0, HALF);
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_OK);
    assert_int_equal(recv.count, LEN);
    assert_null(beneath_sent(PEER));
    assert_int_equal(receive_one(), ENGINE_STREAM);
}

static void test_receive_unreadable(void **state)
{
    (void)state;
    receive_unreadable(true, true);
    beneath_stop();
    (void)start(state);
    receive_unreadable(true, false);
}

static void test_receive_unreadable_unwritable(void **state)
{
    (void)state;
    receive_unreadable(false, true);
    beneath_stop();
    (void)start(state);
    receive_unreadable(false, false);
}

/* A peer breaks the rules of halves; the request has two CARs, and both end. */
static void wrong(void (*arrives)(const struct packet_cts *cts))
{
    struct mpid_request recv;
    try_engines();
    struct packet_cts cts = receive_halves(&recv);
    arrives(&cts);
    assert_int_equal(beneath_vc(PEER)->state, VC_FAILED);
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_LOST);
}

static void first_written(const struct packet_cts *cts)
{
    done_arrives(cts->receiver_id, MPID_OK);
}

static void first_streamed(const struct packet_cts *cts)
{
    data_arrives(cts->receiver_id, 0, 8192);
}

static void streamed_before_half(const struct packet_cts *cts)
{
    data_arrives(cts->second_id, HALF - 8192, HALF);
}

static void streamed_behind_end(const struct packet_cts *cts)
{
    data_arrives(cts->second_id, LEN, LEN + 8192);
}

static void streamed_and_written(const struct packet_cts *cts)
{
    data_arrives(cts->second_id, HALF, HALF + 8192);
    done_arrives(cts->second_id, MPID_OK);
}

static void written_in_error(const struct packet_cts *cts)
{
    done_arrives(cts->second_id, MPID_LOST);
}

static void test_wrong(void **state)
{
    static void (*const arrivals[])(const struct packet_cts *cts) = {
        first_written,  first_streamed,       streamed_before_half, streamed_behind_end,
        streamed_and_written, written_in_error};
    for (size_t i = 0; i < sizeof(arrivals) / sizeof(arrivals[0]); i++) {
        if (i) {
            beneath_stop();
            (void)start(state);
        }
        wrong(arrivals[i]);
    }
}

/* The connection breaks while a half is still to come. */
static void test_lost_half(void **state)
{
    (void)state;
    struct mpid_request recv;
    try_engines();
    (void)receive_halves(&recv);
    assert_int_equal(atomic_load(&recv.pending), 1);
    beneath.env->sink->lost(&beneath.link[PEER].base, -32);
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_LOST);
    assert_null(beneath_vc(PEER)->arriving);
}

/* The same at a sender, which streams one half while the other is read. */
static void test_lost_stream(void **state)
{
    (void)state;
    struct mpid_request send;
    beneath.direct_fails = true;
    lend(&send);
    assert_int_equal(atomic_load(&send.pending), 2);
    beneath.env->sink->lost(&beneath.link[PEER].base, -32);
    assert_true(mpid_is_complete(&send));
    assert_int_equal(send.error, MPID_LOST);
    assert_null(beneath_vc(PEER)->bulk);
}

/* A send by halves may itself be a CAR of a request, from before it is split or only then. */
static void send_in_pair(bool added_first)
{
    struct packet_cts cts = {.receiver_id = FIRST, .second_id = SECOND, .engine = ENGINE_SPLIT,
                             .addr = (uintptr_t)memory, .limit = LEN, .split = HALF};
    struct mpid_request pair, send;
    uint32_t word = 0;
    const struct mpid_bytes small = {.base = &word, .len = sizeof(word)};
    beneath.direct_fails = true;
    mpid_recv(&pair, beneath_vc(PEER), &theirs, &small);
    assert_int_equal(mpid_send(beneath_vc(PEER), &envelope, &bytes, 0, &send), MPID_STARTED);
    free(next_of(PACKET_RTS));
    if (added_first)
        mpid_add_car(&pair, &send);
    cts.sender_id = send.id;
    beneath_arrive(PEER, packet_head(PACKET_CTS, 0, 0), &cts, sizeof(cts));
    if (!added_first)
        mpid_add_car(&pair, &send);
    assert_int_equal(atomic_load(&pair.pending), 2);
    assert_int_equal(atomic_load(&send.pending), 2);
    (void)mpid_progress();
    sent_as_data(HALF, LEN);
    beneath_arrive(PEER, packet_message(PACKET_EAGER, &theirs), &word, sizeof(word));
    assert_int_equal(atomic_load(&pair.pending), 1);
    assert_int_equal(atomic_load(&send.pending), 1);
    done_arrives(send.id, MPID_OK);
    assert_true(mpid_is_complete(&pair));
    assert_true(mpid_is_complete(&send));
    assert_int_equal(pair.error, MPID_OK);
    assert_int_equal(beneath_vc(PEER)->unfinished, 0);
}

static void test_pair(void **state)
{
    (void)state;
    send_in_pair(true);
    send_in_pair(false);
}

/* A message counts once, when both halves are over. */
static void test_counts(void **state)
{
    (void)state;
    struct mpid_request send, recv;
    const struct stats_counts *counts = stats_counts(beneath_vc(PEER));
    lend(&send);
    told_written();
    assert_int_equal(counts->rndv_sent, 0);
    done_arrives(send.id, MPID_OK);
    assert_int_equal(counts->rndv_sent, 1);
    assert_int_equal(counts->rndv_sent_bytes, LEN);
    beneath.direct_fails = true;
    lend(&send);
    done_arrives(send.id, MPID_OK);
    assert_int_equal(counts->rndv_sent, 1);
    (void)mpid_progress();
    sent_as_data(HALF, LEN);
    assert_int_equal(counts->rndv_sent, 2);
    beneath.direct_fails = false;
    try_engines();
    uint64_t before = counts->rndv_received;
    uint32_t second = receive_halves(&recv).second_id;
    free(next_of(PACKET_DONE));
    assert_int_equal(counts->rndv_received, before);
    done_arrives(second, MPID_OK);
    assert_int_equal(counts->rndv_received, before + 1);
}

/* ---- no names ---- */

/* The sender is told, and does not wait for ever. */
static void test_no_names(void **state)
{
    (void)state;
    struct mpid_request recv;
    struct packet_rts rts = {.total = LEN, .addr = 4096, .id = 9};
    struct ids all = device.ids;
    device.ids = (struct ids){.count = 1 << 24, .free = 1 << 24}; /* every one is taken */
    mpid_recv(&recv, NULL, &theirs, &bytes);
    beneath_arrive(PEER, packet_message(PACKET_RTS, &theirs), &rts, sizeof(rts));
    device.ids = all;
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_NO_MEMORY);
    struct beneath_packet *packet = next_of(PACKET_DONE);
    assert_int_equal(packet_id(&packet->head), 9);
    assert_int_equal(packet->head.word[1], MPID_NO_MEMORY);
    free(packet);
}

static void test_told_of_no_names(void **state)
{
    (void)state;
    struct mpid_request send;
    assert_int_equal(mpid_send(beneath_vc(PEER), &envelope, &bytes, 0, &send), MPID_STARTED);
    free(next_of(PACKET_RTS));
    done_arrives(send.id, MPID_NO_MEMORY);
    assert_true(mpid_is_complete(&send));
    assert_int_equal(send.error, MPID_NO_MEMORY);
    assert_int_equal(beneath_vc(PEER)->state, VC_OPEN);
}

/* ---- memory that is read with a key ---- */

/* An RTS with a key comes for a receive. */
static void lent_arrives(struct mpid_request *recv, bool posted_first)
{
    struct {
        struct packet_rts rts;
        char key[8];
    } lent = {{.total = LEN, .addr = 4096, .id = 9, .flags = RTS_HAS_KEY}, "kkkkkkk"};
    lent.key[7] = 'k';
    if (posted_first)
        mpid_recv(recv, NULL, &theirs, &bytes);
    beneath_arrive(PEER, packet_message(PACKET_RTS, &theirs), &lent, sizeof(lent));
    if (!posted_first)
        mpid_recv(recv, NULL, &theirs, &bytes);
}

/* Have a receive read the sender's memory, which is pending: the first one of all is streamed. */
static void read_with_key(struct mpid_request *recv, bool posted_first)
{
    beneath_use_keys(true);
    lent_arrives(recv, true);
    struct beneath_packet *packet = next_of(PACKET_CTS);
    struct packet_cts cts;
    memcpy(&cts, packet->data, sizeof(cts));
    free(packet);
    assert_int_equal(cts.engine, ENGINE_STREAM);
    data_arrives(cts.receiver_id, 0, LEN);
    assert_true(mpid_is_complete(recv));
    lent_arrives(recv, posted_first);
    assert_ptr_equal(beneath.got, recv);
    assert_false(mpid_is_complete(recv));
    assert_null(beneath_sent(PEER));
}

/* Receive one message with a key. Returns the engine that was chosen. */
static enum packet_engine receive_lent(void)
{
    struct mpid_request recv;
    struct packet_cts cts;
    lent_arrives(&recv, true);
    struct beneath_packet *packet = beneath_sent(PEER);
    if (!packet) {
        beneath_end_get(0);
        free(next_of(PACKET_DONE));
        return ENGINE_PULL;
    }
    memcpy(&cts, packet->data, sizeof(cts));
    free(packet);
    data_arrives(cts.receiver_id, 0, LEN);
    assert_true(mpid_is_complete(&recv));
    return ENGINE_STREAM;
}

/* How often streaming is tried in 288 messages, where it takes so long and pulling takes 1000. */
static int streams(uint32_t ps_per_byte)
{
    int count = 0;
    for (uint32_t use = 288; use < 2 * 288; use++) {
        for (int i = 0; i < RATE_CLASSES; i++) {
            struct rates *rates = &beneath_vc(PEER)->rates[i];
            rates->uses = use;
            rates->ps_per_byte[ENGINE_STREAM] = ps_per_byte;
            rates->ps_per_byte[ENGINE_PULL] = 1000;
        }
        count += receive_lent() == ENGINE_STREAM;
    }
    return count;
}

static void test_far_engine(void **state)
{
    (void)state;
    beneath_use_keys(true);
    (void)receive_lent();
    assert_int_equal(streams(1900), 6);
    assert_int_equal(streams(2500), 1);
}

/* A figure that is too high at first, as the operation has waited for others, is forgotten. */
static void test_high_figure(void **state)
{
    (void)state;
    beneath_use_keys(true);
    (void)receive_lent();
    (void)receive_lent();
    for (int i = 0; i < RATE_CLASSES; i++)
        beneath_vc(PEER)->rates[i].ps_per_byte[ENGINE_PULL] = UINT32_MAX / 8;
    (void)receive_lent();
    assert_int_equal(receive_lent(), ENGINE_PULL);
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < RATE_CLASSES; i++)
        if (beneath_vc(PEER)->rates[i].uses)
            least = beneath_vc(PEER)->rates[i].ps_per_byte[ENGINE_PULL];
    assert_in_range(least, 1, UINT32_MAX / 64);
}

static int stop_keys(void **state)
{
    beneath_use_keys(false);
    return device_stop(state);
}

static void get_ends(struct mpid_request *recv, int rc)
{
    assert_ptr_equal(beneath.got, recv);
    beneath_end_get(rc);
}

static void get_with_key(bool posted_first)
{
    struct mpid_request recv;
    read_with_key(&recv, posted_first);
    get_ends(&recv, 0);
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_OK);
    assert_int_equal(recv.count, LEN);
    struct beneath_packet *packet = next_of(PACKET_DONE);
    assert_int_equal(packet_id(&packet->head), 9);
    free(packet);
}

static void test_get(void **state)
{
    (void)state;
    get_with_key(true);
}

static void test_get_unexpected(void **state)
{
    (void)state;
    get_with_key(false);
}

/* What cannot be read is streamed, and so is all that follows. */
static void test_get_fails(void **state)
{
    (void)state;
    struct mpid_request recv;
    struct packet_cts cts;
    read_with_key(&recv, true);
    get_ends(&recv, -EIO);
    assert_false(mpid_is_complete(&recv));
    struct beneath_packet *packet = next_of(PACKET_CTS);
    memcpy(&cts, packet->data, sizeof(cts));
    free(packet);
    assert_int_equal(cts.engine, ENGINE_STREAM);
    assert_int_equal(cts.limit, LEN);
    data_arrives(cts.receiver_id, 0, LEN);
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_OK);
    assert_int_equal(receive_one(), ENGINE_STREAM);
}

/* Data that come in packets while the memory is being read are of a peer that breaks the rules. The
 * receive stays until the channel reads no more. */
static void test_get_and_data(void **state)
{
    (void)state;
    struct mpid_request recv;
    read_with_key(&recv, true);
    data_arrives(recv.id, 0, 8192);
    assert_int_equal(beneath_vc(PEER)->state, VC_FAILED);
    assert_false(mpid_is_complete(&recv));
    get_ends(&recv, -ECONNRESET);
    assert_true(mpid_is_complete(&recv));
    assert_int_equal(recv.error, MPID_LOST);
}

/* The sender lets its memory be read until it is told that it was, or the peer is gone. */
static void test_lent(void **state)
{
    (void)state;
    struct mpid_request send;
    beneath_use_keys(true);
    assert_int_equal(mpid_send(beneath_vc(PEER), &envelope, &bytes, 0, &send), MPID_STARTED);
    struct beneath_packet *packet = next_of(PACKET_RTS);
    struct packet_rts rts;
    memcpy(&rts, packet->data, sizeof(rts));
    assert_int_equal(packet->len, sizeof(rts) + 8);
    assert_int_equal(rts.flags, RTS_HAS_KEY);
    assert_memory_equal(packet->data + sizeof(rts), "kkkkkkkk", 8);
    free(packet);
    assert_int_equal(beneath.regions, 1);
    done_arrives(send.id, MPID_OK);
    assert_true(mpid_is_complete(&send));
    assert_int_equal(beneath.regions, 0);
    assert_int_equal(mpid_send(beneath_vc(PEER), &envelope, &bytes, 0, &send), MPID_STARTED);
    free(next_of(PACKET_RTS));
    assert_int_equal(beneath.regions, 1);
    done_arrives(12345, MPID_OK); /* of no message */
    assert_true(mpid_is_complete(&send));
    assert_int_equal(beneath.regions, 0);
}

/* A key of another length is none. */
static void test_bad_key(void **state)
{
    (void)state;
    struct packet_rts rts = {.total = LEN, .addr = 4096, .id = 9, .flags = RTS_HAS_KEY};
    beneath_use_keys(true);
    beneath_arrive(PEER, packet_message(PACKET_RTS, &theirs), &rts, sizeof(rts));
    assert_int_equal(beneath_vc(PEER)->state, VC_FAILED);
}

#define KEY_TEST(test) cmocka_unit_test_setup_teardown(test, start, stop_keys)
#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, start, device_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_push),          DEVICE_TEST(test_stream_then_read),
        DEVICE_TEST(test_read_then_stream), DEVICE_TEST(test_streamed_half),
        DEVICE_TEST(test_unreadable),    DEVICE_TEST(test_unreadable_at_once),
        DEVICE_TEST(test_unreadable_later), DEVICE_TEST(test_unreadable_pending),
        DEVICE_TEST(test_second_cts_of_another_half), DEVICE_TEST(test_third_cts),
        DEVICE_TEST(test_receive_unreadable), DEVICE_TEST(test_receive_unreadable_unwritable),
        DEVICE_TEST(test_receive_halves), DEVICE_TEST(test_wrong),
        DEVICE_TEST(test_lost_half),     DEVICE_TEST(test_lost_stream),
        DEVICE_TEST(test_pair),          DEVICE_TEST(test_counts),
        DEVICE_TEST(test_no_names),      DEVICE_TEST(test_told_of_no_names),
        KEY_TEST(test_get),              KEY_TEST(test_get_unexpected),
        KEY_TEST(test_get_fails),        KEY_TEST(test_get_and_data),
        KEY_TEST(test_far_engine),       KEY_TEST(test_high_figure),
        KEY_TEST(test_lent),             KEY_TEST(test_bad_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
