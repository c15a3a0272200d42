/* SPDX-License-Identifier: BSD-3-Clause */

/* The lock of a window at a process: its order, who is woken, members that die, and threads that
 * contend. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpi/win/win_queue.h"
#include "os/clock.h"

enum {
    MEMBERS = 5,
    ROUNDS = 20000,
    KILLS = 300,
    YIELDS = 1024,   /* before this process sleeps, since a busy machine may run it alone */
    PATIENCE_S = 20
};

static struct win_queue *make(void)
{
    size_t len = win_queue_len(MEMBERS);
    struct win_queue *queue = aligned_alloc(128, len);
    assert_non_null(queue);
    for (size_t i = 0; i < len; i++)
        ((char *)queue)[i] = 0;
    win_queue_init(queue, MEMBERS);
    return queue;
}

static bool try(struct win_queue *q, uint32_t me, bool exclusive)
{
    int wake;
    bool has = win_queue_try(q, me, exclusive, &wake);
    assert_int_equal(wake, WIN_QUEUE_NOBODY);
    return has;
}

/* By a turn that has come. Returns the member to wake. */
static int enter(struct win_queue *q, uint32_t me, bool exclusive)
{
    int wake;
    assert_true(win_queue_enter(q, me, exclusive, &wake));
    return wake;
}

/* Returns the member to wake. */
static int bury(struct win_queue *q, uint32_t dead, bool held)
{
    int wake;
    assert_int_equal(win_queue_bury(q, dead, &wake), held);
    return wake;
}

static void test_uncontended(void **state)
{
    (void)state;
    struct win_queue *q = make();
    assert_true(try(q, 3, true));
    assert_false(try(q, 1, true));
    assert_false(try(q, 1, false));
    assert_int_equal(win_queue_leave(q, 3, true), WIN_QUEUE_NOBODY);
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_true(try(q, i, false));
    assert_false(try(q, 0, true));
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_int_equal(win_queue_leave(q, i, false), WIN_QUEUE_NOBODY);
    assert_true(try(q, 0, true));
    free(q);
}

/* Writers and readers have their turns as they came, and the one whose turn it is is named. */
static void test_order(void **state)
{
    (void)state;
    struct win_queue *q = make();
    assert_true(try(q, 0, true));
    uint32_t reader = win_queue_join(q, 1), second = win_queue_join(q, 2),
             writer = win_queue_join(q, 3);
    assert_false(win_queue_is_turn(q, reader, false));
    win_queue_sleeps(q, true);
    assert_int_equal(win_queue_leave(q, 0, true), 1);
    assert_true(win_queue_is_turn(q, reader, false));
    assert_false(win_queue_is_turn(q, second, false));
    assert_int_equal(enter(q, 1, false), 2);
    assert_int_equal(enter(q, 2, false), 3);
    assert_false(win_queue_is_turn(q, writer, true));
    assert_int_equal(win_queue_leave(q, 1, false), WIN_QUEUE_NOBODY);
    assert_int_equal(win_queue_leave(q, 2, false), 3);
    assert_true(win_queue_is_turn(q, writer, true));
    assert_int_equal(enter(q, 3, true), WIN_QUEUE_NOBODY);
    win_queue_sleeps(q, false);
    free(q);
}

/* A dead writer, dead readers, and a dead one that waited: others go on, in their order. */
static void test_dead(void **state)
{
    (void)state;
    struct win_queue *q = make();
    assert_true(try(q, 0, true));
    uint32_t dead = win_queue_join(q, 1), next = win_queue_join(q, 2);
    (void)dead;
    win_queue_sleeps(q, true);
    assert_int_equal(bury(q, 0, true), 1);
    assert_int_equal(bury(q, 0, false), 1); /* by two who hear of it */
    assert_false(win_queue_is_turn(q, next, true));
    assert_int_equal(bury(q, 1, false), 2);
    assert_true(win_queue_is_turn(q, next, true));
    assert_int_equal(bury(q, 1, false), 2); /* once more changes nothing */
    assert_true(win_queue_is_turn(q, next, true));
    (void)enter(q, 2, true);
    (void)win_queue_leave(q, 2, true);
    win_queue_sleeps(q, false);
    for (int i = 0; i < 2; i++)
        assert_true(try(q, 3, false));
    assert_false(try(q, 4, true));
    (void)bury(q, 3, true);
    assert_true(try(q, 4, true));
    free(q);
}

/* Waiters that die before their turn are passed over when it comes, by whoever lets it come. */
static void test_dead_waiters(void **state)
{
    (void)state;
    struct win_queue *q = make();
    assert_true(try(q, 0, true));
    (void)win_queue_join(q, 1);
    (void)win_queue_join(q, 2);
    uint32_t reader = win_queue_join(q, 3);
    (void)win_queue_join(q, 1);
    uint32_t writer = win_queue_join(q, 4);
    win_queue_sleeps(q, true);
    (void)bury(q, 2, false);
    (void)bury(q, 1, false);
    assert_false(win_queue_is_turn(q, reader, false));
    assert_int_equal(win_queue_leave(q, 0, true), 3);
    assert_true(win_queue_is_turn(q, reader, false));
    assert_int_equal(enter(q, 3, false), 4);
    assert_false(win_queue_is_turn(q, writer, true));
    assert_int_equal(win_queue_leave(q, 3, false), 4);
    assert_true(win_queue_is_turn(q, writer, true));
    (void)enter(q, 4, true);
    win_queue_sleeps(q, false);
    assert_int_equal(win_queue_leave(q, 4, true), WIN_QUEUE_NOBODY);
    assert_true(try(q, 0, true));
    free(q);
}

