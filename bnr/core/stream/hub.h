/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The hub of a job's streams: it takes bytes from writers and gives them to readers. It does no
 * I/O: a message of a party goes in, messages to parties come out as effects. A party is a process
 * that has connected, a daemon that serves descriptors, or mpiexec itself.
 *
 * A stream is a sequence of bytes with 64-bit offsets, named by a rank and a tag. It begins with its
 * first writer or its sink, and is forgotten when its last writer has closed and each reader has
 * been told its end. A later writer of the same name begins a new stream, at offset 0.
 *
 *   source    its owner writes, any number of readers subscribe
 *   sink      its owner reads, any number of writers push
 *
 * Invariants
 *   - A reader gets each byte once, in order. A reliable one gets all of them from its beginning
 *   on;
 *     an observer that falls behind is told of the gap by the offset of its next bytes.
 *   - A writer may send as many bytes as it has been granted. A grant follows from what the present
 *     reliable readers have not taken, and is computed anew after each change: no reader that has
 *     left can hold a writer up.
 *   - A stream without reliable readers follows its policy. RING: the writer goes on, and the last
 *     bytes are kept. DROP: the writer goes on, and nothing is kept. HOLD: bytes that no reader has
 *     taken are kept, and the writer waits; a later reader goes on at that offset.
 *   - Of each writer at most a window of bytes is kept. The usual window, HUB_WINDOW, is a part of
 *     HUB_MEMORY, and HUB_WINDOW_MIN at least; a writer that writes nothing is granted that.
 *   - A window is doubled where the way to another node holds the bytes up: the writer has used all
 *     that it knew to be granted and its readers keep up, or a reader has taken all that has come.
 *     All windows together grow by HUB_MEMORY at most, each to a maximum.
 *   - Messages of parties are checked. A party that breaks the rules is to be cut off.
 */
#ifndef BNR_HUB_H
#define BNR_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/bytes.h"

enum {
    HUB_ANY = -1, /* each rank, each tag */
    HUB_DATA_MAX = 1 << 16,
    HUB_OWN_STREAMS = 5, /* of a rank, kept for the launcher */
    HUB_WINDOW = 1 << 16,
    HUB_WINDOW_MIN = 1 << 12,
    HUB_MEMORY = 32 << 20,
    HUB_ENDS_MAX = 1 << 10, /* of a party that is not trusted */
};

#define HUB_FROM_NOW    UINT64_MAX
#define HUB_FROM_OLDEST (UINT64_MAX - 1)

/* Each kind with the fields that it has. id is a number that the party has chosen for its end. */
enum hub_kind {
    /* of a party */
    HUB_PUBLISH = 1, /* id, rank, tag, policy; flags: SINK */
    HUB_PUSH,        /* id, rank, tag: write to these sinks */
    HUB_SUBSCRIBE,   /* id, rank, tag, off: where to begin; flags: OBSERVER, OPEN */
    HUB_DATA,        /* id, data: of a writer; off: what it knew to be granted; head: when they were
                        read, in ns of the clock of its host; flags: OPEN */
    HUB_TAKEN,       /* id, stream, off: the reader has all bytes below; head: the same, where no
                        other bytes have come to it; flags: EOF */
    HUB_CLOSE,       /* id; flags: BROKEN where a sink's target will never take more, or a writer could
                        not bring all */
    HUB_FLUSH,       /* id, off: a number that comes back */
    HUB_STAT,        /* id, off: a number that comes back */
    HUB_ALSO,        /* id of a PUSH of a trusted party, rank, tag: write to that sink, too */
    /* to a party */
    HUB_OPENED,   /* id, status: of PUBLISH, PUSH, SUBSCRIBE */
    HUB_GRANT,    /* id, off: so many bytes may be sent in all */
    HUB_FRAGMENT, /* id, stream, rank, tag, off, data; head: when the last of the stream were read;
                     flags: EOF, with BROKEN where a writer could not bring all; GAP, OPEN */
    HUB_SHUT,     /* id, off: no sink of this writer will take more; the last byte taken */
    HUB_FLUSHED,  /* id, off: the number, status */
    HUB_STATE,    /* id, off: the number, head, taken, status: readers */
    HUB_KIND_END
};

