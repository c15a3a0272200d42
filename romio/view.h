/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A process's view of a file: it maps bytes of the view to bytes of the file, and back. Pure
 * arithmetic over the runs of the file type.
 */
#ifndef ROMIO_VIEW_H
#define ROMIO_VIEW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct datarep;

struct view_run {
    int64_t offset, len;
    int64_t before; /* data bytes of the type before this run */
};

struct view {
    MPI_Offset disp;
    MPI_Datatype etype, filetype; /* the user's types: held, unless predefined */
    MPI_Count etype_size;         /* in memory */
    MPI_Count unit;               /* the same in the file */
    int64_t size, extent;         /* of the file type in the file: data bytes, and with gaps */
    struct view_run *runs;        /* of the file type; NULL: it has no gaps */
    int64_t run_count;
    const struct datarep *datarep;
};

/* Take the runs of a committed type for the file; false: no memory. */
bool view_take_runs(struct view *view, MPI_Datatype filetype);
/* Give back what a view has. */
void view_fini(struct view *view);

/* The place in the file of a data byte of the view. */
int64_t view_place(const struct view *view, int64_t byte);
/* The same as *place; returns the bytes from there to the end of its run. */
int64_t view_run(const struct view *view, int64_t byte, int64_t *place);
/* The mean length of the runs; INT64_MAX: the view has no gaps. */
int64_t view_mean_run(const struct view *view);
/* From the begin of a run to that of the next, on average; the same. */
int64_t view_mean_distance(const struct view *view);
/* The number of data bytes of the view before a place in the file. */
int64_t view_below(const struct view *view, int64_t place);

#endif
