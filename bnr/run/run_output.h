/* SPDX-License-Identifier: BSD-3-Clause */

/* What ranks write and read: where each of their streams goes, and how mpiexec writes what it gets of them. */
#ifndef BNR_RUN_OUTPUT_H
#define BNR_RUN_OUTPUT_H

struct ranks_pipes;
struct run;

/* Be ready to write, before ranks are started. Returns 0 or -errno. */
int run_output_start(struct run *run);
/* Lines from before the ranks come out, unless the user does not want to wait; no rank will be started. */
void run_output_settle(struct run *run);
/* The job is over: give the terminal back, and say if output was lost. Returns the exit code for that, or 0. */
int run_output_judge(const struct run *run);
/* Close everything; the loop must run once more, then run_output_free(). */
void run_output_stop(struct run *run);
void run_output_free(struct run *run);

/* Make the pipes of a rank that is about to start here; arg is the run. Returns 0; -ECANCELED: the job ends meanwhile;
 * or another -errno. */
int run_output_open(void *arg, int rank, struct ranks_pipes *p);

#endif
