/* SPDX-License-Identifier: BSD-3-Clause */

/* The list of algorithms; see algorithm.h. */
#include "mpi/coll/algorithm.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/comm/comm_hosts.h"

#define A(of, is, word, need, function)                                                            \
    [ALGORITHM_##of##_##is] = {word, function, COLL_##of, need},
const struct algorithm algorithms[ALGORITHM_COUNT] = {
#include "mpi/coll/algorithms.inc"
};
#undef A

static const char *const kinds[COLL_KINDS] = {
    [COLL_BARRIER] = "barrier",
    [COLL_BCAST] = "bcast",
    [COLL_REDUCE] = "reduce",
    [COLL_ALLREDUCE] = "allreduce",
    [COLL_GATHER] = "gather",
    [COLL_SCATTER] = "scatter",
    [COLL_ALLGATHER] = "allgather",
    [COLL_ALLTOALL] = "alltoall",
    [COLL_REDUCE_SCATTER] = "reduce_scatter",
    [COLL_SCAN] = "scan",
    [COLL_EXSCAN] = "exscan",
    [COLL_NEIGHBOR_ALLGATHER] = "neighbor_allgather",
    [COLL_NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
};

static _Atomic uint64_t runs[ALGORITHM_COUNT], region_runs[COLL_KINDS];

const char *algorithm_kind_name(enum coll_kind kind)
{
    return kinds[kind];
}

enum algorithm_id algorithm_find(enum coll_kind kind, const char *name, size_t len)
{
    int i = 0;
    while (i < ALGORITHM_COUNT &&
           (algorithms[i].kind != kind || strlen(algorithms[i].name) != len ||
            memcmp(algorithms[i].name, name, len) != 0))
        i++;
    return (enum algorithm_id)i;
}

unsigned algorithm_offers(const struct coll *c)
{
    bool commutes = c->op && c->op->commutative;
    unsigned offers = 0;
    offers |= c->uneven ? 0 : NEEDS_EQUAL;
    offers |= commutes ? NEEDS_COMMUTATIVE | NEEDS_ORDER : 0;
    offers |= c->size & (c->size - 1) ? 0 : NEEDS_POWER_OF_2;
    offers |= c->size % 2 ? 0 : NEEDS_EVEN;
    offers |= c->size > 1 ? NEEDS_PEERS : 0;
    offers |= c->hosts->count > 1 ? NEEDS_HOSTS : 0;
    offers |= c->hosts->in_order ? NEEDS_ORDER | NEEDS_ROWS : 0;
    return offers;
}

void algorithm_count(enum algorithm_id id)
{
    atomic_fetch_add_explicit(&runs[id], 1, memory_order_relaxed);
}

void algorithm_count_region(enum coll_kind kind)
{
    atomic_fetch_add_explicit(&region_runs[kind], 1, memory_order_relaxed);
}

static void put_line(FILE *file, enum coll_kind kind, const char *name, uint64_t count)
{
    if (count)
        fprintf(file, "%s\t%s\t%llu\n", kinds[kind], name, (unsigned long long)count);
}

static void put(FILE *file)
{
    for (int i = 0; i < ALGORITHM_COUNT; i++)
        put_line(file, algorithms[i].kind, algorithms[i].name, runs[i]);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        put_line(file, (enum coll_kind)kind, "region", region_runs[kind]);
}

void algorithm_report(void)
{
    mpid_set_report(put);
}
