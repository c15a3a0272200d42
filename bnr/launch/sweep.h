/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kill what a job leaves behind. mpiexec is the reaper of all its descendants:
 * whoever loses its parent becomes mpiexec's child, so killing children until
 * none is left reaches everybody, whatever session, group or environment they
 * gave themselves.
 */
#ifndef BNR_SWEEP_H
#define BNR_SWEEP_H

#include <sys/types.h>

/* Become the reaper. Returns 0 or -errno. */
int sweep_prepare(void);

/* Kill and reap every child but spared, again until none is left or 2 s have
 * passed. Returns how many were killed. */
int sweep_children(pid_t spared);

#endif
