/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ranks of this machine, from their table to their end: how each is started (bnr/io/ranks.h), the service that they
 * get, and the events of their processes. run_start.h starts them.
 */
#ifndef BNR_RUN_RANKS_H
#define BNR_RUN_RANKS_H

#include <stdbool.h>
#include <stddef.h>

struct job_facts;
struct run;

/* Make the table of all ranks, and the folder in which some here start. Returns 0, or -errno with the failed step. */
int run_ranks_make(struct run *run, const char **step);
/* Start the wardens; name: see wardens_start(). Returns as before. */
int run_ranks_guard(struct run *run, char *name, size_t name_size, const char **step);
/* All have ended: let the wardens go. */
void run_ranks_unguard(struct run *run);
/* Have them served, where all ranks are here. Returns 0 or -errno. */
int run_ranks_serve(struct run *run);
/* They are served, wherever others are: hear of ranks that those here miss. */
void run_ranks_hear(struct run *run);

/* Children have ended: reap them. Returns whether there are more, after others have had their turn. */
bool run_ranks_reap(struct run *run);
/* A rank has ended, or was not started; arg is the run. */
void run_ranks_ended(void *arg, int rank, const struct job_facts *facts);

/* Close everything; the loop must run once more, then run_ranks_free(). */
void run_ranks_stop(struct run *run);
void run_ranks_free(struct run *run);

#endif
