/* SPDX-License-Identifier: BSD-3-Clause */

/* The end of a communicator for its user. */
#include <stddef.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/comm_attr.h"
#include "mpi/comm/errh.h"
#include "mpi/left.h"
#include "mpi/make/comm_make.h"
#include "mpi/request/buffer.h"

static void let_go(struct comm *comm)
{
    buffer_end(&comm->buffer); /* its messages go out first */
    comm->freed = true; /* requests may need it yet */
    left_freed(comm);
    object_set_word(&comm->object, 0);
    comm_unref(comm);
}

int comm_end(MPI_Comm *handle, void (*part)(struct comm *comm), const char *function)
{
    struct comm *comm = handle ? comm_any(*handle) : NULL;
    if (!comm || comm->freed)
        return errh_bad_comm(handle ? *handle : MPI_COMM_NULL, function);
    if (comm->predefined)
        return errh_comm(comm, MPI_ERR_COMM, function, "a predefined communicator stays");
    int rc = attr_delete_all(comm_attr_of(comm));
    if (rc)
        return errh_comm(comm, rc, function, "an attribute's callback returned error code %d", rc);
    if (part)
        part(comm);
    let_go(comm);
    *handle = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
