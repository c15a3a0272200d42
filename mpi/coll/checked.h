/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collective calls compared across ranks, for mpiexec --check: each process sends what it calls to
 * the next rank, which compares that with its own call, before either does anything else. A mismatch
 * ends the job with both ranks, calls and source lines. This is a part of the schedule, so it is the
 * same for all forms, and waits for nobody in those that do not block.
 *
 * Then all learn what the others know (mpi/known.h), as far as the kind of collective has data go from
 * these to those.
 */
#ifndef MPI_COLL_CHECKED_H
#define MPI_COLL_CHECKED_H

#include "mpi/coll/coll.h"

/* Append the comparison to a schedule that is empty yet. */
void checked_append(struct sched *s, const struct coll *c);

#endif
