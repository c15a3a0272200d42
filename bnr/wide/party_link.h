/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Between mpiexec and a daemon: messages of processes at the daemon's door to the hub of streams,
 * and the hub's messages to them. Each message is a block of a stream (bnr/core/stream/stream.h), so that
 * none is lost with a link; a block is done with when it has come. The hub's grants bound the bytes
 * under way. Bytes that several ranks of a host get go over the link once.
 */
#ifndef BNR_PARTY_LINK_H
#define BNR_PARTY_LINK_H

#include "bnr/core/stream/stream.h"

struct hub_message;
struct mesh;

/* m: NULL where the party is gone, or is to be cut off. */
typedef void (*party_fn)(void *arg, uint32_t node, uint32_t party, const struct hub_message *m);

struct party_link {
    struct mesh *mesh;
    uint32_t node; /* at the other end */
    struct stream_out out;
    struct stream_in in;
    uint64_t shared;     /* the number of the shared bytes that were sent last */
    struct bytes *block; /* those that came last: */
    const uint8_t *data;
    uint32_t len;
    party_fn hear;
    void *arg;
};

void party_link_init(struct party_link *l, struct mesh *mesh, uint32_t node, party_fn hear,
                     void *arg);
void party_link_fini(struct party_link *l);

void party_link_say(struct party_link *l, uint32_t party, const struct hub_message *m);

/* A STREAM or CREDIT with tag LAUNCH_STREAM_PARTY has come from node. */
void party_link_take(struct party_link *l, const struct core_message *message);
/* Say again messages that may be lost. */
void party_link_tick(struct party_link *l, bool is_new);

#endif
