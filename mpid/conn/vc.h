/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Virtual connections: one for each process that this one has to do with, made
 * unbound, and bound to a channel at the first use.
 *
 * The function table is the state: sending is vc->link->send(). While the VC is
 * not open, or older messages wait, link is the VC's own stand-in, whose send
 * answers CHAN_AGAIN (and, unbound, begins the binding); then messages queue up
 * here. No send path asks whether the VC is connected.
 *
 *   UNBOUND --need--> BINDING --card--> CONNECTING --opened--> OPEN
 *      \---------------asked-----------> ACCEPTING --opened--> OPEN
 *   OPEN --refused--> CONNECTING, where the link was used before the peer had answered
 *   OPEN --close--> LOCAL_CLOSE --peer's CLOSE--> CLOSE_ACKED --> CLOSED
 *   OPEN --peer's CLOSE--> REMOTE_CLOSE --close--> CLOSE_ACKED --> CLOSED
 *   OPEN --leave--> LEAVING --the peer agrees--> UNBOUND, --does not--> OPEN
 *   OPEN --the peer leaves, and we agree--> LEFT --it has--> UNBOUND, --it stays--> OPEN
 *   any --lost, no candidate left--> FAILED
 *   closed, or closing with a peer that does not answer --reopen--> OPEN, --forget--> UNBOUND
 *
 * A VC to a process of another group is closed once nobody needs it, and then unbound again:
 * mpid/conn/foreign.h. Others are closed in MPI_Finalize, or let go while they are idle: mpid/conn/leave.h.
 *
 * The whole table is vc_next[] in vc.c. The device's lock guards everything.
 */
#ifndef MPID_VC_H
#define MPID_VC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/channel.h"
#include "include/mpid.h"
#include "mpid/conn/packet.h"
#include "os/hash.h"
#include "slots.h"

enum vc_state {
    VC_UNBOUND,      /* nothing known of the peer */
    VC_BINDING,      /* its card is awaited */
    VC_CONNECTING,   /* we have begun a link, or wait for the peer's */
    VC_ACCEPTING,    /* the peer has begun a link, and we have said yes */
    VC_OPEN,         /* bound: link is the channel's */
    VC_LEAVING,      /* it is idle, and we have asked the peer to let it go */
    VC_LEFT,         /* the peer has asked, and we send nothing before its next word */
    VC_LOCAL_CLOSE,  /* we have sent CLOSE(0) and wait for the peer's CLOSE */
    VC_REMOTE_CLOSE, /* the peer has sent CLOSE(0): it answers, but receives no message */
    VC_CLOSE_ACKED,  /* we have sent CLOSE(1) and wait for the peer's CLOSE(1) */
    VC_CLOSED,       /* both have sent CLOSE(1): nothing is under way */
    VC_FAILED,       /* the peer is lost or out of reach; sends end in error */
    VC_STATES
};

enum vc_event {
    VC_NEED,    /* something is to be sent */
    VC_LINKED,  /* the card is here, and a link has been begun */
    VC_ASKED,   /* the peer asks for a link, and gets it */
    VC_OPENED,  /* the link is up */
    VC_REFUSED, /* the peer does not take the link that we have begun, but maybe another */
    VC_CLOSE,   /* we are done */
    VC_CLOSE_0, /* the peer is done */
    VC_CLOSE_1, /* the peer is done and knows that we are */
    VC_LOST,    /* no way to the peer, or none any more */
    VC_REOPEN,  /* the world model has ended here, but the link stands */
    VC_FORGET,  /* the same, and there is no link; or both have let it go */
    VC_LEAVE,   /* we ask the peer to let the link go */
    VC_YIELD,   /* the peer asks so, and we agree */
    VC_STAY,    /* one of the two does not let it go */
    VC_EVENTS
};

/* A control packet that waits for its link; or any, where a link that had taken it has been
 * refused. */
struct control {
    struct control *next;
    struct chan_head head;
    uint32_t len;
    void *large; /* malloc'ed, for more than payload holds; or NULL */
    uint8_t payload[40];
};

/* What place() has promised; until landed(). One a VC. */
struct landing {
    const struct packet_kind *kind;
    struct mpid_request *request; /* NULL: unexpected, or nobody wants it any more */
    struct unexpected *unexpected;
    void *temp; /* malloc'ed where the target is not contiguous, or gone */
    size_t offset, len;
    bool eager; /* the request or message fails with the connection */
};

/* What the last rendezvous of each size class cost by each engine. */
struct rates {
    uint32_t ps_per_byte[ENGINES]; /* 0: not measured */
    uint32_t uses;
};

enum { RATE_CLASSES = 5 };

enum { VC_LINE = 64 }; /* a VC begins with one */

struct foreign;
struct opening;

enum vc_format { VC_FORMAT_UNKNOWN, VC_FORMAT_ALIKE, VC_FORMAT_OTHER };

