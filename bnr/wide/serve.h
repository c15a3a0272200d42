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
#include <stddef.h>
#include <uv.h>

enum {
    SERVE_GROUP = 1 /* the job's group in the engines */
};

struct core_message;
struct job_facts;
struct mesh;
struct rank_map;
struct ranks;
struct rollup_run;
struct serve;
struct table;
struct unpacking;

/* Serve those who run here, once they are in the table. Makes ranks->bell. mesh, with map of all
 * ranks: NULL where the job has one machine. Returns 0 or -errno; *s can be given to serve_stop() in both cases. */
int serve_start(struct serve **s, uv_loop_t *loop, struct mesh *mesh, const struct rank_map *map,
                struct ranks *ranks);
/* Serve nobody any more; the loop must run once more, then serve_free(). Both accept NULL. */
void serve_stop(struct serve *s);
void serve_free(struct serve *s);

/* At mpiexec: have take() called with each order (bnr/host/order.h) that a rank gives. */
void serve_hear_orders(struct serve *s, void (*take)(void *arg, int rank, const uint8_t *data, size_t len), void *arg);
/* Have missed() called when a rank, waiting, waits for one that has ended without MPI_Init and that nobody has missed as
 * it ended. */
void serve_hear_missed(struct serve *s, void (*missed)(void *arg, int rank, int waiting), void *arg);
/* A letter of mpiexec's to a rank here. */
void serve_tell(struct serve *s, int rank, uint32_t tag, const void *data, size_t len);

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
