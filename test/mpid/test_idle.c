/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Idle connections that are let go: each step of the handshake from both sides, with sends, packets
 * and deaths between them; what is no idle connection; which is chosen; and peers that do all of it
 * in random order, from a printed seed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "mpid/conn/idle.h"
#include "mpid/conn/leave.h"
#include "os/settings.h"
#include "test/mpid/device_test.h"

enum {
    LOW = 0, /* this process outranks it */
    HIGH = 2,
    OTHER = 3
};

static int start(void **state)
{
    (void)state;
    beneath_start();
    beneath.keeps = true;
    for (uint32_t rank = LOW; rank <= OTHER; rank++)
        if (rank != BENEATH_ME) {
            assert_int_equal(beneath_ask(rank), CHAN_ACCEPT);
            beneath_open(rank);
        }
    return 0;
}

static int stop(void **state)
{
    for (uint32_t rank = LOW; rank <= OTHER; rank++)
        beneath_drain(rank);
    beneath.keeps = false;
    return device_stop(state);
}

static void turn(void)
{
    for (int i = 0; i < 20; i++)
        (void)mpid_progress();
}

static void arrive(uint32_t rank, enum leave_step step)
{
    beneath_arrive(rank, packet_head(PACKET_LEAVE, step, 0), NULL, 0);
}

/* The next packet to a rank is this step. */
static void assert_said(uint32_t rank, enum leave_step step)
{
    struct beneath_packet *packet = beneath_sent(rank);
    assert_non_null(packet);
    assert_int_equal(packet_type(&packet->head), PACKET_LEAVE);
    assert_int_equal(packet_id(&packet->head), step);
    assert_int_equal(packet->head.word[1], 0);
    free(packet);
}

static void eager_arrives(uint32_t rank)
{
    const struct mpid_envelope from = {4, (int32_t)rank, 7};
    beneath_arrive(rank, packet_message(PACKET_EAGER, &from), "message", 8);
}

static void receive(uint32_t rank, struct mpid_request *request)
{
    static char place[8];
    const struct mpid_envelope want = {4, (int32_t)rank, 7};
    const struct mpid_bytes into = {.base = place, .len = sizeof(place)};
    mpid_recv(request, beneath_vc(rank), &want, &into);
}

/* ---- the steps ---- */

static void test_leave(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_true(idle_leave(beneath_vc(LOW)));
    assert_false(idle_leave(beneath_vc(LOW)));
    assert_state(LOW, VC_LEAVING);
    assert_said(LOW, LEAVE_ASK);
    arrive(LOW, LEAVE_YES);
    assert_state(LOW, VC_UNBOUND);
    assert_said(LOW, LEAVE_END);
    assert_int_equal(beneath.unlinks, 1);
    assert_int_equal(device.stats.left, 1);
    assert_int_equal(beneath_vc(LOW)->credit, device.eager_credit);
    assert_int_equal(send_word(LOW, 0, &request), MPID_STARTED); /* it comes back */
    assert_state(LOW, VC_CONNECTING);
    beneath_open(LOW);
    turn();
    assert_true(mpid_is_complete(&request) && request.error == MPID_OK);
    assert_int_equal(beneath_sent_type(LOW), PACKET_EAGER);
    assert_null(beneath_sent(LOW));
}

/* A message that is sent meanwhile keeps the link. */
static void test_stay(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_true(idle_leave(beneath_vc(LOW)));
    assert_said(LOW, LEAVE_ASK);
    assert_int_equal(send_word(LOW, 0, NULL), MPID_NEED_REQUEST);
    assert_int_equal(send_word(LOW, 0, &request), MPID_STARTED);
    turn();
    assert_null(beneath_sent(LOW));
    arrive(LOW, LEAVE_YES);
    assert_state(LOW, VC_OPEN);
    turn();
    assert_said(LOW, LEAVE_NO);
    assert_int_equal(beneath_sent_type(LOW), PACKET_EAGER);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(send_word(LOW, 0, NULL), 0);
    beneath_drain(LOW);
    assert_true(idle_leave(beneath_vc(LOW))); /* and again: the peer has something */
    assert_said(LOW, LEAVE_ASK);
    assert_int_equal(send_word(LOW, 0, &request), MPID_STARTED);
    arrive(LOW, LEAVE_NO);
    assert_state(LOW, VC_OPEN);
    turn();
    assert_int_equal(beneath_sent_type(LOW), PACKET_EAGER);
    assert_true(idle_leave(beneath_vc(LOW))); /* a message crosses the question */
    assert_said(LOW, LEAVE_ASK);
    eager_arrives(LOW);
    arrive(LOW, LEAVE_YES);
    assert_said(LOW, LEAVE_NO);
    assert_state(LOW, VC_OPEN);
    receive(LOW, &request);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(beneath.unlinks, 0);
}

