/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The way in which a file is accessed, which depends on its file system. Without locks nothing is
 * done that needs one: strided data are written piece by piece, not by reading the gaps and writing
 * them back.
 */
#ifndef ROMIO_PLAN_H
#define ROMIO_PLAN_H

#include <mpi.h>
#include <stdbool.h>

struct io_file;

/* A name without the driver before a colon, if ROMIO has that driver. */
const char *plan_path(const char *name);
/* Make the hints that ROMIO gets, to be freed; MPI_INFO_NULL stays. */
MPI_Info plan_hints(MPI_Info info);
void plan_hints_free(MPI_Info *info);

/* Whether the file system of an open file has locks, as far as this process can see. Sets
 * file->own_locks. */
bool plan_has_locks(struct io_file *file);
/* After hints were set: change those that are impossible. */
void plan_settle(struct io_file *file);
/* Print on stderr how the file is accessed, where that is wanted; one process does it. */
void plan_report(const struct io_file *file);

#endif
