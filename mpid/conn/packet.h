/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The packets that devices exchange. Each is a head of 16 bytes, which any
 * channel carries, and a payload. Both ends are of one word size, and of one byte order or in a job of network
 * order, where packet_turn() turns them; so these are plain structs.
 *
 *   type      word[0]              word[1]      payload
 *   EAGER     type|context         rank|tag     the data
 *   RTS       type|context         rank|tag     packet_rts [, the data or a key, as flags say]
 *   CTS       type                 -            packet_cts
 *   DATA      type|receiver's id   offset       the data from offset on
 *   DONE      type|request's id    error        -
 *   CANCEL    type|sender's id     -            -
 *   CANCELLED type|sender's id     1: it was    -
 *   CREDIT    type                 bytes        -
 *   CLOSE     type                 0 or 1       -
 *   NOTICE    type|context         any          of the layer above, MPID_NOTICE_MAX at most
 *   LEAVE     type|step            -            -
 *
 * Each kind belongs to one module, which adds it to a table by packet_add() when the device starts.
 */
#ifndef MPID_PACKET_H
#define MPID_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "include/channel.h"
#include "include/mpid.h"

/* The numbers on the wire: a new kind takes the next one. */
enum packet_type {
    PACKET_NONE = 0, /* never sent: zeroed memory is no packet */
    PACKET_EAGER,
    PACKET_RTS,
    PACKET_CTS,
    PACKET_DATA,
    PACKET_DONE,
    PACKET_CANCEL,
    PACKET_CANCELLED,
    PACKET_CREDIT,
    PACKET_CLOSE,
    PACKET_NOTICE,
    PACKET_LEAVE,
    PACKET_TYPES,
    PACKET_KINDS = 32 /* numbers that a kind may have lie below */
};

struct vc;
struct landing;

/* What a module does with its packets; locked. Everything in them is hostile until checked. */
struct packet_kind {
    const char *name; /* for people */
    size_t least;     /* bytes of payload: a shorter packet ends its connection */
    void (*arrived)(struct vc *vc, const struct chan_head *head, const void *data, size_t len);
    /* Where the landing->len bytes of a large packet go: a place that packet_land_at() gives, or
     * the module's own; NULL: nowhere, and the connection ends. Once they are there, landed is
     * called. Both NULL: such a packet breaks the rules. */
    void *(*place)(struct vc *vc, const struct chan_head *head, struct landing *landing);
    void (*landed)(struct vc *vc, struct landing *landing);
};

/* Have packets with this number go to kind, which is static. Returns 0, or -EEXIST where the number
 * is another's or out of range. */
int packet_add(uint32_t type, const struct packet_kind *kind);

/* A packet has come. */
void packet_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len);
/* The same of large ones: the channel sink's place() and landed(). */
void *packet_place(struct chan_peer *peer, const struct chan_head *head, size_t len, void **token);
void packet_landed(struct chan_peer *peer, void *token);
/* Forget the landing message. */
void packet_drop_landing(struct vc *vc);
/* Copy bytes of a message to the place of its receive; excess bytes are dropped. */
void packet_copy(struct mpid_request *request, size_t offset, const void *data, size_t len);
/* The place of a request for the bytes from landing->offset on, if it is contiguous and wide
 * enough; otherwise a buffer that is copied from; NULL: no memory. */
void *packet_land_at(struct landing *landing, struct mpid_request *request);

enum {
    RTS_HAS_DATA = 1u << 0,
    RTS_HAS_KEY = 1u << 1 /* the key of the memory, as long as the channel's keys are */
};

/* Ready to send: total bytes lie ready in request id. */
struct packet_rts {
    uint64_t total;
    uint64_t addr; /* where, if they are contiguous, or 0 */
    uint32_t id;
    uint32_t flags;
};

/* How the bytes of a rendezvous travel. */
enum packet_engine {
    ENGINE_STREAM, /* the sender sends DATA packets */
    ENGINE_PULL,   /* the receiver copies all of them out of the sender's memory */
    ENGINE_SPLIT,  /* the receiver pulls [0, split), the sender pushes the rest, each a CAR of its
                    * own; what cannot be copied so is streamed: for [0, split) a second CTS asks */
    ENGINES
};

/* Clear to send: the receive is matched. A second one, after SPLIT, asks for a stream of [0, limit),
 * limit being split of the first. */
struct packet_cts {
    uint32_t sender_id, receiver_id;
    uint32_t engine;
    uint32_t second_id; /* SPLIT: the receiver's CAR for the pushed half; otherwise 0 */
    uint64_t addr;  /* SPLIT: where the bytes go */
    uint64_t limit; /* bytes wanted: less than total where the place is shorter */
    uint64_t split;
};

_Static_assert(sizeof(struct packet_rts) == 24, "on the wire");
_Static_assert(sizeof(struct packet_cts) == 40, "on the wire");

/* Turn the fields that the payload of such a packet begins with, where this process turns (os/turn.h). A head is
 * turned by the channel, the bytes of a message by its layout, those of a NOTICE by the layer above. */
void packet_turn(enum packet_type type, void *payload);

static inline struct chan_head packet_head(enum packet_type type, uint32_t high, uint64_t second)
{
    return (struct chan_head){{(uint64_t)high << 32 | type, second}};
}

static inline struct chan_head packet_message(enum packet_type type,
                                              const struct mpid_envelope *env)
{
    return packet_head(type, env->context,
                       (uint64_t)(uint32_t)env->tag << 32 | (uint32_t)env->rank);
}

static inline uint32_t packet_type(const struct chan_head *head)
{
    return (uint32_t)head->word[0];
}

static inline uint32_t packet_id(const struct chan_head *head)
{
    return (uint32_t)(head->word[0] >> 32);
}

static inline struct mpid_envelope packet_envelope(const struct chan_head *head)
{
    return (struct mpid_envelope){(uint32_t)(head->word[0] >> 32), (int32_t)head->word[1],
                                  (int32_t)(head->word[1] >> 32)};
}

#endif
