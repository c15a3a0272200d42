/* SPDX-License-Identifier: BSD-3-Clause */

/* The device where a connection can be made in one direction only, or not at all. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mpid/conn/connect.h"
#include "os/clock.h"
#include "os/settings.h"
#include "test/mpid/device_test.h"

enum {
    LOW = 0,
    HIGH = 2,
    LAST = 3
}; /* peers of lower and higher rank than ours */

enum {
    DIAL = 1,
    STUCK = 2,
    FAILED = 3
}; /* words */

static int stop(void **state)
{
    assert_int_equal(os_setting_put(OS_SETTING_CONNECT_TIMEOUT_MS, "20000"), 0);
    (void)state;
    beneath_stop();
    return 0;
}

/* Make progress until a number of links has been begun, or the rank's VC is in a state. */
static void turn_until(int links, uint32_t rank, enum vc_state state)
{
    uint64_t limit_ns = os_now_ns() + 5000000000u;
    while (beneath.links < links && beneath_vc(rank)->state != state) {
        (void)mpid_progress();
        assert_true(os_now_ns() < limit_ns);
    }
}

static void turn_until_done(const struct mpid_request *request)
{
    uint64_t limit_ns = os_now_ns() + 5000000000u;
    while (!mpid_is_complete(request)) {
        (void)mpid_progress();
        assert_true(os_now_ns() < limit_ns);
    }
}

static void assert_sent(const struct mpid_request *request)
{
    turn_until(INT_MAX, HIGH, VC_OPEN);
    for (int i = 0; i < 20; i++)
        (void)mpid_progress();
    assert_true(mpid_is_complete(request));
    assert_int_equal(request->error, MPID_OK);
    assert_int_equal(beneath_sent_type(HIGH), PACKET_EAGER);
}

/* Our attempts have all failed, and the peer's own comes. */
static void test_refused_and_asked(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.second_fit = CHAN_MAYBE;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_state(HIGH, VC_CONNECTING);
    beneath_refuse(HIGH, CHAN_ACCEPT);
    assert_int_equal(beneath.links, 2); /* by the second channel */
    beneath_refuse(HIGH, CHAN_ACCEPT);
    assert_state(HIGH, VC_CONNECTING);
    assert_false(mpid_is_complete(&request));
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    assert_sent(&request);
}

/* The same where no link can so much as be begun. */
static void test_no_link_and_asked(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.refusal = -ENETUNREACH;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_state(HIGH, VC_CONNECTING);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    assert_sent(&request);
}

/* Nobody comes: the peer is out of reach, but has not finished. */
static void test_refused_for_good(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(os_setting_put(OS_SETTING_CONNECT_TIMEOUT_MS, "30"), 0);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    uint64_t from_ns = os_now_ns();
    beneath_refuse(HIGH, CHAN_ACCEPT);
    assert_int_equal(beneath.unlinks, 1);
    turn_until(INT_MAX, HIGH, VC_FAILED);
    assert_true(os_now_ns() - from_ns >= 30000000u);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_UNREACHABLE);
    assert_int_equal(beneath_ask(HIGH), CHAN_REFUSE_FAILED);
}

/* Nothing answers: the peer is asked to dial, again and again, and let in though we are the higher.
 */
static void test_one_direction(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.hears = true;
    beneath.stage = CHAN_STAGE_NOWHERE;
    assert_int_equal(send_word(LOW, 0, &request), MPID_STARTED);
    for (int words = 1; words <= 2; words++) {
        uint64_t limit_ns = os_now_ns() + 20000000000u;
        while (beneath.words < words && os_now_ns() < limit_ns)
            (void)mpid_progress();
        assert_int_equal(beneath.words, words);
        assert_int_equal(beneath.word[LOW], DIAL);
    }
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    turn_until(INT_MAX, LOW, VC_OPEN);
    for (int i = 0; i < 20; i++)
        (void)mpid_progress();
    assert_true(mpid_is_complete(&request));
}

/* A link that the peer relies on stands, one that it has not heard of does not. */
static void test_crossing_by_stage(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.stage = CHAN_STAGE_SAID;
    assert_int_equal(send_word(LOW, 0, &request), MPID_STARTED);
    assert_int_equal(beneath_ask(LOW), CHAN_REFUSE_CROSSING);
    beneath.stage = CHAN_STAGE_TAKEN;
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    assert_state(LOW, VC_OPEN);
    for (int i = 0; i < 20; i++)
        (void)mpid_progress();
    assert_true(mpid_is_complete(&request));
}

