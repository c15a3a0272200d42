/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matching of messages with receives (MPI-5.0 3.5): no I/O, no locks.
 *
 * There are four classes of receives: source and tag known, either one wild, both
 * wild. Waiting entries stand in a hash table under their key (context, source, tag; wildcards
 * included), those of one key in a ring, the oldest of them in the table: no memory is needed but
 * the entry's own, and the table's.
 *
 * A posted receive stands under its own key, with an order number. A message that arrives looks
 * under at most four keys and takes the lowest number: constant time, however many are posted.
 * A receive that is posted while no other is stands alone, in no table: the common case of few
 * receives costs no hashing.
 *
 * An unexpected message stands under its exact key, in the list of all, and, for each wildcard
 * class that a receive or probe has asked for since the start, under that class's key. So
 * looking for one is looking under one key.
 *
 * Each lane, a share of the communicators, has its own counts and classes: a lane without wildcards
 * does not pay for those of another, whether or not the program has asserted that it uses none.
 *
 * Neighbouring tags have neighbouring places in the table, so that thousands of messages which
 * differ by a counter are walked in order of memory, not at random.
 */
#ifndef MPID_MATCH_H
#define MPID_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "os/memory/pool.h"

enum match_class {
    MATCH_EXACT = 0,
    MATCH_ANY_SOURCE = 1,
    MATCH_ANY_TAG = 2,
    MATCH_ANY_BOTH = 3,
    MATCH_CLASSES = 4
};

enum { MATCH_LANES = 16 }; /* a power of two */

struct match_table {
    struct mpid_place **buckets; /* each a chain of the oldest of their keys */
    uint32_t shift;              /* 64 - log2 of the number of buckets */
    uint32_t keys;
};

enum { UNEXPECTED_INLINE = 64 };

/* A message that came before its receive: its place, what the eager and rendezvous modules have
 * to know, small data, each on a cache line, and then what only wildcards need. */
struct unexpected {
    struct mpid_place exact;        /* and its envelope */
    struct unexpected *next, *prev; /* of all, in order of arrival */

    uint32_t peer_id;   /* the sender's request; 0: eager, all data are here */
    struct vc *vc;
    uint64_t total;     /* bytes of the message */
    void *data;         /* what of it is here: inline_data, or from malloc(), or NULL */
    uint64_t peer_addr; /* of a rendezvous: where the data lie, 0: not to be read there */
    struct mpid_request *claimed; /* the receive that waits for the arriving data */
    bool arriving;      /* its data are still being written by the channel */
    bool taken;         /* by a probe: it has no place */
    bool lost;          /* taken, and its data will never be complete */
    bool has_key;       /* of a rendezvous: inline_data is the key of its memory */

    uint8_t inline_data[UNEXPECTED_INLINE];

    struct mpid_place wild[MATCH_CLASSES - 1];
};

struct match {
    struct mpid_request *alone; /* the one posted receive; NULL: none or several */
    struct match_table posted, arrived;
    uint32_t posted_count[MATCH_LANES][MATCH_CLASSES]; /* in the table */
    uint32_t posted_total, arrived_total; /* posted_total: in the table or alone */
    uint32_t posted_most, arrived_most; /* the totals have been, since somebody has set these */
    uint64_t arrived_ever;
    uint8_t indexed[MATCH_LANES]; /* bit c: all arrived messages have a place in class c */
    uint64_t order;
    struct unexpected *first, *last; /* all */
    struct os_pool pool;             /* of struct unexpected */
};

/* Returns 0 or -ENOMEM. */
int match_init(struct match *match);
void match_fini(struct match *match);

/* Receive side, find or allocate: take the first message that fits request->place.env,
 * or post the request, whose place.next is NULL. Returns the message, which has no place any
 * more, or NULL. */
struct unexpected *match_recv_foa(struct match *match, struct mpid_request *request);

/* Wire side, find or allocate: take the receive that this message is for, or
 * return NULL and in *unexpected a new record of the message, in its places, with
 * only its envelope set and the rest zero, but for the data (NULL when memory is out). */
struct mpid_request *match_wire_foa(struct match *match, const struct mpid_envelope *env,
                                    struct unexpected **unexpected);

/* The first message that fits want, left in place, or NULL. */
struct unexpected *match_peek(struct match *match, const struct mpid_envelope *want);
/* Take a message out of its places. */
void match_take(struct match *match, struct unexpected *unexpected);
/* Forget a message that has no place. Its data must have been freed. */
void match_forget(struct match *match, struct unexpected *unexpected);

/* Take a posted receive back. Returns whether it was posted. */
bool match_unpost(struct match *match, struct mpid_request *request);

/* Take all posted receives back that fits() says yes to. Returns them, linked by next. */
struct mpid_request *match_unpost_all(struct match *match,
                                      bool (*fits)(const struct mpid_request *request, void *arg),
                                      void *arg);

/* Call each for every posted receive, in no order. */
void match_each_posted(const struct match *match,
                       void (*each)(const struct mpid_request *request, void *arg), void *arg);

#endif
