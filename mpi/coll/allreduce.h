/* SPDX-License-Identifier: BSD-3-Clause */

/* What other collectives use of allreduce. */
#ifndef MPI_COLL_ALLREDUCE_H
#define MPI_COLL_ALLREDUCE_H

struct comm;
struct fold;

/* Fold in the values of all processes, in the order of ranks. */
void allreduce_fold(struct fold *f, const struct comm *comm);

#endif