/* A peer that asks is dialed, though nothing is to be sent to it. */
static void test_asked_to_dial(void **state)
{
    (void)state;
    beneath.hears = true;
    beneath_notify(HIGH, DIAL);
    assert_state(HIGH, VC_CONNECTING);
    assert_int_equal(beneath.links, 1);
    beneath_notify(HIGH, DIAL);
    assert_int_equal(beneath.links, 1);
    beneath_open(HIGH);
    assert_state(HIGH, VC_OPEN);
    beneath_notify(HIGH, DIAL); /* it is late */
    beneath_notify(HIGH, 77);
    assert_int_equal(beneath.links, 1);
    assert_int_equal(beneath.words, 0);
}

/* Where the peer hears, it may take its time; where it cannot dial either, that is the end. */
static void test_stuck(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.hears = true;
    assert_int_equal(os_setting_put(OS_SETTING_CONNECT_TIMEOUT_MS, "1"), 0);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_ACCEPT);
    assert_int_equal(beneath.word[HIGH], STUCK);
    uint64_t from_ns = os_now_ns();
    while (os_now_ns() - from_ns < 20000000u)
        (void)mpid_progress();
    assert_state(HIGH, VC_CONNECTING);
    beneath_notify(HIGH, DIAL);
    assert_state(HIGH, VC_CONNECTING);
    beneath_notify(HIGH, STUCK);
    assert_state(HIGH, VC_FAILED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_UNREACHABLE);
    beneath.word[HIGH] = 0;
    beneath_notify(HIGH, DIAL); /* whoever asks later hears it too */
    assert_int_equal(beneath.word[HIGH], FAILED);
    int words = beneath.words;
    beneath_notify(HIGH, STUCK);
    assert_int_equal(beneath.words, words + 1);
    beneath_notify(HIGH, FAILED); /* which is no question: two that have given up are still */
    assert_int_equal(beneath.words, words + 1);
}

/* Neither listens, and each asks the other: what the peer has published since is tried then. */
static void test_both_listen_late(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.hears = true;
    beneath.refusal = -EAGAIN;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    assert_state(HIGH, VC_CONNECTING);
    assert_int_equal(beneath.word[HIGH], STUCK);
    beneath.refusal = 0;
    beneath.card = BENEATH_CARD("inc(1);fake(a=b);second(a=b)");
    beneath_notify(HIGH, STUCK);
    assert_state(HIGH, VC_CONNECTING);
    assert_int_equal(beneath.links, 2);
    assert_true(beneath.link[HIGH].taken);
    beneath_open(HIGH);
    assert_sent(&request);
}

/* The same while another link is under way, which is refused then: the card is older than the word. */
static void test_listens_late_meanwhile(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.hears = true;
    beneath.second_fit = CHAN_MAYBE;
    beneath.card = BENEATH_CARD("fake(a=b);second(a=none)");
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath.card = BENEATH_CARD("inc(1);fake(a=b);second(a=b)");
    beneath_notify(HIGH, STUCK);
    assert_state(HIGH, VC_CONNECTING);
    beneath_refuse(HIGH, CHAN_ACCEPT);
    assert_state(HIGH, VC_CONNECTING);
    beneath_refuse(HIGH, CHAN_ACCEPT); /* as before */
    assert_state(HIGH, VC_CONNECTING);
    assert_ptr_equal(beneath.link[HIGH].base.ops, chan_table[1]);
    beneath_open(HIGH);
    assert_sent(&request);
}

static void refuse_both(enum chan_answer first, enum chan_answer second, enum vc_state after)
{
    struct mpid_request request;
    beneath.second_fit = CHAN_MAYBE;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, first);
    assert_int_equal(beneath.links, 2);
    beneath_refuse(HIGH, second);
    assert_state(HIGH, after);
    if (after != VC_FAILED) {
        beneath.has_finished[HIGH] = true;
        turn_until(INT_MAX, HIGH, VC_FAILED); /* or the test waits for the connect timeout */
    }
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, after == VC_FAILED ? MPID_UNREACHABLE : MPID_LOST);
}

/* A peer that has said no to all does not come itself, and is not waited for where nothing tells of its end. */
static void test_refused_by_a_no(void **state)
{
    (void)state;
    refuse_both(CHAN_REFUSE_UNABLE, CHAN_REFUSE_UNKNOWN, VC_FAILED);
}

