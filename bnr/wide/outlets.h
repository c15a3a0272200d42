/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a daemon sends to mpiexec: the bytes that its ranks write, and its own words, as records in
 * streams (bnr/core/stream.h). A rank's pipe is read only while its stream has room.
 */
#ifndef BNR_OUTLETS_H
#define BNR_OUTLETS_H

#include <stdbool.h>
#include <uv.h>

#include "bnr/core/stream.h"
#include "bnr/wide/mesh.h"
#include "bnr/wire/launch_message.h"

struct outlet;

struct outlets {
    uv_loop_t *loop;
    struct mesh *mesh;
    struct stream_out out[LAUNCH_STREAMS];
    struct outlet *first;
    struct effects effects;
};

/* window: bytes under way in each stream. */
void outlets_init(struct outlets *o, uv_loop_t *loop, struct mesh *mesh, size_t window);
/* Close all pipes; the loop must run once more. */
void outlets_close(struct outlets *o);
void outlets_fini(struct outlets *o);

/* Read a rank's pipe, which is taken over, for a stream; -1: it has none, and ends at once. */
int outlets_attach(struct outlets *o, int rank, enum launch_stream stream, int fd);
/* The rank has ended: read what is there; what others still hold is given up after a while. */
void outlets_rank_ended(struct outlets *o, int rank);

/* Nobody reads this stream any more: ranks that write to it get SIGPIPE. */
void outlets_unread(struct outlets *o, enum launch_stream stream);

/* Say something in the stream of words. */
void outlets_say(struct outlets *o, const struct record *r);

/* A CREDIT has come, or it is time to say again what may be lost. */
void outlets_credit(struct outlets *o, const struct core_message *credit);
void outlets_tick(struct outlets *o, bool is_new);

#endif
