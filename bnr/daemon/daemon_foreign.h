/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks of a daemon that run programs of Open MPI behind a script; see bnr/io/foreign_watch.h. */
#ifndef BNR_DAEMON_FOREIGN_H
#define BNR_DAEMON_FOREIGN_H

struct daemon;

/* The table is there, and ranks are about to be started: tell mpiexec when such a program is seen, which ends the job. */
void daemon_watch_foreign(struct daemon *d);

#endif