struct vc {
    /* Two cache lines: what a short message takes, either way. */
    struct chan_peer peer; /* first: channels know this part, ... */
    void *slot[ENDPOINT_SLOTS]; /* ... and the slots behind it */
    struct chan_link *link;
    int64_t credit; /* bytes that may still be sent eagerly; negative while that is found out */
    int64_t due;    /* eager bytes to receive and consume until credit is given back */
    uint64_t sent, received; /* eager messages */
    struct mpid_request *send_head, *send_tail; /* messages not handed over yet */
    struct control *control_head, *control_tail;

    struct chan_link *bound; /* the channel's link, open or forming; NULL: none */
    struct vc *busy_next;
    struct mpid_request *pending; /* eager sends that the channel still reads */
    /* Rendezvous: sends that wait for the peer, or that it reads; sends that stream; receives. */
    struct mpid_request *asked, *bulk, *arriving;
    struct landing *landing; /* NULL: none */
    struct opening *opening;       /* NULL: no connection is being made */
    struct foreign *foreign;       /* NULL: its peer is of this group */
    struct vc *judge_next, *judge_prev; /* of those that lost_look() has to look at */
    struct vc *engaged_next, *engaged_prev, *standing_next, *standing_prev; /* where so listed */
    uint8_t state; /* enum vc_state */
    bool busy;     /* in the device's list of VCs with something to hand over */
    bool blocked;  /* so, and its channel has refused that */
    bool judged;   /* in the list of lost_look() no more */
    bool engaged;  /* in the device's list of VCs that may have sends or control packets */
    bool standing; /* in that of VCs whose link is being made, or stands and is not closed */
    bool accepted; /* a link that the peer has begun is forming */
    bool was_open; /* once FAILED: its link had been open */
    bool vanished; /* its process is lost with its host */
    bool no_direct;
    bool no_split; /* the peer cannot write into our memory */
    uint8_t failure; /* enum mpid_error of sends, once FAILED */
    uint8_t long_double, order; /* the peer's: enum vc_format */
    uint32_t unfinished; /* rendezvous sends that wait for the peer */
    uint32_t kept;       /* unexpected messages from there */
    uint64_t used, used_ns; /* messages as idle_look() has last seen, and when it saw more than before */
    uint32_t refs;       /* mpid_vc_get() less mpid_vc_put(), and the unexpected messages from there */
    struct rates *rates; /* [RATE_CLASSES]; NULL: nothing was measured */
    struct chan_link stand_in;
    const struct chan_ops *last_ops; /* what it was bound to before; NULL: nothing */
    UT_hash_handle hh;
    /* Space that modules have reserved follows: MPID_SPACE_VC. */
};
_Static_assert(offsetof(struct vc, control_tail) + sizeof(void *) <= (size_t)2 * VC_LINE,
               "a short message takes two lines");

/* Name the peer for an error message: "rank 3 on host". Locked. */
void vc_describe(const struct vc *vc, char *text, size_t size);
/* Name of a state, for people. */
const char *vc_state_name(enum vc_state state);
/* The state after event, or VC_STATES if it cannot happen in this one. */
enum vc_state vc_after(enum vc_state state, enum vc_event event);

/* What the rooms above do with a VC; start/rooms.c sets it before all else. */
struct vc_above {
    void (*begun)(struct vc *vc); /* it is made, or is forgotten and wanted: nothing tells of its peer's end yet */
    void (*gone)(struct vc *vc);  /* it is about to be freed */
    bool (*is_wanted)(const struct vc *vc); /* whether a send to its peer, or a receive from it, is not over */
    void (*unwanted)(struct vc *vc); /* its peer receives nothing any more */
    void (*finalizes)(void); /* a peer of this job is in MPI_Finalize, sooner than this process */
    void (*starved)(struct vc *vc);  /* no memory to connect: its sends end */
    void (*lost)(const struct vc *vc); /* its peer is lost or out of reach, ... */
    void (*end)(struct vc *vc, enum mpid_error error); /* ... or it fails otherwise: end what goes on, ... */
    void (*failed)(const struct vc *vc, bool has_failed); /* ... then what waits for it; has_failed: its process has */
};
extern const struct vc_above *vc_above;

/* All, by hh. vc.c's own; a debugger also looks at it. */
extern struct vc *vc_table;

/* The VC to a process, made if need be, or NULL (no memory). It is not counted: where nobody else
 * does, it goes with its link, or by vc_check(). */
struct vc *vc_get(const struct chan_gid *gid, uint32_t rank);
/* Count it down. */
void vc_put(struct vc *vc);
/* Have a VC freed soon, outside all upcalls, if nobody needs it and nothing goes on in it. */
void vc_check(struct vc *vc);
/* Progress is done with it for now: free it if that is so. */
bool vc_free_unused(struct vc *vc);
/* The VC if it is there, or NULL. */
struct vc *vc_find(const struct chan_gid *gid, uint32_t rank);
/* Call visit for every VC. It may free the one that it is given. */
void vc_each(void (*visit)(struct vc *vc, void *arg), void *arg);

