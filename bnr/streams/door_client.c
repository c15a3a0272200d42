/* SPDX-License-Identifier: BSD-3-Clause */

/* A process at the door; see door_client.h. */
#include "bnr/streams/door_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bnr/streams/fd_end.h"
#include "bnr/wire/hub_frame.h"
#include "os/calls.h"

enum {
    OUT_MAX = 64 << 20, /* bytes that wait for a process; windows keep them far below */
    PASSED_MAX = 8
};

/* A descriptor that is served for a process. end is NULL when it has closed by itself and the
 * process has not closed it yet. */
struct door_end {
    uint32_t id;
    UT_hash_handle hh;
    struct door_client *client;
    struct fd_end *end;
    bool is_left; /* its process is gone, and it has been told */
};

/* An end of the process itself, which the hub has opened. */
struct door_own {
    uint32_t id;
    UT_hash_handle hh;
};

static void on_ready(uv_poll_t *poll, int status, int events);

/* ---- the end of a client ---- */

static void on_closed(uv_handle_t *handle)
{
    struct door_client *c = handle->data;
    if (--c->handles)
        return;
    free(c->in);
    free(c->out);
    free(c);
}

static void forget_end(struct door_client *c, struct door_end *e)
{
    HASH_DEL(c->ends, e);
    free(e);
}

static void forget_own(struct door_client *c, struct door_own *own)
{
    HASH_DEL(c->own, own);
    free(own);
}

/* Hear no more of the process and its connection. Handles are closed before their descriptors, whose
 * numbers are given to others: the loop forgets the number. */
static void stop_listening(struct door_client *c)
{
    if (c->is_deaf)
        return;
    c->is_deaf = true;
    uv_close((uv_handle_t *)&c->poll, on_closed);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (c->pidfd < 0)
        return;
    uv_close((uv_handle_t *)&c->life, on_closed);
    close(c->pidfd);
    c->pidfd = -1;
}

void door_client_destroy(struct door_client *c)
{
    struct door_end *e, *next;
    struct door_own *own, *next_own;
    if (c->is_released)
        return;
    c->is_released = true;
    HASH_DEL(c->door->clients, c);
    HASH_ITER(hh, c->ends, e, next)
    {
        if (e->end)
            fd_end_destroy(e->end);
        forget_end(c, e);
    }
    HASH_ITER(hh, c->own, own, next_own)
    forget_own(c, own);
    for (int i = 0; i < c->passed_count; i++)
        close(c->passed[i]);
    stop_listening(c);
    uv_close((uv_handle_t *)&c->last, on_closed);
}

/* Nothing of it is served any more: the hub hears that the party is gone. */
static void release_if_over(struct door_client *c)
{
    const struct door_hooks hooks = c->door->hooks;
    uint64_t party = c->party;
    if (c->is_released || !c->is_gone || c->ends)
        return;
    door_client_destroy(c);
    if (c->wish == DOOR_STREAMS)
        hooks.gone(hooks.arg, party);
}

static struct door_end *next_to_leave(const struct door_client *c)
{
    struct door_end *e = c->ends;
    while (e && e->is_left)
        e = e->hh.next;
    return e;
}

static void say_closed(struct door_client *c, uint32_t id)
{
    const struct hub_message m = {.kind = HUB_CLOSE, .id = id};
    c->door->hooks.say(c->door->hooks.arg, c->party, &m);
}

/* What the process reads itself holds no writer up any more, its own descriptors included. One end that
 * is told may end another, as a sink ends its writers. */
void door_client_leave(struct door_client *c)
{
    struct door_end *e;
    if (c->is_gone || c->is_released)
        return;
    c->is_gone = true;
    stop_listening(c);
    while (c->own && !c->is_released) {
        uint32_t id = c->own->id;
        forget_own(c, c->own);
        say_closed(c, id);
    }
    while ((e = next_to_leave(c))) {
        e->is_left = true;
        if (e->end)
            fd_end_orphan(e->end);
        else
            forget_end(c, e);
    }
    release_if_over(c);
}

