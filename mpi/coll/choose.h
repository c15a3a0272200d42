/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which algorithm runs: the first row that fits, of the setting of a collective (VIREO_COLL_BCAST),
 * then of the tuning file (VIREO_COLL_TUNING), then on several hosts of the rows of two levels, then of the
 * library's table. On one host the region is tried before (mpi/region/region.h). A row does not fit whose
 * algorithm needs what a call does not have. All processes of a call must find the same row,
 * so rows ask only for what all of them know (mpi/coll/choose_row.h).
 */
#ifndef MPI_COLL_CHOOSE_H
#define MPI_COLL_CHOOSE_H

#include <mpi.h>
#include <stdbool.h>

struct coll;
struct sched;

/* Have calls compared across ranks from now on, for mpiexec --check. While no collective runs. */
void choose_compare_calls(void);
/* Have runs counted from now on, for mpiexec --report. */
void choose_count_runs(void);
/* A call has run through memory that is shared. */
void choose_count_region(const struct coll *c);

/* Whether a call has to go by messages: a row that was put fits it, or calls are compared. */
bool choose_is_forced(const struct coll *c);
/* Append the steps of a call; count it, too, as one that stands for itself. */
void choose_append(struct sched *s, const struct coll *c);
void choose_begin(struct sched *s, const struct coll *c);
/* The same where members have given different lengths: all choose alike, and each sends what the others may expect. */
void choose_begin_unlike(struct sched *s, const struct coll *c);
/* The same of a bcast or scatter whose root has so many bytes: all choose by these. Other lengths are an error from
 * the beginning; maybe wrong data come. */
void choose_begin_as(struct sched *s, const struct coll *c, MPI_Count bytes);

#endif
