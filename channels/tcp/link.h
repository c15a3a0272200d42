/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One peer.
 *
 *   DIALING --connected, or the peer's own connect came--> OPEN
 *   OPEN --send failed--> MUTE --received bytes are read--> OVER
 *   OPEN --end of stream, reset, nonsense--> OVER (lost() was called)
 *   DIALING --refused--> OVER (refused() was called)
 *
 * Output. A packet goes out by one system call, without a copy, unless it may wait (CHAN_MORE, or
 * from an upcall, and not the first since progress()) or the socket is full: then it is copied into
 * the link's output buffer, or, with a cookie, stays in place, as a node of the queue behind that
 * buffer.
 * Input. A read-ahead buffer takes many small packets at one system call; a link has one while
 * there is something in it. A large body goes to the place that the device names, without a copy:
 * when one is expected, little is read ahead. The link that alone brings packets is hot: it is read
 * without asking epoll, which does not watch it meanwhile and so costs its peer nothing.
 */
#ifndef TCP_LINK_H
#define TCP_LINK_H

#include "channels/tcp/alive.h"
#include "channels/tcp/out.h"
#include "channels/tcp/tcp.h"
#include "channels/tcp/wire.h"

enum {
    LINK_EAGER_MAX = 64 << 10,  /* bytes: beyond, asking first costs little, and has the kernel give the
                                 * pages of the last message back before it wants those of the next */
    LINK_IN_LEN = 64 << 10,     /* bytes of the read-ahead buffer */
    LINK_FLAT_MAX = 2 << 10,    /* bytes: put behind the header for the system call */
    LINK_COPY_MAX = 8 << 10,    /* bytes: up to here, a copy is cheaper than a system call */
    LINK_WRITE_LEN = 512 << 10, /* bytes written and read by one call: while it lasts, the kernel does */
    LINK_READ_LEN = 128 << 10,  /* not see that the peer has taken others, whose pages are in the cache */
    LINK_GATHER_MAX = 16 << 10, /* bytes: larger bodies ask for a place */
    LINK_GLANCE_LEN = 1 << 10,  /* bytes read ahead where a large body is expected: */
    LINK_GLANCES = 16           /* so many packets after the last one */
};

enum link_state {
    LINK_DIALING,
    LINK_OPEN,
    LINK_MUTE,
    LINK_OVER
};

/* A packet that lies in the sender's memory; the node lies in its request. */
struct tcp_packet {
    struct tcp_packet *next;
    struct chan_data data;
    size_t gone; /* bytes of header and payload that are on their way */
    uint8_t header[WIRE_HEADER_LEN];
};

struct tcp_link {
    struct tcp_sock sock;
    struct chan_link base;
    struct tcp *tcp;
    struct tcp_link *next, **at; /* in tcp->links */
    enum link_state state;
    int rc; /* why it is mute */
    bool dirty;
    bool full;    /* the socket takes no more; epoll tells when it does */
    bool watched; /* for output, too */
    struct tcp_link *dirty_next;
    struct dial *dial; /* while dialing */
    uint32_t turn;     /* of tcp->turn, at the last packet that went at once */
    uint64_t end_ns;   /* the peer's process has ended: when to give up on its last bytes; or 0 */
    struct alive alive; /* the peer's host */

    struct out out;
    struct tcp_packet *first, **last;     /* behind out */
    struct tcp_packet *done, **last_done; /* gone, but sent() has not been called */

    uint8_t *body; /* rest of a large body: its place */
    size_t body_len;
    void *token;
    int glances; /* so many of the next packets may be before a large body */
    size_t head, tail; /* in[head..tail) is read and not yet parsed */
    uint8_t *in;       /* [LINK_IN_LEN] of the channel's pool; NULL: nothing is read ahead */
};

_Static_assert(sizeof(struct tcp_link) <= 1024, "what an idle peer costs");

/* Whether packets may still come. */
static inline bool link_is_up(const struct tcp_link *link)
{
    return link->sock.kind == SOCK_LINK && (link->state == LINK_OPEN || link->state == LINK_MUTE);
}

/* Memory for a link, to be free()d or made one; NULL: no memory. */
struct tcp_link *link_alloc(void);
/* Make it a link to peer, dialing, in tcp->links and the peer's slot. */
void link_init(struct tcp_link *link, struct tcp *tcp, struct chan_peer *peer);
/* Both; NULL where memory is out. */
struct tcp_link *link_create(struct tcp *tcp, struct chan_peer *peer);
/* The peer's link, or NULL. */
struct tcp_link *link_of(const struct chan_peer *peer);
/* The link to a process that is not merely dialing, or NULL. */
struct tcp_link *link_find(struct tcp *tcp, const struct chan_gid *gid, uint32_t rank);
/* End it and free it; bytes on their way linger. */
void link_destroy(struct tcp_link *link);
/* The peer's process has ended: send no more, for it would answer by a reset, which takes what it
 * has sent from us; and bound the wait for the rest. */
void link_finish(struct tcp_link *link);

/* The connection is there: fd, already watched for link->sock. Calls opened(). */
int link_open(struct tcp_link *link);
/* There will be none. Calls refused(). */
int link_refuse(struct tcp_link *link, enum chan_answer answer, const char *why);
/* It was and is no more. Calls lost(). */
int link_lose(struct tcp_link *link, int rc);

/* In a forked child: close the descriptors of all. */
void link_forked(struct tcp *tcp);

/* Each returns the number of upcalls. */
int link_event(struct tcp_link *link, bool input, bool output);
int link_poll(struct tcp *tcp); /* the hot one */
/* Let epoll watch the hot link again. */
void link_cool(struct tcp *tcp);
int link_work(struct tcp *tcp); /* the dirty ones */
/* Look whether the hosts of peers answer, and end links that wait for too long. */
int link_tick(struct tcp *tcp, uint64_t now_ns);
/* When link_tick() is to be called next. */
uint64_t link_next(const struct tcp *tcp);
/* Whether no accepted packet waits here, or in a lingering socket. */
bool link_all_out(struct chan *chan);

/* The afterlife of a link that ends open (linger.c): takes its descriptor where something
 * is still to be written. */
void linger_start(struct tcp_link *link);
void linger_event(struct tcp *tcp, struct tcp_sock *sock);
void linger_tick(struct tcp *tcp, uint64_t now_ns);
uint64_t linger_next(const struct tcp *tcp, uint64_t now_ns);
bool linger_all_out(const struct tcp *tcp);
/* Give lingering sockets a last, bounded chance. */
void linger_close(struct tcp *tcp);
void linger_forked(struct tcp *tcp);

#endif
