/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the ranks of one machine want of their daemon, where the job has several: what they put is
 * passed to the node's engine, keys of others are fetched for them, and their fences reach over
 * all. A rank says so in its page (bnr/host/table.h) and rings.
 */
#ifndef BNR_SERVE_H
#define BNR_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/rollup.h"
#include "bnr/wide/mesh.h"
#include "bnr/io/ranks.h"

enum {
    SERVE_GROUP = 1 /* the job's group in the engines */
};

struct serve_rank;

struct serve {
    struct mesh *mesh;
    struct ranks *ranks;
    uv_poll_t bell;
    int bell_fd; /* the end that is read; -1: none */
    struct serve_rank *all;
    uint32_t count;
    uint32_t fence;       /* the last that is over */
    bool has_entered;     /* the next one has been entered */
    uint64_t fence_bytes; /* put since the last one */
    struct packing fence_entries;
};

/* Serve those who run here, once they are in the table. Makes ranks->bell. Returns 0 or -errno. */
int serve_start(struct serve *s, uv_loop_t *loop, struct mesh *mesh, struct ranks *ranks);
void serve_stop(struct serve *s);

/* Look at all pages. */
void serve_look(struct serve *s);

/* The engine's answers. */
void serve_value(struct serve *s, const struct core_message *message);
void serve_released(struct serve *s, const struct core_message *message);

/* A rank here has ended, and the group is told how; code: of its abort. */
void serve_rank_ended(struct serve *s, int rank, const struct job_facts *facts);

/* The run that tells of such an end. */
struct rollup_run serve_run(int rank, const struct job_facts *facts);

/* Ranks on other machines have ended: note it in the table, for the ranks here. */
void serve_note_ended(struct table *t, const struct rollup_run *run);

#endif
