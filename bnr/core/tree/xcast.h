/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Messages to all nodes. All messages to many go this way: orders of mpiexec, releases of fences,
 * losses of nodes, BNR_Xcast.
 *
 * A node hands its message towards the root, which numbers all messages of all nodes in one
 * order. They spread from there in a shape that the root chooses for each; every node takes them
 * in that order, without gaps or repeats: so what one node sends stays in order everywhere.
 *
 * Spreading is quick and careless: when a node dies, the nodes behind it miss messages. The routing
 * tree mends that. A node tells its parent the number that it has, and the number that all below it
 * have; a parent keeps each message until the root says that all have it, and gives missing ones to
 * a child that attaches, or that still lacks them after two ticks; those below that child lack them too, so it passes
 * them on by the routing tree at once. The sender of a message keeps it
 * until it comes back as one of the order, and hands it in again to a new parent. If none comes
 * back for long, it asks which ones the root has, and hands the others in again: they were lost on
 * the way, or the root had no room for them. The root does not answer before it has room.
 *
 * A message that says that nodes are lost is taken in before it is passed on, so that it spreads
 * by the tree that it makes.
 *
 * Where the root tells each node itself, without relays, the shape is linear. In the direct shape
 * it sends as many copies as the node has processes, as if there were no daemons to hand them
 * out: of those a node takes the first. It serves to compare with, and for a single node.
 *
 * A long message is handed in as parts. Each part is a message of its own until the last one is
 * taken: then they are delivered as one (xcast_join.h). They spread in the binary shape.
 *
 * A message may be for some nodes. Its data then goes only where somebody is addressed; the others
 * get its number, for their order to have no gap.
 */
#ifndef BNR_XCAST_H
#define BNR_XCAST_H

#include "bnr/core/tree/message.h"
#include "bnr/core/tree/rank_map.h"
#include "bnr/core/tree/tree.h"
#include "bnr/core/tree/xcast_join.h"

enum {
    XCAST_TAG_LOST = 1,  /* data: u32 of each lost node */
    XCAST_TAG_RELEASE,   /* a fence is over */
    XCAST_TAG_USER = 16, /* and above: for the host */
    XCAST_WINDOW = 512,  /* messages that not all have; also those that a node has handed in. One
                            that begins within it is handed in with all its parts */
    XCAST_AHEAD_MAX = 2 * XCAST_WINDOW, /* how far a node may be ahead of another */
    XCAST_WINDOW_BYTES = 32 << 20,
    XCAST_EARLY_MAX = 64, /* messages held that came before their turn */
    XCAST_RANGES_MAX = 4096,
};

enum xcast_outcome {
    XCAST_AGAIN = 1 /* too much is under way: try again later */
};

/* The shape for a number of nodes and bytes: the first limit that fits. */
struct xcast_choice {
    bool is_forced; /* mode, for all that leave it to the root */
    enum tree_mode mode;
    uint32_t direct_nodes; /* fewer: direct */
    uint32_t linear_nodes; /* fewer, and */
    uint64_t linear_bytes; /* fewer: linear */
    uint64_t radix_bytes;  /* fewer: by the routing tree */
    uint64_t binomial_bytes; /* fewer: binomial; more: binary */
    uint32_t part_bytes;   /* of payload; a longer message goes in parts, in longer ones if they
                            * were too many; 0: only a message too long for one does */
};

/* A message as a node hands it in. */
struct xcast_input {
    uint32_t tag;
    uint8_t shape; /* enum tree_mode + 1, or XCAST_BY_SIZE: the root chooses */
    struct bytes *data;
};

enum {
    XCAST_BY_SIZE
};

extern const struct xcast_choice xcast_choice_default;

/* Messages in a row: the first has number first. */
struct xcast_queue {
    struct core_message *items; /* a ring */
    size_t begin, count, room, bytes;
    uint64_t first;
};

struct xcast_child {
    uint32_t node;
    bool is_heard, is_attached; /* attached: by the present link */
    uint64_t have, below;
    uint64_t sent; /* it has, or will have from this node over the present link */
    uint64_t have_at_tick;
    uint8_t still_ticks; /* in a row, since it has had something new */
};

struct xcast_origin; /* how far each node's messages are numbered; at the root */

struct xcast {
    struct tree *tree;
    struct xcast_choice choice;
    const struct rank_map *ranks;   /* for copies; NULL: one for each node */
    uint64_t have;                  /* the last message that was taken */
    uint64_t stable;                /* the last that all have, as far as is known */
    uint64_t told_have, told_below; /* to the parent */
    uint64_t have_at_tick, have_before, outbox_at_tick; /* before: at the tick before that */
    uint64_t asked, asked_last; /* asked: number of the last question; the last message before it */
    uint32_t still_ticks, ask_ticks; /* in a row in which none came back; before the next question */
    struct xcast_queue log;                             /* stable + 1 ... have */
    struct xcast_queue outbox;                          /* handed in, and not come back */
    struct core_message *early; /* not in order; may be NULL */
    size_t early_count;
    struct xcast_child *children; /* of the routing tree */
    size_t child_count, child_room;
    struct xcast_origin *origins;
    uint32_t questions; /* of origins that wait for room; at the root */
    struct xcast_join *joins; /* parts of messages that are not whole yet */
};

void xcast_init(struct xcast *x, struct tree *tree, const struct xcast_choice *choice);
void xcast_fini(struct xcast *x);

/* The shape that the choice has for a message. */
enum tree_mode xcast_mode(const struct xcast_choice *choice, uint32_t nodes, size_t bytes);

/* Put ranges of nodes (first, last each) before a payload; none: all nodes. NULL: no memory. */
struct bytes *xcast_address(const uint32_t *ranges, size_t range_count, const void *payload,
                            size_t len);
/* Take them off again: whether node is addressed, and where the payload begins. Returns 0 or
 * -EPROTO. */
int xcast_open(const struct bytes *data, uint32_t node, bool *is_addressed,
               struct unpacking *payload);

/* Hand in a message. Returns 0, XCAST_AGAIN, -EMSGSIZE, -ENOMEM. */
int xcast_submit(struct xcast *x, const struct xcast_input *input, struct effects *effects);

/* A message of kind SUBMIT, XCAST, HAVE or NUMBERED has come from a neighbour, or any node. Effects: SEND
 * and, in order, DELIVER for each message taken, with its data opened by xcast_open(). Returns 0,
 * -EPROTO (from is to be held for broken), -ENOMEM. */
int xcast_message(struct xcast *x, uint32_t from, const struct core_message *message,
                  struct effects *effects);

/* The tree has changed: children come and go. Returns 0 or -ENOMEM. */
int xcast_rewire(struct xcast *x, struct effects *effects);

/* A child has attached, and said what it has. */
int xcast_attached(struct xcast *x, uint32_t child, const struct core_message *attach,
                   struct effects *effects);
/* The link to a node is new, or broken: earlier messages will not come by it. */
void xcast_relinked(struct xcast *x, uint32_t node);
/* The link to the parent is there, maybe to another than before. */
void xcast_greet(struct xcast *x, struct effects *effects);

/* Once in a while: help children that have fallen behind, tell the parent the news. */
void xcast_tick(struct xcast *x, struct effects *effects);

/* A beat says that all nodes have this number: forget older messages. */
void xcast_settle(struct xcast *x, uint64_t stable);

/* The last message that all below have, this node too. */
uint64_t xcast_below(const struct xcast *x);

#endif
