/* SPDX-License-Identifier: BSD-3-Clause */

/* stdin at a daemon; see feed.h. */
#include "bnr/wide/feed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/io/pty.h"

struct feed_target {
    struct feed_target *next;
    struct feed *feed;
    uv_poll_t poll;
    int fd, rank;
    bool is_polling;
    uint64_t block; /* the one it gets now, and */
    size_t at;      /* how much of it it has */
};

static void give_credit(struct feed *f);

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void drop(struct feed_target *t)
{
    struct feed_target **at = &t->feed->targets;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    uv_poll_stop(&t->poll);
    close(t->fd);
    uv_close((uv_handle_t *)&t->poll, on_closed);
}

static void on_writable(uv_poll_t *poll, int status, int events);

static void set_polling(struct feed_target *t, bool is_polling)
{
    if (t->is_polling == is_polling)
        return;
    t->is_polling = is_polling;
    if (is_polling)
        (void)uv_poll_start(&t->poll, UV_WRITABLE, on_writable);
    else
        uv_poll_stop(&t->poll);
}

/* Write what the target has not. Returns false where it is gone. */
static bool write_on(struct feed_target *t)
{
    struct feed *f = t->feed;
    while (t->block < f->first + f->count) {
        const struct bytes *b = f->blocks[t->block - f->first];
        if (!b->len) { /* the end of stdin */
            pty_end_input(t->fd);
            drop(t);
            return false;
        }
        ssize_t n = write(t->fd, b->at + t->at, b->len - t->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            set_polling(t, true);
            return true;
        }
        if (n < 0) {
            drop(t);
            return false;
        }
        t->at += (size_t)n;
        if (t->at == b->len) {
            t->at = 0;
            t->block++;
        }
    }
    set_polling(t, false);
    return true;
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct feed_target *t = poll->data;
    struct feed *f = t->feed;
    (void)status;
    (void)events;
    (void)write_on(t);
    give_credit(f);
}

/* Forget the blocks that all have, and say so. */
static void give_credit(struct feed *f)
{
    uint64_t done = f->first + f->count;
    size_t gone = 0;
    for (struct feed_target *t = f->targets; t; t = t->next)
        done = t->block < done ? t->block : done;
    while (f->first < done) {
        bytes_unref(f->blocks[gone++]);
        f->first++;
    }
    f->count -= gone;
    if (f->count)
        memmove(f->blocks, f->blocks + gone, f->count * sizeof(*f->blocks));
    if (!gone)
        return;
    struct effects effects = {0};
    struct core_message credit = stream_in_credit(&f->in, &f->last, f->first - 1);
    effects_add(&effects, EFFECT_SEND, credit.to, &credit);
    mesh_route(f->mesh, &effects);
    effects_fini(&effects);
}

void feed_take(struct feed *f, const struct core_message *message)
{
    f->last = *message;
    f->last.data = NULL;
    if (stream_in_take(&f->in, message)) {
        struct effects effects = {0};
        struct core_message credit = stream_in_credit(&f->in, message, f->first - 1);
        effects_add(&effects, EFFECT_SEND, credit.to, &credit);
        mesh_route(f->mesh, &effects);
        effects_fini(&effects);
        return;
    }
    if (f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 16;
        struct bytes **blocks = realloc(f->blocks, room * sizeof(*blocks));
        if (!blocks) {
            f->in.taken--; /* it is said again */
            return;
        }
        f->blocks = blocks;
        f->room = room;
    }
    f->blocks[f->count++] = bytes_ref(message->data);
    for (struct feed_target *t = f->targets, *next; t; t = next) {
        next = t->next;
        if (!t->is_polling)
            (void)write_on(t);
    }
    give_credit(f);
}

int feed_attach(struct feed *f, int rank, int fd)
{
    struct feed_target *t = calloc(1, sizeof(*t));
    int rc = t ? uv_poll_init(f->loop, &t->poll, fd) : -ENOMEM; /* makes fd non-blocking */
    if (rc) {
        close(fd);
        free(t);
        return rc;
    }
    t->poll.data = t;
    t->feed = f;
    t->fd = fd;
    t->rank = rank;
    t->block = f->first;
    t->next = f->targets;
    f->targets = t;
    return 0;
}

void feed_rank_ended(struct feed *f, int rank)
{
    for (struct feed_target *t = f->targets, *next; t; t = next) {
        next = t->next;
        if (t->rank == rank)
            drop(t);
    }
    give_credit(f);
}

void feed_init(struct feed *f, uv_loop_t *loop, struct mesh *mesh)
{
    *f = (struct feed){.loop = loop, .mesh = mesh, .first = 1};
}

void feed_close(struct feed *f)
{
    while (f->targets)
        drop(f->targets);
}

void feed_fini(struct feed *f)
{
    for (size_t i = 0; i < f->count; i++)
        bytes_unref(f->blocks[i]);
    free(f->blocks);
    f->blocks = NULL;
    f->count = f->room = 0;
}