/* ---- to the process ---- */

static void write_out(struct door_client *c)
{
    while (c->out_at < c->out_len) {
        ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            door_client_leave(c);
            return;
        }
        c->out_at += (size_t)n;
    }
    if (c->out_at == c->out_len)
        c->out_at = c->out_len = 0;
    int events = UV_READABLE | (c->out_len ? UV_WRITABLE : 0);
    (void)uv_poll_start(&c->poll, events, on_ready);
}

/* Room for len bytes more, with those that are written already taken out. */
static bool make_room(struct door_client *c, size_t len)
{
    if (c->out_at && c->out_len + len > c->out_room) {
        memmove(c->out, c->out + c->out_at, c->out_len - c->out_at);
        c->out_len -= c->out_at;
        c->out_at = 0;
    }
    size_t room = c->out_room ? c->out_room : 4096;
    while (room < c->out_len + len)
        room *= 2;
    uint8_t *out = room > OUT_MAX ? NULL : room == c->out_room ? c->out : realloc(c->out, room);
    if (!out)
        return false;
    c->out = out;
    c->out_room = room;
    return true;
}

static void tell(struct door_client *c, const struct hub_message *m)
{
    if (c->is_gone)
        return;
    if (!make_room(c, HUB_FRAME_HEAD + m->len)) {
        door_client_leave(c);
        return;
    }
    hub_frame_head(c->out + c->out_len, m);
    if (m->len)
        memcpy(c->out + c->out_len + HUB_FRAME_HEAD, m->data, m->len);
    bool is_first = c->out_len == 0;
    c->out_len += HUB_FRAME_HEAD + m->len;
    if (is_first)
        (void)uv_poll_start(&c->poll, UV_READABLE | UV_WRITABLE, on_ready);
}

static struct door_end *find_end(const struct door_client *c, uint32_t id)
{
    struct door_end *e;
    HASH_FIND(hh, c->ends, &id, sizeof(id), e);
    return e;
}

/* The hub has opened an end of the process itself, which may have left meanwhile. */
static void note_own(struct door_client *c, uint32_t id)
{
    struct door_own *own = c->is_gone ? NULL : malloc(sizeof(*own));
    if (own) {
        own->id = id;
        HASH_ADD(hh, c->own, id, sizeof(own->id), own);
    } else if (c->is_gone) {
        say_closed(c, id);
    } else {
        door_client_leave(c);
    }
}

static void note_closed(struct door_client *c, uint32_t id)
{
    struct door_own *own;
    HASH_FIND(hh, c->own, &id, sizeof(id), own);
    if (own)
        forget_own(c, own);
}

void door_client_hear(struct door_client *c, const struct hub_message *m)
{
    struct door_end *e = find_end(c, m->id);
    if (!e) {
        if (m->kind == HUB_OPENED && !m->status)
            note_own(c, m->id);
        tell(c, m);
        return;
    }
    if (m->kind == HUB_OPENED && m->status) {
        if (e->end)
            fd_end_destroy(e->end);
        forget_end(c, e);
    } else if (e->end) {
        fd_end_hear(e->end, m);
    }
    if (m->kind == HUB_OPENED || m->kind == HUB_FLUSHED || m->kind == HUB_STATE ||
        m->kind == HUB_SHUT)
        tell(c, m);
}

/* ---- descriptors ---- */

static void end_says(void *arg, const struct hub_message *m)
{
    struct door_end *e = arg;
    struct door_client *c = e->client;
    if (m->kind == HUB_CLOSE && (m->flags & HUB_BROKEN)) /* as on a full disk */
        tell(c, &(struct hub_message){.kind = HUB_SHUT, .id = m->id});
    c->door->hooks.say(c->door->hooks.arg, c->party, m);
}