/* The peer asks. What is to be sent before its next word waits, and connects again, in order. */
static void test_left(void **state)
{
    (void)state;
    struct mpid_request request;
    arrive(HIGH, LEAVE_ASK);
    assert_said(HIGH, LEAVE_YES);
    assert_state(HIGH, VC_LEFT);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_int_equal(mpid_notify(beneath_vc(HIGH), 4, 1, NULL, 0), 0);
    turn();
    assert_null(beneath_sent(HIGH));
    arrive(HIGH, LEAVE_END);
    assert_int_equal(beneath.unlinks, 1);
    assert_state(HIGH, VC_CONNECTING);
    beneath_open(HIGH);
    turn();
    assert_int_equal(beneath_sent_type(HIGH), PACKET_NOTICE);
    assert_int_equal(beneath_sent_type(HIGH), PACKET_EAGER);
    assert_true(mpid_is_complete(&request));
    arrive(HIGH, LEAVE_ASK);
    assert_said(HIGH, LEAVE_YES);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    arrive(HIGH, LEAVE_NO); /* the peer stays after all */
    turn();
    assert_state(HIGH, VC_OPEN);
    assert_int_equal(beneath_sent_type(HIGH), PACKET_EAGER);
}

/* Both ask: that of the higher rank counts. */
static void test_crossing(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_true(idle_leave(beneath_vc(LOW)));
    assert_true(idle_leave(beneath_vc(HIGH)));
    assert_said(LOW, LEAVE_ASK);
    assert_said(HIGH, LEAVE_ASK);
    arrive(LOW, LEAVE_ASK);
    assert_null(beneath_sent(LOW));
    assert_state(LOW, VC_LEAVING);
    arrive(HIGH, LEAVE_ASK);
    assert_said(HIGH, LEAVE_YES);
    assert_state(HIGH, VC_LEFT);
    arrive(LOW, LEAVE_YES);
    assert_said(LOW, LEAVE_END);
    arrive(HIGH, LEAVE_END);
    assert_state(LOW, VC_UNBOUND);
    assert_state(HIGH, VC_UNBOUND);
    assert_true(idle_leave(beneath_vc(OTHER)));
    assert_int_equal(send_word(OTHER, 0, NULL), MPID_NEED_REQUEST);
    assert_int_equal(send_word(OTHER, 0, &request), MPID_STARTED);
    arrive(OTHER, LEAVE_ASK);
    assert_said(OTHER, LEAVE_ASK);
    assert_said(OTHER, LEAVE_NO);
    assert_state(OTHER, VC_OPEN);
    turn();
    assert_true(mpid_is_complete(&request));
}

/* The channel has no room: nothing is asked, and nothing agreed. */
static void test_full(void **state)
{
    (void)state;
    beneath.outcome = CHAN_AGAIN;
    assert_false(idle_leave(beneath_vc(LOW)));
    arrive(LOW, LEAVE_ASK);
    assert_state(LOW, VC_OPEN);
    beneath.outcome = 0;
    turn();
    assert_said(LOW, LEAVE_NO);
    assert_true(idle_leave(beneath_vc(LOW)));
    assert_said(LOW, LEAVE_ASK);
    beneath.outcome = CHAN_AGAIN;
    arrive(LOW, LEAVE_YES);
    assert_state(LOW, VC_OPEN);
    beneath.outcome = 0;
    turn();
    assert_said(LOW, LEAVE_NO);
    assert_int_equal(beneath.unlinks, 0);
}

