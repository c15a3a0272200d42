/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A link between two daemons, over TCP or a pair of pipes: the three messages of hello.h, then
 * frames. Whoever cannot prove to be of the job is told nothing, and is cut off.
 */
#ifndef BNR_DAEMON_LINK_H
#define BNR_DAEMON_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/tree/message.h"
#include "bnr/wire/frame.h"
#include "bnr/wire/hello.h"

struct daemon_link;

/* The node of this end, and its links' events. */
struct daemon_link_owner {
    uv_loop_t *loop;
    uint32_t self, count; /* nodes */
    uint32_t probe_s;     /* without a sign of a host, before the kernel asks for one, and again */
    uint8_t job[16], secret[16];
    /* Whether a proven number of a dialer's may be taken; see os/replay.h. */
    bool (*may_enter)(void *arg, uint32_t node, uint64_t number);
    void (*up)(void *arg, struct daemon_link *link);
    /* The message is the callee's, its data too. Returns negative to end the link. */
    int (*message)(void *arg, struct daemon_link *link, struct core_message *message);
    /* Bytes of a message have come, though not all. */
    void (*heard)(void *arg, struct daemon_link *link);
    /* It is over, and gone when this returns. */
    void (*down)(void *arg, struct daemon_link *link, int rc);
    void *arg;
    struct daemon_link **unsent; /* links that have something to write */
};

enum daemon_link_state {
    DAEMON_LINK_CONNECTING,
    DAEMON_LINK_HELLO,     /* the listener waits for it */
    DAEMON_LINK_CHALLENGE, /* the dialer does */
    DAEMON_LINK_PROOF,
    DAEMON_LINK_UP,
    DAEMON_LINK_DOWN
};

struct daemon_link {
    const struct daemon_link_owner *owner;
    struct daemon_link *next; /* the owner's */
    enum daemon_link_state state;
    bool is_dialer, was_up;
    uint32_t peer;
    struct hello hello;
    struct frame_link in, out;
    union {
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } handle[2];
    uv_stream_t *reads, *writes; /* the same with TCP */
    int handles;                 /* that are open */
    uv_connect_t connecting;
    uint8_t *buffer;
    size_t len, room, parsed;
    bool is_paused;
    int64_t begun_ns;
    struct bytes **unsent; /* for the next write, in one piece */
    unsigned unsent_count, unsent_room;
    size_t unsent_bytes;
    struct daemon_link *next_unsent; /* the owner's */
};

/* Connect to an address and prove to be owner->self to node peer; number: see hello.h. NULL: no
 * memory. down() tells a failure. */
struct daemon_link *daemon_link_dial(const struct daemon_link_owner *owner,
                                     const struct sockaddr *address, uint32_t peer,
                                     uint64_t number);

/* Take a connection that listener has. NULL: it failed. */
struct daemon_link *daemon_link_accept(const struct daemon_link_owner *owner,
                                       uv_stream_t *listener);

/* A link over two descriptors, which are taken over; the dialing side says its number, the other
 * passes 0.
 */
struct daemon_link *daemon_link_open(const struct daemon_link_owner *owner, int in_fd, int out_fd,
                                     uint32_t peer, uint64_t number);

/* Send a message over a link that is up, at the next daemon_links_write(). Returns 0 or -ENOMEM. */
int daemon_link_send(struct daemon_link *link, const struct core_message *message);
/* Write the messages since the last call: each link's in one piece. */
void daemon_links_write(const struct daemon_link_owner *owner);
/* Bytes that wait to be written. */
size_t daemon_link_waiting(const struct daemon_link *link);

/* Read nothing for a while. */
void daemon_link_pause(struct daemon_link *link);
void daemon_link_resume(struct daemon_link *link);

/* End it; down() is called before this returns. */
void daemon_link_close(struct daemon_link *link, int rc);

#endif
