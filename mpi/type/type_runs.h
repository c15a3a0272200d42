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

/* Runs of equal length, stride bytes from the begin of one to that of the next. */
struct type_row {
    int64_t offset, len; /* of the first one */
    int64_t stride;
    int64_t count; /* 1 or more */
};

/* As type_runs(), by rows where the type has such; runs that adjoin a row are not joined with it. */
typedef int type_row_fn(void *arg, const struct type_row *row);
int type_rows(const struct type *type, MPI_Count count, type_row_fn *visit, void *arg);

#endif
