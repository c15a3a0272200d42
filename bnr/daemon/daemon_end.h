/* SPDX-License-Identifier: BSD-3-Clause */

/* The end of a daemon, and of all that runs at it. */
#ifndef BNR_DAEMON_END_H
#define BNR_DAEMON_END_H

struct daemon;

/* The loop ends, and the program with that code. */
void daemon_end_loop(struct daemon *d, int code);

/* End all that runs here, at once. */
void daemon_end_all(struct daemon *d);

/* mpiexec is gone, or takes this node for lost: end both. arg: the daemon. */
void daemon_alone(void *arg);

#endif
