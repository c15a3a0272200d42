/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The pair channel: memory that two processes of two jobs share, on one host, of one user.
 *
 * A process of another job cannot be given this job's memory, as it would have all of that. So the two that
 * make a link share a segment of their own, with a ring each way (ring.h). It has no name: the caller makes it, fixes its
 * size, and hands it over a socket, which stays as long as the link. Its end is the end of the link, so that a
 * death is noticed; a byte over it wakes a sleeper. The socket that is called has an abstract name, which
 * vanishes with its process: nothing is left behind, however a process ends.
 *
 *   caller -> owner   HELLO      who calls whom, a nonce
 *   owner -> caller   CHALLENGE  a nonce, and a proof that it knows the secret of the two
 *   caller -> owner   PROOF      a proof; with it the descriptor of the segment
 *   owner -> caller   ANSWER     enum chan_answer
 *
 * The kernel tells the user of the other end of a socket, and only the same one is talked to; the secret
 * (chan_secret()) tells that it is the right process. A process listens once it is to meet others (serve()).
 *
 * Links and strangers that end during progress() are freed at its end, as an upcall may end any of them.
 * Guarded by the device's lock, as all of a channel.
 */
#ifndef PAIR_PAIR_H
#define PAIR_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "channels/pair/ring.h"
#include "channels/pair/talk.h"
#include "include/channel.h"

enum { PAIR_NAME = 16 }; /* random bytes */

/* What epoll tells of. */
enum pair_what { PAIR_DOOR, PAIR_STRANGER, PAIR_LINK };

struct pair_sock {
    enum pair_what what;
    int fd; /* -1: none */
};

enum pair_state {
    PAIR_HELLO, /* our HELLO is out */
    PAIR_SAID,  /* so is our PROOF: the peer may rely on it */
    PAIR_OPEN,
    PAIR_OVER,  /* the device was told, or need not be */
    PAIR_DEAD   /* unlinked: to be freed */
};

struct pair_link {
    struct chan_link base;
    struct pair_ring_out out;
    struct pair_ring_in in;
    struct pairs *pair;
    struct pair_link *next;
    struct pair_sock sock;
    enum pair_state state;
    bool starved; /* send() has found no room */
    bool is_last; /* the peer's process has ended: so is what its socket holds all, ... */
    bool gone;    /* ... and what its ring holds, also where it has closed */
    int broken;   /* -errno, or 0 */
    void *segment; /* NULL: none yet */
    struct pair_talk talk;
};

/* One that calls. */
struct pair_stranger {
    struct pair_sock sock;
    struct pair_stranger *next;
    bool was_greeted, is_over;
    void *segment; /* it has proven itself, and waits for an older link to end; or NULL */
    struct pair_talk talk;
};

struct pairs {
    struct chan base;
    const struct chan_env *env;
    struct pair_sock door;
    uint8_t name[PAIR_NAME];
    struct pair_link *links;
    struct pair_stranger *strangers;
    uint32_t stranger_count, forming; /* links that are not open */
    uint32_t turn;
    bool is_armed;   /* since arm() with a descriptor, until disarm() */
    bool looks;      /* at the sockets, in the next progress() */
    bool is_busy;    /* progress() is running */
    bool has_dead;
};

extern const struct chan_ops chan_pair;

/* ---- link.c ---- */

/* A link that is counted and in the list, without a socket; NULL: no memory. */
struct pair_link *pair_link_make(struct pairs *pair, struct chan_peer *peer);
/* The link to a process; NULL: there is none. */
struct pair_link *pair_link_find(const struct pairs *pair, const struct chan_gid *gid, uint32_t rank);
/* It is up, over this segment. first: this process has made the segment. */
void pair_link_up(struct pair_link *link, void *segment, bool first);
/* Wake the peer, by a byte. */
void pair_link_wake(struct pair_link *link);
/* Close its socket and unmap its segment. */
void pair_link_drop(struct pair_link *link);

/* ---- meet.c ---- */

/* Listen, if that has not begun. Returns 1: it has now; 0: it had; or -errno. */
int pair_listen(struct pairs *pair);
void pair_close_door(struct pairs *pair);
/* Call the process that listens by this name. Returns 0 or -errno. */
int pair_call(struct pair_link *link, const uint8_t name[PAIR_NAME]);
/* Look at the socket of a link that has no end yet, or is being made. Returns the number of upcalls. */
int pair_link_look(struct pair_link *link);
/* Read what has come over a socket. Returns the number of upcalls. */
int pair_sock_event(struct pairs *pair, struct pair_sock *sock);
/* Look again at strangers that wait for an older link to end. Returns as above. */
int pair_look_at_strangers(struct pairs *pair);
void pair_free_strangers(struct pairs *pair, bool all);

#endif
