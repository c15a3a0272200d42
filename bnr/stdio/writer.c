/* SPDX-License-Identifier: BSD-3-Clause */

/* A thread that writes to one descriptor; see writer.h. */
#include "bnr/stdio/writer.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/file.h"

enum {
    STACK = 64 << 10
};

struct writer {
    uv_async_t done; /* the thread's word to the loop */
    void (*written)(void *arg, int rc);
    void *arg;
    int fd;
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock; /* of the next fields */
    pthread_cond_t changed;
    const char *data; /* NULL: no write is under way, or it is done */
    size_t len;
    int rc;
    bool is_done; /* the loop has not been told */
    bool is_over;
};

/* Do the write that is asked for, with w locked; unlocked meanwhile. */
static void work(struct writer *w)
{
    const char *data = w->data;
    size_t len = w->len;
    pthread_mutex_unlock(&w->lock);
    int rc = os_write_all(w->fd, data, len);
    pthread_mutex_lock(&w->lock);
    w->data = NULL;
    w->rc = rc;
    w->is_done = true;
    (void)uv_async_send(&w->done);
}

static void *run(void *arg)
{
    struct writer *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        if (w->data)
            work(w);
        else
            pthread_cond_wait(&w->changed, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool start_thread(struct writer *w)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : STACK);
    w->has_thread = !pthread_create(&w->thread, &attr, run, w);
    pthread_attr_destroy(&attr);
    return w->has_thread;
}

static void on_done(uv_async_t *done)
{
    struct writer *w = done->data;
    pthread_mutex_lock(&w->lock);
    bool is_done = w->is_done; /* false: two words have become one */
    int rc = w->rc;
    w->is_done = false;
    pthread_mutex_unlock(&w->lock);
    if (is_done)
        w->written(w->arg, rc);
}

int writer_create(struct writer **w, uv_loop_t *loop, int fd, void (*written)(void *arg, int rc),
                  void *arg)
{
    struct writer *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;
    int rc = uv_async_init(loop, &made->done, on_done);
    if (rc) {
        free(made);
        return rc;
    }
    made->done.data = made;
    made->written = written;
    made->arg = arg;
    made->fd = fd;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *w = made;
    return 0;
}

void writer_start(struct writer *w, const char *data, size_t len)
{
    pthread_mutex_lock(&w->lock);
    w->data = data;
    w->len = len;
    if (w->has_thread)
        pthread_cond_signal(&w->changed);
    else if (!start_thread(w))
        work(w);
    pthread_mutex_unlock(&w->lock);
}

int writer_write_now(struct writer *w, const char *data, size_t len)
{
    return os_write_all(w->fd, data, len);
}

static void on_closed(uv_handle_t *handle)
{
    struct writer *w = handle->data;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void writer_destroy(struct writer *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_over = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->has_thread)
        pthread_join(w->thread, NULL);
    uv_close((uv_handle_t *)&w->done, on_closed);
}
