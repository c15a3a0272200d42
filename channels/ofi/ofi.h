/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ofi channel's own state, which its files share: ofi.c (the operations), near.c (which adapter),
 * fabric.c (the endpoint of this process, and its buffers), places.c (addresses of peers), leftover.c
 * and guard.c (leftovers of killed processes, and locks that they hold), memory.c (one-sided
 * operations), link.c (one peer), alive.c (whether it lives), stranger.c (callers not yet believed),
 * sleep.c (sleeping), sockets.c (the connections of provider sockets), datagrams.c (the socket
 * beneath ofi_rxd).
 *
 * One endpoint of type FI_EP_RDM serves all peers. Messages arrive in buffers that are always
 * posted; they leave by injection, or from a buffer into which they are copied. The provider makes
 * progress when the completion queue is read.
 */
#ifndef OFI_OFI_H
#define OFI_OFI_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "channels/ofi/wire.h"
#include "include/channel.h"
#include "os/heard.h"

enum {
    OFI_RECEIVES = 128, /* buffers posted */
    OFI_BATCH = 4,      /* of them that are posted at once, at least: some providers make a system call then */
    OFI_SENDS = 64,     /* buffers for messages too long to inject, at first */
    OFI_SHARE = 48,     /* of them that one link may hold: its peer may take nothing for long; ... */
    OFI_LEAST = 4,      /* ... and that each may hold, even if there must be more for that: */
    OFI_MORE = 8,       /* so many at a time */
    OFI_INJECT_MAX = 4096, /* bytes of a message that is injected, at most */
    OFI_TRANSFERS = 64, /* one-sided operations at once */
    OFI_WATCHED = 8     /* descriptors of the completion queue */
};

struct ofi_link;

/* One buffer, and its operation while there is one. */
struct ofi_op {
    struct fi_context2 context; /* first: completions point here, and the provider may use it */
    struct ofi_op *next;        /* in a list of those without an operation */
    struct ofi_link *link;      /* of a send: NULL where nobody cares any more */
    fi_addr_t to;               /* while it is under way, unless it receives: where; FI_ADDR_UNSPEC: it is not */
    bool receives, transfers;
    uint16_t kind; /* of a send that is not complete: enum ofi_kind; 0: none */
    uint8_t *bytes;
    void *desc;           /* of their registration, where the provider wants that */
    struct ofi_op *other; /* in the list of all that send */
};

/* Buffers, and their memory. */
struct ofi_buffers {
    struct ofi_buffers *next;
    uint8_t *bytes;
    size_t len;
    struct fid_mr *mr; /* where the provider wants that; or NULL */
    struct ofi_op ops[];
};

/* A message on its way: the frame, and room for the body of one that is injected. */
struct ofi_message {
    struct ofi_frame frame;
    uint8_t body[OFI_INJECT_MAX - sizeof(struct ofi_frame)];
};

/* A one-sided operation, or one of the reads that a get consists of. */
struct ofi_transfer {
    struct ofi_op op;           /* first: without bytes */
    struct ofi_transfer *next;  /* in the list of idle ones, or of those behind */
    struct ofi_transfer *whole; /* of a read: the record of the whole get, itself a read; or NULL */
    int reads, rc;              /* of a whole get: those that go on, and the first error */
    uint8_t *to;                /* the rest to be read: here, */
    uint64_t from, key;         /* there, */
    size_t left;                /* and its length */
    struct fid_mr *mr;          /* of the memory here, where the provider wants that; or NULL */
    void *cookie;
    uint64_t word[3]; /* of an atomic operation: its operands, and the old value */
    uint64_t *before; /* place of the old value; NULL: it is none */
};

struct ofi_stranger;
struct ofi_guard;

