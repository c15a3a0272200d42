/* SPDX-License-Identifier: BSD-3-Clause */

/* The queue of the library for files: order, all of the work, no more threads than allowed, threads
 * that are used again, and their end. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "romio/queue.h"

enum { MANY = 2000, THREADS = 4 };

static struct item {
    struct work_item work;
    pid_t thread;
    int turn;
} items[MANY];
static atomic_int turns, running, most;

static void note(struct work_item *work)
{
    struct item *item = (struct item *)work;
    int now = ++running;
    for (int seen = most; now > seen && !atomic_compare_exchange_weak(&most, &seen, now);)
        ;
    item->turn = turns++;
    item->thread = gettid();
    running--;
}

static void begin(struct queue *queue, int threads)
{
    turns = running = most = 0;
    for (int i = 0; i < MANY; i++)
        items[i] = (struct item){.work = {.run = note}, .turn = -1};
    queue_init(queue, threads);
}

static void test_order(void **state)
{
    (void)state;
    struct queue queue;
    begin(&queue, 1);
    for (int i = 0; i < MANY; i++)
        queue_add(&queue, &items[i].work);
    queue_drain(&queue);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(items[i].turn, i);
    assert_int_equal(most, 1);
    queue_fini(&queue);
}

static void test_threads(void **state)
{
    (void)state;
    struct queue queue;
    begin(&queue, THREADS);
    for (int i = 0; i < MANY; i++) {
        queue_add(&queue, &items[i].work);
        if (i % 100 == 99)
            queue_drain(&queue);
        if (i % 100 == 99)
            assert_int_equal(turns, i + 1);
    }
    assert_in_range(most, 1, THREADS);
    queue_fini(&queue);
}

/* Of work that comes piece by piece some is done by the thread that did the piece before. */
static void test_again(void **state)
{
    (void)state;
    struct queue queue;
    int again = 0;
    begin(&queue, 1);
    for (int i = 0; i < MANY; i++) {
        queue_add(&queue, &items[i].work);
        queue_drain(&queue);
        assert_int_equal(items[i].turn, i);
        again += i && items[i].thread == items[i - 1].thread;
    }
    assert_true(again > 0);
    queue_fini(&queue);
}

/* A queue that is closed leaves no thread, whether it has had work or not. */
static void test_close(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct queue queue;
        begin(&queue, THREADS);
        for (int k = 0; k < i % 6; k++)
            queue_add(&queue, &items[k].work);
        queue_drain(&queue);
        queue_fini(&queue);
        assert_int_equal(queue.threads, 0);
        assert_int_equal(turns, i % 6);
    }
}

/* Threads that are told to end finish the work first; later work starts others. */
static void test_end(void **state)
{
    (void)state;
    struct queue queue;
    begin(&queue, THREADS);
    for (int i = 0; i < MANY; i++) {
        queue_add(&queue, &items[i].work);
        if (i % 20 != 19)
            continue;
        queue_end(&queue);
        assert_int_equal(turns, i + 1);
        assert_false(queue_has_threads(&queue));
    }
    queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_again), cmocka_unit_test(test_close),
                                       cmocka_unit_test(test_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
