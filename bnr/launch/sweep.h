/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kill the processes that a job leaves behind. mpiexec is the reaper of all its descendants: a
 * process that loses its parent becomes mpiexec's child. So killing children until none is left
 * reaches all of them, in whatever session, group or environment they are. Children that this
 * process had before the job are not the job's: a shell that calls exec leaves its children to the
 * program.
 */
#ifndef BNR_SWEEP_H
#define BNR_SWEEP_H

#include <sys/types.h>

/* Become the reaper, and remember the children that exist already. Call it before any process of
 * the job is started. Returns 0 or -errno. */
int sweep_prepare(void);

/* Kill and reap all children of the job except those of keep, a list that ends in 0. Repeat until
 * none is left or 2 s have passed. */
void sweep_children(const pid_t *keep);

#endif
