/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The key-value space of a node: the values that its own processes have put, values fetched from
 * other nodes, and waiting gets.
 *
 * A key belongs to a process (group, rank), and lives on its node. A get asks there, along the
 * tree, and is answered when the key is there, or its owner has ended: so it brings no value that
 * had been replaced before the get began. A node keeps the values that come, also by a fence: for
 * gets that accept an old value (KEYS_LATER), and for all gets when the owner's node is lost. The
 * space of replaced and dropped values is free again.
 *
 * Messages get lost with nodes in between: a get that waits is sent again, ever more seldom. While answers to others
 * come it may just have to wait for its turn at the root, so the time counts from the last of them. Once the owner's node has
 * said that it keeps the get, that is sent again soon after the loss of a node, and seldom otherwise.
 */
#ifndef BNR_KEYS_H
#define BNR_KEYS_H

#include "bnr/core/tree/message.h"

struct tree;

enum {
    KEYS_KEY_MAX = 255,
    KEYS_VALUE_MAX = 1 << 20,
    KEYS_CACHE_MAX = 8 << 20, /* bytes of fetched values */
    KEYS_WAIT_MAX = 1 << 16,  /* gets that wait here */
};

#define KEYS_RETRY_NS     2000000000LL /* without any answer a get is sent again, then after twice that, ... */
#define KEYS_RETRY_MAX_NS 30000000000LL /* whatever comes */
#define KEYS_KEPT_NS      KEYS_RETRY_MAX_NS /* once its node keeps it */

enum keys_flag {
    KEYS_NOWAIT = 1,  /* STATUS_ABSENT in place of waiting; at the owner's node */
    KEYS_REPLACE = 4, /* put: replaces the value */
    KEYS_LATER = 8,   /* the value on this node, even an old one. Without one the answer comes at
                       * once: STATUS_ASKED, or STATUS_ABSENT once the owner's node has said so. Ask
                       * again: the value comes as soon as it is put */
};

enum keys_outcome {
    KEYS_EXISTS = 1,
};

/* Whose key. */
struct keys_name {
    uint64_t group;
    uint32_t owner;
    const void *key;
    size_t len;
};

struct keys_entry;
struct keys_wait;
struct keys_interest;

/* The cookie of the waits that are for later; tag is the owner. */
#define KEYS_NO_GETTER UINT64_MAX

struct keys {
    const struct tree *tree;
    struct keys_entry *entries;
    struct keys_entry *oldest; /* of those that were fetched */
    struct keys_wait *waits;
    struct keys_interest *interests; /* keys that were asked for later, and have not come */
    size_t cached_bytes, own_bytes;
    uint64_t next_request;
    bool has_heard;   /* an answer has come since the last tick */
    int64_t heard_ns; /* when a tick last saw that */
};

void keys_init(struct keys *k, const struct tree *tree);
void keys_fini(struct keys *k);

/* A process of this node puts. Effects: VALUE and SEND to those who wait. Returns 0, KEYS_EXISTS,
 * -EMSGSIZE, -ENOMEM. */
int keys_put(struct keys *k, const struct keys_name *name, struct bytes *value, unsigned flags,
             struct effects *effects);

/* Where the owner of a key is, and whether it has ended, as far as is known here. */
struct keys_home {
    uint32_t node;
    bool has_ended;
};

/* A process of this node wants a key. Effects: VALUE with
 * number = cookie, at once or later, in any order. Returns 0, -EMSGSIZE, -ENOBUFS, -ENOMEM. */
int keys_get(struct keys *k, const struct keys_name *name, struct keys_home home, uint64_t cookie,
             unsigned flags, struct effects *effects);

/* Whether a value is here: put here, or fetched, or collected by a fence. */
bool keys_knows(struct keys *k, const struct keys_name *name);

/* The waiting for what cookie names is over. */
void keys_cancel(struct keys *k, uint64_t cookie);

/* A message of kind GET for this node, or VALUE. has_ended: its owner has. Returns 0, -EPROTO,
 * -ENOMEM, -ENOBUFS. */
int keys_message(struct keys *k, const struct core_message *message, bool has_ended,
                 struct effects *effects);

/* A fence has collected entries: keep them. Returns 0 or -EPROTO. */
int keys_collected(struct keys *k, uint64_t group, const struct bytes *entries);
/* One entry of such. */
void keys_pack(struct packing *p, const struct keys_name *name, const struct bytes *value);

/* A process has ended: gets that wait for its keys are told. */
void keys_owner_ended(struct keys *k, uint64_t group, uint32_t owner, struct effects *effects);
/* A node is lost: the same for all its processes, and it waits for nothing any more. */
void keys_node_lost(struct keys *k, uint32_t node, struct effects *effects);

/* Send gets again that have waited long. */
void keys_tick(struct keys *k, int64_t now, struct effects *effects);

#endif
