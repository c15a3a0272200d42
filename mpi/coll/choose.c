/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which algorithm runs: in the rows of a collective, the first that fits. All processes of a
 * call must find the same row, so rows ask only for what all of them know.
 */
#include <stddef.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

/* What an algorithm needs. */
enum needs {
    EQUAL = 1u << 0,       /* blocks of equal size */
    COMMUTATIVE = 1u << 1, /* operation */
    POWER_OF_2 = 1u << 2,  /* number of processes */
};

struct row {
    enum coll_kind kind;
    int ranks_min;
    MPI_Count bytes_min, bytes_end; /* bytes_end 0: no end */
    unsigned needs;
    coll_fn run;
};

enum { K = 1 << 10 };

/*
 * Bytes are those of the whole buffer in bcast and reductions, of one block in gather, scatter
 * and alltoall, of all blocks in allgather and reduce_scatter. Of calls
 * whose blocks may differ, only reduce_scatter is known to all; the others count as large.
 */
static const struct row table[] = {
    /* collective     ranks   bytes      needs              algorithm */
    {COLL_BARRIER,        0, 0, 0,       0,                 coll_barrier},
    {COLL_BCAST,          8, 12 * K, 0,  0,                 coll_bcast_spread},
    {COLL_BCAST,          4, 512 * K, 0, 0,                 coll_bcast_spread},
    {COLL_BCAST,          0, 0, 0,       0,                 coll_bcast_tree},
    {COLL_REDUCE,         3, 64 * K, 0,  COMMUTATIVE,       coll_reduce_spread},
    {COLL_REDUCE,         0, 0, 0,       0,                 coll_reduce_tree},
    {COLL_ALLREDUCE,      2, 4 * K, 0,   COMMUTATIVE | POWER_OF_2, coll_allreduce_halving},
    {COLL_ALLREDUCE,      3, 8 * K, 0,   COMMUTATIVE,       coll_allreduce_ring},
    {COLL_ALLREDUCE,      0, 0, 0,       0,                 coll_allreduce_doubling},
    {COLL_GATHER,         8, 0, 2 * K,   EQUAL,             coll_gather_tree},
    {COLL_GATHER,         0, 0, 0,       0,                 coll_gather_linear},
    {COLL_SCATTER,        8, 0, 2 * K,   EQUAL,             coll_scatter_tree},
    {COLL_SCATTER,        0, 0, 0,       0,                 coll_scatter_linear},
    {COLL_ALLGATHER,      0, 0, 80 * K,  EQUAL | POWER_OF_2, coll_allgather_doubling},
    {COLL_ALLGATHER,      3, 0, 16 * K,  EQUAL,             coll_allgather_bruck},
    {COLL_ALLGATHER,      0, 0, 0,       0,                 coll_allgather_ring},
    {COLL_ALLTOALL,       8, 0, 256,     EQUAL,             coll_alltoall_bruck},
    {COLL_ALLTOALL,       0, 0, 0,       0,                 coll_alltoall_all},
    {COLL_REDUCE_SCATTER, 0, 0, 2 * K,   0,                 coll_reduce_scatter_doubling},
    {COLL_REDUCE_SCATTER, 2, 0, 512 * K, COMMUTATIVE | POWER_OF_2, coll_reduce_scatter_halving},
    {COLL_REDUCE_SCATTER, 0, 0, 0,       0,                 coll_reduce_scatter_pairs},
    {COLL_SCAN,           0, 0, 0,       0,                 coll_scan},
    {COLL_EXSCAN,         0, 0, 0,       0,                 coll_exscan},
};

/* Bytes as the table counts them; the most there can be where processes may differ. */
static MPI_Count bytes_of(const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    bool is_root = c->comm->rank == c->root;
    MPI_Count bytes = 0;
    if (c->kind == COLL_BARRIER)
        return 0;
    if (c->uneven && c->kind != COLL_REDUCE_SCATTER)
        return INT64_MAX;
    if ((c->kind == COLL_GATHER && !is_root) || (c->kind == COLL_SCATTER && is_root))
        data = &c->send;
    if (c->uneven)
        for (int i = 0; i < c->comm->size; i++)
            bytes += data->counts[i];
    else
        bytes = data->count;
    bytes *= coll_size(data->type);
    if (c->kind == COLL_ALLGATHER || (c->kind == COLL_REDUCE_SCATTER && !c->uneven))
        bytes *= c->comm->size;
    return bytes;
}

coll_fn coll_choose(const struct coll *c)
{
    int size = c->comm->size;
    MPI_Count bytes = bytes_of(c);
    unsigned have = (c->uneven ? 0 : EQUAL) | (c->op && c->op->commutative ? COMMUTATIVE : 0) |
                    (size & (size - 1) ? 0 : POWER_OF_2);
    const struct row *row = table;
    while (row->kind != c->kind || size < row->ranks_min || bytes < row->bytes_min ||
           (row->bytes_end && bytes >= row->bytes_end) || (row->needs & ~have))
        row++; /* each collective has a last row that fits all */
    return row->run;
}
