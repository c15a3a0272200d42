/* SPDX-License-Identifier: BSD-3-Clause */

/* Links between daemons; see daemon_link.h. */
#include "bnr/wide/daemon_link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "os/clock.h"
#include "os/random.h"

enum {
    READ_LEN = 1 << 16,
    UNSENT_LEN = 1 << 16, /* bytes, from which on they are written at once */
    UNSENT_MAX = 64,      /* blocks, likewise */
    LINK_PROBES = 3       /* of the kernel's that are not answered */
};

struct writing {
    uv_write_t write;
    unsigned count;
    struct bytes *blocks[];
};

static int write_unsent(struct daemon_link *link);
static void unlist_unsent(struct daemon_link *link);

static void on_closed(uv_handle_t *handle)
{
    struct daemon_link *link = handle->data;
    if (--link->handles)
        return;
    free(link->unsent);
    free(link->buffer);
    free(link);
}

void daemon_link_close(struct daemon_link *link, int rc)
{
    if (link->state == DAEMON_LINK_DOWN)
        return;
    (void)write_unsent(link);
    unlist_unsent(link);
    link->state = DAEMON_LINK_DOWN;
    link->owner->down(link->owner->arg, link, rc);
    if (link->writes && link->writes != link->reads)
        uv_close((uv_handle_t *)link->writes, on_closed);
    uv_close((uv_handle_t *)link->reads, on_closed);
}

/* ---- writing ---- */

static void release(struct bytes **blocks, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        bytes_unref(blocks[i]);
}

static void on_written(uv_write_t *write, int status)
{
    struct writing *w = (struct writing *)(void *)write;
    struct daemon_link *link = write->handle->data;
    release(w->blocks, w->count);
    free(w);
    if (status && status != UV_ECANCELED)
        daemon_link_close(link, status);
}

/* Write the waiting messages, in one piece. */
static int write_unsent(struct daemon_link *link)
{
    unsigned count = link->unsent_count;
    uv_buf_t bufs[UNSENT_MAX];
    if (!count)
        return 0;
    struct writing *w = malloc(sizeof(*w) + count * sizeof(w->blocks[0]));
    int rc = -ENOMEM;
    for (unsigned i = 0; i < count; i++)
        bufs[i] = uv_buf_init((char *)link->unsent[i]->at, link->unsent[i]->len);
    link->unsent_count = 0;
    link->unsent_bytes = 0;
    if (w) {
        w->count = count;
        memcpy(w->blocks, link->unsent, count * sizeof(w->blocks[0]));
        rc = uv_write(&w->write, link->writes, bufs, count, on_written);
    }
    if (rc) {
        release(link->unsent, count);
        free(w);
    }
    return rc;
}

static void unlist_unsent(struct daemon_link *link)
{
    struct daemon_link **at = link->owner->unsent;
    while (*at && *at != link)
        at = &(*at)->next_unsent;
    if (*at)
        *at = link->next_unsent;
}

void daemon_links_write(const struct daemon_link_owner *owner)
{
    struct daemon_link *link;
    while ((link = *owner->unsent)) {
        *owner->unsent = link->next_unsent;
        int rc = write_unsent(link);
        if (rc)
            daemon_link_close(link, rc);
    }
}

static bool has_room(struct daemon_link *link)
{
    if (link->unsent_count < link->unsent_room)
        return true;
    unsigned room = link->unsent_room ? 2 * link->unsent_room : 8;
    struct bytes **grown = realloc(link->unsent, room * sizeof(*grown));
    if (!grown)
        return false;
    link->unsent = grown;
    link->unsent_room = room;
    return true;
}

/* Have a block written, whose reference is given. */
static int write_block(struct daemon_link *link, struct bytes *bytes)
{
    if (!bytes || link->state == DAEMON_LINK_DOWN || !has_room(link)) {
        bytes_unref(bytes);
        return -ENOMEM;
    }
    if (!link->unsent_count) {
        unlist_unsent(link);
        link->next_unsent = *link->owner->unsent;
        *link->owner->unsent = link;
    }
    link->unsent[link->unsent_count++] = bytes;
    link->unsent_bytes += bytes->len;
    return link->unsent_count == UNSENT_MAX || link->unsent_bytes >= UNSENT_LEN ? write_unsent(link)
                                                                                : 0;
}

int daemon_link_send(struct daemon_link *link, const struct core_message *message)
{
    return write_block(link, frame_pack(&link->out, message));
}

size_t daemon_link_waiting(const struct daemon_link *link)
{
    return uv_stream_get_write_queue_size(link->writes) + link->unsent_bytes;
}

/* ---- the beginning ---- */

static void come_up(struct daemon_link *link)
{
    uint8_t dialer[16], listener[16];
    hello_keys(&link->hello, link->owner->secret, dialer, listener);
    frame_link_init(&link->in, link->is_dialer ? listener : dialer);
    frame_link_init(&link->out, link->is_dialer ? dialer : listener);
    link->state = DAEMON_LINK_UP;
    link->was_up = true;
    link->owner->up(link->owner->arg, link);
}