static void end_over(void *arg, uint32_t id)
{
    struct door_end *e = arg;
    struct door_client *c = e->client;
    (void)id;
    e->end = NULL;
    if (c->is_gone)
        forget_end(c, e);
    release_if_over(c);
}

static int take_passed(struct door_client *c)
{
    if (!c->passed_count)
        return -1;
    int fd = c->passed[0];
    memmove(c->passed, c->passed + 1, (size_t)--c->passed_count * sizeof(c->passed[0]));
    return fd;
}

/* Serve the descriptor that has come with a message that opens an end. */
static int serve(struct door_client *c, const struct hub_message *m)
{
    int fd = take_passed(c);
    bool is_sink = m->kind == HUB_PUBLISH && (m->flags & HUB_SINK);
    bool is_writer = m->kind == HUB_PUSH || (m->kind == HUB_PUBLISH && !is_sink);
    bool is_wild = m->rank == HUB_ANY || m->tag == HUB_ANY;
    struct door_end *e = fd >= 0 && !find_end(c, m->id) ? calloc(1, sizeof(*e)) : NULL;
    if (!e) {
        if (fd >= 0)
            close(fd);
        return -EPROTO;
    }
    const struct fd_end_hooks hooks = {end_says, end_over, e};
    int rc = fd_end_create(&e->end, c->door->loop, m->id, fd,
                           is_writer ? FD_END_WRITER
                           : is_wild ? FD_END_READER_OF_MANY
                                     : FD_END_READER,
                           &hooks);
    if (rc) {
        free(e);
        tell(c, &(struct hub_message){.kind = HUB_OPENED, .id = m->id, .status = HUB_UNABLE});
        return 1;
    }
    e->client = c;
    e->id = m->id;
    HASH_ADD(hh, c->ends, id, sizeof(e->id), e);
    return 0;
}

/* A message about a descriptor. Returns whether the hub is to hear it, or -EPROTO. */
static int hear_of_end(struct door_client *c, struct door_end *e, const struct hub_message *m)
{
    struct hub_message answer = {.kind = HUB_FLUSHED, .id = m->id, .off = m->off};
    switch (m->kind) {
    case HUB_CLOSE:
        if (e->end)
            fd_end_close(e->end);
        e = find_end(c, m->id);
        if (e && !e->end)
            forget_end(c, e);
        tell(c, &answer);
        return 0;
    case HUB_FLUSH:
        if (e->end)
            fd_end_flush(e->end, m->off);
        else
            tell(c, &answer);
        return 0;
    case HUB_STAT:
        answer.kind = HUB_STATE;
        if (!e->end)
            tell(c, &answer);
        return e->end != NULL;
    default: return -EPROTO;
    }
}

static int take_message(struct door_client *c, const struct hub_message *m)
{
    struct door_hooks *hooks = &c->door->hooks;
    struct hub_message plain = *m;
    int rc = 0;
    struct door_end *e = find_end(c, m->id);
    if (m->kind >= HUB_OPENED)
        return -EPROTO;
    plain.flags &= (uint8_t)~HUB_HAS_FD;
    if (m->flags & HUB_HAS_FD) {
        if (m->kind > HUB_SUBSCRIBE)
            return -EPROTO;
        rc = serve(c, m);
    } else if (e) {
        rc = hear_of_end(c, e, m);
        rc = rc < 0 ? rc : !rc;
    } else if (m->kind == HUB_CLOSE) {
        note_closed(c, m->id);
    }
    if (!rc)
        hooks->say(hooks->arg, c->party, &plain);
    return rc < 0 ? rc : 0;
}

/* ---- from the process ---- */