struct ofi {
    struct chan base;
    const struct chan_env *env;
    int slot;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_av *av;
    struct fid_cq *cq;
    struct ofi_buffers *buffers;
    struct ofi_place *places; /* addresses that the provider has */
    unsigned met;             /* those of provider shm, ever */
    struct ofi_op *sends; /* all of them */
    struct ofi_op *idle_sends, *idle_receives;
    int idle_count; /* of idle_receives */
    struct ofi_transfer transfers[OFI_TRANSFERS], *idle_transfers;
    struct ofi_link *leaving;    /* links that were unlinked, with transfers that are not over */
    struct ofi_transfer *behind; /* reads for which the provider had no room */
    size_t read_len; /* bytes that are read at once */
    int bulk;        /* one-sided operations that are not over, and regions that peers may read */
    unsigned turns;  /* while there are some */
    bool lends;     /* peers may reach memory registered for them */
    uint64_t keys;  /* registrations so far, where we choose their keys, */
    uint8_t key_secret[16]; /* which are hashes with this one */
    size_t inject_max, data_max; /* bytes of a message; of a packet's payload */
    uint8_t address[OFI_ADDRESS_MAX];
    size_t address_len;
    uint64_t timeout_ns; /* until a peer is given up that the fabric does not reach */
    struct ofi_link *links, *named; /* all, and a table of them by name */
    struct ofi_stranger *strangers;
    struct os_heard heard; /* the HELLOs of strangers */
    uint64_t hellos;       /* that this process has said */
    bool chores;  /* something is to be said, or posted */
    bool hears;   /* of datagrams that were refused */
    bool watched; /* some link may be over, or be at a time: due_ns has to be found again */
    uint64_t due_ns; /* when that is, or earlier; UINT64_MAX: never */
    struct ofi_guard *guard; /* NULL: the provider shares no locks */
    _Atomic uint32_t calls;  /* into the provider that may wait for another process: odd in one */
    bool more;   /* the completion queue may not be empty, as it was not read to its end */
    bool again;  /* the provider had no room, and does not tell when it has */
    enum fi_wait_obj wait;   /* by what the completion queue tells of news */
    int socket;              /* of the provider, which tells of news for the queue; or -1 */
    bool resets;             /* the provider may reset connections when it closes them */
    bool is_set;             /* socket is an epoll set of the provider's sockets */
    int room;                /* one in that set, which tells once when one of them has room again */
    uint64_t complete;       /* when the send of a packet is: FI_TRANSMIT_COMPLETE, or FI_INJECT_COMPLETE */
    bool untold;             /* the provider may have to make progress although nothing tells of that */
    int looks, glances;      /* during sleep, since there was news */
    bool has_looked;         /* since it slept last */
    int epoll, timer;        /* for sleeping */
    int watched_fds[OFI_WATCHED], watched_count; /* of the completion queue, in epoll */
    int futile; /* how often they have told of news since there was some */
    uint32_t names;
    char card[CHAN_CARD_MAX];
};

/* ---- fabric.c ---- */

/* Open the endpoint of this process. Returns 0, or -ENODEV with a sentence in why. */
int ofi_fabric_open(struct ofi *ofi, char *why, size_t size);
void ofi_fabric_close(struct ofi *ofi);

/* A link to the peer is open. */
void ofi_fabric_opened(struct ofi *ofi, fi_addr_t to);
/* A message came without a signal. */
void ofi_fabric_surprised(struct ofi *ofi);

/* Post the buffers that wait for it. Returns whether all are. */
bool ofi_fabric_post(struct ofi *ofi);

/* Send a message, whose frame is there. link: whose it is, or NULL. Returns 0, CHAN_AGAIN, or -errno. */
int ofi_fabric_put(struct ofi *ofi, fi_addr_t to, struct ofi_message *message,
                   const struct chan_data *body, struct ofi_link *link);
/* Give the buffer of an operation back. */
void ofi_fabric_done(struct ofi *ofi, struct ofi_op *op);

/* Whether the provider is shm, which shares memory of one host under names. */
bool ofi_fabric_is_memory(const char *provider);

/* ---- places.c ---- */

/* The peer's address, made known to the provider, once. Returns 0 or -EHOSTUNREACH. */
int ofi_places_reach(struct ofi *ofi, const void *address, size_t len, fi_addr_t *to);
/* Whether the process there has ended, as its address tells: that of provider shm, of this host. */
bool ofi_places_has_ended(const struct ofi *ofi, fi_addr_t to);
/* Find the process that has this address, if it was inserted. */
bool ofi_places_find(const struct ofi *ofi, const void *address, size_t len, fi_addr_t *to);
void ofi_places_close(struct ofi *ofi);

/* ---- leftover.c ---- */

/* An address for this process's endpoint of provider shm: one that no other process ever has. */
void ofi_leftover_name(char *name, size_t size);
/* Remove what processes of this host that have ended have left of provider shm. */
void ofi_leftover_remove(void);

