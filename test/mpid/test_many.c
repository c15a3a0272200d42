/* SPDX-License-Identifier: BSD-3-Clause */

/* The device in a job of very many ranks, which are invented: what it costs depends on the peers
 * that it has spoken to, not on the size of the job. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "test/mpid/beneath.h"

enum {
    MANY = 100000,
    PEERS = 1000,
    STEP = 97, /* from one peer to the next */
    PEER_BYTES = 512,
    SLACK = 4096,
    KEPT = 16384 /* freed blocks that the C library keeps for itself count as used */
};

/* Bytes that this process has from malloc(). */
static size_t used(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static uint32_t peer_of(int i)
{
    return (uint32_t)(2 + i * STEP);
}

/* Open a connection, and send and receive a message over it. */
static void speak(uint32_t rank)
{
    uint64_t out = rank, in = 0;
    struct mpid_request request;
    struct mpid_envelope own = {4, BENEATH_ME, 1}, theirs = {4, (int32_t)rank, 1};
    struct mpid_bytes from = {.base = &out, .len = sizeof(out)};
    struct mpid_bytes into = {.base = &in, .len = sizeof(in)};
    struct vc *vc = beneath_vc(rank);
    assert_int_equal(beneath_ask(rank), CHAN_ACCEPT);
    beneath_open(rank);
    (void)mpid_progress();
    assert_int_equal(mpid_send(vc, &own, &from, 0, NULL), 0);
    beneath_drain(rank);
    mpid_recv(&request, vc, &theirs, &into);
    beneath_arrive(rank, packet_message(PACKET_EAGER, &theirs), &out, sizeof(out));
    assert_true(mpid_is_complete(&request) && in == rank);
}

/* What a job costs from start to end. */
struct cost {
    size_t start, peers, left; /* bytes: of the start, of the peers, after the end */
    int turns, asked;          /* in all: of progress, and questions to the process manager */
};

static void run(int ranks, int peers, struct cost *cost)
{
    beneath_ranks = ranks;
    size_t before = used();
    beneath_start();
    size_t harness = (size_t)ranks * sizeof(struct beneath_link);
    size_t started = used();
    cost->start = started - before - harness;
    for (int i = 0; i < peers; i++)
        speak(peer_of(i));
    for (int i = 0; i < 2000; i++)
        (void)mpid_progress();
    cost->peers = used() - started;
    beneath_stop();
    cost->turns = beneath.turns;
    cost->asked = beneath.asked;
    cost->left = used() - before;
    beneath_ranks = BENEATH_RANKS;
}

static void test_memory(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its malloc() does not tell what is in use */
#endif
    struct cost warm, few, many, none;
    run(BENEATH_RANKS, 0, &warm); /* what the C library takes at first */
    run(BENEATH_RANKS, 0, &few);
    run(MANY, 0, &none);
    run(MANY, PEERS, &many);
    assert_in_range(none.start, 0, few.start + SLACK); /* nothing for a peer never spoken to */
    assert_in_range(none.peers, 0, SLACK);
    print_message("a peer spoken to: %zu bytes\n", many.peers / PEERS);
    assert_in_range(many.peers, 1, PEERS * PEER_BYTES);
    assert_in_range(many.left, 0, KEPT);
}

/* The start and the end take as long as there are peers that were spoken to. */
static void test_work(void **state)
{
    (void)state;
    struct cost few, many, ten, twenty;
    run(BENEATH_RANKS, 0, &few);
    run(MANY, 0, &many);
    run(MANY, 10, &ten);
    run(MANY, 20, &twenty);
    assert_int_equal(many.asked, few.asked);
    assert_int_equal(many.turns, few.turns);
    assert_int_equal(twenty.asked - many.asked, 2 * (ten.asked - many.asked));
}

/* Connections go with the last that needs them: each of many rounds finds as many as the first. */
static void test_rounds(void **state)
{
    (void)state;
    enum { ROUNDS = 10000 };
    size_t first = 0;
    beneath_ranks = MANY;
    beneath_start();
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t rank = (uint32_t)(10 + round % (MANY - 10));
        speak(rank);
        struct vc *vc = vc_find(&beneath.env->gid, rank);
        mpid_vc_put(vc);
        assert_ptr_equal(vc_find(&beneath.env->gid, rank), vc); /* it has a link */
        beneath.env->sink->lost(&beneath_link(rank)->base, -1);
        (void)mpid_progress();
        assert_null(vc_find(&beneath.env->gid, rank));
        if (round == ROUNDS / 10)
            first = used();
    }
    assert_in_range(used(), 0, first + SLACK);
    beneath_stop();
    beneath_ranks = BENEATH_RANKS;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
