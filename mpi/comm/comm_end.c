/* SPDX-License-Identifier: BSD-3-Clause */

/* The end of a communicator for its user. */
#include <stddef.h>

#include "mpi/comm/comm.h"
#include "mpi/left.h"
#include "mpi/request/buffer.h"

void comm_free(struct comm *comm)
{
    if (comm->buffer) { /* its messages go out first */
        void *memory;
        MPI_Count size;
        (void)buffer_detach(&comm->buffer, &memory, &size);
    }
    comm->freed = true; /* requests may need it yet */
    left_freed(comm);
    object_set_word(&comm->object, 0);
    comm_unref(comm);
}
