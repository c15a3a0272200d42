/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The daemon of one machine: it runs the ranks that mpiexec sends it, carries their streams, serves
 * them, and ends with the job.
 */
#ifndef BNR_DAEMON_H
#define BNR_DAEMON_H

#include <stddef.h>

struct launch_order;

/* Do what the order says, until the job is over. in_fd, out_fd: where the link to mpiexec is piped,
 * its ends. name: see wardens_start(). Returns what to exit with. */
int daemon_run(const struct launch_order *order, int in_fd, int out_fd, char *name,
               size_t name_size);

#endif