/* The same for VCs with sends that are not over or control packets that wait, and for VCs whose link
 * is being made, or stands and is not closed: in no order. visit frees none. */
void vc_each_engaged(void (*visit)(struct vc *vc, void *arg), void *arg);
void vc_each_standing(void (*visit)(struct vc *vc, void *arg), void *arg);
/* The first of the latter; NULL: there is none. It is moved behind all others. */
struct vc *vc_standing(void);
void vc_stands_last(struct vc *vc);
/* A VC gets a send or a control packet. */
void vc_engage_slow(struct vc *vc);
static inline void vc_engage(struct vc *vc)
{
    if (__builtin_expect(!vc->engaged, 0))
        vc_engage_slow(vc);
}

/* Move on; an event that cannot happen is a protocol failure of the peer, and
 * changes nothing. Returns whether it could. */
bool vc_event(struct vc *vc, enum vc_event event);

/* Whether something is to be sent, or is on its way. */
static inline bool vc_has_work(const struct vc *vc)
{
    return vc->send_head || vc->control_head || vc->pending || vc->asked || vc->bulk;
}

/* Whether the link stands: from being up until it is taken down, after closing. */
static inline bool vc_is_up(const struct vc *vc)
{
    return vc->bound && vc->state >= VC_OPEN && vc->state <= VC_CLOSED;
}

/* Whether the link may be about to go, so that messages wait. */
static inline bool vc_is_leaving(const struct vc *vc)
{
    return vc->state == VC_LEAVING || vc->state == VC_LEFT;
}

/* Whether nothing can be sent any more, unless it is opened again. */
static inline bool vc_is_over(const struct vc *vc)
{
    return vc->state == VC_FAILED || (vc->state == VC_CLOSED && !vc->bound);
}

/* Why a message with the peer fails, once that is over. */
static inline enum mpid_error vc_error(const struct vc *vc)
{
    return vc->state == VC_FAILED ? (enum mpid_error)vc->failure : MPID_LOST;
}

/* Whether the process of this VC has ended, and has no link but the VC's. */
bool vc_is_ended(const struct vc *vc);
/* The connection to this VC's process broke, or cannot be made. */
void vc_note_lost(const struct vc *vc);
/* Whether nothing comes from the peer any more: its process has ended, or it cannot be reached.
 * What it has sent before has arrived. */
bool vc_is_lost(const struct vc *vc);

/* Put the VC on the list that progress works off: it has something to hand over, or is to be looked at. */
void vc_mark_busy(struct vc *vc);
/* The same where its channel has no room now: nothing is to be done before that tells of news. */
void vc_stay_busy(struct vc *vc);

/* Send a control packet, now or as soon as there is room, in order. */
void vc_control(struct vc *vc, const struct chan_head *head, const void *payload, uint32_t len);

/* Whether the peer has closed, and wants none of our messages. */
bool vc_is_shut(const struct vc *vc);

/* No message waits any more: from now on they go straight to the link, unless the peer wants
 * none. */
static inline void vc_let_go(struct vc *vc)
{
    vc->link = vc_is_shut(vc) || vc_is_leaving(vc) ? &vc->stand_in : vc->bound;
}

/* The link has been refused: what it had taken waits, together with the rest, for another. */
void vc_refused(struct vc *vc);
/* Take a packet back that a link has taken and not brought to the peer: it goes out before all
 * that waits. */
void vc_take_back(struct vc *vc, const struct chan_head *head, const void *data, size_t len);
/* Free a control packet that is in no queue. */
void vc_control_free(struct control *control);

/* Give up the link and the control packets that wait for it. */
void vc_drop_link(struct vc *vc);

/* Both sides have let the link go: the VC is as before the first contact. Packets that wait connect again. */
void vc_forget_link(struct vc *vc);
/* Of a process of another group: close it, if nobody needs it any more. */
void vc_retire(struct vc *vc);
/* Begin to close; progress does the rest. */
void vc_close(struct vc *vc);
/* All awaited peers have closed: later packets belong to sessions. */
void vc_reopen(struct vc *vc);
/* The link is another process's, the parent of this one: nothing goes there any more. */
void vc_disown(struct vc *vc);
/* Nobody needs the connection that is being made. */
void vc_abandon(struct vc *vc);
/* There is no memory to connect. Sends that wait fail so, and the next one tries again. */
void vc_give_up_for_now(struct vc *vc);
/* The peer is gone or cannot be reached: everything with it ends in error. */
void vc_fail(struct vc *vc, enum mpid_error error, const char *why);

#endif
