/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The device's own state, and what its files share.
 *
 * device.lock guards all of it, and every VC, request in flight and channel. It
 * is taken at the entry points of include/mpid.h; everything below, and every upcall, runs under it.
 */
#ifndef MPID_DEVICE_H
#define MPID_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/bnr.h"
#include "include/channel.h"
#include "include/mpid.h"
#include "mpid/ground/bind.h"
#include "mpid/ground/ids.h"
#include "mpid/ground/match.h"
#include "mpid/ground/stats.h"
#include "os/lock.h"
#include "os/memory/pool.h"

enum {
    EAGER_OVERHEAD = 64, /* what a message costs its receiver besides its data */
    RNDV_DIRECT_MIN = 16 << 10, /* bytes: below, a stream is always best */
    RECV_GOT = 8 /* messages that receives with a wildcard have got, and that are remembered */
};

/* In a send's mode, besides enum mpid_mode: the peer has been asked to cancel it. */
enum { SEND_CANCEL = 1u << 8, SEND_GIVEN_UP = 1u << 9 /* the same, as its context has failed */ };

/* Where a request is in its life; struct mpid_request's state. */
enum car_state {
    CAR_IDLE,
    CAR_WAITING, /* send: in its VC's queue */
    CAR_SENDING, /* eager: a channel still reads its bytes */
    CAR_ASKED,   /* RTS sent: the receiver has not answered */
    CAR_BULK,    /* streaming; in its VC's bulk list */
    CAR_BULK_PENDING, /* the same, and a channel still reads a fragment */
    CAR_LENT,    /* the receiver reads */
    CAR_POSTED,  /* receive: waits for a message */
    CAR_AWAITED, /* the same, and its caller does nothing but wait for it */
    CAR_READING,  /* a channel reads its message out of the peer's memory, until rndv_got() */
    CAR_ARRIVING, /* its message is being written by a channel or the peer */
};

/* An open channel, and how often it is worth looking at. */
struct port {
    int (*progress)(struct chan *chan);
    struct chan *chan;
    uint32_t wait, period; /* turns until the next look; between looks: 0 if hot */
    uint32_t brought;      /* upcalls since progress.c last thought about it */
    bool in_memory;        /* looking is cheap: always hot */
};

struct device {
    struct os_lock lock;
    /* A blocking receive, while no other is posted: it stands on its caller's stack, for one
     * turn. NULL: none. */
    struct mpid_wanted *wanted;
    BNR_Group group;
    int node; /* the number of our host in the group */
    const _Atomic uint32_t *news; /* see BNR_Get_news(); NULL: the process manager does not count */
    uint32_t news_seen;           /* by connect_poll() */
    struct mpid_world world;
    struct chan_env env;
    struct chan_sink sink; /* what channels call */
    struct port ports[BIND_CHANNELS];
    int port_count;
    int hot_count, countdown; /* of hot; turns until the next care */
    struct port *hot[BIND_CHANNELS + 1]; /* the last may be that of looks */
    const struct chan_ops *ops[BIND_CHANNELS]; /* of ports */
    char card[CARD_MAX];
    struct match match;
    struct mpid_envelope got[RECV_GOT]; /* by receives with a wildcard: the last of got_count */
    unsigned got_count;
    const struct mpid_envelope *peek; /* that the calling thread looks for, while it does */
    struct stats stats;
    struct ids ids;
    struct os_pool controls, landings;
    struct os_pool cars; /* second CARs of rendezvous */
    struct vc *busy;     /* VCs with something to hand over */
    bool drains;         /* of busy, some are to be looked at, though no channel tells of room */
    int foreign_count; /* VCs to processes of other groups */
    int binding;         /* VCs whose card is awaited, or that connect */
    struct opening *openings;  /* of those, what we do about it */
    int leaving;         /* VCs whose link may be about to go, as it is idle */
    const struct chan *crowd; /* a channel whose links are scarce, and more than so many of which are too many; ... */
    int crowd_most;           /* ... NULL: none */
    uint64_t eager_credit, credit_step; /* bytes that a peer may hold; bytes given back at once */
    unsigned used;    /* enum mpid_model: the models so far; the world model no longer once it is
                       * over */
    bool finalizing;  /* MPI_Finalize has been called, at final_ns */
    bool at_rest;     /* from mpid_rest() on, until the next mpid_init() */
    pid_t pid;        /* the process that opened the channels; 0: not open */
    bool orphan;    /* mpid_orphan() was called */
    _Atomic pthread_t forker; /* the thread that holds the lock across fork(); 0: none */
    int unjudged;     /* so many looks of lost_look() are still to be taken */
    bool judged_group; /* one of them: whether any process of the group can be reached */
    uint32_t apart;   /* no channel leads to the ranks of the group below this one */
    uint32_t first_apart; /* the first of them; the group's size: none */
    bool alone;       /* nor to any other */
    bool any_lost;    /* some receives that are posted from now on may have to end at once */
    bool hearing;   /* in progress_hear(): of ends that come at once some work is put off to its end ... */
    bool ending;    /* ... where lost_finish() does it */
    bool parting;   /* parted.c has something to do by the clock */
    uint64_t vanish_ns; /* when to call connect_end_vanished(); 0: never */
    bool tolerant;  /* the job is to go on if this process fails */
    bool has_lost;  /* a connection broke; the last one was to this process */
    struct chan_gid lost_gid;
    uint32_t lost_rank;
    char unreachable[512]; /* whom no channel reaches, and why: an end that follows tells it */
    /* See mpid_set_comms() and mpid_set_failed(). */
    void (*_Atomic each_comm)(bool (*take)(void *arg, const struct mpid_comm_view *view), void *arg);
    void (*_Atomic contexts_of)(const struct mpid_gid *gid, uint32_t rank,
                                void (*fail)(uint32_t context));
    _Atomic int sleepers; /* changed and looked at under the lock */
    uint32_t turns, looks; /* looks: turns of callers that do not wait */
    uint64_t moved_ns, final_ns; /* when a rendezvous was last done with */
};

