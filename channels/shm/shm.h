/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The shared-memory channel. Each process of the group on this host owns a
 * region of one sparse segment:
 *
 *   header   its identity, whether it sleeps, its callers
 *   lines    two cache lines a peer: the caller's, and the owner's answer
 *   rings    one a peer, which the peer fills and the owner empties
 *   pool     chunks which the owner fills and its peers read
 *
 * Bits, lines and rings are numbered by the peer's index among the group's processes on this host.
 *
 * Everything a peer may write stands in the header and in its own lines and
 * ring. Regions begin as zeros, which is the empty state, so a process may call
 * and send to one that has not started yet. A page is touched only when its
 * peer is: the owner looks at a peer's lines and ring once the peer's bit is set.
 *
 * Attempts. A pair of processes has one link, made of two directions. The maker of a link writes
 * into the other's region, in its caller line, a new attempt: a number, and the ring position where
 * its packets begin; then sets its bit and counts the owner's news up. The owner meets a new
 * attempt in progress(): it completes a link that it has made itself (so crossing calls merge into
 * one), or is asked of the device and answered with an attempt in the other direction. A refusal
 * stands in the owner's own region, so that it can be given to a caller whose region cannot be
 * mapped; packets sent meanwhile go back to the device. unlink() ends an attempt without a word:
 * whatever of it is still in the ring when the peer's next attempt begins is dropped, and a link
 * whose peer has begun anew is lost once its own packets are read. So that its reader finds the end
 * of these, nothing is sent in a second or later attempt before it is answered. Positions, attempts
 * and unread packets stay in the region from one link to the next.
 *
 * Guarded by the device's lock, as all of a channel. Shared words are atomic.
 */
#ifndef SHM_SHM_H
#define SHM_SHM_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "channels/shm/chunk.h"
#include "channels/shm/ring.h"
#include "include/channel.h"

enum {
    SHM_LAYOUT = 2, /* counts up when the region changes */
    SHM_HEADER_SIZE = 4096,
    SHM_RANKS_MAX = 16384, /* bits in a header */
    SHM_HOT = 8            /* links that every progress() looks at */
};

/* struct shm_header.state. */
enum shm_state {
    SHM_UNBORN = 0,
    SHM_OPEN = 1,
    SHM_CLOSED = 2
};

/* Bits of struct shm_header.sleeping; the rest counts sleeps. 0: awake. */
enum {
    SHM_SLEEP_FD = 1,      /* wake by a datagram, too */
    SHM_SLEEP_STARVED = 2, /* wake also when credit comes */
    SHM_SLEEP_COUNT = 4
};

/* The first page of a region. The owner writes all of it but doorbell, news
 * unheard and called, and everything above the first of these before state. */
struct shm_header {
    uint32_t layout;
    uint32_t pid;
    uint64_t magic;    /* random; stands also in the owner's memory ... */
    uint64_t magic_at; /* ... here, for a probe to read */
    uint32_t heavy;    /* the owner can use os_heavy_fence() */
    _Atomic uint32_t state; /* OPEN: stored with release, all above it first. CLOSED: see retire() */
    uint32_t pad[8];

    _Atomic uint32_t sleeping; /* stored before, looked at after, a heavy fence */
    _Atomic uint32_t doorbell; /* the word to sleep on; counted up after what the sleeper is to find */
    _Atomic uint32_t news;     /* counts new attempts and refusals, after them; pairs with visit_callers() */
    _Atomic uint32_t unheard;  /* set by a peer that cannot send a datagram to bell; alone, so relaxed */
    _Atomic uint32_t cpu;      /* where the owner went to sleep; a hint, so relaxed */
    uint32_t more_pad[11];

    _Atomic uint32_t bell_len; /* 0: no socket yet; stored with release after bell, pairs with send_datagram() */
    struct sockaddr_un bell;   /* datagrams to it wake a sleeper with SHM_SLEEP_FD */

