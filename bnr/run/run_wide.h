/* SPDX-License-Identifier: BSD-3-Clause */

/* The part of a job that is on other machines: its daemons are brought up, and what they tell becomes events of the
 * job. */
#ifndef BNR_RUN_WIDE_H
#define BNR_RUN_WIDE_H

#include <stdbool.h>

struct run;
struct wide_plan;

/* Take over the plan; nothing is begun. run->wide stays NULL if all ranks run here. Returns 0 or -ENOMEM. */
int run_wide_create(struct run *run, struct wide_plan *plan);
/* Bring the daemons up, and wait for them. Returns whether they are there. */
bool run_wide_bring_up(struct run *run);
/* They are: have the job in network byte order if their machines differ in theirs, and the user has not set that.
 * Returns 0 or -ENOMEM. */
int run_wide_settle_order(struct run *run);

/* While that waits: whether all have been heard of, so that it will not wait any more. */
bool run_wide_is_ready(const struct run *run);
/* Have it wait no more: the job ends with this code. */
void run_wide_give_up(struct run *run, int code);
/* mpiexec stands still until SIGCONT; the commands that start daemons go on. */
void run_wide_stand_still(struct run *run);

/* End the daemons, and wait until they are gone. This and the following do nothing if all ranks run here. */
void run_wide_end(struct run *run);
/* The same, if they are all there: ranks may run elsewhere, though the job could not be prepared. */
void run_wide_end_early(struct run *run);
/* Close everything; the loop must run once more, then run_wide_free(). */
void run_wide_stop(struct run *run);
void run_wide_free(struct run *run);

#endif
