/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Services of a daemon for the ranks of its machine: their letters are carried (post.h), and those of another MPI
 * library speak PMI-1 (pmi_port.h). Where the
 * job has several machines, what they put is passed to the node's engine, too, keys of others are
 * fetched for them, and their fences reach over all. A rank says so in its page (bnr/host/table.h)
 * and rings.
 */
#ifndef BNR_SERVE_H
#define BNR_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/bytes.h"
#include "bnr/wide/pmi_port.h"
#include "bnr/wide/post.h"

enum {
    SERVE_GROUP = 1 /* the job's group in the engines */
};

struct core_message;
struct job_facts;
struct mesh;
struct rank_map;
struct ranks;
struct rollup_run;
struct serve_rank;
struct serve_wish;
struct table;

struct serve {
    struct mesh *mesh; /* NULL: the job has one machine */
    struct ranks *ranks;
    struct post post;
    struct pmi_port pmi; /* of those with another MPI library */
    uv_poll_t bell;
    int bell_fd; /* the end that is read; -1: none */
    struct serve_rank *all;
    uint32_t count;
    struct serve_wish *wishes; /* whom ranks here wait for */
    bool tells_all;            /* there was no room for some of them: all hear of all news */
    uint32_t fence;       /* the last that is over */
    bool has_entered;     /* the next one has been entered */
    bool is_awaited;      /* some here have come to it, and it has not been entered */
    uint64_t fence_bytes; /* put since the last one */
    struct packing fence_entries;
};

/* Serve those who run here, once they are in the table. Makes ranks->bell. mesh, with map of all
 * ranks: NULL where the job has one machine. Returns 0 or -errno. */
int serve_start(struct serve *s, uv_loop_t *loop, struct mesh *mesh, const struct rank_map *map,
                struct ranks *ranks);
void serve_stop(struct serve *s);

/* Look at all pages. */
void serve_look(struct serve *s);

/* The engine's answers: a fence is over, or a get. */
void serve_answer(struct serve *s, const struct core_message *message);

/* An xcast with a letter, or with an order to mpiexec, has come. */
void serve_deliver(struct serve *s, const struct core_message *message, struct unpacking u);

/* A rank here has ended, and the group is told how; code: of its abort. */
void serve_rank_ended(struct serve *s, int rank, const struct job_facts *facts);

/* The run that tells of such an end. */
struct rollup_run serve_run(int rank, const struct job_facts *facts);

/* Whether ranks ended well that have never initialized. */
bool serve_are_missed(const struct rollup_run *run);

/* Ranks on other machines have ended: note it in the table, for the ranks here. */
void serve_note_ended(struct table *t, const struct rollup_run *run);

#endif
