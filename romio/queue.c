/* SPDX-License-Identifier: BSD-3-Clause */

/* Work for threads of the library; see queue.h. */
#include "romio/queue.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

enum {
    REST_NS = 100000000 /* how long a thread stays without work: starting one costs more than a small access */
};

void queue_init(struct queue *queue, int threads_max)
{
    pthread_condattr_t attr;
    *queue = (struct queue){.threads_max = threads_max};
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->idle, NULL);
    pthread_cond_init(&queue->work, &attr);
    pthread_condattr_destroy(&attr);
    queue->end = &queue->first;
}

void queue_fini(struct queue *queue)
{
    queue_end(queue);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->idle);
    pthread_cond_destroy(&queue->work);
}

/* Do all items; the lock is held, except while one runs. */
static void work(struct queue *queue)
{
    while (queue->first) {
        struct work_item *job = queue->first;
        queue->first = job->next;
        queue->waiting--;
        if (!queue->first)
            queue->end = &queue->first;
        pthread_mutex_unlock(&queue->lock);
        job->run(job);
        pthread_mutex_lock(&queue->lock);
    }
}

/* Wait for work. Returns whether there is any; the lock is held. */
static bool rest(struct queue *queue)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += REST_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (++queue->resting == queue->threads)
        pthread_cond_broadcast(&queue->idle);
    while (!queue->first && !queue->ending && !rc)
        rc = pthread_cond_timedwait(&queue->work, &queue->lock, &until);
    queue->resting--;
    return queue->first;
}

/* The lock is held. Returns whether a thread has ended that is to be joined: *last. */
static bool take_ended(struct queue *queue, pthread_t *last)
{
    bool is_there = queue->has_ended;
    *last = queue->ended;
    queue->has_ended = false;
    return is_there;
}

static void *thread_main(void *arg)
{
    struct queue *queue = arg;
    pthread_mutex_lock(&queue->lock);
    do {
        work(queue);
    } while (rest(queue));
    pthread_t before;
    bool has_before = take_ended(queue, &before);
    queue->ended = pthread_self();
    queue->has_ended = true;
    queue->threads--;
    pthread_cond_broadcast(&queue->idle);
    pthread_mutex_unlock(&queue->lock);
    if (has_before)
        pthread_join(before, NULL);
    return NULL;
}

/* Signals are for the threads of the program. */
static int start(struct queue *queue)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, thread_main, queue);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

void queue_add(struct queue *queue, struct work_item *job)
{
    job->next = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->end = job;
    queue->end = &job->next;
    if (++queue->waiting <= queue->resting) {
        pthread_cond_signal(&queue->work);
    } else if (queue->threads < queue->threads_max) {
        queue->threads++;
        if (start(queue)) {
            queue->threads--;
            work(queue);
        }
    }
    pthread_mutex_unlock(&queue->lock);
}

void queue_drain(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->first || queue->resting < queue->threads)
        pthread_cond_wait(&queue->idle, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

bool queue_has_threads(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool has = queue->threads || queue->has_ended;
    pthread_mutex_unlock(&queue->lock);
    return has;
}

void queue_end(struct queue *queue)
{
    pthread_t last;
    pthread_mutex_lock(&queue->lock);
    queue->ending++;
    pthread_cond_broadcast(&queue->work);
    while (queue->threads)
        pthread_cond_wait(&queue->idle, &queue->lock);
    queue->ending--;
    bool has_last = take_ended(queue, &last);
    pthread_mutex_unlock(&queue->lock);
    if (has_last)
        pthread_join(last, NULL);
}