/* ---- what is not idle ---- */

static void assert_refused(uint32_t rank)
{
    assert_false(idle_leave(beneath_vc(rank)));
    arrive(rank, LEAVE_ASK);
    assert_said(rank, LEAVE_NO);
    assert_state(rank, VC_OPEN);
}

static void test_busy(void **state)
{
    (void)state;
    struct mpid_request receives[2], sync;
    receive(LOW, &receives[0]); /* a posted receive needs no connection */
    arrive(LOW, LEAVE_ASK);
    assert_said(LOW, LEAVE_YES);
    arrive(LOW, LEAVE_END);
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    eager_arrives(LOW);
    assert_true(mpid_is_complete(&receives[0]) && receives[0].error == MPID_OK);
    eager_arrives(LOW); /* nobody has asked for this one yet */
    assert_refused(LOW);
    receive(LOW, &receives[1]);
    assert_true(mpid_is_complete(&receives[1]));
    assert_int_equal(send_word(HIGH, MPID_SYNC, &sync), MPID_STARTED);
    assert_int_equal(beneath_sent_type(HIGH), PACKET_RTS);
    assert_refused(HIGH);
    beneath_arrive(HIGH, packet_head(PACKET_DONE, sync.id, 0), NULL, 0);
    assert_true(mpid_is_complete(&sync));
    assert_true(idle_leave(beneath_vc(HIGH)));
    device.finalizing = true;
    assert_refused(OTHER);
    device.finalizing = false;
}

/* The peer's CLOSE crosses the question. */
static void test_closing(void **state)
{
    (void)state;
    assert_true(idle_leave(beneath_vc(LOW)));
    assert_said(LOW, LEAVE_ASK);
    beneath_arrive(LOW, packet_head(PACKET_CLOSE, 0, 0), NULL, 0);
    assert_state(LOW, VC_REMOTE_CLOSE);
    arrive(LOW, LEAVE_NO);
    assert_state(LOW, VC_REMOTE_CLOSE);
    vc_close(beneath_vc(HIGH));
    assert_int_equal(beneath_sent_type(HIGH), PACKET_CLOSE);
    arrive(HIGH, LEAVE_ASK);
    assert_said(HIGH, LEAVE_NO);
    assert_state(HIGH, VC_LOCAL_CLOSE);
}

/* A peer that breaks the rules loses its connection. */
static void test_broken(void **state)
{
    (void)state;
    arrive(LOW, LEAVE_YES);
    assert_state(LOW, VC_FAILED);
    arrive(HIGH, LEAVE_END);
    assert_state(HIGH, VC_FAILED);
    arrive(OTHER, LEAVE_STEPS);
    assert_state(OTHER, VC_FAILED);
}

/* A peer dies meanwhile, or after it was let go. */
static void test_dies(void **state)
{
    (void)state;
    struct mpid_request sends[2], receives[3];
    for (uint32_t rank = LOW, i = 0; rank <= OTHER; rank++)
        if (rank != BENEATH_ME)
            receive(rank, &receives[i++]);
    assert_true(idle_leave(beneath_vc(LOW)));
    assert_int_equal(send_word(LOW, 0, &sends[0]), MPID_STARTED);
    arrive(HIGH, LEAVE_ASK);
    assert_int_equal(send_word(HIGH, 0, &sends[1]), MPID_STARTED);
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    beneath.env->sink->lost(&beneath.link[HIGH].base, -ECONNRESET);
    for (int i = 0; i < 2; i++) {
        assert_true(mpid_is_complete(&sends[i]) && sends[i].error == MPID_LOST);
        assert_true(mpid_is_complete(&receives[i]) && receives[i].error == MPID_LOST);
    }
    arrive(OTHER, LEAVE_ASK);
    arrive(OTHER, LEAVE_END);
    assert_state(OTHER, VC_UNBOUND);
    assert_false(mpid_is_complete(&receives[2]));
    beneath_end(OTHER);
    assert_true(mpid_is_complete(&receives[2]) && receives[2].error == MPID_LOST);
    assert_int_equal(device.leaving, 0);
}

