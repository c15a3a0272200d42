/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The MPIR process acquisition interface, version 1.0: a debugger that has mpiexec in its hands finds
 * the ranks' processes in MPIR_proctable, and stops mpiexec at MPIR_Breakpoint() once they are there.
 * Where a debugger started mpiexec, the ranks wait at the beginning of MPI_Init until that returns.
 */
#ifndef BNR_MPIR_H
#define BNR_MPIR_H

#include "bnr/host/table.h"

/* Before the first rank is started: whether they are to wait. */
void mpir_begin(struct table *table);
/* All ranks have been started: publish them, stop for the debugger, and let them go on. paths: the
 * programs. */
void mpir_publish(struct table *table, char *const *paths);

#endif
