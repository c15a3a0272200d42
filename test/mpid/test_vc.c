/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Virtual connections: the state table, each transition and no other; then the device going
 * through it, with peers that the test plays: binding, connecting, being asked, both at once,
 * refusals, losses, and closing in every order.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/mpid/device_test.h"

enum {
    LOW = 0,
    HIGH = 2
}; /* peers of lower and higher rank than ours */

/* ---- the table ---- */

static const struct {
    enum vc_state from;
    enum vc_event event;
    enum vc_state to;
} possible[] = {
    {VC_UNBOUND, VC_NEED, VC_BINDING},
    {VC_UNBOUND, VC_ASKED, VC_ACCEPTING},
    {VC_UNBOUND, VC_CLOSE, VC_CLOSED},
    {VC_UNBOUND, VC_LOST, VC_FAILED},
    {VC_BINDING, VC_NEED, VC_BINDING},
    {VC_BINDING, VC_LINKED, VC_CONNECTING},
    {VC_BINDING, VC_ASKED, VC_ACCEPTING},
    {VC_BINDING, VC_LOST, VC_FAILED},
    {VC_CONNECTING, VC_NEED, VC_CONNECTING},
    {VC_CONNECTING, VC_LINKED, VC_CONNECTING},
    {VC_CONNECTING, VC_ASKED, VC_ACCEPTING},
    {VC_CONNECTING, VC_OPENED, VC_OPEN},
    {VC_CONNECTING, VC_REFUSED, VC_CONNECTING},
    {VC_CONNECTING, VC_LOST, VC_FAILED},
    {VC_ACCEPTING, VC_NEED, VC_ACCEPTING},
    {VC_ACCEPTING, VC_OPENED, VC_OPEN},
    {VC_ACCEPTING, VC_LOST, VC_FAILED},
    {VC_OPEN, VC_NEED, VC_OPEN},
    {VC_OPEN, VC_OPENED, VC_OPEN},
    {VC_OPEN, VC_REFUSED, VC_CONNECTING},
    {VC_OPEN, VC_CLOSE, VC_LOCAL_CLOSE},
    {VC_OPEN, VC_CLOSE_0, VC_REMOTE_CLOSE},
    {VC_OPEN, VC_LOST, VC_FAILED},
    {VC_OPEN, VC_LEAVE, VC_LEAVING},
    {VC_OPEN, VC_YIELD, VC_LEFT},
    {VC_LEAVING, VC_NEED, VC_LEAVING},
    {VC_LEAVING, VC_CLOSE_0, VC_REMOTE_CLOSE},
    {VC_LEAVING, VC_LOST, VC_FAILED},
    {VC_LEAVING, VC_REOPEN, VC_LEAVING},
    {VC_LEAVING, VC_FORGET, VC_UNBOUND},
    {VC_LEAVING, VC_YIELD, VC_LEFT},
    {VC_LEAVING, VC_STAY, VC_OPEN},
    {VC_LEFT, VC_NEED, VC_LEFT},
    {VC_LEFT, VC_LOST, VC_FAILED},
    {VC_LEFT, VC_REOPEN, VC_LEFT},
    {VC_LEFT, VC_FORGET, VC_UNBOUND},
    {VC_LEFT, VC_STAY, VC_OPEN},
    {VC_LOCAL_CLOSE, VC_NEED, VC_LOCAL_CLOSE},
    {VC_LOCAL_CLOSE, VC_OPENED, VC_LOCAL_CLOSE},
    {VC_LOCAL_CLOSE, VC_REFUSED, VC_CONNECTING},
    {VC_LOCAL_CLOSE, VC_CLOSE_0, VC_CLOSE_ACKED},
    {VC_LOCAL_CLOSE, VC_CLOSE_1, VC_CLOSED},
    {VC_LOCAL_CLOSE, VC_LOST, VC_FAILED},
    {VC_REMOTE_CLOSE, VC_NEED, VC_REMOTE_CLOSE},
    {VC_REMOTE_CLOSE, VC_OPENED, VC_REMOTE_CLOSE},
    {VC_REMOTE_CLOSE, VC_CLOSE, VC_CLOSE_ACKED},
    {VC_REMOTE_CLOSE, VC_LOST, VC_FAILED},
    {VC_CLOSE_ACKED, VC_NEED, VC_CLOSE_ACKED},
    {VC_CLOSE_ACKED, VC_CLOSE_1, VC_CLOSED},
    {VC_CLOSE_ACKED, VC_LOST, VC_CLOSED},
    {VC_CLOSED, VC_CLOSE, VC_CLOSED},
    {VC_CLOSED, VC_LOST, VC_CLOSED},
    {VC_OPEN, VC_REOPEN, VC_OPEN},
    {VC_LOCAL_CLOSE, VC_REOPEN, VC_OPEN},
    {VC_REMOTE_CLOSE, VC_REOPEN, VC_OPEN},
    {VC_CLOSE_ACKED, VC_REOPEN, VC_OPEN},
    {VC_CLOSED, VC_REOPEN, VC_OPEN},
    {VC_CLOSED, VC_FORGET, VC_UNBOUND},
    {VC_FAILED, VC_NEED, VC_FAILED},
    {VC_FAILED, VC_CLOSE, VC_FAILED},
    {VC_FAILED, VC_LOST, VC_FAILED},
};