/* ---- choosing ---- */

static void test_choice(void **state)
{
    (void)state;
    device.crowd = device.ports[0].chan;
    device.crowd_most = 2;
    idle_look(); /* all count as used */
    assert_int_equal(device.leaving, 0);
    assert_int_equal(send_word(LOW, 0, NULL), 0);
    beneath_drain(LOW);
    idle_look();
    assert_state(LOW, VC_OPEN);
    assert_state(HIGH, VC_LEAVING);
    assert_state(OTHER, VC_OPEN);
    idle_look(); /* enough of them */
    assert_int_equal(device.leaving, 1);
    arrive(HIGH, LEAVE_NO);
    turn();
    beneath_drain(HIGH);
    idle_look();
    assert_state(HIGH, VC_OPEN);
    assert_state(OTHER, VC_LEAVING);
    device.crowd_most = 0;
    for (int i = 0; i < 3; i++)
        idle_look();
    assert_int_equal(device.leaving, 3);
    device.crowd = NULL;
}

/* ---- random order ---- */

enum {
    REQUESTS = 64,
    ITEMS = 256
};

/* A peer as leave.h wants it. */
struct peer {
    uint32_t rank;
    enum vc_state state;
    uint64_t queued, number, expected; /* messages that wait, that were sent, that came */
    struct chan_head item[ITEMS];      /* on their way to the device */
    uint64_t word[ITEMS];
    int count;
    uint64_t theirs, got; /* the device's: messages sent to the peer, and received from it */
};

static struct mpid_request requests[REQUESTS];
static uint64_t words[REQUESTS];
static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 16) % below;
}

static void say(struct peer *peer, struct chan_head head, uint64_t word)
{
    assert_true(peer->count < ITEMS);
    peer->item[peer->count] = head;
    peer->word[peer->count++] = word;
}

static void peer_drain(struct peer *peer)
{
    const struct mpid_envelope from = {4, (int32_t)peer->rank, 7};
    while (peer->queued && peer->state == VC_OPEN) {
        peer->queued--;
        say(peer, packet_message(PACKET_EAGER, &from), peer->number++);
    }
}

static void peer_leave(struct peer *peer, const struct chan_head *head)
{
    struct leave_turn turn;
    enum leave_step step = (enum leave_step)packet_id(head);
    assert_true(leave_heard(peer->state, step, !peer->queued, peer->rank > BENEATH_ME, &turn));
    if (turn.say != LEAVE_NONE)
        say(peer, packet_head(PACKET_LEAVE, turn.say, 0), 0);
    if (turn.event != VC_EVENTS)
        peer->state = vc_after(peer->state, turn.event);
    peer_drain(peer);
}

static void peer_takes(struct peer *peer)
{
    struct beneath_packet *packet = beneath_sent(peer->rank);
    uint64_t word;
    if (!packet)
        return;
    assert_int_not_equal(peer->state, VC_UNBOUND);
    if (packet_type(&packet->head) == PACKET_EAGER) {
        memcpy(&word, packet->data, sizeof(word));
        assert_int_equal(word, peer->expected++);
    } else {
        assert_int_equal(packet_type(&packet->head), PACKET_LEAVE);
        peer_leave(peer, &packet->head);
    }
    free(packet);
}

static void device_takes(struct peer *peer)
{
    if (!peer->count)
        return;
    struct chan_head head = peer->item[0];
    uint64_t word = peer->word[0];
    peer->count--;
    memmove(peer->item, peer->item + 1, sizeof(head) * (size_t)peer->count);
    memmove(peer->word, peer->word + 1, sizeof(word) * (size_t)peer->count);
    assert_true(beneath.link[peer->rank].taken);
    beneath_arrive(peer->rank, head, &word, packet_type(&head) == PACKET_EAGER ? sizeof(word) : 0);
}

