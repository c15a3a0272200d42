/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The device's own state, and what its files share.
 *
 * device.lock guards all of it, and every VC, request in flight and channel. It
 * is taken at the entry points of include/mpid.h (send.c, recv.c, progress.c,
 * device.c); everything below, and every upcall, runs under it.
 */
#ifndef MPID_DEVICE_H
#define MPID_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/bnr.h"
#include "include/channel.h"
#include "include/mpid.h"
#include "mpid/conn/bind.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/ended.h"
#include "mpid/ground/ids.h"
#include "mpid/ground/match.h"
#include "mpid/tell/hang.h"
#include "mpid/tell/stats.h"
#include "mpid/wait/deliver.h"
#include "os/lock.h"
#include "os/pool.h"

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
    struct port ports[BIND_CHANNELS];
    int port_count;
    int hot_count, countdown; /* of hot; turns until the next care */
    struct port *hot[BIND_CHANNELS + 1]; /* the last may be that of looks */
    const struct chan_ops *ops[BIND_CHANNELS]; /* of ports */
    char card[CARD_MAX];
    struct match match;
    struct mpid_envelope got[RECV_GOT]; /* by receives with a wildcard: the last of got_count */
    unsigned got_count;
    struct stats stats;
    struct ids ids;
    struct os_pool controls, landings;
    struct os_pool cars; /* second CARs of rendezvous */
    struct vc *busy;     /* VCs with something to hand over */
    bool drains;         /* of busy, some are to be looked at, though no channel tells of room */
    int binding;         /* VCs whose card is awaited, or that connect */
    struct opening *openings;  /* of those, what we do about it */
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
    bool tolerant;  /* the job is to go on if this process fails */
    bool has_lost;  /* a connection broke; the last one was to this process */
    struct chan_gid lost_gid;
    uint32_t lost_rank;
    char unreachable[512]; /* whom no channel reaches, and why: an end that follows tells it */
    /* See mpid_set_comms() and mpid_set_failed(). */
    void (*_Atomic each_comm)(bool (*take)(void *arg, const struct mpid_comm_view *view), void *arg);
    void (*_Atomic contexts_of)(const struct mpid_gid *gid, uint32_t rank,
                                void (*fail)(uint32_t context));
    _Atomic int sleepers;
    uint32_t turns, looks; /* looks: turns of callers that do not wait */
    uint64_t moved_ns, final_ns; /* when a rendezvous was last done with */
};

extern struct device device;

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
/* Whether the process of this VC has ended, and has no link but the VC's. */
bool device_is_ended(const struct vc *vc);
/* The same of any rank of our group. */
bool device_is_ended_rank(uint32_t rank);
/* The connection to this VC's process broke, or cannot be made. */
void device_note_lost(const struct vc *vc);
/* Whether this is the group that mpiexec started. */
bool device_is_own_group(const struct chan_gid *gid);
/* The group that has this rank, as BNR knows it; BNR_GROUP_NULL: none. */
BNR_Group device_group_of(const struct chan_gid *gid, uint32_t rank);
/* Whether stats.c hears of every packet before recv.c does. */
void device_listen(bool on);

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

/* ---- car.c ---- */

/* A CAR is over: complete its request, if that has no other. */
void car_complete(struct mpid_request *car);
/* Have a CAR that is under way be one more of a request, or of a CAR. Its handler, if it has one, is
 * called once it is over, locked: no later. */
void car_add(struct mpid_request *request, struct mpid_request *car);

/* ---- send.c ---- */

/* Hand over the waiting packets of a VC. Returns whether anything moved. */
bool send_drain(struct vc *vc);
/* The channel has read the bytes of a pending packet. */
void send_sent(struct vc *vc, struct mpid_request *request);
/* End every send of a VC in error. */
void send_fail(struct vc *vc, enum mpid_error error);
/* The peer receives nothing any more: end in error what it has not matched. */
void send_unwanted(struct vc *vc);
/* Ask the peer to forget a message that it has not matched. */
void send_ask_cancel(struct mpid_request *request);
/* End what in this context waits to be sent, and take back what the peer has not matched. */
void send_fail_context(uint32_t context);
/* Take a waiting send out of its queue. */
void send_unqueue(struct mpid_request *request);

/* ---- recv.c ---- */

