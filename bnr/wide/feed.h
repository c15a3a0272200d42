/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mpiexec's stdin at a daemon: the blocks of a stream are written to the pipes of the ranks that
 * read it. A block is done with when the slowest has it; a rank that closes its stdin or ends is
 * left out.
 */
#ifndef BNR_FEED_H
#define BNR_FEED_H

#include <uv.h>

#include "bnr/core/stream.h"
#include "bnr/wide/mesh.h"

struct feed_target;

struct feed {
    uv_loop_t *loop;
    struct mesh *mesh;
    struct stream_in in;
    struct core_message last; /* without data: for whom the credit is */
    struct bytes **blocks;    /* that not all have */
    size_t count, room;
    uint64_t first; /* the number of blocks[0] */
    struct feed_target *targets;
};

void feed_init(struct feed *f, uv_loop_t *loop, struct mesh *mesh);
void feed_close(struct feed *f);
void feed_fini(struct feed *f);

/* Write to a rank's pipe, which is taken over. Returns 0 or -errno. */
int feed_attach(struct feed *f, int rank, int fd);
void feed_rank_ended(struct feed *f, int rank);

/* A block of the stream has come; an empty one is the end of stdin. */
void feed_take(struct feed *f, const struct core_message *message);

#endif