/* Start a send that both channels refuse for certain, where words are brought and ends are told. */
static void refuse_for_certain(struct mpid_request *request)
{
    beneath.hears = beneath.tells = true;
    beneath.second_fit = CHAN_MAYBE;
    assert_int_equal(send_word(HIGH, 0, request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_REFUSE_UNABLE);
    beneath_refuse(HIGH, CHAN_REFUSE_UNABLE);
}

/* The port of a process that has just died says no as well: its end is told, sooner or later. */
static void test_refused_by_the_dead(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(os_setting_put(OS_SETTING_CONNECT_TIMEOUT_MS, "1"), 0);
    refuse_for_certain(&request);
    assert_state(HIGH, VC_CONNECTING);
    assert_int_equal(beneath.word[HIGH], STUCK);
    uint64_t from_ns = os_now_ns();
    while (os_now_ns() - from_ns < 20000000u)
        (void)mpid_progress();
    assert_state(HIGH, VC_CONNECTING);
    beneath_end(HIGH);
    assert_state(HIGH, VC_FAILED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
}

/* One that lives, and can accept nobody, dials. */
static void test_refused_and_dialed(void **state)
{
    (void)state;
    struct mpid_request request;
    refuse_for_certain(&request);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    assert_sent(&request);
}

/* Or it says that it cannot dial either. The two words are all. */
static void test_refused_and_stuck(void **state)
{
    (void)state;
    struct mpid_request request;
    refuse_for_certain(&request);
    assert_state(HIGH, VC_CONNECTING);
    beneath_notify(HIGH, STUCK);
    assert_state(HIGH, VC_FAILED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_UNREACHABLE);
    assert_int_equal(beneath.word[HIGH], FAILED);
    int words = beneath.words;
    beneath_notify(HIGH, FAILED);
    assert_int_equal(beneath.words, words);
}

/* It has said so before our last attempt was refused: then nobody waits. */
static void test_stuck_and_refused(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.hears = beneath.tells = true;
    beneath.second_fit = CHAN_MAYBE;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_REFUSE_UNABLE);
    beneath_notify(HIGH, STUCK);
    assert_state(HIGH, VC_CONNECTING);
    beneath_refuse(HIGH, CHAN_REFUSE_UNABLE);
    assert_state(HIGH, VC_FAILED);
    assert_int_equal(request.error, MPID_UNREACHABLE);
    assert_int_equal(beneath.words, 1);
    assert_int_equal(beneath.word[HIGH], FAILED);
}

/* A process without memory to connect tries again with its next send, and asks nobody. */
static void test_refused_without_memory(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.hears = beneath.tells = true;
    beneath.fit = CHAN_YES;
    beneath.refusal = -ENOMEM;
    (void)send_word(HIGH, 0, &request);
    assert_int_equal(request.error, MPID_NO_MEMORY);
    assert_state(HIGH, VC_UNBOUND);
    assert_int_equal(beneath.words, 0);
}

enum { MANY = 100, TOLD_NS = 600000000 };

static int start_many(void **state)
{
    beneath_ranks = MANY;
    return device_start(state);
}

static int stop_many(void **state)
{
    int rc = stop(state);
    beneath_ranks = BENEATH_RANKS;
    return rc;
}

/* Many ranks of one host keep the launcher busy: that a peer is out of reach is told once its death would be known. */
static void test_death_told_late(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_REFUSE_UNABLE);
    assert_state(HIGH, VC_FAILED);
    assert_int_equal(request.error, MPID_UNREACHABLE);
    beneath.end = HIGH + 1;
    beneath.end_ns = os_now_ns() + TOLD_NS;
    assert_int_equal(mpid_why(&request), MPID_LOST);
}

/* Without an answer to one of the two it may, until it finalizes. */
static void test_refused_by_one(void **state)
{
    (void)state;
    refuse_both(CHAN_ACCEPT, CHAN_REFUSE_UNABLE, VC_CONNECTING);
}

/* The peer has dialed, too, and let ours go; then its own comes. */
static void test_crossing_refused(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_REFUSE_CROSSING);
    assert_state(HIGH, VC_CONNECTING);
    assert_false(mpid_is_complete(&request));
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    assert_sent(&request);
    assert_int_equal(beneath.links, 1);
}

/* Its own does not come: we dial again, and again, over the channel that it has answered on. */
static void test_crossing_in_vain(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.second_fit = CHAN_MAYBE;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    for (int i = 1; i <= 3; i++) {
        turn_until(i, HIGH, VC_OPEN);
        assert_int_equal(beneath.links, i);
        assert_ptr_equal(beneath.link[HIGH].base.ops, chan_table[0]);
        beneath_refuse(HIGH, CHAN_REFUSE_CROSSING);
        for (int j = 0; j < 20; j++)
            (void)mpid_progress();
        assert_int_equal(beneath.links, i); /* not at once */
    }
    turn_until(4, HIGH, VC_OPEN);
    beneath_open(HIGH);
    assert_sent(&request);
}

