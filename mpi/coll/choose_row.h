/* SPDX-License-Identifier: BSD-3-Clause */

/* The rows by which an algorithm is chosen: for those who make rows, and for tests; see choose.h. */
#ifndef MPI_COLL_CHOOSE_ROW_H
#define MPI_COLL_CHOOSE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/coll/algorithm.h"

/* The numbers from one on, and so many more. */
struct choose_range {
    int64_t from;
    uint64_t more;
};

#define CHOOSE_MOST (UINT64_C(1) << 62)

/*
 * Bytes are those of the whole buffer in bcast and reductions, of one block in gather, scatter
 * and alltoall, of all blocks in allgather and reduce_scatter. Of calls whose blocks may differ,
 * only reduce_scatter is known to all; the others count as large.
 */
struct choose_row {
    unsigned needs, bars; /* what a call must have, the algorithm's own needs included; and must not */
    bool last; /* fits all: the rest is not looked at */
    struct choose_range ranks, hosts, bytes;
    enum algorithm_id algorithm;
};

/* Put a row in front of the library's, behind those that were put before. Returns 0 or
 * -ENOMEM. While no collective runs. */
int choose_put(const struct choose_row *row);
/* The algorithm for a call. */
enum algorithm_id choose_algorithm(const struct coll *c);

#endif