/* The process that such an address is of. */
struct ofi_owner {
    unsigned long long space; /* the space of process numbers */
    unsigned pid;
    unsigned long long start; /* in ticks since boot; 0: it has ended */
};

bool ofi_owner_read(const char *address, struct ofi_owner *owner);
/* Whether it is of this host, and has ended. */
bool ofi_owner_has_ended(const struct ofi_owner *owner);

/* ---- guard.c ---- */

/* End this process where a call into the provider takes longer than limit_ns, and a process that was
 * met has ended. Returns 0 or -errno. */
int ofi_guard_open(struct ofi *ofi, uint64_t limit_ns);
void ofi_guard_close(struct ofi *ofi);
void ofi_guard_meet(struct ofi *ofi, const char *address);

/* Around each call into the provider that may take a lock of another process. */
static inline void ofi_enter(struct ofi *ofi)
{
    uint32_t calls = atomic_load_explicit(&ofi->calls, memory_order_relaxed);
    atomic_store_explicit(&ofi->calls, calls + 1, memory_order_relaxed);
}

static inline void ofi_leave(struct ofi *ofi)
{
    ofi_enter(ofi);
}

/* ---- memory.c ---- */

/* The one-sided operations, where the provider has them. */
extern const struct chan_onesided ofi_onesided;
/* lend: what the user says of it. Returns 0, or -errno with a sentence in why. */
int ofi_memory_open(struct ofi *ofi, const char *lend, char *why, size_t size);
/* A transfer is over. Returns the number of upcalls. */
int ofi_memory_done(struct ofi *ofi, struct ofi_op *op, int rc);
/* Go on with what the provider had no room for. Returns the number of upcalls. */
int ofi_memory_go_on(struct ofi *ofi);
/* Begin nothing more of a link that was unlinked. */
void ofi_memory_stop(struct ofi_link *link);
/* End what the fabric tells nothing of any more. Returns the number of upcalls; after that the link is gone. */
int ofi_memory_give_up(struct ofi_link *link);
/* Register memory. Returns 0 or -errno. */
int ofi_memory_register(struct ofi *ofi, void *base, size_t len, uint64_t access,
                        struct fid_mr **mr);

/* ---- datagrams.c ---- */

/* Find the provider's socket, if it has one of datagrams. */
void ofi_datagrams_find(struct ofi *ofi);
/* Whether datagrams come of something that is long: now and then it looks. */
bool ofi_datagrams_come(struct ofi *ofi);
/* Have the kernel keep errors of the socket, from now on. */
void ofi_datagrams_hear(struct ofi *ofi);
/* The next address that a datagram was sent to whose host has refused it, as nobody takes it there. Returns its length;
 * 0: there is none. */
size_t ofi_datagrams_refused(struct ofi *ofi, uint8_t address[OFI_ADDRESS_MAX]);

/* ---- sleep.c ---- */

/* Returns 0 or -ENODEV. */
int ofi_sleep_open(struct ofi *ofi);
void ofi_sleep_close(struct ofi *ofi);
int ofi_sleep_arm(struct chan *chan, enum chan_sleep how);
void ofi_sleep_disarm(struct chan *chan);

/* ---- sockets.c ---- */

/* Whether the kernel gives connections enough room. Returns 0, or -ENODEV with a sentence in why. */
int ofi_sockets_check(char *why, size_t size);
/* Whether a connection to that peer stands, which its kernel may have taken alone. */
bool ofi_sockets_lead(const struct ofi *ofi, fi_addr_t to);
/* Make the set of the provider's sockets. Returns 0 or -FI_EMFILE. */
int ofi_sockets_open(struct ofi *ofi);
/* Put those into it that have our address, or whose peer has that one, and give them room. */
void ofi_sockets_find(struct ofi *ofi, const void *peer, size_t len);
/* Whether it tells of news; of room it tells once. */
bool ofi_sockets_take(struct ofi *ofi);
void ofi_sockets_close(struct ofi *ofi);
/* Whether the peers' kernels have all that was given to connections which a close may reset. */
bool ofi_sockets_are_out(const struct ofi *ofi);
/* The provider has got an operation, and begins it only when it is asked for progress. Between ofi_enter() and
 * ofi_leave(). */
void ofi_sockets_push(struct ofi *ofi);

#endif