extern struct device device;

/* Whether idle links are to be let go. */
static inline bool device_is_crowded(void)
{
    return __builtin_expect(device.crowd && device.crowd->links > device.crowd_most, 0);
}

/* mpiexec asks what this process waits for, and its answer is being gathered (mpid/tell/hang.h). */
extern _Atomic bool device_asked;
static inline bool device_is_asked(void)
{
    return __builtin_expect(atomic_load_explicit(&device_asked, memory_order_relaxed), 0);
}

/* Completions wait to be delivered (mpid/wait/deliver.h). A hint for those without the lock, which guards them. */
extern _Atomic bool device_delivers;

/* The news by now. */
static inline uint32_t device_news(void)
{
    return device.news ? atomic_load_explicit(device.news, memory_order_acquire) : 0;
}

/* Whether some word of a peer may be there that has been asked for since news was as seen, which is the
 * news by now from here on: read once, before the looks. */
static inline bool device_take_news(uint32_t *seen)
{
    uint32_t now = device_news();
    bool has = !device.news || now != *seen;
    *seen = now;
    return has;
}

bool device_shows_keys(void); /* whether peers find a key without a fence */
/* Whether the process of a rank of our group has ended. */
bool device_is_ended_rank(uint32_t rank);
/* mpid_abort(), for those that hold the lock. */
_Noreturn void device_abort(int code, const char *message);
/* Whether this is the group that mpiexec started. */
bool device_is_own_group(const struct chan_gid *gid);
/* The group that has this rank, as BNR knows it; BNR_GROUP_NULL: none. */
BNR_Group device_group_of(const struct chan_gid *gid, uint32_t rank);

/* The open channel of this kind. */
struct chan *device_chan_of(const struct chan_ops *ops);

/* ---- lists of requests that one VC is engaged in: by next and prev, in no order ---- */

static inline void request_list(struct mpid_request **list, struct mpid_request *request)
{
    request->prev = NULL;
    request->next = *list;
    if (*list)
        (*list)->prev = request;
    *list = request;
}

static inline void request_unlist(struct mpid_request **list, struct mpid_request *request)
{
    if (request->next)
        request->next->prev = request->prev;
    *(request->prev ? &request->prev->next : list) = request->next;
}

#endif
