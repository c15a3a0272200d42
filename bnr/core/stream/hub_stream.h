/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The parts of a hub: parties, their ends, streams, and links between ends and streams. hub.c
 * hears messages and makes links, hub_stream.c lets bytes flow over them.
 */
#ifndef BNR_HUB_STREAM_H
#define BNR_HUB_STREAM_H

#include "bnr/core/hash.h"

#include "bnr/core/stream/byte_ring.h"
#include "bnr/core/stream/hub.h"

struct hub_name {
    int32_t rank, tag;
    uint32_t is_sink;
};

struct hub_stream {
    struct hub_name name;
    uint32_t number; /* in fragments; never used again */
    UT_hash_handle by_number, by_name;
    bool is_named; /* further writers and sinks join this stream, not a new one */
    bool is_ended; /* it has no writer any more */
    bool is_open;  /* its last byte is within a line, whose rest comes */
    bool is_torn;  /* a writer could not bring all of its bytes */
    bool is_own;   /* a trusted party has written it: bytes of others are no part of that */
    enum hub_policy policy;
    struct byte_ring ring;
    uint64_t keep; /* bytes from here on are kept for reliable readers, or held */
    uint64_t read_ns; /* when its last bytes were read, by the clock of the writer's host */
    uint64_t grown; /* by so much its window is larger than the usual one */
    uint32_t writers;
    struct hub_link *links;
};

/* Between an end and a stream. */
struct hub_link {
    struct hub_end *end;
    struct hub_stream *stream;
    struct hub_link *next_of_end, **at_end;       /* in the end's list, and the pointer to this */
    struct hub_link *next_of_stream, **at_stream; /* in the stream's */
    uint64_t sent, taken;                         /* of a reader: offsets */
    uint64_t gap, gap_end; /* bytes that were left out last, and up to where */
    bool is_told;          /* the reader has been sent the end */
    bool is_open;          /* it has been told so of what it got last */
    uint64_t target;       /* of a writer that flushes */
};

struct hub_key {
    uint64_t party;
    uint32_t id, zero;
};

/* A writer or a reader that a party has opened. */
struct hub_end {
    struct hub_key key;
    UT_hash_handle hh;
    struct hub_party *party;
    struct hub_end *next_of_party, **at_party;
    struct hub_end *next_waiting, **at_waiting; /* it gets links to streams that are new */
    bool is_writer, is_observer, is_flushing, has_lost;
    bool wants_lines;      /* a reader: it is told where a line is open */
    bool is_shut;          /* of a writer: no sink will take more */
    struct hub_name match; /* of its streams; HUB_ANY: all */
    uint64_t from;
    uint64_t got, granted; /* of a writer: bytes */
    uint64_t flush;        /* the number of its flush */
    struct hub_link *links;
};

struct hub_party {
    uint64_t number;
    UT_hash_handle hh;
    struct hub_end *ends;
    size_t count;
};

struct hub {
    int32_t ranks;
    size_t streams_max;
    uint64_t window_max, grown; /* of a stream; and of all */
    uint32_t last_number;
    uint64_t taken_count; /* messages by which reliable readers have taken something */
    struct hub_stream *by_number, *by_name;
    const struct hub_message *passing; /* what a writer has just put, to each stream the same; */
    struct bytes *passing_block;       /* its copy, which all readers share; */
    bool is_passing_shared;            /* whether it goes to several streams, */
    uint64_t passing_number;           /* and then its number, of all such */
    struct hub_end *ends, *waiting;
    struct hub_party *parties;
};

/* Move a stream's bytes to readers, and grants to writers, as far as possible; forget the stream if
 * it is over. Called after each change; the stream may be gone. */
void hub_stream_flow(struct hub *h, struct hub_stream *s, struct hub_effects *e);

/* Append bytes. Returns 0 or -ENOMEM. */
int hub_stream_put(struct hub *h, struct hub_stream *s, const void *data, size_t len);

/* How many bytes of it may be under way and kept. */
uint64_t hub_stream_window(const struct hub *h, const struct hub_stream *s);
/* Double that, if there is room. */
void hub_stream_grow(struct hub *h, struct hub_stream *s);

/* Take a stream's name away: later writers and readers do not find it. */
void hub_stream_unname(struct hub *h, struct hub_stream *s);

/* Put a link into the lists of its end and its stream. */
void hub_link_add(struct hub_link *link);
/* Take a link out of its stream and its end, and release it. */
void hub_link_destroy(struct hub_link *link);

/* Grant a writer what its streams have room for. */
void hub_grant(struct hub *h, struct hub_end *writer, struct hub_effects *e);
/* End its flush once all has been taken. */
void hub_check_flush(struct hub_end *writer, struct hub_effects *e);

/* Send a message to the party of an end. */
void hub_send(const struct hub_end *end, const struct hub_message *m, struct bytes *block,
              struct hub_effects *e);

#endif