/* A peer that finalizes, and has not heard yet that we use sessions, is called again. */
static void test_closed_to_sessions(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(mpid_use(MPID_SESSIONS), 0);
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_REFUSE_CLOSED);
    assert_state(HIGH, VC_CONNECTING);
    turn_until(2, HIGH, VC_OPEN);
    beneath_open(HIGH);
    assert_sent(&request);
}

/* A peer whose connection to us has failed says so, and is asked no more. */
static void test_failed_there(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.second_fit = CHAN_MAYBE;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_refuse(HIGH, CHAN_REFUSE_FAILED);
    assert_state(HIGH, VC_FAILED);
    assert_true(mpid_is_complete(&request));
    assert_int_equal(request.error, MPID_LOST);
    assert_int_equal(beneath.links, 1);
}

/* And so do we, of a connection that we have lost, but not of one that has closed. */
static void test_failed_here(void **state)
{
    (void)state;
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    beneath.env->sink->lost(&beneath.link[LOW].base, -ECONNRESET);
    assert_int_equal(beneath_ask(LOW), CHAN_REFUSE_FAILED);
}

/* One that has failed before the peer's link was open is not open: the peer hears of its end. */
static void test_failed_before_open(void **state)
{
    (void)state;
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    vc_fail(beneath_vc(LOW), MPID_NO_MEMORY, "the test wants it so");
    beneath_open(LOW);
    assert_int_equal(beneath.unlinks, 1);
    assert_null(beneath_vc(LOW)->bound);
    assert_int_equal(beneath_ask(LOW), CHAN_REFUSE_FAILED);
}

/* ---- news of keys ---- */

static int start_counted(void **state)
{
    beneath_counts = true;
    return device_start(state);
}

static int stop_counted(void **state)
{
    beneath_counts = false;
    beneath_news++;
    return stop(state);
}

/* Nothing is asked for in so many turns, whatever is there. */
static void assert_no_question(uint32_t rank, enum vc_state state)
{
    int asked = beneath.asked;
    for (int i = 0; i < 3000; i++)
        (void)mpid_progress();
    assert_int_equal(beneath.asked, asked);
    assert_state(rank, state);
}

/* A card is looked at again once there is news. */
static void test_news_of_card(void **state)
{
    (void)state;
    struct mpid_request request;
    beneath.has_card[HIGH] = false;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    for (int i = 0; i < 1000; i++)
        (void)mpid_progress();
    assert_no_question(HIGH, VC_BINDING);
    beneath.has_card[HIGH] = true;
    beneath_news++;
    turn_until(INT_MAX, HIGH, VC_CONNECTING);
    beneath_open(HIGH);
    assert_sent(&request);
}

/* So is whether the peer has left before it could answer. */
static void test_news_of_leaving(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    for (int i = 0; i < 1000; i++)
        (void)mpid_progress(); /* it looks once */
    beneath.says[HIGH] = "over";
    assert_no_question(HIGH, VC_CONNECTING);
    beneath_news++;
    turn_until(INT_MAX, HIGH, VC_FAILED);
    assert_int_equal(request.error, MPID_LOST);
}

static void lose_high(void)
{
    vc_fail(beneath_vc(HIGH), MPID_NO_MEMORY, "the test wants it so");
}

/* A step of one connection that waits may end the next one, for instance if memory is short for a packet to that
 * peer. */
static void test_next_one_ends(void **state)
{
    (void)state;
    static struct mpid_request first, second, third;
    for (uint32_t rank = 0; rank < BENEATH_RANKS; rank++)
        beneath.has_card[rank] = false;
    assert_int_equal(send_word(LOW, 0, &first), MPID_STARTED);
    assert_int_equal(send_word(HIGH, 0, &second), MPID_STARTED);
    assert_int_equal(send_word(LAST, 0, &third), MPID_STARTED);
    for (uint32_t rank = 0; rank < BENEATH_RANKS; rank++)
        beneath.has_card[rank] = true;
    beneath.linking = lose_high;
    beneath_news++;
    turn_until(INT_MAX, LAST, VC_CONNECTING);
    assert_state(LOW, VC_CONNECTING);
    assert_state(HIGH, VC_FAILED);
    assert_int_equal(second.error, MPID_NO_MEMORY);
    assert_int_equal(beneath.links, 2);
    beneath_open(LOW);
    beneath_open(LAST);
    turn_until_done(&first);
    turn_until_done(&third);
}

