/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several ranks that each run a program of Open MPI behind a script: each would be alone. The job ends as soon as one is
 * seen; see bnr/io/foreign_watch.h.
 */
#ifndef BNR_RUN_FOREIGN_H
#define BNR_RUN_FOREIGN_H

struct run;

/* The ranks have been started: look whether those here use another MPI library. */
void run_foreign_start(struct run *run);
/* Look no more; the loop must run once more. */
void run_foreign_stop(struct run *run);

#endif
