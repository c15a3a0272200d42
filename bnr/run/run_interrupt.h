/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What interrupts a job: signals that come to mpiexec, the end of its spawner (run_keepalive.h), and the time limit.
 * Each ends the job, has it stand still, or asks what the ranks do.
 */
#ifndef BNR_RUN_INTERRUPT_H
#define BNR_RUN_INTERRUPT_H

struct run;

/* Hear of signals from now on. Returns 0 or -errno. */
int run_interrupt_start(struct run *run);
/* Let the time of --timeout run; there is somebody to say it to. */
void run_interrupt_limit(struct run *run);
/* Close everything; the loop must run once more, then run_interrupt_free(). */
void run_interrupt_stop(struct run *run);
void run_interrupt_free(struct run *run);

/* Children have ended, perhaps: reap them as at SIGCHLD. */
void run_interrupt_reap(struct run *run);

#endif