/* One that has had the lock takes it again past those that wait, and their turn comes later; one
 * that gives its ticket up is passed over. */
static void test_again(void **state)
{
    (void)state;
    struct win_queue *q = make();
    int wake;
    assert_true(try(q, 0, true));
    uint32_t writer = win_queue_join(q, 1), gone = win_queue_join(q, 2), reader = win_queue_join(q, 3);
    assert_false(win_queue_take(q, 0, true, &wake));
    (void)win_queue_leave(q, 0, true);
    assert_false(try(q, 0, true));
    assert_true(win_queue_is_turn(q, writer, true));
    assert_true(win_queue_take(q, 0, true, &wake));
    assert_false(win_queue_is_turn(q, writer, true));
    assert_false(win_queue_enter(q, 1, true, &wake));
    win_queue_sleeps(q, true);
    assert_int_equal(win_queue_leave(q, 0, true), 1);
    assert_int_equal(enter(q, 1, true), WIN_QUEUE_NOBODY);
    assert_int_equal(win_queue_give_up(q, 2, gone), 3);
    assert_false(win_queue_is_turn(q, reader, false));
    assert_int_equal(win_queue_leave(q, 1, true), 3);
    assert_int_equal(enter(q, 3, false), WIN_QUEUE_NOBODY);
    assert_false(win_queue_take(q, 1, true, &wake)); /* it goes back, and nobody waits for it */
    assert_int_equal(wake, WIN_QUEUE_NOBODY);
    assert_true(try(q, 1, false));
    free(q);
}

/* ---- processes that die anywhere ---- */

static void lock(struct win_queue *q, uint32_t me, bool exclusive, bool tries)
{
    int wake;
    if (tries && win_queue_try(q, me, exclusive, &wake))
        return;
    uint32_t ticket = win_queue_join(q, me);
    do
        while (!win_queue_is_turn(q, ticket, exclusive))
            sched_yield();
    while (!win_queue_enter(q, me, exclusive, &wake));
}

static _Noreturn void lock_on(struct win_queue *q, _Atomic long *locked)
{
    for (int i = 0;; i++, atomic_fetch_add(locked, 1)) {
        lock(q, 1, i % 4 < 2, i % 2);
        (void)win_queue_leave(q, 1, i % 4 < 2);
    }
}

/* A member is killed between any two instructions: what it had taken by then is given back. */
static void test_killed(void **state)
{
    (void)state;
    size_t len = win_queue_len(MEMBERS) + sizeof(long);
    struct win_queue *q =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(q != MAP_FAILED);
    _Atomic long *locked = (_Atomic long *)(void *)((char *)q + win_queue_len(MEMBERS));
    win_queue_init(q, MEMBERS);
    for (int i = 0; i < KILLS; i++) {
        int wake;
        long before = atomic_load(locked);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
            lock_on(q, locked);
        uint64_t end = os_now_ns() + PATIENCE_S * UINT64_C(1000000000);
        for (int n = 0; atomic_load(locked) < before + 100 + i && os_now_ns() < end; n++)
            (void)(n < YIELDS ? sched_yield() : usleep(100));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_true(atomic_load(locked) > before);
        (void)win_queue_bury(q, 1, &wake);
        uint32_t ticket = win_queue_join(q, 2);
        assert_true(win_queue_is_turn(q, ticket, true));
        (void)enter(q, 2, true);
        (void)win_queue_leave(q, 2, true);
        assert_true(try(q, 3, false));
        (void)win_queue_leave(q, 3, false);
    }
    munmap(q, len);
}

/* ---- threads ---- */

struct shared {
    struct win_queue *queue;
    long written; /* by writers alone */
    _Atomic int inside;
};

struct member {
    struct shared *shared;
    uint32_t me;
    unsigned seed;
    long writes;
};

static void *contend(void *arg)
{
    struct member *m = arg;
    struct shared *s = m->shared;
    for (int i = 0; i < ROUNDS; i++) {
        bool exclusive = rand_r(&m->seed) % 3 == 0;
        lock(s->queue, m->me, exclusive, rand_r(&m->seed) % 4);
        if (exclusive) {
            assert_int_equal(atomic_fetch_add(&s->inside, 1000), 0);
            s->written++;
            m->writes++;
            atomic_fetch_sub(&s->inside, 1000);
        } else {
            assert_true(atomic_fetch_add(&s->inside, 1) < 1000);
            atomic_fetch_sub(&s->inside, 1);
        }
        (void)win_queue_leave(s->queue, m->me, exclusive);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct shared shared = {make(), 0, 0};
    struct member members[MEMBERS];
    pthread_t threads[MEMBERS];
    long writes = 0;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        members[i] = (struct member){&shared, i, i + 1, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, contend, &members[i]), 0);
    }
    for (int i = 0; i < MEMBERS; i++) {
        pthread_join(threads[i], NULL);
        writes += members[i].writes;
    }
    assert_int_equal(shared.written, writes);
    assert_true(try(shared.queue, 0, true));
    free(shared.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uncontended),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_dead_waiters),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