    _Alignas(2048) _Atomic uint64_t called[SHM_RANKS_MAX / 64]; /* bit: has ever called; set after attempt */
};

_Static_assert(sizeof(struct shm_header) == SHM_HEADER_SIZE, "a header is one page");

/* What two processes tell each other outside of the ring; in the receiver's region. */
struct shm_lines {
    _Atomic uint64_t attempt; /* the caller's: number << 32 | first position; 0: none. Pairs with new_attempt() */
    _Atomic uint32_t sent;    /* the caller's position when it last unlinked; it alone reads it */
    uint32_t pad[13];
    struct shm_ring_credit credit; /* the owner's */
    uint32_t more_pad[13];
};

_Static_assert(sizeof(struct shm_lines) == 128, "lines of two peers share no pair of cache lines");

/* Where things are in every region of this host. */
struct shm_layout {
    uint64_t lines, rings, pool; /* offsets */
    uint64_t size;               /* bytes to map */
};

/* Life of a link: IDLE -> CALLING -> UP -> GONE, and from each to IDLE by unlink(). */
enum shm_phase {
    SHM_IDLE,    /* the device has no link */
    SHM_CALLING, /* made by link(); the peer has not answered, or nobody was told */
    SHM_UP,      /* opened() was called */
    SHM_GONE     /* refused() or lost() was called */
};

/* Everything about one peer; made at first contact, kept until close(). The fields for a small
 * packet come first. */
struct shm_link {
    struct chan_link base;
    struct shm_ring_out out;
    struct shm_header *theirs; /* the peer's region */

    struct shm_ring_in in;
    struct shm_lines *in_lines;  /* in our region */
    struct shm_lines *out_lines; /* in theirs */
    struct shm *shm;
    uint32_t rung;   /* the peer's sleeping word when we last woke it */
    uint8_t phase;   /* enum shm_phase */
    uint8_t hears;   /* the peer's attempt has come: its ring is ours to read */
    uint8_t ends;    /* the peer has begun anew: read no further than next_first */
    uint8_t last;    /* the peer's process has ended: what its ring holds is all */
    uint8_t fenced;  /* sends need a full fence before looking at sleeping */
    uint8_t held;    /* a later attempt that is not answered: nothing is sent yet */
    uint8_t starved; /* send() has answered CHAN_AGAIN since the last packet taken */
    uint8_t listed;  /* stands in shm->listening */
    uint8_t probed;  /* direct copies were tried, ... */
    uint8_t unable;  /* ... and do not work */

    const unsigned char *their_pool;
    uint32_t rank;       /* in our group */
    pid_t pid;           /* that the probe has read; what the peer says later does not count */
    int broken;          /* -errno to report, or 0 */
    uint32_t in_number;  /* of the peer's attempt */
    uint32_t next_first; /* where its next attempt begins, where ends */
    uint32_t out_number; /* of our attempt, ... */
    uint32_t out_first;  /* ... and where its packets begin */
    struct shm_flights flights;
};

/* What to fetch of the next chunk while there is nothing to do; see chunk.h. */
struct shm_ahead {
    struct shm_link *link; /* the last chunk went there, ... */
    uint16_t class;        /* ... and was one of these */
    uint32_t at, end;      /* these bytes of the next one are not in our cache yet */
};

