/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A pipe or socket at whose end the job ends (--keepalive). Who has spawned the job may send signals for ranks by it,
 * and have it outlive its spawner; the spawner of a group hears of its processes (bnr/host/order.h).
 */
#ifndef BNR_RUN_KEEPALIVE_H
#define BNR_RUN_KEEPALIVE_H

struct run;

struct run_keepalive_hooks {
    void (*take_signal)(void *arg, int number);           /* as if the user had sent it to mpiexec */
    void (*signal_rank)(void *arg, int rank, int number); /* rank -1: all */
    void *arg;
};

/* Listen, if the plan has such a descriptor. Returns 0 or -errno. */
int run_keepalive_start(struct run *run, const struct run_keepalive_hooks *hooks);
/* Close it; the loop must run once more. */
void run_keepalive_stop(struct run *run);

/* Tell a group's spawner that so many processes have been started, or that a rank has ended, with its status as wait()
 * has it. Others are told nothing. */
void run_keepalive_tell_started(struct run *run, int count);
void run_keepalive_tell_exit(struct run *run, int rank, int status);

#endif
