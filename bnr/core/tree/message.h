/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The messages of daemons to each other, and what an engine asks to be done.
 *
 * Daemons are nodes 0, 1, ... of one virtual machine; node 0 is mpiexec. A message goes over one
 * link, or is routed along the tree where its kind says so. bnr/wire/ makes bytes of it and back.
 */
#ifndef BNR_MESSAGE_H
#define BNR_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/bytes.h"

enum {
    NODE_NONE = UINT32_MAX, /* no node */
    NODE_ROOT = 0,
};

/* Each kind with the fields that it has; all others are 0. origin is who made the message. */
enum message_kind {
    MESSAGE_ATTACH = 1, /* child to parent, first on a link. number: last xcast that it has; other:
                           that all below it have; data: u32 of each node that it holds for lost */
    MESSAGE_BEAT,       /* to a neighbour. other: last xcast that all have */
    MESSAGE_LOST,       /* to a neighbour. data: u32 of each node that is lost */
    MESSAGE_EXPELLED,   /* to a node that is held for lost: it is to end; to the root: the sender ends */
    MESSAGE_SUBMIT,     /* towards the root: an xcast, or a part of it. number: of its origin's;
                           other: bytes of the whole; mode, tag, flags, data. MESSAGE_ASK: which of
                           its origin's the root has; number: of the question */
    MESSAGE_XCAST,      /* from the root. number: of all; group: of its origin's; other: the last
                           that all have; mode, tag, flags, data */
    MESSAGE_HAVE,       /* to the parent. number: last xcast that it has; other: that all below */
    MESSAGE_FENCE,      /* to the parent. group; number: which fence; tag: nodes that have come;
                           other: bytes that were put; status; flags; data: entries */
    MESSAGE_GET,        /* routed. group; tag: owner; number: request; data: the key */
    MESSAGE_VALUE,      /* routed. number: request; status; data: the value */
    MESSAGE_ENDED,      /* to the parent. group; data: runs of ranks */
    MESSAGE_STREAM,     /* routed. tag: which stream; number: of the block, from 1; data. Block 0
                         * asks how much was taken; other: of the question, from 1 */
    MESSAGE_CREDIT,     /* routed. tag: which stream; number: the last block that was taken; other: of
                           the question that this answers */
    MESSAGE_NUMBERED,   /* routed, from the root. number: the last SUBMIT that it has of a node's;
                           other: of the question that this answers */
    MESSAGE_CONTACT,    /* over the link by which a daemon dials mpiexec, and back on it, before
                           there is a tree. data: who and where nodes are */
    MESSAGE_KIND_END
};

enum message_flag {
    MESSAGE_STRIPPED = 1,  /* XCAST: nobody below is addressed, the data is left out */
    MESSAGE_COLLECTED = 2, /* FENCE: the entries are all that were put */
    MESSAGE_MORE = 4,      /* SUBMIT, XCAST: another part of it follows from its origin */
    MESSAGE_ASK = 8,       /* SUBMIT: a question */
    MESSAGE_HELP = 16,     /* XCAST: by the routing tree, to a node that lacked it */
};

/* How something ended that others wait for. */
enum message_status {
    STATUS_GOOD,
    STATUS_ABSENT,      /* no such key now, and the getter did not want to wait */
    STATUS_PROC_FAILED, /* a process that it needs has ended */
    STATUS_ASKED,       /* not known here, and its node is asked: said to a process here alone */
    STATUS_END
};

struct core_message {
    uint8_t kind, mode, status, flags;
    uint32_t origin, to, tag;
    uint64_t group, number, other;
    struct bytes *data; /* held; may be NULL */
};

enum {
    MESSAGE_DATA_MAX = 16 << 20
};

enum effect_kind {
    EFFECT_SEND = 1,    /* message to node, over its link, made first if missing */
    EFFECT_CONNECT,     /* make a link to node; the other end does so too, the first is kept */
    EFFECT_DISCONNECT,  /* close the link to node, and make none any more */
    EFFECT_LOST,        /* node is lost; told once */
    EFFECT_DELIVER,     /* an xcast for this host: message.tag, origin, data */
    EFFECT_DECIDED,     /* at the root, between engines: a fence is to be over */
    EFFECT_RELEASED,    /* a fence is over: message.group, number, status, flags, data */
    EFFECT_VALUE,       /* a get is over: message.number, status, data */
    EFFECT_RANKS_ENDED, /* at the root: message.group, data: runs of ranks that were not known */
    EFFECT_ARRIVED,     /* a STREAM or CREDIT for this node */
    EFFECT_ALONE,       /* the root is lost, or has expelled this node: end all here */
};

struct effect {
    enum effect_kind kind;
    uint32_t node;
    struct core_message message;
};

/* What an engine wants done, in this order. Begin with zeros. */
struct effects {
    struct effect *items;
    size_t count, room;
    bool failed; /* memory ran out */
};

/* Append; a reference to the message's data is taken. */
void effects_add(struct effects *e, enum effect_kind kind, uint32_t node,
                 const struct core_message *message);
/* Forget all that is in it, and its references. */
void effects_clear(struct effects *e);
void effects_fini(struct effects *e);

/* A growing list of nodes. */
struct node_list {
    uint32_t *items;
    size_t count, room;
};

/* Append. Returns 0 or -ENOMEM. */
int node_list_add(struct node_list *list, uint32_t node);
void node_list_fini(struct node_list *list);

#endif