static int say_hello(struct daemon_link *link)
{
    struct bytes *hello = bytes_create(NULL, HELLO_LEN);
    int rc = os_random(link->hello.dialer_nonce, sizeof(link->hello.dialer_nonce));
    if (hello && !rc)
        hello_put(hello->at, &link->hello, link->owner->secret);
    link->state = DAEMON_LINK_CHALLENGE;
    if (!rc)
        return write_block(link, hello);
    bytes_unref(hello);
    return rc;
}

/* A dialer's first words. Strangers, and those who mean another, are told nothing. */
static int hear_hello(struct daemon_link *link, const uint8_t *at)
{
    const struct daemon_link_owner *o = link->owner;
    struct hello *h = &link->hello;
    int rc = hello_get(at, h, o->secret);
    if (rc)
        return rc;
    if (memcmp(h->job, o->job, sizeof(h->job)) || h->to != o->self || h->from >= o->count ||
        h->from == o->self || !o->may_enter(o->arg, h->from, h->number))
        return -EPROTO;
    rc = os_random(h->listener_nonce, sizeof(h->listener_nonce));
    if (rc)
        return rc;
    struct bytes *challenge = bytes_create(NULL, HELLO_CHALLENGE_LEN);
    if (challenge)
        hello_challenge_put(challenge->at, h, o->secret);
    link->state = DAEMON_LINK_PROOF;
    return write_block(link, challenge);
}

static int hear_challenge(struct daemon_link *link, const uint8_t *at)
{
    int rc = hello_challenge_get(at, &link->hello, link->owner->secret);
    if (rc)
        return rc;
    struct bytes *proof = bytes_create(NULL, HELLO_PROOF_LEN);
    if (proof)
        hello_proof_put(proof->at, &link->hello, link->owner->secret);
    rc = write_block(link, proof);
    if (!rc)
        come_up(link);
    return rc;
}

static int hear_proof(struct daemon_link *link, const uint8_t *at)
{
    int rc = hello_proof_get(at, &link->hello, link->owner->secret);
    if (!rc) {
        link->peer = link->hello.from;
        come_up(link);
    }
    return rc;
}

/* ---- reading ---- */

/* How many bytes the next piece has; 0 with *rc: the bytes are none of ours. */
static size_t next_len(struct daemon_link *link, int *rc)
{
    size_t len = 0, left = link->len - link->parsed;
    *rc = 0;
    switch (link->state) {
    case DAEMON_LINK_HELLO: return HELLO_LEN;
    case DAEMON_LINK_CHALLENGE: return HELLO_CHALLENGE_LEN;
    case DAEMON_LINK_PROOF: return HELLO_PROOF_LEN;
    case DAEMON_LINK_UP:
        if (left < FRAME_PREFIX_LEN)
            return FRAME_PREFIX_LEN;
        *rc = frame_len(link->buffer + link->parsed, &len);
        return *rc ? 0 : len;
    default: *rc = -EPROTO; return 0;
    }
}

static int take_frame(struct daemon_link *link, const uint8_t *at, size_t len)
{
    struct core_message message;
    int rc = frame_unpack(&link->in, at, len, &message);
    return rc ? rc : link->owner->message(link->owner->arg, link, &message);
}

static int take_piece(struct daemon_link *link, const uint8_t *at, size_t len)
{
    switch (link->state) {
    case DAEMON_LINK_HELLO: return hear_hello(link, at);
    case DAEMON_LINK_CHALLENGE: return hear_challenge(link, at);
    case DAEMON_LINK_PROOF: return hear_proof(link, at);
    default: return take_frame(link, at, len);
    }
}

/* Take all whole pieces out of the buffer. The link may be over after it. */
static void parse(struct daemon_link *link)
{
    int rc = 0;
    while (!rc && !link->is_paused && link->state != DAEMON_LINK_DOWN) {
        size_t need = next_len(link, &rc), left = link->len - link->parsed;
        if (rc || left < need)
            break;
        const uint8_t *at = link->buffer + link->parsed;
        link->parsed += need;
        rc = take_piece(link, at, need);
    }
    if (rc < 0)
        daemon_link_close(link, rc);
}

/* Room for the rest of a long frame, or a good read. */
static void make_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct daemon_link *link = handle->data;
    int rc;
    if (link->parsed) {
        memmove(link->buffer, link->buffer + link->parsed, link->len - link->parsed);
        link->len -= link->parsed;
        link->parsed = 0;
    }
    size_t need = next_len(link, &rc);
    need = need > link->len + READ_LEN ? need : link->len + READ_LEN;
    if (need > link->room) {
        uint8_t *grown = realloc(link->buffer, need);
        if (grown) {
            link->buffer = grown;
            link->room = need;
        }
    }
    *buf = uv_buf_init((char *)link->buffer + link->len, (unsigned)(link->room - link->len));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct daemon_link *link = stream->data;
    if (n > 0) {
        link->len += (size_t)n;
        if (link->state == DAEMON_LINK_UP)
            link->owner->heard(link->owner->arg, link);
        parse(link);
    } else if (n < 0) {
        daemon_link_close(link, (int)n);
    }
}

