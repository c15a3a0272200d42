/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A fold: the reduction, so far, of the data of some processes whose ranks follow each other.
 * Others' values come in below or above it, and operands keep the order of ranks. The value
 * moves between the caller's input, which is never written, and two places, so that nothing is copied
 * without need.
 */
#ifndef MPI_COLL_FOLD_H
#define MPI_COLL_FOLD_H

#include <mpi.h>
#include <stdbool.h>

struct sched;

enum { FOLD_INPUT = -1 };

struct fold {
    struct sched *s;
    MPI_Count count;
    MPI_Datatype type;
    const void *value;
    int at; /* where value is: FOLD_INPUT, or the index of its place */
    void *place[2];
    bool has[2];
};

/* Begin with a process's input. result: where the value shall be in the end (MPI_IN_PLACE:
 * anywhere), and where the input is if input is MPI_IN_PLACE. */
void fold_init(struct fold *f, struct sched *s, const void *input, void *result, MPI_Count count,
               MPI_Datatype type);
/* A place to receive a value in that is of lower ranks (below) or of higher. */
void *fold_room(struct fold *f, bool below);
/* Take in the value that was received there. */
void fold_take(struct fold *f, bool below);
/* The value will be received, whole, from another process: return where. */
void *fold_replace(struct fold *f);
/* Have the value in the result. */
void fold_end(struct fold *f);
/* Fold in the values of all processes, in the order of ranks: allreduce. */
void fold_all(struct fold *f, int rank, int size);

#endif