static enum vc_state expected(enum vc_state from, enum vc_event event)
{
    for (size_t i = 0; i < sizeof(possible) / sizeof(possible[0]); i++)
        if (possible[i].from == from && possible[i].event == event)
            return possible[i].to;
    return VC_STATES;
}

static void test_table(void **state)
{
    (void)state;
    struct vc vc;
    memset(&vc, 0, sizeof(vc));
    for (int from = 0; from < VC_STATES; from++)
        for (int event = 0; event < VC_EVENTS; event++) {
            enum vc_state to = expected((enum vc_state)from, (enum vc_event)event);
            assert_int_equal(vc_after((enum vc_state)from, (enum vc_event)event), to);
            vc.state = (uint8_t)from;
            assert_int_equal(vc_event(&vc, (enum vc_event)event), to != VC_STATES);
            assert_int_equal(vc.state, to == VC_STATES ? (enum vc_state)from : to);
        }
    for (int i = 0; i < VC_STATES; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(vc_state_name((enum vc_state)i),
                                    vc_state_name((enum vc_state)j));
    assert_string_equal(vc_state_name(VC_STATES), "impossible");
}

/* Transitions that cannot happen are named in the reason of a failure. Settings are read
 * once: so in a child, before anything else here reads them. */
static void test_impossible_is_logged(void **state)
{
    (void)state;
    char text[256] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct vc vc;
        memset(&vc, 0, sizeof(vc));
        vc.peer.rank = 7;
        vc.state = VC_OPEN;
        setenv("VIREO_LOG", "debug", 1);
        dup2(ends[1], STDERR_FILENO);
        _exit(vc_event(&vc, VC_CLOSE_1));
    }
    close(ends[1]);
    int status;
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "rank 7, open: 'close(1)' cannot happen"));
    close(ends[0]);
}

/* ---- the device ---- */

static const struct mpid_envelope hello = {4, BENEATH_ME, 7};

static void turn(void)
{
    for (int i = 0; i < 20; i++) /* the poll for cards is not made in every turn */
        (void)mpid_progress();
}

/* Unbound, then bound on first use: the card comes late, and so does the answer. */
static void test_bind(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.has_card[HIGH] = false;
    assert_state(HIGH, VC_UNBOUND);
    assert_int_equal(send_word(HIGH, 0, NULL), MPID_NEED_REQUEST);
    assert_state(HIGH, VC_BINDING);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    turn();
    assert_state(HIGH, VC_BINDING);
    assert_int_equal(beneath.links, 0);
    beneath.has_card[HIGH] = true;
    turn();
    assert_state(HIGH, VC_CONNECTING);
    assert_int_equal(beneath.links, 1);
    assert_false(mpid_is_complete(&request));
    assert_null(beneath_sent(HIGH));
    beneath_open(HIGH);
    assert_state(HIGH, VC_OPEN);
    turn();
    assert_true(mpid_is_complete(&request));
    assert_int_equal(beneath_sent_type(HIGH), PACKET_EAGER);
    assert_int_equal(send_word(HIGH, 0, NULL), 0); /* at once from now on */
    assert_int_equal(beneath_sent_type(HIGH), PACKET_EAGER);
}

