/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads for calls that may block; see aside.h. */
#include "bnr/io/aside.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

enum {
    STACK = 64 << 10,
    THREADS_MAX = 64
};

struct aside_queue {
    struct aside_work *first, **last;
};

static struct {
    uv_async_t news; /* the threads' word to the loop */
    bool has_news;   /* it is open; the loop's thread alone looks */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* The lock guards the rest. */
    struct aside_queue wanted, ready; /* to be done; done */
    int wanted_count, threads, idle;
    bool is_over;
} aside = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void put(struct aside_queue *q, struct aside_work *work)
{
    work->next = NULL;
    *(q->first ? q->last : &q->first) = work;
    q->last = &work->next;
}

static struct aside_work *take(struct aside_queue *q)
{
    struct aside_work *work = q->first;
    if (work)
        q->first = work->next;
    return work;
}

/* Do the first request. Called with the lock held; released meanwhile. */
static void do_next(void)
{
    struct aside_work *work = take(&aside.wanted);
    aside.wanted_count--;
    pthread_mutex_unlock(&aside.lock);
    work->run(work);
    pthread_mutex_lock(&aside.lock);
    if (aside.is_over)
        return;
    put(&aside.ready, work);
    (void)uv_async_send(&aside.news);
}

static void *serve(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&aside.lock);
    while (!aside.is_over) {
        if (aside.wanted.first) {
            do_next();
            continue;
        }
        aside.idle++;
        pthread_cond_wait(&aside.changed, &aside.lock);
        aside.idle--;
    }
    aside.threads--;
    pthread_mutex_unlock(&aside.lock);
    return NULL;
}

/* Signals are for the loop. A terminal that is read in the background then gives an error, and stops
 * nobody. */
static bool start_thread(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool is_started = !pthread_create(&thread, &attr, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return is_started;
}

static void on_news(uv_async_t *news)
{
    struct aside_work *work;
    (void)news;
    pthread_mutex_lock(&aside.lock);
    struct aside_queue all = aside.ready;
    aside.ready.first = NULL;
    pthread_mutex_unlock(&aside.lock);
    while ((work = take(&all)))
        work->done(work);
}

void aside_start(uv_loop_t *loop, struct aside_work *work)
{
    if (!aside.has_news) {
        uv_async_init(loop, &aside.news, on_news);
        uv_unref((uv_handle_t *)&aside.news);
        aside.has_news = true;
        aside.is_over = false;
    }
    pthread_mutex_lock(&aside.lock);
    put(&aside.wanted, work);
    aside.wanted_count++;
    pthread_cond_signal(&aside.changed);
    bool is_short = aside.wanted_count > aside.idle; /* the idle ones have their work already */
    if (is_short && aside.threads < THREADS_MAX && start_thread())
        aside.threads++;
    else if (!aside.threads)
        do_next();
    pthread_mutex_unlock(&aside.lock);
}

void aside_stop(void)
{
    if (!aside.has_news)
        return;
    pthread_mutex_lock(&aside.lock);
    aside.is_over = true;
    aside.wanted.first = aside.ready.first = NULL;
    aside.wanted_count = 0;
    pthread_cond_broadcast(&aside.changed);
    pthread_mutex_unlock(&aside.lock);
    uv_close((uv_handle_t *)&aside.news, NULL);
    aside.has_news = false;
}