/* How many rounds of news there are to be, and have been. */
static _Atomic int wanted_rounds, given_rounds;
enum { LAST_ROUND = -1, ROUNDS = 100000 };

/* Counts up the word as another process does, sooner or later after it is wanted. */
static void *give_news(void *arg)
{
    int round = 0, wanted;
    (void)arg;
    while ((wanted = atomic_load(&wanted_rounds)) != LAST_ROUND) {
        if (wanted == round)
            continue;
        for (int i = round++ % 61; i; i--)
            atomic_signal_fence(memory_order_seq_cst);
        atomic_fetch_add((_Atomic unsigned *)&beneath_news, 1);
        atomic_store(&given_rounds, round);
    }
    return NULL;
}

/* News that comes in the middle of a look is heard by that look or the next. */
static void test_news_amid_looks(void **state)
{
    (void)state;
    pthread_t giver;
    struct mpid_request request;
    uint64_t limit_ns = os_now_ns() + 10000000000u;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    (void)connect_poll(); /* it looks once */
    assert_int_equal(pthread_create(&giver, NULL, give_news, NULL), 0);
    int missed = 0;
    for (int round = 1; round <= ROUNDS && os_now_ns() < limit_ns; round++) {
        int asked = beneath.asked;
        atomic_store(&wanted_rounds, round);
        while (atomic_load(&given_rounds) != round)
            (void)connect_poll();
        (void)connect_poll();
        missed += beneath.asked == asked;
    }
    atomic_store(&wanted_rounds, LAST_ROUND);
    assert_int_equal(pthread_join(giver, NULL), 0);
    assert_int_equal(missed, 0);
    beneath.says[HIGH] = "over";
    beneath_news++;
    turn_until(INT_MAX, HIGH, VC_FAILED);
}

static int turns_left;

/* Called in each turn: after some the peer leaves. */
static void leave_soon(void)
{
    if (--turns_left) {
        beneath.during = leave_soon;
        return;
    }
    beneath.says[HIGH] = "over";
    beneath_news++;
}

/* The world ends when there is news that a peer is beyond it, of which it has asked once before. */
static void test_news_of_the_end(void **state)
{
    (void)state;
    struct mpid_request request;
    assert_int_equal(send_word(HIGH, 0, &request), MPID_STARTED);
    beneath_open(HIGH);
    assert_sent(&request);
    beneath.asked = 0;
    turns_left = 20000;
    beneath.during = leave_soon;
    mpid_end_world(true);
    assert_int_equal(turns_left, 0);
    assert_in_range(beneath.asked, 2, 8);
    assert_int_equal(mpid_use(MPID_WORLD), 0);
}

#define NEWS_TEST(test)   cmocka_unit_test_setup_teardown(test, start_counted, stop_counted)
#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, device_start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_refused_and_asked), DEVICE_TEST(test_no_link_and_asked),
        DEVICE_TEST(test_one_direction),     DEVICE_TEST(test_crossing_by_stage),
        DEVICE_TEST(test_asked_to_dial),     DEVICE_TEST(test_stuck),
        DEVICE_TEST(test_refused_for_good),  DEVICE_TEST(test_crossing_refused),
        DEVICE_TEST(test_crossing_in_vain), DEVICE_TEST(test_closed_to_sessions),  DEVICE_TEST(test_failed_there),
        DEVICE_TEST(test_failed_here),       DEVICE_TEST(test_refused_by_a_no),
        DEVICE_TEST(test_failed_before_open),
        DEVICE_TEST(test_refused_by_the_dead), DEVICE_TEST(test_refused_and_dialed),
        DEVICE_TEST(test_refused_and_stuck), DEVICE_TEST(test_stuck_and_refused),
        DEVICE_TEST(test_refused_without_memory),
        cmocka_unit_test_setup_teardown(test_death_told_late, start_many, stop_many),
        DEVICE_TEST(test_refused_by_one),    DEVICE_TEST(test_both_listen_late),
        DEVICE_TEST(test_listens_late_meanwhile),
        NEWS_TEST(test_news_of_card),        NEWS_TEST(test_news_of_leaving),
        NEWS_TEST(test_news_of_the_end),     NEWS_TEST(test_news_amid_looks),
        NEWS_TEST(test_next_one_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
