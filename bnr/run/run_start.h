/* SPDX-License-Identifier: BSD-3-Clause */

/* The start of the ranks of this machine, one after another, while the loop hears of all else. */
#ifndef BNR_RUN_START_H
#define BNR_RUN_START_H

struct run;

/* Start them, or on a failure end those that run. Then mpiexec tells of them, and its stdin is read. */
void run_start(struct run *run);
/* Look no more after what they have started; the loop must run once more. */
void run_start_stop(struct run *run);

#endif
