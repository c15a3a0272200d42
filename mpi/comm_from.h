/* SPDX-License-Identifier: BSD-3-Clause */

/* What the API's two constructors without a parent communicator share: their arguments, and that
 * errors go to an error handler which no object has yet. */
#ifndef MPI_COMM_FROM_H
#define MPI_COMM_FROM_H

#include <mpi.h>

struct comm;
struct errhandler;
struct group;
struct info;

/* Each NULL where the handle is none. */
struct comm_from {
    struct group *group; /* the local one */
    const char *text;
    const struct info *info;
    struct errhandler *errhandler;
};

/* MPI_SUCCESS, or the code of an error that was raised. */
int comm_from_check(const struct comm_from *from, MPI_Group group, MPI_Info info,
                    const char *function);
/* Raise an error. Returns its code. */
int comm_from_error(const struct comm_from *from, int error_class, const char *function,
                    const char *what);
/* Give the user what was made, with handler and hints, or raise rc. */
int comm_from_give(const struct comm_from *from, int rc, struct comm *made, MPI_Comm *newcomm,
                   const char *function);

#endif