/* Where the verdict is yes, nobody waits for the peer's answer. */
static void test_bind_at_once(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.fit = CHAN_YES;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    turn();
    assert_state(HIGH, VC_OPEN);
    assert_true(mpid_is_complete(&request));
    beneath_open(HIGH);
    assert_state(HIGH, VC_OPEN);
}

static void test_unreachable(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.fit = CHAN_NO;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_UNREACHABLE);
    assert_state(HIGH, VC_FAILED);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_int_equal(request.error, MPID_UNREACHABLE);
}

static void test_asked(void **state)
{
    (void)state;
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    assert_state(LOW, VC_ACCEPTING);
    assert_int_equal(beneath_ask(LOW), CHAN_REFUSE_CROSSING);
    beneath_open(LOW);
    assert_state(LOW, VC_OPEN);
    assert_int_equal(beneath.links, 0);
    assert_int_equal(send_word(LOW, 0, NULL), 0);
    /* A stranger's group, and ranks that no group has. */
    struct chan_gid other = {{1}};
    struct chan_peer *peer;
    assert_int_equal(beneath.env->sink->asked(beneath.env->device, chan_table[0], &other, 0, &peer),
                     CHAN_REFUSE_UNKNOWN);
    assert_int_equal(beneath.env->sink->asked(beneath.env->device, chan_table[0], &beneath.env->gid,
                                              BENEATH_RANKS, &peer),
                     CHAN_REFUSE_UNKNOWN);
    assert_int_equal(beneath.env->sink->asked(beneath.env->device, chan_table[0], &beneath.env->gid,
                                              UINT32_MAX, &peer),
                     CHAN_REFUSE_UNKNOWN);
}

/* Of two attempts that cross, the one of the higher rank survives. */
static void test_crossing(void **state)
{
    (void)state;
    struct mpid_request requests[2];
    assert_int_equal(send_word(LOW, 0, &requests[0]), MPID_STARTED);
    assert_int_equal(send_word(HIGH, 0, &requests[1]), MPID_STARTED);
    assert_int_equal(beneath_ask(LOW), CHAN_REFUSE_CROSSING);
    assert_state(LOW, VC_CONNECTING);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    assert_state(HIGH, VC_ACCEPTING);
    beneath_open(LOW);
    beneath_open(HIGH);
    turn();
    assert_true(mpid_is_complete(&requests[0]) && mpid_is_complete(&requests[1]));
    assert_int_equal(requests[0].error | requests[1].error, MPID_OK);
}

/* A link that was in use before its peer had answered, and is refused: what it had taken goes
 * over the next one, in order and before later packets; and the close after all. */
