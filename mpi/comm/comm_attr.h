/* SPDX-License-Identifier: BSD-3-Clause */

/* A communicator as an object that carries attributes. */
#ifndef MPI_COMM_ATTR_H
#define MPI_COMM_ATTR_H

#include "mpi/attr.h"
#include "mpi/comm/comm.h"

static inline struct attr_owner comm_attr_of(struct comm *comm)
{
    return (struct attr_owner){ATTR_COMM, comm_handle(comm), &comm->attrs, &comm->lock};
}

#endif
