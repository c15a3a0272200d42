/* SPDX-License-Identifier: BSD-3-Clause */

/* A daemon's streams to mpiexec; see outlets.h. */
#include "bnr/wide/outlets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/clock.h"

enum {
    READ_LEN = 1 << 15,
    GRACE_MS = 200 /* how long a dead rank's pipes may be held by others */
};

/* One stream of a rank. */
struct outlet {
    struct outlet *next;
    struct outlets *outlets;
    uv_poll_t poll;
    uv_timer_t grace;
    int handles, fd, rank;
    enum launch_stream stream;
    bool is_polling, is_dying, is_last;
    size_t left; /* bytes still to read when last */
};

static int64_t now_ns(void)
{
    return (int64_t)os_now_ns();
}

static void send_record(struct outlets *o, enum launch_stream stream, const struct record *r)
{
    struct bytes *block = record_pack(r);
    if (block)
        (void)stream_out_put(&o->out[stream], block, now_ns(), &o->effects);
    bytes_unref(block);
    mesh_route(o->mesh, &o->effects);
}

void outlets_say(struct outlets *o, const struct record *r)
{
    send_record(o, LAUNCH_STREAM_WORDS, r);
}

static void say_end(struct outlets *o, enum launch_stream stream, int rank)
{
    const struct record r = {.kind = RECORD_BYTES, .rank = (uint32_t)rank};
    send_record(o, stream, &r);
}

/* ---- pipes ---- */

static void on_closed(uv_handle_t *handle)
{
    struct outlet *t = handle->data;
    if (--t->handles == 0)
        free(t);
}

static void end_outlet(struct outlet *t, bool is_told)
{
    struct outlet **at = &t->outlets->first;
    while (*at && *at != t)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = t->next;
    uv_poll_stop(&t->poll);
    close(t->fd);
    if (is_told)
        say_end(t->outlets, t->stream, t->rank);
    uv_close((uv_handle_t *)&t->poll, on_closed);
    uv_close((uv_handle_t *)&t->grace, on_closed);
}

/* Read once. Returns false when there is nothing more now, or no room. */
static bool read_some(struct outlet *t)
{
    static uint8_t scratch[READ_LEN];
    struct outlets *o = t->outlets;
    if (!stream_out_has_room(&o->out[t->stream])) {
        uv_poll_stop(&t->poll);
        t->is_polling = false;
        return false;
    }
    ssize_t n = read(t->fd, scratch, t->is_last && t->left < READ_LEN ? t->left : READ_LEN);
    if (n < 0 && (errno == EINTR || (errno == EAGAIN && !t->is_last)))
        return errno == EINTR;
    if (n > 0) {
        const struct record r = {RECORD_BYTES, (uint32_t)t->rank, (uint32_t)n, scratch};
        t->left -= t->is_last ? (size_t)n : 0;
        send_record(o, t->stream, &r);
    }
    if (n > 0 && (!t->is_last || t->left))
        return true;
    end_outlet(t, true);
    return false;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    (void)read_some(poll->data);
}

static void poll_outlet(struct outlet *t)
{
    if (t->is_polling)
        return;
    t->is_polling = true;
    (void)uv_poll_start(&t->poll, UV_READABLE, on_readable);
}

int outlets_attach(struct outlets *o, int rank, enum launch_stream stream, int fd)
{
    struct outlet *t = fd >= 0 ? calloc(1, sizeof(*t)) : NULL;
    if (!t) {
        if (fd >= 0)
            close(fd);
        say_end(o, stream, rank);
        return fd >= 0 ? -ENOMEM : 0;
    }
    int rc = uv_poll_init(o->loop, &t->poll, fd); /* makes fd non-blocking */
    if (rc) {
        close(fd);
        free(t);
        say_end(o, stream, rank);
        return rc;
    }
    uv_timer_init(o->loop, &t->grace);
    t->poll.data = t->grace.data = t;
    t->handles = 2;
    t->outlets = o;
    t->fd = fd;
    t->rank = rank;
    t->stream = stream;
    t->next = o->first;
    o->first = t;
    poll_outlet(t);
    return 0;
}

/* Others still hold the pipe of a dead rank: take what stands in it, and no more. */
static void on_grace(uv_timer_t *timer)
{
    struct outlet *t = timer->data;
    int bytes = 0;
    if (ioctl(t->fd, FIONREAD, &bytes) || bytes <= 0) {
        end_outlet(t, true);
        return;
    }
    t->is_last = true;
    t->left = (size_t)bytes;
}

void outlets_rank_ended(struct outlets *o, int rank)
{
    struct outlet *next;
    for (struct outlet *t = o->first; t; t = next) {
        next = t->next;
        if (t->rank != rank || t->is_dying)
            continue;
        t->is_dying = true;
        uv_timer_start(&t->grace, on_grace, GRACE_MS, 0);
        while (read_some(t))
            ;
    }
}

void outlets_unread(struct outlets *o, enum launch_stream stream)
{
    struct outlet *next;
    for (struct outlet *t = o->first; t; t = next) {
        next = t->next;
        if (t->stream == stream)
            end_outlet(t, true);
    }
}

/* ---- streams ---- */

void outlets_credit(struct outlets *o, const struct core_message *credit)
{
    struct outlet *next;
    if (credit->tag >= LAUNCH_STREAMS || !stream_out_credit(&o->out[credit->tag], credit, now_ns()))
        return;
    for (struct outlet *t = o->first; t; t = next) {
        next = t->next;
        if (t->stream == (enum launch_stream)credit->tag && !t->is_polling)
            poll_outlet(t);
    }
}

void outlets_tick(struct outlets *o, bool is_new)
{
    for (int i = 0; i < LAUNCH_STREAMS; i++)
        stream_out_tick(&o->out[i], is_new, now_ns(), &o->effects);
    mesh_route(o->mesh, &o->effects);
}

void outlets_init(struct outlets *o, uv_loop_t *loop, struct mesh *mesh, size_t window)
{
    *o = (struct outlets){.loop = loop, .mesh = mesh};
    for (uint32_t i = 0; i < LAUNCH_STREAMS; i++)
        stream_out_init(&o->out[i], mesh->settings.self, NODE_ROOT, i, window);
}

void outlets_close(struct outlets *o)
{
    while (o->first)
        end_outlet(o->first, false);
}

void outlets_fini(struct outlets *o)
{
    for (int i = 0; i < LAUNCH_STREAMS; i++)
        stream_out_fini(&o->out[i]);
    effects_fini(&o->effects);
}