void daemon_link_pause(struct daemon_link *link)
{
    link->is_paused = true;
    uv_read_stop(link->reads);
}

void daemon_link_resume(struct daemon_link *link)
{
    if (!link->is_paused)
        return;
    link->is_paused = false;
    if (uv_read_start(link->reads, make_room, on_read))
        daemon_link_close(link, -EIO);
    else
        parse(link);
}

/* ---- making one ---- */

static struct daemon_link *create(const struct daemon_link_owner *owner, uint32_t peer,
                                  uint64_t number)
{
    struct daemon_link *link = calloc(1, sizeof(*link));
    if (!link)
        return NULL;
    link->buffer = malloc(READ_LEN);
    link->room = READ_LEN;
    if (!link->buffer) {
        free(link);
        return NULL;
    }
    link->owner = owner;
    link->peer = peer;
    link->begun_ns = (int64_t)os_now_ns();
    link->hello = (struct hello){.from = owner->self, .to = peer, .number = number};
    memcpy(link->hello.job, owner->job, sizeof(link->hello.job));
    return link;
}

static struct daemon_link *create_tcp(const struct daemon_link_owner *owner, uint32_t peer,
                                      uint64_t number)
{
    struct daemon_link *link = create(owner, peer, number);
    if (!link)
        return NULL;
    uv_tcp_init(owner->loop, &link->handle[0].tcp);
    link->handle[0].tcp.data = link;
    link->reads = link->writes = (uv_stream_t *)&link->handle[0].tcp;
    link->handles = 1;
    return link;
}

/* Small messages go at once. Before there is a tree nothing is said for long: the kernel finds out
 * that the other host is gone. It needs no program there for that, which may stand still. */
static void tune(struct daemon_link *link)
{
    const int on = 1, count = LINK_PROBES, pause = (int)link->owner->probe_s;
    uv_os_fd_t fd;
    uv_tcp_nodelay(&link->handle[0].tcp, 1);
    if (uv_fileno((const uv_handle_t *)link->reads, &fd))
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &pause, sizeof(pause));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof(pause));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

static int begin_reading(struct daemon_link *link)
{
    return uv_read_start(link->reads, make_room, on_read);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct daemon_link *link = connect->handle->data;
    if (link->state == DAEMON_LINK_DOWN)
        return;
    if (!status) {
        tune(link);
        status = begin_reading(link);
    }
    if (!status)
        status = say_hello(link);
    if (status)
        daemon_link_close(link, status);
}

struct daemon_link *daemon_link_dial(const struct daemon_link_owner *owner,
                                     const struct sockaddr *address, uint32_t peer, uint64_t number)
{
    struct daemon_link *link = create_tcp(owner, peer, number);
    if (!link)
        return NULL;
    link->is_dialer = true;
    int rc = uv_tcp_connect(&link->connecting, &link->handle[0].tcp, address, on_connected);
    if (!rc)
        return link;
    link->state = DAEMON_LINK_DOWN; /* nobody knows it yet */
    uv_close((uv_handle_t *)link->reads, on_closed);
    return NULL;
}

struct daemon_link *daemon_link_accept(const struct daemon_link_owner *owner, uv_stream_t *listener)
{
    struct daemon_link *link = create_tcp(owner, owner->self, 0);
    if (!link)
        return NULL;
    link->state = DAEMON_LINK_HELLO;
    int rc = uv_accept(listener, link->reads);
    if (!rc) {
        tune(link);
        rc = begin_reading(link);
    }
    if (!rc)
        return link;
    link->state = DAEMON_LINK_DOWN;
    uv_close((uv_handle_t *)link->reads, on_closed);
    return NULL;
}

struct daemon_link *daemon_link_open(const struct daemon_link_owner *owner, int in_fd, int out_fd,
                                     uint32_t peer, uint64_t number)
{
    struct daemon_link *link = create(owner, peer, number);
    if (!link)
        return NULL;
    for (int i = 0; i < 2; i++) {
        uv_pipe_init(owner->loop, &link->handle[i].pipe, 0);
        link->handle[i].pipe.data = link;
    }
    link->reads = (uv_stream_t *)&link->handle[0].pipe;
    link->writes = (uv_stream_t *)&link->handle[1].pipe;
    link->handles = 2;
    link->is_dialer = number > 0;
    link->state = DAEMON_LINK_HELLO;
    int rc = uv_pipe_open(&link->handle[0].pipe, in_fd);
    if (!rc)
        rc = uv_pipe_open(&link->handle[1].pipe, out_fd);
    if (!rc)
        rc = begin_reading(link);
    if (!rc && link->is_dialer)
        rc = say_hello(link);
    if (!rc)
        return link;
    link->state = DAEMON_LINK_DOWN;
    uv_close((uv_handle_t *)link->writes, on_closed);
    uv_close((uv_handle_t *)link->reads, on_closed);
    return NULL;
}
