/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading stdin for the targets, with back-pressure; see input.h. */
#include "bnr/stdio/input.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

#include "bnr/core/lines.h"
#include "bnr/io/pty.h"

enum {
    RING = 1 << 18,      /* bytes kept for the slowest target */
    CHUNK = 1 << 16,     /* bytes per read */
    BACKGROUND_MS = 100, /* how often to see whether the terminal is ours again */
};

struct target {
    struct input *in;
    uv_poll_t poll;
    uint64_t taken; /* offset in stdin of the first byte not yet written to fd */
    int fd;         /* -1 once dropped */
    int rank;
    bool polling;
    struct lines_buffer extra; /* of input_put() */
    size_t extra_at;
};

struct input {
    uv_async_t async;
    struct input_hooks hooks;
    uint64_t head; /* bytes read so far */
    char *ring;    /* byte at offset x stands at x % RING */
    int wake;      /* an eventfd that tells the thread to stop */
    int count;
    int live;
    int handles; /* open libuv handles */
    bool running;
    bool eof;
    bool dead;

    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t changed;
    bool wanted; /* the thread is to read */
    ssize_t got; /* bytes in chunk, 0 at the end, -errno; valid while arrived */
    bool arrived;
    bool stop;
    int users;         /* the loop's side and the thread; the last one releases */
    char chunk[CHUNK]; /* the thread's while wanted, the loop's while arrived */

    struct target target[];
};

static bool is_in_background(void)
{
    pid_t front = tcgetpgrp(0);
    return front >= 0 && front != getpgrp();
}

/* Read once from stdin, from a terminal only while it is in the foreground: SIGTTIN is
 * blocked in this thread, so that a read in the background fails and stops nobody.
 * Returns bytes, 0 at the end or when told to stop, or -errno. */
static ssize_t read_stdin(struct input *in)
{
    for (;;) {
        bool background = is_in_background();
        struct pollfd p[2] = {{.fd = in->wake, .events = POLLIN},
                              {.fd = background ? -1 : 0, .events = POLLIN}};
        int n = poll(p, 2, background ? BACKGROUND_MS : -1);
        if (n > 0 && p[0].revents)
            return 0;
        if (n <= 0)
            continue;
        ssize_t got = read(0, in->chunk, CHUNK);
        if (got >= 0)
            return got;
        if (errno != EINTR && errno != EAGAIN && !(errno == EIO && is_in_background()))
            return -errno;
    }
}

static void unref(struct input *in)
{
    pthread_mutex_lock(&in->lock);
    bool last = !--in->users;
    pthread_mutex_unlock(&in->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&in->lock);
    pthread_cond_destroy(&in->changed);
    close(in->wake);
    for (int i = 0; i < in->count; i++)
        free(in->target[i].extra.data);
    free(in->ring);
    free(in);
}

/* The thread. */
static void *run(void *arg)
{
    struct input *in = arg;
    pthread_mutex_lock(&in->lock);
    while (!in->stop) {
        if (!in->wanted) {
            pthread_cond_wait(&in->changed, &in->lock);
            continue;
        }
        pthread_mutex_unlock(&in->lock);
        ssize_t got = read_stdin(in);
        pthread_mutex_lock(&in->lock);
        in->wanted = false;
        in->got = got;
        in->arrived = true;
        if (!in->stop)
            uv_async_send(&in->async);
    }
    pthread_mutex_unlock(&in->lock);
    unref(in);
    return NULL;
}

static void release(struct input *in)
{
    if (in->dead && !in->handles)
        unref(in);
}

static void on_target_closed(uv_handle_t *handle)
{
    struct target *t = handle->data;
    t->in->handles--;
    release(t->in);
}

/* Have the thread end. It is not waited for: where someone else took the bytes that it was
 * told of, it stays in read() until the process ends. */
static void stop_thread(struct input *in)
{
    uint64_t one = 1;
    if (!in->running)
        return;
    in->running = false;
    pthread_mutex_lock(&in->lock);
    in->stop = true;
    pthread_cond_signal(&in->changed);
    pthread_mutex_unlock(&in->lock);
    (void)!write(in->wake, &one, sizeof(one));
}

/* Leave a target out; with the last one, stop reading. */
static void drop(struct target *t)
{
    if (t->fd < 0)
        return;
    uv_poll_stop(&t->poll);
    close(t->fd);
    t->fd = -1;
    uv_close((uv_handle_t *)&t->poll, on_target_closed);
    if (!--t->in->live)
        stop_thread(t->in);
    if (!t->in->dead)
        t->in->hooks.dropped(t->in->hooks.arg, t->rank);
}

static void on_writable(uv_poll_t *poll, int status, int events);

static void poll_target(struct target *t, bool wanted)
{
    if (wanted == t->polling)
        return;
    t->polling = wanted;
    if (!wanted)
        uv_poll_stop(&t->poll);
    else if (uv_poll_start(&t->poll, UV_WRITABLE, on_writable))
        drop(t);
}

/* The bytes that the target is to get next: of stdin, then of others. Returns how many bytes. */
static size_t next_bytes(struct target *t, const char **from)
{
    size_t at = t->taken % RING, n = (size_t)(t->in->head - t->taken);
    *from = t->in->ring + at;
    if (n)
        return n < RING - at ? n : RING - at;
    *from = t->extra.data + t->extra_at;
    return t->extra.len - t->extra_at;
}

