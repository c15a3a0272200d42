/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The steps of a job towards its end: ranks that end, wherever they ran, signals to all, the time that they have to
 * obey, and the sweep behind the last. bnr/core/job.h decides, and this carries it out.
 */
#ifndef BNR_RUN_END_H
#define BNR_RUN_END_H

#include <stdint.h>

#include "bnr/core/job.h"

struct run;

/* No process of the job has been started yet: become the reaper of all of them. Returns 0 or -ENOMEM. */
int run_end_prepare(struct run *run);
/* The run's loop is there. */
void run_end_start(struct run *run);
/* Close the timer; the loop must run once more, then run_end_free(). */
void run_end_stop(struct run *run);
void run_end_free(struct run *run);

/* Do what a step of the job says. */
void run_follow(struct run *run, struct job_step step);
/* A signal of the user's is to end the job. */
void run_end_by_signal(struct run *run, int number);

/* A rank has ended, wherever it was. */
void run_take_end(struct run *run, int rank, const struct job_facts *facts);
/* One that had ended well is missed by others. Does nothing in a job that has failed already. */
void run_take_missed(struct run *run, int rank);

/* Signal all ranks, wherever they run, and the jobs that they have spawned. */
void run_signal_all(struct run *run, int number);
/* Signal a rank (-1: all) while the job runs; arg is the run. */
void run_signal_rank(void *arg, int rank, int number);
/* Kill the ranks here, at once. */
void run_kill_here(struct run *run);

#endif