static void device_sends(struct peer *peer)
{
    static const struct mpid_envelope own = {4, BENEATH_ME, 7};
    int i = 0;
    while (i < REQUESTS && !mpid_is_complete(&requests[i]))
        i++;
    if (i == REQUESTS)
        return;
    words[i] = peer->theirs++;
    const struct mpid_bytes bytes = {.base = &words[i], .len = sizeof(words[i])};
    (void)mpid_send(beneath_vc(peer->rank), &own, &bytes, 0, &requests[i]);
}

static void device_receives(struct peer *peer)
{
    uint64_t word;
    struct mpid_request request;
    struct mpid_probe probe = {
        .want = {4, (int32_t)peer->rank, 7}, .from = beneath_vc(peer->rank), .take = true};
    const struct mpid_bytes into = {.base = &word, .len = sizeof(word)};
    if (mpid_iprobe(&probe) != MPID_FOUND)
        return;
    mpid_recv_message(&request, probe.message, &into);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(word, peer->got++);
}

/* Either may begin; the peer lets it in once its older link has ended. */
static void connect_peer(struct peer *peer)
{
    const struct vc *vc = beneath_vc(peer->rank);
    if (peer->state != VC_UNBOUND)
        return;
    if (vc->state == VC_UNBOUND && peer->queued)
        assert_int_equal(beneath_ask(peer->rank), CHAN_ACCEPT);
    else if (vc->state != VC_CONNECTING)
        return;
    peer->state = VC_OPEN;
    beneath_open(peer->rank);
    peer_drain(peer);
}

static void act(struct peer *peer, uint32_t kind)
{
    switch (kind) {
    case 0: device_sends(peer); break;
    case 1: (void)idle_leave(beneath_vc(peer->rank)); break;
    case 2:
        if (peer->queued < 8 && peer->count < ITEMS / 2)
            peer->queued++;
        peer_drain(peer);
        break;
    case 3:
        if (peer->state == VC_OPEN && !peer->queued) {
            say(peer, packet_head(PACKET_LEAVE, LEAVE_ASK, 0), 0);
            peer->state = VC_LEAVING;
        }
        break;
    case 4: peer_takes(peer); break;
    case 5: device_takes(peer); break;
    case 6: device_receives(peer); break;
    case 7: connect_peer(peer); break;
    default: (void)mpid_progress(); break;
    }
}

static void test_random(void **state)
{
    (void)state;
    static struct peer peers[2] = {{.rank = LOW, .state = VC_OPEN},
                                   {.rank = HIGH, .state = VC_OPEN}};
    random_state = (uint32_t)time(NULL);
    print_message("seed %u\n", random_state);
    memset(requests, 0, sizeof(requests));
    for (int i = 0; i < 200000; i++) {
        uint32_t kind = draw(40); /* rests in between, and some steps much more often than others */
        act(&peers[draw(2)], kind < 4 ? kind : 4 + kind % 5);
    }
    for (int i = 0; i < 20000; i++)
        act(&peers[i % 2], 4 + (uint32_t)(i / 2) % 5);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(peers[k].expected, peers[k].theirs);
        assert_int_equal(peers[k].got, peers[k].number);
        assert_true(peers[k].got > 1000);
        assert_true(peers[k].state == VC_OPEN || peers[k].state == VC_UNBOUND);
    }
    assert_true(device.stats.left > 1000);
    assert_int_equal(device.leaving, 0);
}

int main(void)
{
    setenv("VIREO_CONNECTIONS_IDLE_MS", "0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_leave, start, stop),
        cmocka_unit_test_setup_teardown(test_stay, start, stop),
        cmocka_unit_test_setup_teardown(test_left, start, stop),
        cmocka_unit_test_setup_teardown(test_crossing, start, stop),
        cmocka_unit_test_setup_teardown(test_full, start, stop),
        cmocka_unit_test_setup_teardown(test_busy, start, stop),
        cmocka_unit_test_setup_teardown(test_closing, start, stop),
        cmocka_unit_test_setup_teardown(test_broken, start, stop),
        cmocka_unit_test_setup_teardown(test_dies, start, stop),
        cmocka_unit_test_setup_teardown(test_choice, start, stop),
        cmocka_unit_test_setup_teardown(test_random, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
