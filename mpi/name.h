/* SPDX-License-Identifier: BSD-3-Clause */

/* The name of an object. Any thread may read or change it at any time. */
#ifndef MPI_NAME_H
#define MPI_NAME_H

#include <mpi.h>

#include "os/lock.h"

struct name {
    struct os_lock lock; /* guards text */
    char text[MPI_MAX_OBJECT_NAME];
};

/* Set the name, cut to the room that there is. */
void name_set(struct name *name, const char *text);
/* Returns the length. */
int name_get(struct name *name, char text[MPI_MAX_OBJECT_NAME]);

#endif