static void test_refused_in_use(void **state)
{
    (void)state;
    static char large[4000], place[9000];
    static struct mpid_request rts, more;
    struct mpid_bytes bytes = {.base = large, .len = sizeof(large)};
    struct mpid_bytes longer = {.base = place, .len = sizeof(place)};
    beneath.fit = CHAN_YES;
    beneath.second_fit = CHAN_MAYBE;
    memset(large, 5, sizeof(large));
    assert_int_equal(send_word(HIGH, 0, &more), MPID_STARTED);
    turn();
    assert_true(mpid_is_complete(&more));
    assert_int_equal(mpid_send(beneath_vc(HIGH), &hello, &bytes, 0, NULL), 0);
    assert_int_equal(mpid_send(beneath_vc(HIGH), &hello, &longer, 0, &rts), MPID_STARTED);
    vc_close(beneath_vc(HIGH));
    assert_state(HIGH, VC_LOCAL_CLOSE);
    beneath_refuse(HIGH, CHAN_REFUSE_UNABLE);
    assert_state(HIGH, VC_CONNECTING);
    assert_ptr_equal(beneath.link[HIGH].base.ops, chan_table[1]);
    assert_int_equal(beneath.links, 2);
    assert_int_equal(send_word(HIGH, 0, &more), MPID_STARTED);
    turn();
    assert_false(mpid_is_complete(&more) || mpid_is_complete(&rts));
    assert_null(beneath_sent(HIGH));
    beneath_open(HIGH);
    assert_int_equal(send_word(HIGH, 0, NULL), MPID_NEED_REQUEST); /* behind what waits */
    turn();
    assert_state(HIGH, VC_OPEN); /* to be closed again */
    assert_true(mpid_is_complete(&more));
    static const size_t lengths[] = {8, sizeof(large), sizeof(struct packet_rts), 8};
    for (int i = 0; i < 4; i++) {
        struct beneath_packet *packet = beneath_sent(HIGH);
        assert_non_null(packet);
        assert_int_equal(packet_type(&packet->head), i == 2 ? PACKET_RTS : PACKET_EAGER);
        assert_int_equal(packet->len, lengths[i]);
        if (i == 1)
            assert_memory_equal(packet->data, large, sizeof(large));
        free(packet);
    }
    assert_null(beneath_sent(HIGH));
    vc_close(beneath_vc(HIGH));
    assert_int_equal(beneath_sent_type(HIGH), PACKET_CLOSE);
}

/* The last candidate, too, is refused. */
static void test_refused_by_all(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.fit = beneath.second_fit = CHAN_YES;
    assert_int_equal(send_word(HIGH, MPID_SYNC, &request), MPID_STARTED);
    turn();
    beneath_refuse(HIGH, CHAN_REFUSE_UNABLE);
    turn();
    assert_state(HIGH, VC_OPEN);
    beneath_refuse(HIGH, CHAN_REFUSE_UNKNOWN);
    assert_state(HIGH, VC_FAILED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_UNREACHABLE);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_int_equal(request.error, MPID_UNREACHABLE);
}

