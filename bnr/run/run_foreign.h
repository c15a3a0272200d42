/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rank that is a script may run a program of another MPI library; each of its processes would be
 * alone. No file tells that before: so mpiexec looks a few times, in the first seconds and ever
 * more seldom, whether the first rank here has mapped such a library, until that rank has come to
 * MPI_Init.
 */
#ifndef BNR_RUN_FOREIGN_H
#define BNR_RUN_FOREIGN_H

struct run;

/* The ranks have been started: look whether the first one here uses another MPI library. */
void run_foreign_start(struct run *run);
/* Look no more; the loop must run once more. */
void run_foreign_stop(struct run *run);

#endif
