/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The orders of ranks: jobs that they start, by BNR_Start_job(), each run by an mpiexec of its own, a child of
 * this one; signals for them, and for the ranks of this job. Names that ranks publish are run_names.c's.
 */
#ifndef BNR_RUN_SPAWN_H
#define BNR_RUN_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct run;

/* No rank has ordered anything yet; signal_rank: see run_signal_rank(). Returns 0 or -ENOMEM. */
int run_spawn_prepare(struct run *run, void (*signal_rank)(void *arg, int rank, int number));
/* Ranks are served: take their orders. */
void run_spawn_begin(struct run *run);
/* The jobs that are left end, too, and names go; the loop must run once more. */
void run_spawn_stop(struct run *run);

/* A child has ended. Returns whether it was the mpiexec of such a job; *failed: the code with which this job is to
 * end for that, or 0. */
bool run_spawn_reaped(struct run *run, int pid, int status, int *failed);
/* Signal all of them. */
void run_spawn_signal(struct run *run, int number);
bool run_spawn_has_some(const struct run *run);
/* How many there are; pids (may be NULL): which. */
uint32_t run_spawn_pids(const struct run *run, pid_t *pids);

#endif