/* Take its wish. Returns how many bytes that takes, or -EPROTO. */
static ptrdiff_t take_wish(struct door_client *c)
{
    if (c->in_len < DOOR_REQUEST_LEN)
        return 0;
    int wish = door_request_unpack(c->in);
    if (wish < 0 || (wish != DOOR_STREAMS && !c->door->hooks.text))
        return -EPROTO;
    c->wish = wish;
    if (wish == DOOR_STREAMS)
        return DOOR_REQUEST_LEN;
    struct door_hooks hooks = c->door->hooks;
    int fd = c->fd;
    c->fd = -1;
    door_client_destroy(c);
    hooks.text(hooks.arg, wish, fd);
    return 0;
}

/* Take the message at an offset. Returns how many bytes it takes, 0 if there are too few, or
 * -EPROTO. */
static ptrdiff_t take_next(struct door_client *c, size_t at)
{
    struct hub_message m;
    if (!c->wish)
        return take_wish(c);
    ptrdiff_t n = hub_frame_unpack(c->in + at, c->in_len - at, &m);
    return n > 0 && take_message(c, &m) ? -EPROTO : n;
}

static void parse(struct door_client *c)
{
    size_t at = 0;
    while (!c->is_gone && !c->is_released) {
        ptrdiff_t n = take_next(c, at);
        if (n < 0)
            door_client_leave(c);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    if (c->is_released)
        return;
    memmove(c->in, c->in + at, c->in_len - at);
    c->in_len -= at;
}

/* Descriptors that have come. */
static void take_control(struct door_client *c, struct msghdr *msg)
{
    for (struct cmsghdr *h = CMSG_FIRSTHDR(msg); h; h = CMSG_NXTHDR(msg, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(h) + i * sizeof(fd), sizeof(fd));
            if (c->passed_count < PASSED_MAX)
                c->passed[c->passed_count++] = fd;
            else
                close(fd);
        }
    }
}

/* Returns whether something has come. */
static bool read_in(struct door_client *c)
{
    union {
        char bytes[CMSG_SPACE(PASSED_MAX * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {c->in + c->in_len, HUB_FRAME_MAX - c->in_len};
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    ssize_t n = recvmsg(c->fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        door_client_leave(c);
        return false;
    }
    take_control(c, &msg);
    c->in_len += (size_t)n;
    parse(c);
    return true;
}

/* The process has ended. What it has said still counts. */
static void on_ended(uv_poll_t *life, int status, int events)
{
    struct door_client *c = life->data;
    (void)status;
    (void)events;
    while (!c->is_gone && !c->is_released && read_in(c))
        ;
    door_client_leave(c);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct door_client *c = poll->data;
    if (status < 0) {
        door_client_leave(c);
        return;
    }
    if (events & UV_READABLE)
        (void)read_in(c);
    if (!c->is_gone && !c->is_released && (events & UV_WRITABLE))
        write_out(c);
}

/* Listen for the end of the process that has connected, where the kernel tells. */
static void watch_life(struct door_client *c)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    bool is_known = !getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.pid > 0;
    c->pidfd = is_known ? (int)syscall(SYS_pidfd_open, peer.pid, 0) : -1;
    if (c->pidfd < 0)
        return;
    if (uv_poll_init(c->door->loop, &c->life, c->pidfd)) {
        close(c->pidfd);
        c->pidfd = -1;
        return;
    }
    c->handles++;
    c->life.data = c;
    (void)uv_poll_start(&c->life, UV_READABLE, on_ended);
}

void door_client_create(struct door *d, int fd)
{
    struct door_client *c = calloc(1, sizeof(*c));
    uint8_t *in = c ? malloc(HUB_FRAME_MAX) : NULL;
    if (!in || uv_poll_init(d->loop, &c->poll, fd)) {
        close(fd);
        free(in);
        free(c);
        return;
    }
    c->in = in;
    c->door = d;
    c->fd = fd;
    c->poll.data = c;
    c->handles = 2;
    uv_timer_init(d->loop, &c->last);
    c->last.data = c;
    c->party = d->last_party++;
    watch_life(c);
    HASH_ADD(hh, d->clients, party, sizeof(c->party), c);
    (void)uv_poll_start(&c->poll, UV_READABLE, on_ready);
}
