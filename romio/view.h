/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The view that a process has of a file: which byte of the file a byte of the view is, and back. Pure
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
    int64_t before; /* data bytes of the type before it */
};

struct view {
    MPI_Offset disp;
    MPI_Datatype etype, filetype; /* as the user has them: held, where they are not predefined */
    MPI_Count etype_size;         /* in memory */
    MPI_Count unit;               /* the same in the file */
    int64_t size, extent;         /* of the file type in the file: data bytes, and with gaps */
    struct view_run *runs;        /* of the file type; NULL: it is all data */
    int64_t run_count;
    const struct datarep *datarep;
};

/* Take the runs of a committed type for the file; false: no memory. */
bool view_take_runs(struct view *view, MPI_Datatype filetype);
/* Give back what a view has. */
void view_fini(struct view *view);

/* Where in the file a data byte of the view is. */
int64_t view_place(const struct view *view, int64_t byte);
/* How many data bytes of the view are before a place in the file. */
int64_t view_below(const struct view *view, int64_t place);

#endif
