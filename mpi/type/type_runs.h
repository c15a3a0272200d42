/* SPDX-License-Identifier: BSD-3-Clause */

/* The runs of bytes that a datatype describes, one after the other. */
#ifndef MPI_TYPE_RUNS_H
#define MPI_TYPE_RUNS_H

#include <stdint.h>

#include "mpi/type/type.h"

/* Gets one run. Anything but 0 ends the walk, and becomes its result. */
typedef int type_run_fn(void *arg, int64_t offset, int64_t len);

/* Call visit for each run of count elements of a committed type, in the order of the type map.
 * Adjoining runs are joined. Returns 0, or what visit returned. */
int type_runs(const struct type *type, MPI_Count count, type_run_fn *visit, void *arg);

#endif
