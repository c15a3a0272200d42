/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The way in which a file is accessed, which depends on its file system and its view. Without locks
 * nothing is done that needs one: strided data are written piece by piece, not by reading the gaps
 * and writing them back. Hints of the user's come first. If they leave the choice, and all
 * processes and the file system are on one host, it is made by the runs of the view: those that are
 * long or far from each other are worth a system call each. Of other runs, a reading process sieves
 * alone if enough of the span from its first to its last byte is its own; collective writes are
 * two-phase, as processes that sieve exclude each other.
 */
#ifndef ROMIO_PLAN_H
#define ROMIO_PLAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct ADIOI_FileD;
struct io_file;

enum plan_way {
    PLAN_TWO_PHASE, /* collective: by aggregators */
    PLAN_SIEVE,     /* each process alone, by ROMIO: several runs at once, with the gaps */
    PLAN_DIRECT     /* each process alone, run by run: direct.h */
};

/* How the data of the present view are accessed; by [0] reads, [1] writes. */
struct access_plan {
    enum plan_way alone[2];
    enum plan_way together[2]; /* collective; PLAN_TWO_PHASE in all processes or in none */
};

/* A name without the driver before a colon, if ROMIO has that driver. */
const char *plan_path(const char *name);
/* Make the hints that ROMIO gets, to be freed; MPI_INFO_NULL stays. */
MPI_Info plan_hints(MPI_Info info);
void plan_hints_free(MPI_Info *info);

/* Give ROMIO all hints of a file, also those of the file of hints. A size that is no number of bytes
 * becomes ROMIO's own, so that processes that give a good one find that it is not the same. */
void plan_set_info(struct ADIOI_FileD *fd, MPI_Info info, int *rc);

/* Whether the file system of an open file has locks, as far as this process can see. Sets
 * file->own_locks. */
bool plan_has_locks(struct io_file *file);
/* At open: the buffers' sizes, where the hints that were given do not say. */
void plan_buffers(struct io_file *file, MPI_Info given);
/* After hints or a view were set: change hints that are impossible, and choose how data are accessed.
 * Collective. */
void plan_settle(struct io_file *file);
/* Print on stderr how the file is accessed, if wanted; one process does it. */
void plan_report(const struct io_file *file);
/* The same for its view. */
void plan_report_view(const struct io_file *file);

#endif
