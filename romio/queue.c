/* SPDX-License-Identifier: BSD-3-Clause */

/* Work for threads of the library; see queue.h. */
#include "romio/queue.h"

#include <signal.h>
#include <stddef.h>

void queue_init(struct queue *queue, int threads_max)
{
    *queue = (struct queue){.threads_max = threads_max};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->idle, NULL);
    queue->end = &queue->first;
}

void queue_fini(struct queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->idle);
}

/* Do all jobs; the lock is held, except while a job runs. */
static void work(struct queue *queue)
{
    while (queue->first) {
        struct work_item *job = queue->first;
        queue->first = job->next;
        if (!queue->first)
            queue->end = &queue->first;
        pthread_mutex_unlock(&queue->lock);
        job->run(job);
        pthread_mutex_lock(&queue->lock);
    }
    if (--queue->threads == 0)
        pthread_cond_broadcast(&queue->idle);
}

static void *thread_main(void *arg)
{
    struct queue *queue = arg;
    pthread_mutex_lock(&queue->lock);
    work(queue);
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* Signals are for the threads of the program. */
static int start(struct queue *queue)
{
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, &attr, thread_main, queue);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

void queue_add(struct queue *queue, struct work_item *job)
{
    job->next = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->end = job;
    queue->end = &job->next;
    if (queue->threads < queue->threads_max) {
        queue->threads++;
        if (start(queue))
            work(queue);
    }
    pthread_mutex_unlock(&queue->lock);
}

void queue_drain(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->threads)
        pthread_cond_wait(&queue->idle, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}
