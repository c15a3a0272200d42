/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matching of messages with receives (MPI-5.0 3.5): no I/O, no locks.
 *
 * There are four classes of receives: source and tag known, either one wild, both
 * wild. A posted receive stands in one queue, that of its exact key (context,
 * source, tag, wildcards included), with an order number. A message that
 * arrives looks at the head of at most four queues and takes the lowest number:
 * constant time, however many receives are posted.
 *
 * An unexpected message stands in the queue of its own key, in the list of all,
 * and, for each wildcard class that a receive or probe has asked for since the
 * start, in the queue of that class's key. So looking for one is looking at the
 * head of one queue.
 *
 * A receive that is posted while no other is stands alone, in no queue: the common
 * case of few receives costs no hashing.
 *
 * Queues live in a hash table by key; empty ones stay until the next sweep, for
 * the next message of the same kind.
 */
#ifndef MPID_MATCH_H
#define MPID_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "os/pool.h"

enum match_class {
    MATCH_EXACT = 0,
    MATCH_ANY_SOURCE = 1,
    MATCH_ANY_TAG = 2,
    MATCH_ANY_BOTH = 3,
    MATCH_CLASSES = 4
};

/* All entries of one key, oldest first. */
struct match_queue {
    struct match_queue *chain; /* next in the bucket */
    struct mpid_envelope key;
    void *head, *tail;
};

struct match_table {
    struct match_queue **buckets;
    uint32_t shift; /* 64 - log2 of the number of buckets */
    uint32_t queues, empty;
    struct os_pool pool;
};

enum { UNEXPECTED_INLINE = 48 };

/* Place of an unexpected message in one queue. */
struct unexpected_link {
    struct unexpected *next, *prev;
    struct match_queue *queue; /* NULL: not in this class's queue */
};

/* A message that came before its receive. What lies behind env is the eager and
 * rendezvous modules' own. */
struct unexpected {
    struct unexpected_link link[MATCH_CLASSES];
    struct unexpected *next, *prev; /* of all, in order of arrival */
    struct mpid_envelope env;
    struct vc *vc;
    uint64_t total;     /* bytes of the message */
    void *data;         /* what of it is here: inline_data, or from malloc(), or NULL */
    uint64_t peer_addr; /* of a rendezvous: where the data lie, 0: not to be read there */
    uint32_t peer_id;   /* the sender's request; 0: eager, all data are here */
    bool arriving;      /* its data are still being written by the channel */
    bool taken;         /* by a probe: in no queue */
    bool lost;          /* taken, and its data will never be complete */
    struct mpid_request *claimed; /* the receive that waits for the arriving data */
    uint8_t inline_data[UNEXPECTED_INLINE];
};

struct match {
    struct mpid_request *alone; /* the one posted receive; NULL: none or several */
    struct match_table posted, arrived;
    uint32_t posted_count[MATCH_CLASSES]; /* in queues */
    uint32_t posted_total, arrived_total; /* posted_total: in queues or alone */
    uint32_t posted_most, arrived_most; /* the totals have been, since somebody has set these */
    uint64_t arrived_ever;
    uint32_t indexed; /* bit c: arrived messages also stand in the queues of class c */
    uint64_t order;
    struct unexpected *first, *last; /* all */
    struct os_pool pool;             /* of struct unexpected */
};

/* Returns 0 or -ENOMEM. */
int match_init(struct match *match);
void match_fini(struct match *match);

/* Receive side, find or allocate: take the first message that fits request->from,
 * or post the request (its next, prev, queue and order). Returns the message, now
 * in no queue, or NULL. */
struct unexpected *match_recv_foa(struct match *match, struct mpid_request *request);

/* Wire side, find or allocate: take the receive that this message is for, or
 * return NULL and in *unexpected a new record of the message, in its queues, with
 * only env set (NULL when memory is out). */
struct mpid_request *match_wire_foa(struct match *match, const struct mpid_envelope *env,
                                    struct unexpected **unexpected);

/* The first message that fits want, left where it is, or NULL. */
struct unexpected *match_peek(struct match *match, const struct mpid_envelope *want);
/* Take a message out of its queues. */
void match_take(struct match *match, struct unexpected *unexpected);
/* Forget a message that is in no queue. Its data must have been freed. */
void match_forget(struct match *match, struct unexpected *unexpected);

/* Take a posted receive back. Returns whether it was posted. */
bool match_unpost(struct match *match, struct mpid_request *request);

#endif
