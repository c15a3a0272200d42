/* SPDX-License-Identifier: BSD-3-Clause */

/* Persistent requests (MPI-5.0 3.9): each start makes a request, which is inside this one. */
#ifndef MPI_PERSIST_H
#define MPI_PERSIST_H

#include <mpi.h>
#include <stdbool.h>

struct comm;
struct persist;
struct request;

/* The work of each start. */
struct persist_what {
    int (*start)(const struct persist_what *what, struct request **started);
    bool receive; /* or it sends */
    struct comm *comm;
    void *buf;
    MPI_Count count;
    MPI_Datatype type; /* the request keeps it alive */
    int peer, tag;
    unsigned mode;
};

/* Have mpiexec told of those that are not started. */
void persist_init(void);
/* An inactive request. NULL: no memory. */
struct request *persist_create(const struct persist_what *what);

#endif