static void note_written(struct target *t, size_t len)
{
    if (t->taken < t->in->head) {
        t->taken += len;
        return;
    }
    t->extra_at += len;
    if (t->extra_at < t->extra.len)
        return;
    t->extra_at = t->extra.len = 0;
    t->in->hooks.taken(t->in->hooks.arg, t->rank);
}

/* Write what the target has not got yet, as far as its pipe takes it. */
static void feed(struct target *t)
{
    struct input *in = t->in;
    const char *from;
    size_t n;
    while (t->fd >= 0 && (n = next_bytes(t, &from)) > 0) {
        ssize_t wrote = write(t->fd, from, n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN) {
            poll_target(t, true);
            return;
        }
        if (wrote < 0) {
            drop(t);
            return;
        }
        note_written(t, (size_t)wrote);
    }
    if (t->fd < 0)
        return;
    poll_target(t, false);
    if (!in->eof)
        return;
    pty_end_input(t->fd);
    drop(t);
}

/* Ask for more when the slowest target leaves room for a chunk. */
static void ask(struct input *in)
{
    uint64_t least = in->head;
    for (int i = 0; i < in->count; i++)
        if (in->target[i].fd >= 0 && in->target[i].taken < least)
            least = in->target[i].taken;
    if (!in->running || in->eof || in->head - least > RING - CHUNK)
        return;
    pthread_mutex_lock(&in->lock);
    if (!in->arrived && !in->wanted) {
        in->wanted = true;
        pthread_cond_signal(&in->changed);
    }
    pthread_mutex_unlock(&in->lock);
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct target *t = poll->data;
    (void)events;
    if (status < 0)
        drop(t);
    else
        feed(t);
    ask(t->in);
}

static void take_chunk(struct input *in, size_t len)
{
    size_t at = in->head % RING;
    size_t first = len < RING - at ? len : RING - at;
    memcpy(in->ring + at, in->chunk, first);
    memcpy(in->ring, in->chunk + first, len - first);
    in->head += len;
}

static void on_chunk(uv_async_t *async)
{
    struct input *in = async->data;
    pthread_mutex_lock(&in->lock);
    bool arrived = in->arrived;
    ssize_t got = in->got;
    if (arrived && got > 0)
        take_chunk(in, (size_t)got);
    in->arrived = false;
    pthread_mutex_unlock(&in->lock);
    if (!arrived)
        return;
    in->eof = got <= 0; /* a stdin that cannot be read ends here */
    for (int i = 0; i < in->count; i++)
        feed(&in->target[i]);
    ask(in);
}

int input_create(struct input **in, uv_loop_t *loop, int targets, const struct input_hooks *hooks)
{
    struct input *made = calloc(1, sizeof(*made) + (size_t)targets * sizeof(made->target[0]));
    if (!made)
        return -ENOMEM;
    made->ring = malloc(RING);
    made->wake = eventfd(0, EFD_CLOEXEC);
    int rc = made->ring && made->wake >= 0 ? uv_async_init(loop, &made->async, on_chunk) : -ENOMEM;
    if (rc) {
        if (made->wake >= 0)
            close(made->wake);
        free(made->ring);
        free(made);
        return rc;
    }
    made->users = 1;
    made->hooks = *hooks;
    made->async.data = made;
    made->handles = 1;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *in = made;
    return 0;
}

int input_attach(struct input *in, int rank, int fd)
{
    struct target *t = &in->target[in->count];
    int rc = uv_poll_init(in->async.loop, &t->poll, fd); /* makes fd non-blocking */
    if (rc) {
        close(fd);
        return rc;
    }
    t->in = in;
    t->fd = fd;
    t->rank = rank;
    t->poll.data = t;
    in->count++;
    in->live++;
    in->handles++;
    return 0;
}

/* Start the thread, detached, with every signal blocked. */
static int start_thread(struct input *in)
{
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&thread, NULL, run, in);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!rc)
        pthread_detach(thread);
    return -rc;
}

int input_start(struct input *in)
{
    if (!in->live)
        return 0;
    in->users++;
    in->running = true;
    int rc = start_thread(in);
    if (rc) {
        in->users--;
        in->running = false;
        return rc;
    }
    ask(in);
    return 0;
}

bool input_put(struct input *in, int rank, const void *data, size_t len)
{
    for (int i = 0; i < in->count; i++) {
        struct target *t = &in->target[i];
        if (t->rank != rank || t->fd < 0)
            continue;
        if (lines_append(&t->extra, data, len))
            drop(t);
        else
            feed(t);
        return true;
    }
    return false;
}

void input_drop(struct input *in, int rank)
{
    for (int i = 0; i < in->count; i++)
        if (in->target[i].rank == rank)
            drop(&in->target[i]);
    ask(in);
}

static void on_async_closed(uv_handle_t *handle)
{
    struct input *in = handle->data;
    in->handles--;
    release(in);
}

void input_destroy(struct input *in)
{
    if (!in)
        return;
    stop_thread(in);
    for (int i = 0; i < in->count; i++)
        drop(&in->target[i]);
    in->dead = true;
    uv_close((uv_handle_t *)&in->async, on_async_closed);
}