int recv_init(void);
void recv_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                  size_t len);
/* The bytes of a landing will never be complete. */
void recv_fail(struct vc *vc, enum mpid_error error);
/* Free an unexpected message that is in no queue. */
void recv_forget(struct unexpected *unexpected);
/* Copy bytes of a message to their place; excess bytes are dropped. */
void recv_copy(struct mpid_request *request, size_t offset, const void *data, size_t len);

/* ---- lost.c ---- */

/* Why no message can come that fits want, or MPID_OK. from: as of mpid_recv(). */
enum mpid_error lost_why(const struct vc *from, const struct mpid_envelope *want);
/* End a receive just posted, if no message can come any more. */
void lost_check_posted(struct mpid_request *request);
/* The process has waited for a while: see that it waits for none that no channel leads to. */
void lost_look(void);
/* Have it look at a VC, or no more. */
void lost_add_vc(struct vc *vc);
void lost_remove_vc(struct vc *vc);
/* How what begins in a context that has failed ends; MPID_OK: it has not failed. */
enum mpid_error lost_context(uint32_t context);
void lost_vc(void); /* a connection has failed */
bool lost_is_wanted(const struct vc *vc); /* whether a send to that process, or a receive from it, is not over */
/* A process has ended, or one of another job has gone; failed: otherwise than by MPI_Finalize (mpid/conn/foreign.h). */
void lost_process(const struct chan_gid *gid, uint32_t rank, bool failed);
void lost_fini(void);

/* ---- rndv.c ---- */

int rndv_init(void);
/* A receive and an RTS have met. from: where the sender's bytes lie; key NULL if no key came. */
void rndv_start(struct mpid_request *request, struct vc *vc, uint64_t total,
                const struct chan_remote *from, uint32_t id);
/* A one-sided operation is over. */
void rndv_got(struct chan_peer *peer, void *cookie, int rc);
/* Let the peer no longer reach the memory of a send that is over. */
void rndv_release(struct mpid_request *request);
/* A sending CAR, which is in no list any more, has brought its bytes to the peer. */
void rndv_finish_send(struct mpid_request *car);
/* Tell the peer that its CAR is over. */
void rndv_send_done(struct vc *vc, uint32_t id, enum mpid_error error);
/* End every receive in rendezvous with this peer in error. */
void rndv_fail(struct vc *vc, enum mpid_error error);

/* ---- progress.c ---- */

/* One turn, locked. */
bool progress_turn(void);
/* Hear from the process manager, now and then. */
void progress_hear(void);
/* Look at every channel in the next turn. */
void progress_look(void);
/* There is a look (mpid/wait/look.h): see to it that it is looked at. */
void progress_hear_looks(void);

/* The caller looks, and may do so seldom: without asking more often than in a wait, mpiexec's
 * question would not be heard in time. Locked. */
enum { LOOKS_PERIOD = 4 };
void progress_listen(void);
static inline void progress_looked(void)
{
    if (__builtin_expect(!(++device.looks % LOOKS_PERIOD), 0) || hang_is_asked())
        progress_listen();
}

/* ---- sleep.c ---- */

/* Wake sleeping threads of this process, locked: all; those that wait for this request, and for
 * what they cannot say; or the latter alone; or, where a VC is busy, or a channel has no room that
 * had some as that one armed it, or a completion is to be delivered, the one on the channels. */
void progress_wake(void);
void progress_wake_for(const struct mpid_request *request);
void progress_wake_some(void);
void progress_wake_work(bool is_blocked);

static inline bool progress_sleepers(void)
{
    return __builtin_expect(atomic_load_explicit(&device.sleepers, memory_order_relaxed), 0);
}

/* Something came about that a sleeping thread may wait for, and no channel tells it. */
static inline void progress_news(void)
{
    if (progress_sleepers())
        progress_wake_some();
}

/* ---- epoch.c ---- */

/* Whether the peer has put this word (see there), as far as is known on this host. */
bool epoch_peer_says(const struct vc *vc, const char *key);
/* Whether the peer's host has answered that it had not put the word. Neither waits for that. */
bool epoch_peer_says_not(const struct vc *vc, const char *key);

/* ---- report.c ---- */

/* Tell mpiexec which channel each peer was bound to, and why not another. */
void report_put(void);

#endif
