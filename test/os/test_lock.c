/* SPDX-License-Identifier: BSD-3-Clause */

/* The lock: one at a time is inside, whoever sleeps for it is woken, and none starves. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/clock.h"
#include "os/lock.h"

enum {
    THREADS = 8,
    TIMES = 20000,
    CROWD = 64,
    CROWD_TIMES = 20,
    HOGS = 3,
    VICTIMS = 4,
    VICTIM_TIMES = 50,
    LONG_MS = 500, /* for one turn of a victim; a starved one waits a millisecond and its turn */
    HANG_S = 60
};

static struct os_lock lock = OS_LOCK_INIT;
static long count; /* the lock guards it */
static _Atomic int inside, most_inside, over;

static void pause_us(long us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static void run(int threads, void *(*what)(void *), void *arg)
{
    pthread_t ids[CROWD];
    for (int i = 0; i < threads; i++)
        assert_false(pthread_create(&ids[i], NULL, what, arg));
    for (int i = 0; i < threads; i++)
        assert_false(pthread_join(ids[i], NULL));
}

static void go_in(void)
{
    os_lock(&lock);
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > most_inside)
        most_inside = now;
    count++;
}

static void go_out(void)
{
    atomic_fetch_sub(&inside, 1);
    os_unlock(&lock);
}

static int setup(void **state)
{
    (void)state;
    os_lock_enabled = true;
    count = 0;
    inside = most_inside = over = 0;
    alarm(HANG_S);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    alarm(0);
    assert_int_equal(lock.state, 0);
    return 0;
}

/* As many take it as can. */
static void *often(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        go_in();
        go_out();
    }
    return arg;
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    run(THREADS, often, NULL);
    assert_int_equal(count, (long)THREADS * TIMES);
    assert_int_equal(most_inside, 1);
}

/* Who holds it sleeps, so all others go to sleep for it, and some become heirs; a pause now and
 * then lets the lock become free with and without sleepers. */
static void *long_turns(void *arg)
{
    for (int i = 0; i < CROWD_TIMES; i++) {
        go_in();
        pause_us(i % 3 ? 20 : 1500);
        go_out();
        if (i % 4 == 0)
            pause_us(100);
    }
    return arg;
}

static void test_sleepers_are_woken(void **state)
{
    (void)state;
    run(THREADS, long_turns, NULL);
    assert_int_equal(count, (long)THREADS * CROWD_TIMES);
    assert_int_equal(most_inside, 1);
}

static void *short_turns(void *arg)
{
    for (int i = 0; i < CROWD_TIMES * 10; i++) {
        go_in();
        if (i % 50 == 0)
            pause_us(200);
        go_out();
    }
    return arg;
}

static void test_crowd(void **state)
{
    (void)state;
    run(CROWD, short_turns, NULL);
    assert_int_equal(count, (long)CROWD * CROWD_TIMES * 10);
    assert_int_equal(most_inside, 1);
}

/* Leaves it only to take it again at once. */
static void *hog(void *arg)
{
    while (!over) {
        go_in();
        uint64_t until = os_now_ns() + 50000;
        while (os_now_ns() < until)
            os_pause();
        go_out();
    }
    return arg;
}

static void *victim(void *arg)
{
    _Atomic int *late = arg;
    for (int i = 0; i < VICTIM_TIMES; i++) {
        uint64_t began = os_now_ns();
        go_in();
        go_out();
        if (os_now_ns() - began > LONG_MS * UINT64_C(1000000))
            atomic_fetch_add(late, 1);
    }
    return NULL;
}

/* A busy machine may let one of them wait that long for a processor, but not every time. */
static void test_none_starves(void **state)
{
    (void)state;
    pthread_t hogs[HOGS];
    _Atomic int late = 0;
    for (int i = 0; i < HOGS; i++)
        assert_false(pthread_create(&hogs[i], NULL, hog, NULL));
    run(VICTIMS, victim, &late);
    over = 1;
    for (int i = 0; i < HOGS; i++)
        assert_false(pthread_join(hogs[i], NULL));
    assert_int_equal(most_inside, 1);
    assert_true(late < VICTIM_TIMES / 5);
}

static void *try_often(void *arg)
{
    _Atomic int *taken = arg;
    for (int i = 0; i < TIMES; i++) {
        if (!os_trylock(&lock))
            continue;
        assert_int_equal(atomic_fetch_add(&inside, 1), 0);
        count++;
        go_out();
        atomic_fetch_add(taken, 1);
    }
    return NULL;
}

static void *try_once(void *arg)
{
    *(bool *)arg = os_trylock(&lock);
    if (*(bool *)arg)
        os_unlock(&lock);
    return NULL;
}

/* Beside threads that wait for it. */
static void test_try(void **state)
{
    (void)state;
    pthread_t waiting;
    _Atomic int taken = 0;
    bool got = true;
    os_lock(&lock);
    run(1, try_once, &got);
    assert_false(got);
    os_unlock(&lock);
    run(1, try_once, &got);
    assert_true(got);
    assert_false(pthread_create(&waiting, NULL, often, NULL));
    run(THREADS - 1, try_often, &taken);
    assert_false(pthread_join(waiting, NULL));
    assert_int_equal(count, TIMES + taken);
    assert_int_equal(most_inside, 1);
}

static sem_t locked, forked;

static void *hold(void *arg)
{
    os_lock(&lock);
    sem_post(&locked);
    sem_wait(&forked);
    os_unlock(&lock);
    return arg;
}

/* What a thread of the parent's holds is free in the child, and in the child's child. */
static void test_fork(void **state)
{
    (void)state;
    pthread_t holder;
    int status;
    assert_false(sem_init(&locked, 0, 0) || sem_init(&forked, 0, 0));
    assert_false(pthread_create(&holder, NULL, hold, NULL));
    sem_wait(&locked);
    pid_t child = fork();
    if (!child) {
        alarm(5); /* should it wait for ever */
        bool first = os_trylock(&lock), second = os_trylock(&lock);
        pid_t grandchild = fork();
        if (!grandchild) {
            alarm(5);
            os_lock(&lock);
            _exit(0);
        }
        waitpid(grandchild, &status, 0);
        os_unlock(&lock);
        os_lock(&lock);
        _exit(!first || second || status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    sem_post(&forked);
    assert_false(pthread_join(holder, NULL));
    assert_int_equal(status, 0);
    assert_true(os_trylock(&lock)); /* the parent's own is as it was */
    os_unlock(&lock);
}

/* While one thread is promised, nothing is locked. */
static void test_disabled(void **state)
{
    (void)state;
    os_lock_enabled = false;
    os_lock(&lock);
    assert_int_equal(lock.state, 0);
    os_lock(&lock);
    assert_true(os_trylock(&lock));
    os_unlock(&lock);
    assert_int_equal(lock.state, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sleepers_are_woken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_crowd, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none_starves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_try, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disabled, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
