/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread that sleeps beside another wakes for the requests that its condition watches, not for
 * those it tells of.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpid/conn/connect.h"
#include "mpid/ground/device.h"
#include "mpid/wait/car.h"
#include "mpid/wait/progress.h"
#include "test/mpid/device_test.h"

enum { PATIENCE_MS = 20000, PEER = 2 };

/* A thread that waits for one request, and tells another, or none. */
struct waiter {
    pthread_t thread;
    struct mpid_request awaited;
    const struct mpid_request *told;
    bool watches;
    _Atomic bool is_done; /* where it watches nothing */
};

static bool has_come(void *arg)
{
    struct waiter *w = arg;
    return w->watches ? mpid_is_complete(&w->awaited) : atomic_load(&w->is_done);
}

static void watch(void *arg, struct sleeper *sleeper)
{
    struct waiter *w = arg;
    if (w->watches)
        mpid_watch_request(sleeper, &w->awaited);
}

static void tell(void *arg, struct mpid_wait_report *report)
{
    const struct waiter *w = arg;
    if (w->told)
        mpid_tell_request(report, w->told);
}

static void *wait_for(void *arg)
{
    static const struct mpid_condition condition = {has_come, watch, tell};
    mpid_wait_condition(&condition, arg);
    return NULL;
}

static void begin(struct waiter *w)
{
    mpid_begin(&w->awaited);
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for, w), 0);
}

/* Run action, locked, at a time when so many threads sleep, one of them on the channels: a waiter that
 * leaves the channels to others for a while looks by itself. Returns how many the action wakes. */
static uint64_t wakes_by(int sleepers, void (*action)(void *arg), void *arg)
{
    for (int ms = 0; ms < PATIENCE_MS; ms++) {
        os_lock(&device.lock);
        if (atomic_load(&device.sleepers) == sleepers && beneath.is_armed) {
            uint64_t before = device.stats.wakes;
            action(arg);
            uint64_t wakes = device.stats.wakes - before;
            os_unlock(&device.lock);
            return wakes;
        }
        os_unlock(&device.lock);
        usleep(1000);
    }
    fail_msg("the threads do not sleep");
    return 0;
}

static void complete(void *request)
{
    car_complete(request);
}

static int start(void **state)
{
    (void)state;
    os_lock_enabled = true;
    beneath_start();
    mpid_use_threads();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    beneath_stop();
    return 0;
}

/* The first one sleeps on the channels, the other beside it. */
static void test_told_is_not_watched(void **state)
{
    (void)state;
    struct mpid_request other, third;
    struct waiter first = {.watches = true, .told = &other}, second = {.watches = true, .told = &third};
    mpid_begin(&other);
    mpid_begin(&third);
    begin(&first);
    begin(&second);
    assert_int_equal(wakes_by(2, complete, &other), 0);
    assert_int_equal(wakes_by(2, complete, &third), 0);
    assert_int_equal(wakes_by(2, complete, &first.awaited), 1);
    assert_int_equal(pthread_join(first.thread, NULL), 0);
    assert_int_equal(wakes_by(1, complete, &second.awaited), 1);
    assert_int_equal(pthread_join(second.thread, NULL), 0);
}

static void take_turn(void *arg)
{
    (void)arg;
    (void)progress_turn();
}

/* As after another thread has handed over the waiting packets, and more have come. */
static void take_turn_with_more(void *arg)
{
    ((struct vc *)arg)->blocked = false;
    (void)progress_turn();
}

/* A packet that finds no room keeps no thread awake. The thread on the channels arms them anew,
 * once, after one has refused a packet: a channel tells of room only those that arm it after that.
 * */
static void test_no_room(void **state)
{
    (void)state;
    struct mpid_request request;
    struct waiter waiter = {.watches = true};
    assert_int_equal(beneath_ask(PEER), CHAN_ACCEPT);
    beneath_open(PEER);
    beneath.outcome = CHAN_AGAIN;
    assert_int_equal(send_word(PEER, 0, &request), MPID_STARTED);
    (void)mpid_progress(); /* the waiter may sleep before it has taken a turn of its own */
    begin(&waiter);
    assert_int_equal(wakes_by(1, take_turn, NULL), 0);
    assert_int_equal(wakes_by(1, take_turn_with_more, beneath_vc(PEER)), 1);
    assert_int_equal(wakes_by(1, take_turn, NULL), 0);
    beneath.outcome = 0;
    assert_int_equal(wakes_by(1, complete, &waiter.awaited), 1);
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
    (void)mpid_progress();
    assert_true(mpid_is_complete(&request));
}

/* One that watches nothing is woken by anything, though it tells of a request. */
static void test_nothing_watched(void **state)
{
    (void)state;
    struct mpid_request other;
    struct waiter waiter = {.told = &other};
    mpid_begin(&other);
    begin(&waiter);
    assert_int_equal(wakes_by(1, complete, &other), 1);
    mpid_begin(&other);
    atomic_store(&waiter.is_done, true);
    mpid_wake();
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
}

static void connect_to(void *vc)
{
    connect_start(vc);
}

/* A connection that waits for a card, begun while a thread sleeps on the channels: that has to hear of news from now
 * on. */
static void test_card_awaited(void **state)
{
    (void)state;
    struct waiter waiter = {.watches = true};
    struct vc *vc = beneath_vc(PEER);
    beneath.has_card[PEER] = false;
    begin(&waiter);
    assert_int_equal(wakes_by(1, connect_to, vc), 1);
    assert_state(PEER, VC_BINDING);
    assert_int_equal(wakes_by(1, connect_to, vc), 0);
    assert_int_equal(wakes_by(1, complete, &waiter.awaited), 1);
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
    beneath.has_card[PEER] = true;
    while (vc->state == VC_BINDING)
        (void)mpid_progress();
    beneath_open(PEER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_told_is_not_watched, start, stop),
        cmocka_unit_test_setup_teardown(test_nothing_watched, start, stop),
        cmocka_unit_test_setup_teardown(test_no_room, start, stop),
        cmocka_unit_test_setup_teardown(test_card_awaited, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
