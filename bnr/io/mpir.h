/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The MPIR process acquisition interface, version 1.0: a debugger that has mpiexec in its hands finds
 * the ranks' processes in MPIR_proctable, and stops mpiexec at MPIR_Breakpoint() once they are there.
 * Where a debugger started mpiexec, the ranks wait at the beginning of MPI_Init until that returns.
 */
#ifndef BNR_MPIR_H
#define BNR_MPIR_H

#include <stdbool.h>

struct tell_process;

/* Whether a debugger has started mpiexec: ranks are to wait. */
bool mpir_is_debugged(void);
/* All ranks have been started: publish them, and stop for the debugger. */
void mpir_publish(const struct tell_process *list, int count);
/* The job ends early: say why, and stop for the debugger. why: stays. */
void mpir_abort(const char *why);

#endif