static void assert_finished(uint32_t rank, int links)
{
    struct mpid_request request;
    assert_state(rank, VC_FAILED);
    assert_int_equal(beneath.links, links);
    assert_int_equal(send_word(rank, 0, &request), MPID_STARTED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
}

/* A peer that has finished is lost, however the news comes, and no other channel is tried. */
static void test_refused_as_finished(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.second_fit = CHAN_YES;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_REFUSE_CLOSED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    assert_finished(HIGH, 1);
    beneath.fit = CHAN_YES; /* in use before the answer comes */
    assert_int_equal(send_word(LOW, 0, &request), MPID_STARTED);
    turn();
    beneath_refuse(LOW, CHAN_REFUSE_CLOSED);
    assert_finished(LOW, 2);
    beneath.refusal = -ESHUTDOWN;
    assert_int_equal(send_word(3, 0, &request), MPID_STARTED);
    assert_finished(3, 3);
}

static void test_finished_is_unreachable(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath.has_finished[HIGH] = true; /* and has closed its port */
    beneath_refuse(HIGH, 0);
    assert_finished(HIGH, 1);
}

/* A process that finalizes lets no new peer in. */
static void test_asked_while_finalizing(void **state)
{
    (void)state;
    device.finalizing = true;
    assert_int_equal(beneath_ask(LOW), CHAN_REFUSE_CLOSED);
    device.finalizing = false;
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
}

/* But one who uses sessions may mean those, which outlive the world model. */
static void test_session_asks_while_finalizing(void **state)
{
    (void)state;
    device.finalizing = true;
    beneath.says[LOW] = "sessions";
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    device.finalizing = false;
}

static void open_both(void)
{
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
}

static struct beneath_packet *next_of(uint32_t rank, uint32_t type)
{
    struct beneath_packet *packet = beneath_sent(rank);
    assert_non_null(packet);
    assert_int_equal(packet_type(&packet->head), type);
    return packet;
}

static void assert_close_sent(uint32_t rank, uint64_t acked)
{
    struct beneath_packet *packet = next_of(rank, PACKET_CLOSE);
    assert_int_equal(packet->head.word[1], acked);
    free(packet);
}

static void close_arrives(uint32_t rank, uint64_t acked)
{
    beneath_arrive(rank, packet_head(PACKET_CLOSE, 0, acked), NULL, 0);
}

static void test_close_first(void **state)
{
    (void)state;
    open_both();
    vc_close(beneath_vc(LOW));
    assert_state(LOW, VC_LOCAL_CLOSE);
    assert_close_sent(LOW, 0);
    close_arrives(LOW, 1);
    assert_state(LOW, VC_CLOSED);
    assert_close_sent(LOW, 1); /* for which the peer waits */
    assert_null(beneath_sent(LOW));
    assert_int_equal(beneath_ask(LOW), CHAN_REFUSE_CLOSED);
}

static void test_close_second(void **state)
{
    (void)state;
    struct mpid_request request;
    open_both();
    close_arrives(LOW, 0);
    assert_state(LOW, VC_REMOTE_CLOSE);
    assert_null(beneath_sent(LOW));
    assert_int_equal(send_word(LOW, 0, NULL), MPID_NEED_REQUEST); /* it receives nothing any more */
    assert_int_equal(send_word(LOW, 0, &request), MPID_STARTED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    turn();
    assert_null(beneath_sent(LOW));
    assert_int_equal(send_word(LOW, 0, NULL), MPID_NEED_REQUEST);
    vc_close(beneath_vc(LOW));
    assert_state(LOW, VC_CLOSE_ACKED);
    assert_close_sent(LOW, 1);
    close_arrives(LOW, 1);
    assert_state(LOW, VC_CLOSED);
}

/* What the peer had not matched when it closed ends: in error, or cancelled, be it asked for
 * before or after. */
static void test_close_unmatched(void **state)
{
    (void)state;
    struct mpid_request sends[3];
    open_both();
    for (int i = 0; i < 3; i++)
        assert_int_equal(send_word(LOW, MPID_SYNC, &sends[i]), MPID_STARTED);
    beneath_drain(LOW);
    mpid_cancel(&sends[2]);
    assert_int_equal(beneath_sent_type(LOW), PACKET_CANCEL);
    close_arrives(LOW, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(mpid_is_complete(&sends[i]));
        assert_int_equal(sends[i].error, MPID_LOST);
    }
    mpid_cancel(&sends[1]);
    assert_true(sends[1].cancelled && sends[1].error == MPID_OK);
    assert_false(mpid_is_complete(&sends[2]));
    beneath_arrive(LOW, packet_head(PACKET_CANCELLED, sends[2].id, 1), NULL, 0);
    assert_true(mpid_is_complete(&sends[2]));
    assert_true(sends[2].cancelled && sends[2].error == MPID_OK);
}

static void test_close_crossing(void **state)
{
    (void)state;
    open_both();
    vc_close(beneath_vc(HIGH));
    assert_close_sent(HIGH, 0);
    close_arrives(HIGH, 0);
    assert_state(HIGH, VC_CLOSE_ACKED);
    assert_close_sent(HIGH, 1);
    close_arrives(HIGH, 1);
    assert_state(HIGH, VC_CLOSED);
    vc_close(beneath_vc(HIGH)); /* again: nothing */
    assert_state(HIGH, VC_CLOSED);
    assert_null(beneath_sent(HIGH));
}

/* MPI_Finalize does not wait for peers outside the world model, or beyond its end; their
 * links are for sessions, and late packets are ignored. */
static void test_end_and_reopen(void **state)
{
    (void)state;
    open_both();
    beneath.says[LOW] = "sessions";
    beneath.says[HIGH] = "sessions world over";
    mpid_end_world(true);
    assert_state(LOW, VC_OPEN);
    assert_state(HIGH, VC_OPEN);
    beneath_drain(LOW);
    beneath_drain(HIGH);
    close_arrives(HIGH, 1);
    close_arrives(LOW, 0);
    assert_state(LOW, VC_OPEN);
    assert_state(HIGH, VC_OPEN);
    assert_int_equal(send_word(HIGH, 0, NULL), 0);
    free(next_of(HIGH, PACKET_EAGER));
}

/* Whether a peer that uses sessions is of the world model, too, is known once its host has said so. */
static void test_end_of_unknown(void **state)
{
    (void)state;
    open_both();
    beneath.says[LOW] = beneath.says[HIGH] = "sessions over";
    beneath.unknown = 100;
    mpid_end_world(true);
    assert_int_equal(beneath.unknown, 100); /* they are beyond in any case */
    beneath_drain(LOW);
    beneath_drain(HIGH);
}

static void test_end_of_sessions(void **state)
{
    (void)state;
    open_both();
    beneath.says[LOW] = beneath.says[HIGH] = "sessions";
    beneath.unknown = 100;
    mpid_end_world(true);
    assert_int_equal(beneath.unknown, 0);
    beneath_drain(LOW);
    beneath_drain(HIGH);
}

/* With sessions, messages go to peers that have ended the world model. */
static void test_closed_but_sessions(void **state)
{
    (void)state;
    open_both();
    close_arrives(LOW, 0);
    assert_int_equal(send_word(LOW, 0, NULL), MPID_NEED_REQUEST);
    assert_int_equal(mpid_use(MPID_SESSIONS), 0);
    assert_int_equal(send_word(LOW, 0, NULL), 0);
    free(next_of(LOW, PACKET_EAGER));
}

/* A connection that is gone after closing is made anew. */
static void test_closed_and_forgotten(void **state)
{
    (void)state;
    open_both();
    close_arrives(LOW, 0);
    vc_close(beneath_vc(LOW));
    close_arrives(LOW, 1);
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    assert_state(LOW, VC_CLOSED);
    vc_reopen(beneath_vc(LOW));
    assert_state(LOW, VC_UNBOUND);
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    assert_state(LOW, VC_OPEN);
}

/* A second close, or an answer to no close, is refused. */
static void test_close_nonsense(void **state)
{
    (void)state;
    open_both();
    close_arrives(LOW, 1);
    assert_state(LOW, VC_FAILED);
    close_arrives(HIGH, 0);
    close_arrives(HIGH, 0);
    assert_state(HIGH, VC_FAILED);
    assert_int_equal(beneath.unlinks, 2);
}

/* A loss in the midst of closing: nothing is left that could fail once both sides are done. */
static void test_lost(void **state)
{
    (void)state;
    open_both();
    vc_close(beneath_vc(LOW));
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    assert_state(LOW, VC_FAILED);
    vc_close(beneath_vc(HIGH));
    close_arrives(HIGH, 0);
    assert_state(HIGH, VC_CLOSE_ACKED);
    beneath.env->sink->lost(&beneath.link[HIGH].base, -ECONNRESET);
    assert_state(HIGH, VC_CLOSED);
    assert_int_equal(beneath.unlinks, 2);
}

/* Whatever stage a message is in when its peer is lost, its request ends, in error. */
static void test_lost_requests(void **state)
{
    (void)state;
    static char place[100000], other[100000];
    struct mpid_request asked, waiting, bulk, recv, posted;
    struct mpid_envelope want = {4, MPID_ANY, MPID_ANY}, own = {4, BENEATH_ME, 1};
    struct mpid_bytes bytes = {.base = place, .len = sizeof(place)};
    struct mpid_bytes into = {.base = other, .len = sizeof(other)};
    open_both();
    beneath.outcome = CHAN_PENDING; /* of what has a cookie: the fragments */
    assert_int_equal(mpid_send(beneath_vc(LOW), &own, &bytes, MPID_SYNC, &asked), MPID_STARTED);
    assert_int_equal(mpid_send(beneath_vc(LOW), &own, &bytes, MPID_SYNC, &bulk), MPID_STARTED);
    struct packet_cts cts = {.sender_id = bulk.id, .receiver_id = 5, .limit = sizeof(place)};
    beneath_arrive(LOW, packet_head(PACKET_CTS, 0, 0), &cts, sizeof(cts));
    turn();
    assert_false(mpid_is_complete(&bulk));
    mpid_recv(&recv, NULL, &want, &into);
    struct packet_rts rts = {.total = 50000, .id = 9};
    struct mpid_envelope theirs = {4, LOW, 3};
    beneath_arrive(LOW, packet_message(PACKET_RTS, &theirs), &rts, sizeof(rts));
    mpid_recv(&posted, NULL, &want, &into);
    beneath.outcome = CHAN_AGAIN;
    assert_int_equal(mpid_send(beneath_vc(LOW), &own, &bytes, 0, &waiting), MPID_STARTED);
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    const struct mpid_request *ended[] = {&asked, &bulk, &recv, &waiting};
    for (int i = 0; i < 4; i++) {
        assert_true(mpid_is_complete(ended[i]));
        assert_int_equal(ended[i]->error, MPID_LOST);
    }
    assert_false(mpid_is_complete(&posted)); /* others may send to it */
    mpid_cancel(&posted);
    assert_true(mpid_is_complete(&posted) && posted.cancelled);
}

/* An eager message that the channel still reads when the link is lost. */
static void test_lost_pending(void **state)
{
    (void)state;
    struct mpid_request first, second;
    assert_int_equal(send_word(HIGH, 0, &first), MPID_STARTED);
    assert_int_equal(send_word(HIGH, 0, &second), MPID_STARTED);
    beneath.outcome = CHAN_PENDING;
    beneath_open(HIGH);
    turn();
    assert_false(mpid_is_complete(&first) || mpid_is_complete(&second));
    assert_int_equal(beneath_sent_type(HIGH), PACKET_EAGER); /* and read */
    assert_true(mpid_is_complete(&first));
    assert_false(mpid_is_complete(&second));
    beneath.env->sink->lost(&beneath.link[HIGH].base, -ECONNRESET);
    assert_true(mpid_is_complete(&second));
    assert_int_equal(first.error, MPID_OK);
    assert_int_equal(second.error, MPID_LOST);
}

/* How many connections there are. */
static uint64_t count_vcs(void)
{
    struct mpid_stats stats;
    uint64_t count = 0;
    (void)mpid_progress();
    mpid_stats(&stats, true);
    for (int i = 0; i < MPID_STATES; i++)
        count += stats.connections[i];
    return count;
}

/* A connection goes with the last that needs it, unless it has a link: then with that. Its
 * counts stay. */
static void test_counted(void **state)
{
    (void)state;
    struct mpid_stats stats;
    struct vc *vc = beneath_vc(HIGH);
    assert_ptr_equal(beneath_vc(HIGH), vc);
    assert_int_equal(count_vcs(), 1);
    mpid_vc_put(vc);
    assert_int_equal(count_vcs(), 1);
    mpid_vc_put(vc);
    assert_int_equal(count_vcs(), 0);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    assert_int_equal(send_word(HIGH, 0, NULL), 0);
    mpid_vc_put(vc_find(&beneath.env->gid, HIGH)); /* which send_word() has got */
    assert_int_equal(count_vcs(), 1);
    beneath.env->sink->lost(&beneath.link[HIGH].base, -ECONNRESET);
    assert_int_equal(count_vcs(), 0);
    mpid_stats(&stats, true);
    assert_int_equal(stats.traffic.eager_sent, 1);
    assert_int_equal(stats.traffic.eager_sent_bytes, 8);
}

/* An unexpected message needs the connection that it came over. */
static void test_counted_message(void **state)
{
    (void)state;
    uint64_t word = 5, got = 0;
    struct mpid_request request;
    struct mpid_envelope want = {4, MPID_ANY, 1}, from = {4, HIGH, 1};
    struct mpid_bytes into = {.base = &got, .len = sizeof(got)};
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    beneath_arrive(HIGH, packet_message(PACKET_EAGER, &from), &word, sizeof(word));
    beneath.env->sink->lost(&beneath.link[HIGH].base, -ECONNRESET);
    assert_int_equal(count_vcs(), 1);
    mpid_recv(&request, NULL, &want, &into);
    assert_true(mpid_is_complete(&request) && got == 5);
    assert_int_equal(count_vcs(), 0);
}

/* One that is in the list of those with something to hand over is not freed before it is looked at there. */
static void test_listed_is_kept(void **state)
{
    (void)state;
    struct vc *vc = beneath_vc(3);
    int refs = vc->refs;
    vc->refs = 0;
    vc_check(vc); /* nobody needs it: it is listed */
    assert_true(vc->busy);
    assert_false(vc_free_unused(vc));
    vc->refs = refs;
}

/* ---- lists ---- */

static void count_vc(struct vc *vc, void *count)
{
    (void)vc;
    ++*(int *)count;
}

static int count_engaged(void)
{
    int count = 0;
    vc_each_engaged(count_vc, &count);
    return count;
}

static int count_standing(void)
{
    int count = 0;
    vc_each_standing(count_vc, &count);
    return count;
}

/* Only VCs with something under way are looked at, and only those with a link are closed. */
static void test_lists(void **state)
{
    (void)state;
    struct mpid_request sync, queued;
    static const struct mpid_envelope own = {4, BENEATH_ME, 7};
    static uint32_t word = 5;
    const struct mpid_bytes bytes = {.base = &word, .len = sizeof(word)};
    (void)beneath_vc(3); /* nothing happens with this one */
    assert_int_equal(count_engaged() + count_standing(), 0);
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    assert_int_equal(count_standing(), 1);
    assert_int_equal(count_engaged(), 0);
    assert_int_equal(mpid_send(beneath_vc(LOW), &own, &bytes, MPID_SYNC, &sync), MPID_STARTED);
    assert_int_equal(mpid_send(beneath_vc(HIGH), &own, &bytes, 0, &queued), MPID_STARTED);
    assert_int_equal(count_engaged(), 2);
    assert_int_equal(count_standing(), 2);
    assert_false(mpid_is_out());
    beneath_arrive(LOW, packet_head(PACKET_DONE, sync.id, 0), NULL, 0);
    assert_true(mpid_is_complete(&sync));
    assert_int_equal(count_engaged(), 1);
    beneath_open(HIGH);
    (void)mpid_progress();
    assert_true(mpid_is_complete(&queued));
    assert_int_equal(count_engaged(), 0);
    assert_true(mpid_is_out());
    beneath.env->sink->lost(&beneath.link[HIGH].base, -32);
    assert_int_equal(count_standing(), 1);
}

#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, device_start, device_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impossible_is_logged), /* first */
        cmocka_unit_test(test_table),
        DEVICE_TEST(test_bind), DEVICE_TEST(test_lists),
        DEVICE_TEST(test_bind_at_once),   DEVICE_TEST(test_unreachable),
        DEVICE_TEST(test_asked),
        DEVICE_TEST(test_crossing),      
        DEVICE_TEST(test_close_first),    DEVICE_TEST(test_close_second),
        DEVICE_TEST(test_close_crossing), DEVICE_TEST(test_close_nonsense),
        DEVICE_TEST(test_lost),           DEVICE_TEST(test_lost_requests),
        DEVICE_TEST(test_counted), DEVICE_TEST(test_counted_message),
        DEVICE_TEST(test_lost_pending),  DEVICE_TEST(test_refused_in_use),
        DEVICE_TEST(test_refused_by_all), DEVICE_TEST(test_refused_as_finished),
        DEVICE_TEST(test_finished_is_unreachable), DEVICE_TEST(test_close_unmatched),
        DEVICE_TEST(test_asked_while_finalizing), DEVICE_TEST(test_session_asks_while_finalizing),
        DEVICE_TEST(test_end_and_reopen), DEVICE_TEST(test_end_of_unknown), DEVICE_TEST(test_end_of_sessions), DEVICE_TEST(test_closed_but_sessions),
        DEVICE_TEST(test_closed_and_forgotten), DEVICE_TEST(test_listed_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
