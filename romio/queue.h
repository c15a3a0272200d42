/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Work for threads of the library: it runs in the order of queueing, in at most as many threads as
 * the queue says. They are started when there is work, and end when there was none for a while, or
 * when they are told to. A thread that ends joins the one that ended before it.
 */
#ifndef ROMIO_QUEUE_H
#define ROMIO_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

struct work_item {
    struct work_item *next;
    void (*run)(struct work_item *job); /* frees it too */
};

struct queue {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t idle;  /* no work is left or under way, or a thread has ended */
    pthread_cond_t work;  /* for threads that rest */
    struct work_item *first, **end;
    int waiting; /* items */
    int threads, threads_max, resting;
    int ending; /* calls of queue_end() that go on: no thread rests */
    bool has_ended;
    pthread_t ended; /* the last thread that has */
};

void queue_init(struct queue *queue, int threads_max);
void queue_fini(struct queue *queue); /* of an idle one; ends its threads */
/* Where no thread can be started, the caller does the work now. */
void queue_add(struct queue *queue, struct work_item *job);
/* Wait until all is done. */
void queue_drain(struct queue *queue);
bool queue_has_threads(struct queue *queue);
/* Wait until all is done and no thread is left. Work may be added later, or at the same time. */
void queue_end(struct queue *queue);

#endif