enum hub_flag {
    HUB_SINK = 1,
    HUB_OBSERVER = 2,
    HUB_EOF = 4,
    HUB_GAP = 8, /* bytes before off were not kept for this reader */
    HUB_BROKEN = 16,
    HUB_HAS_FD = 32, /* between a process and its daemon: a descriptor comes along, which the
                        daemon serves as this end */
    HUB_OPEN = 64, /* the data stop within a line, whose rest comes; readers that subscribe with
                    * this flag are told. DATA without bytes say that no more comes for now */
    HUB_SHARED = 128, /* between mpiexec and a daemon: ranks of that host get the same bytes, which
                         come with the first of their fragments alone */
};

enum hub_policy {
    HUB_POLICY_DEFAULT, /* RING for sources, HOLD for sinks */
    HUB_RING,
    HUB_HOLD,
    HUB_DROP,
    HUB_POLICY_END
};

enum hub_status {
    HUB_GOOD,
    HUB_TAKEN_ID, /* the party has an end with this id */
    HUB_FULL,     /* too many ends or streams */
    HUB_LOST,     /* bytes will never be taken */
    HUB_UNABLE,   /* a descriptor cannot be served */
    HUB_STATUS_END
};

struct hub_message {
    uint8_t kind, flags, policy;
    uint32_t id, stream, status;
    int32_t rank, tag;
    uint64_t off, head, taken;
    const uint8_t *data;
    uint32_t len;
    uint64_t shared; /* of a fragment: the same number, the same bytes; 0: of no other reader */
};

/* A message to a party; block holds its data. */
struct hub_effect {
    uint64_t party;
    struct hub_message message;
    struct bytes *block;
};

struct hub_effects {
    struct hub_effect *items;
    size_t count, room;
    bool failed; /* memory ran out */
};

void hub_effects_clear(struct hub_effects *e);
void hub_effects_fini(struct hub_effects *e);

struct hub;

/* ranks: rank numbers below are good. streams_max: more are refused, but for HUB_OWN_STREAMS of each
 * rank by parties below HUB_TRUSTED. window_max: to which a window may grow. NULL: no memory. */
struct hub *hub_create(int32_t ranks, size_t streams_max, uint64_t window_max);
void hub_destroy(struct hub *h);

/* A message has come; its data is copied. Returns 0, -EPROTO where the party breaks the rules, or
 * -ENOMEM. A party is known from its first message on. Its number has its node in the upper half, 0
 * for the hub's own; those whose number on their node is below HUB_TRUSTED may have any number of
 * ends. */
#define HUB_NODE_SHIFT 32
#define HUB_TRUSTED    16u
int hub_message(struct hub *h, uint64_t party, const struct hub_message *m, struct hub_effects *e);

/* A party is gone: its writers close, its sinks are broken, its subscriptions end. */
int hub_party_gone(struct hub *h, uint64_t party, struct hub_effects *e);

/* A party whose number is at least first, and at most last. Returns whether there is one. */
bool hub_find_party(const struct hub *h, uint64_t first, uint64_t last, uint64_t *party);

/* Whether all that sources have written has been taken by all reliable readers, and every source
 * has closed. */
bool hub_is_quiet(const struct hub *h);

/* Bytes of sources that reliable readers have not taken, with one of the streams that they are of. */
uint64_t hub_untaken(const struct hub *h, int32_t *rank, int32_t *tag);
/* How often reliable readers have taken something. */
uint64_t hub_taken_count(const struct hub *h);

size_t hub_stream_count(const struct hub *h);
/* Bytes kept. */
size_t hub_memory(const struct hub *h);

#endif
