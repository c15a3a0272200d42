/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which algorithm runs: in the rows of a collective, the first that fits; over an
 * intercommunicator inter.c's, which comes here again for what it is made of. All processes of a
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

struct choice {
    int ranks_min;
    MPI_Count bytes_min, bytes_end; /* bytes_end 0: no end */
    unsigned needs;
    coll_fn run;
};

enum { K = 1 << 10, ROWS = 4 };

/*
 * Bytes are those of the whole buffer in bcast and reductions, of one block in gather, scatter
 * and alltoall, of all blocks in allgather and reduce_scatter. Of calls whose blocks may differ,
 * only reduce_scatter is known to all; the others count as large. The last row fits all.
 */
static const struct choice table[COLL_KINDS][ROWS] = {
    /* ranks   bytes      needs                    algorithm */
    [COLL_BARRIER] = {
        {0, 0, 0,         0,                        coll_barrier}},
    [COLL_BCAST] = {
        {8, 12 * K, 0,    0,                        coll_bcast_spread},
        {4, 512 * K, 0,   0,                        coll_bcast_spread},
        {0, 0, 0,         0,                        coll_bcast_tree}},
    [COLL_REDUCE] = {
        {3, 64 * K, 0,    COMMUTATIVE,              coll_reduce_spread},
        {0, 0, 0,         0,                        coll_reduce_tree}},
    [COLL_ALLREDUCE] = {
        {2, 4 * K, 0,     COMMUTATIVE | POWER_OF_2, coll_allreduce_halving},
        {3, 8 * K, 0,     COMMUTATIVE,              coll_allreduce_ring},
        {0, 0, 0,         0,                        coll_allreduce_doubling}},
    [COLL_GATHER] = {
        {8, 0, 2 * K,     EQUAL,                    coll_gather_tree},
        {0, 0, 0,         0,                        coll_gather_linear}},
    [COLL_SCATTER] = {
        {8, 0, 2 * K,     EQUAL,                    coll_scatter_tree},
        {0, 0, 0,         0,                        coll_scatter_linear}},
    [COLL_ALLGATHER] = {
        {0, 0, 80 * K,    EQUAL | POWER_OF_2,       coll_allgather_doubling},
        {3, 0, 16 * K,    EQUAL,                    coll_allgather_bruck},
        {0, 0, 0,         0,                        coll_allgather_ring}},
    [COLL_ALLTOALL] = {
        {8, 0, 256,       EQUAL,                    coll_alltoall_bruck},
        {0, 0, 0,         0,                        coll_alltoall_all}},
    [COLL_REDUCE_SCATTER] = {
        {0, 0, 2 * K,     0,                        coll_reduce_scatter_doubling},
        {2, 0, 512 * K,   COMMUTATIVE | POWER_OF_2, coll_reduce_scatter_halving},
        {0, 0, 0,         0,                        coll_reduce_scatter_pairs}},
    [COLL_SCAN] = {
        {0, 0, 0,         0,                        coll_scan}},
    [COLL_EXSCAN] = {
        {0, 0, 0,         0,                        coll_exscan}},
    [COLL_NEIGHBOR_ALLGATHER] = {
        {0, 0, 0,         0,                        coll_neighbor_allgather}},
    [COLL_NEIGHBOR_ALLTOALL] = {
        {0, 0, 0,         0,                        coll_neighbor_alltoall}},
};

/* Bytes as the table counts them; the most there can be where processes may differ. */
static MPI_Count bytes_of(const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    bool is_root = c->comm->rank == c->root;
    MPI_Count bytes = 0;
    if (c->kind == COLL_BARRIER || coll_is_of_neighbors(c))
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
    if (__builtin_expect(c->comm->remote != NULL, 0))
        return coll_inter;
    int size = c->comm->size;
    MPI_Count bytes = bytes_of(c);
    unsigned have = (c->uneven ? 0 : EQUAL) | (c->op && c->op->commutative ? COMMUTATIVE : 0) |
                    (size & (size - 1) ? 0 : POWER_OF_2);
    const struct choice *row = table[c->kind];
    while (size < row->ranks_min || bytes < row->bytes_min ||
           (row->bytes_end && bytes >= row->bytes_end) || (row->needs & ~have))
        row++;
    return row->run;
}
