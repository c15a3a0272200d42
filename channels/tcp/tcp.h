/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tcp channel's own state, which its files share: tcp.c (the operations), sock.c (watching sockets),
 * listen.c (strangers at the door), dial.c (our connects), link.c (one peer).
 *
 * One epoll set holds every descriptor, and is what the device sleeps on. An
 * event points to the struct tcp_sock that each pollable thing begins with.
 * Things that end while progress() runs are buried: marked dead and freed when
 * it ends, so no event and no caller on the stack finds freed memory.
 */
#ifndef TCP_TCP_H
#define TCP_TCP_H

#include <stdbool.h>

#include "channels/tcp/addr.h"
#include "include/channel.h"
#include "os/heard.h"
#include "os/memory/pool.h"

enum sock_kind {
    SOCK_LISTENER,
    SOCK_TICK,     /* the timer, set to the next deadline */
    SOCK_STRANGER, /* accepted, identity unproven */
    SOCK_ATTEMPT,  /* one address being tried */
    SOCK_LINK,
    SOCK_LINGER, /* unlinked, with bytes still to go */
    SOCK_DEAD
};

struct tcp_sock {
    int fd; /* -1: none */
    enum sock_kind kind;
    struct tcp_sock *dead_next;
};

enum { TCP_GOOD = 64 };

struct tcp {
    struct chan base;
    const struct chan_env *env;
    int epoll;
    struct tcp_sock listener, tick;
    uint16_t port;  /* 0: not listening yet */
    uint64_t nonce; /* names this process in its card */
    uint64_t hellos; /* the number of the last that was said */
    struct os_heard heard; /* whose HELLOs have been heard */
    bool deaf;       /* no descriptor was left for the next stranger, or it could not be accepted */
    uint64_t deaf_ns; /* since when none could be; 0: the last one could */
    int spare;       /* a descriptor to accept strangers, and refuse them; -1: none */
    bool inside;     /* progress() is running */
    bool armed;      /* some thread sleeps on the epoll set: it must know of all */
    int node_offset; /* from a cookie to its struct tcp_packet; negative: none */
    uint32_t turn;   /* counts progress() */
    uint64_t tick_ns; /* when the timer goes off; 0: it is not set */
    int put_off;      /* how often in a row it has waited for other events */
    struct tcp_link *links;
    struct tcp_link *reading; /* it hands packets over right now; or NULL */
    struct os_pool buffers;   /* for reading ahead */
    struct tcp_link *dirty, **last_dirty; /* links with something to do that no event tells */
    struct tcp_link *hot;                 /* the last that brought something, or NULL */
    uint64_t look_ns;                     /* when to look whether hosts answer; 0: no links */
    int streak;                           /* how often in a row */
    int heat;                             /* empty looks at it that are left; 0: epoll watches it */
    struct stranger *strangers, **last_stranger; /* oldest first */
    /* Strangers that have said nothing right, that have only said HELLO, that wait for asked(). */
    int mute, greeted, proven;
    uint64_t calls; /* strangers in all */
    struct dial *dials;
    union addr good[TCP_GOOD]; /* that have led to peers */
    uint64_t connect_ns;       /* how long connects of this process take, about */
    struct lingerer *lingers;
    struct tcp_sock *dead;
    char card[CHAN_CARD_MAX];
};

/* Watch sock for input (and output). Returns 0 or -errno. */
int tcp_watch(struct tcp *tcp, struct tcp_sock *sock, bool output);
int tcp_rewatch(struct tcp *tcp, struct tcp_sock *sock, bool output);
/* Leave it in the epoll set, but watch for nothing. */
int tcp_ignore(struct tcp *tcp, struct tcp_sock *sock);
/* Take it out; tcp_watch() puts it back. */
void tcp_unwatch(struct tcp *tcp, struct tcp_sock *sock);

/* Take sock out of the epoll set and close its descriptor, if it has one. */
void tcp_hang_up(struct tcp *tcp, struct tcp_sock *sock);
/* In a forked child: close the descriptor, and leave the epoll set as it is. */
void tcp_close_copy(struct tcp_sock *sock);

/* Close sock's descriptor and free the object that begins with it: now, or at the end of
 * progress(). */
void tcp_bury(struct tcp *tcp, struct tcp_sock *sock);

/* Tell the device where error says that a descriptor of this channel is there no more: the
 * program has closed it, and may have opened something else by its number. */
void tcp_check(struct tcp *tcp, int error);

/* Deadlines. Each file returns the time of its next tick, or TCP_NEVER. A file that needs one
 * earlier calls tcp_want_tick(). */
#define TCP_NEVER UINT64_MAX
enum {
    TCP_SOON_NS = 20000000,  /* until another look at what no event tells of */
    TCP_LOOK_NS = 2000000000 /* until another look whether a host answers */
};

/* Call the ticks of all files at this time, or a little later. */
void tcp_want_tick(struct tcp *tcp, uint64_t at_ns);

/* socket() or accept4(), with more descriptors allowed if they have run out. */
int tcp_socket(int family);
int tcp_accept(int listener);
/* The options that every connection has. */
void tcp_tune(int fd);

#endif