/* The channel. */
struct shm {
    struct chan base;
    const struct chan_sink *sink;
    struct shm_header *mine; /* our region */
    const struct chan_env *env;
    struct shm_link **listening; /* links whose ring is read, the busy ones first */
    struct shm_link **links;     /* all, by index on the host; NULL before contact */
    struct shm_link **contacts;  /* all, without gaps, in order of contact */
    uint8_t *unable;             /* by index: its memory could not be mapped, and never will be */
    struct shm_header *spare;    /* a page to map the header of such a rank at */
    uint32_t contact_count, listening_count;
    uint32_t news_seen;
    uint32_t turn;         /* which quiet ring to look at next */
    uint32_t turn_hot;     /* whose place among the busy ones to give away next */
    uint32_t turn_collect; /* whose credit to look for next when chunks are out */
    uint32_t starved;      /* links with starved */
    uint8_t has_room;      /* a peer has given room since arm() */
    uint32_t sleeps;       /* counts in SHM_SLEEP_COUNT */
    uint8_t said_unable;   /* that some memory could not be mapped */
    uint8_t said_deaf;     /* that a sleeper cannot be woken by a datagram */
    uint8_t chores;        /* upcalls are due, or listening is to be tidied */
    uint8_t heavy;         /* we can use os_heavy_fence() */
    uint8_t may_copy;      /* direct copies are allowed */
    int bell;              /* socket to send datagrams from; -1: none yet */
    dev_t device;          /* what the descriptor of the host's memory names */
    ino_t inode;
    struct shm_ahead ahead;
    struct shm_layout layout;
    uint64_t magic;
    struct shm_chunk_pool pool;
};

extern const struct chan_ops chan_shm;
extern const struct chan_onesided shm_onesided;

/* Where the region of the rank with this index on the host lies. Returns 0 or -errno. */
int shm_region(struct shm *shm, uint32_t index, int *fd, uint64_t *offset, uint64_t *size);

/* Compute the layout for ranks in size bytes. Returns 0, or -ENOSPC. */
int shm_layout_plan(struct shm_layout *layout, int ranks, uint64_t size);

/* The record of an index, made and mapped if necessary. Returns 0 or -errno, and the same ever
 * after, so that both sides agree on whether there can be a link. */
int shm_link_contact(struct shm *shm, uint32_t index, struct shm_link **link);
/* Unmap and free it. */
void shm_link_destroy(struct shm_link *link);
/* Make a link of the record for the device's peer, by an attempt of our own. */
void shm_link_begin(struct shm_link *link, struct chan_peer *peer);
/* Whether an attempt may begin at position first. */
int shm_link_may_hear(const struct shm_link *link, uint32_t first);
/* Read the peer's ring as attempt number, which begins at first. */
void shm_link_hear(struct shm_link *link, uint32_t number, uint32_t first);
/* Tell the peer that its attempt is refused. */
void shm_link_refuse(struct shm_link *link, uint32_t number, enum chan_answer answer);
/* Refuse the attempt of an index that there is no record of, as its memory cannot be mapped. */
void shm_link_refuse_unmapped(struct shm *shm, uint32_t index, uint32_t number);
/* The peer's refusal of our attempt, or CHAN_ACCEPT without one. */
enum chan_answer shm_link_answer(const struct shm_link *link);
/* Give the packets of a refused attempt back to the device. Returns the number of upcalls. */
int shm_link_return(struct shm_link *link);
/* The peer's process has ended: ops' finish. */
void shm_link_finish(struct chan_link *base);
/* End the link: ops' unlink. */
void shm_link_end(struct chan_link *base);

/* Receive waiting packets, to a bound. Returns the number of upcalls. */
int shm_link_receive(struct shm_link *link);
/* Take the peer's credit. Returns whether there was more. */
int shm_link_refresh(struct shm_link *link);

/* Whether a packet has come. */
static inline int shm_link_has_packet(const struct shm_link *link)
{
    struct shm_ring_slot *slot;
    uint64_t control;
    return link->hears && shm_ring_peek(&link->in, &slot, &control);
}

/* Wake the peer, whose sleeping word this is; once for each of its sleeps. */
void shm_bell_ring(struct shm_link *link, uint32_t sleeping);
/* Make the socket that rings, shm->base.fd. Returns 0 or -errno. */
int shm_bell_open(struct shm *shm);
/* Whether the socket, made if necessary, tells of all that peers send. */
int shm_bell_is_heard(struct shm *shm);
/* Take all datagrams from it. */
void shm_bell_drain(struct shm *shm);
void shm_bell_close(struct shm *shm);

#endif
