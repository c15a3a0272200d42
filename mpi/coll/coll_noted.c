/* SPDX-License-Identifier: BSD-3-Clause */

/* The collectives that a communicator has noted, by name; see coll.h. */
#include "mpi/coll/coll.h"

const char *coll_noted(const struct comm *comm, uint32_t number, int *root)
{
    static const char *const names[COLL_KINDS + 1][2] = {
        [COLL_BARRIER] = {"MPI_Barrier", "MPI_Barrier"},
        [COLL_BCAST] = {"MPI_Bcast", "MPI_Bcast"},
        [COLL_REDUCE] = {"MPI_Reduce", "MPI_Reduce"},
        [COLL_ALLREDUCE] = {"MPI_Allreduce", "MPI_Allreduce"},
        [COLL_GATHER] = {"MPI_Gather", "MPI_Gatherv"},
        [COLL_SCATTER] = {"MPI_Scatter", "MPI_Scatterv"},
        [COLL_ALLGATHER] = {"MPI_Allgather", "MPI_Allgatherv"},
        [COLL_ALLTOALL] = {"MPI_Alltoall", NULL}, /* of two functions */
        [COLL_REDUCE_SCATTER] = {"MPI_Reduce_scatter_block", "MPI_Reduce_scatter"},
        [COLL_SCAN] = {"MPI_Scan", "MPI_Scan"},
        [COLL_EXSCAN] = {"MPI_Exscan", "MPI_Exscan"},
        [NOTED_COPY] = {"MPI_Comm_idup", NULL},
    };
    uint64_t word = atomic_load_explicit(&comm->calls[number % COMM_CALLS], memory_order_relaxed);
    unsigned form = (unsigned)(word >> NOTED_ROOT) % (1u << (NOTED_NUMBER - NOTED_ROOT));
    unsigned kind = form >> 1;
    if (word >> NOTED_NUMBER != (uint64_t)number + 1 || kind > NOTED_COPY)
        return NULL;
    bool is_rooted =
        kind == COLL_BCAST || kind == COLL_REDUCE || kind == COLL_GATHER || kind == COLL_SCATTER;
    *root = is_rooted && !comm->remote ? (int)(word % (1u << NOTED_ROOT)) : -1;
    return names[kind][form & 1];
}
