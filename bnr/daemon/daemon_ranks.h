/* SPDX-License-Identifier: BSD-3-Clause */

/* A daemon's ranks: the table of all, the processes of those here, and what is told of their ends. */
#ifndef BNR_DAEMON_RANKS_H
#define BNR_DAEMON_RANKS_H

struct daemon;

/* Returns 0 or -ENOMEM. */
int daemon_ranks_begin(struct daemon *d);

/* Make the table. Returns 0, or -errno with the step that has failed. */
int daemon_create_ranks(struct daemon *d, const char **step);

/* Make the ranks' folder, guard them, and look what they run. Returns 0, or -errno with the step that has failed. */
int daemon_guard_ranks(struct daemon *d, const char **step);

/* They are served: tell mpiexec when one comes to wait for a rank that has ended without MPI_Init. */
void daemon_hear_missed(struct daemon *d);

/* The job has ended: the guards go. */
void daemon_unguard_ranks(struct daemon *d);

#endif
