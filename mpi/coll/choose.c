/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The library's table, and how a row is found; see choose.h. Over an intercommunicator there is no
 * choice: inter.c comes here again for what it is made of.
 */
#include "mpi/coll/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/checked.h"
#include "mpi/coll/choose_row.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/errh.h"
#include "os/settings.h"

#define FROM(least) {least, CHOOSE_MOST}
#define BELOW(end) {0, (end) - 1}
#define SOME {0, CHOOSE_MOST}

/* Ranks and bytes from which on, bytes below which, algorithm. test/bench/tune.py measures such limits;
 * doc/collectives.md has the algorithms' names. */
#define ROW(ranks, bytes, name)                                                                    \
    {ALGORITHM_NEEDS_##name, 0, false, FROM(ranks), SOME, bytes, ALGORITHM_##name}
#define LAST(name) {0, 0, true, SOME, SOME, SOME, ALGORITHM_##name}

enum { K = 1 << 10, ROWS = 4 };

/* The last row of each fits all. Small and urgent cases come first. */
/* clang-format off */
static const struct choose_row table[COLL_KINDS][ROWS] = {
    /*  ranks  bytes         algorithm */
    [COLL_BARRIER] = {
        LAST(BARRIER_DISSEMINATION)},
    [COLL_BCAST] = {
        ROW(0,   BELOW(12 * K), BCAST_TREE),
        ROW(8,   FROM(12 * K), BCAST_SPREAD),
        ROW(4,   FROM(512 * K), BCAST_SPREAD),
        LAST(BCAST_TREE)},
    [COLL_REDUCE] = {
        ROW(0,   BELOW(64 * K), REDUCE_TREE),
        ROW(3,   FROM(64 * K), REDUCE_SPREAD),
        LAST(REDUCE_TREE)},
    [COLL_ALLREDUCE] = {
        ROW(0,   BELOW(4 * K), ALLREDUCE_DOUBLING),
        ROW(2,   FROM(4 * K),  ALLREDUCE_HALVING),
        ROW(3,   FROM(8 * K),  ALLREDUCE_RING),
        LAST(ALLREDUCE_DOUBLING)},
    [COLL_GATHER] = {
        ROW(8,   BELOW(2 * K), GATHER_TREE),
        LAST(GATHER_LINEAR)},
    [COLL_SCATTER] = {
        ROW(8,   BELOW(2 * K), SCATTER_TREE),
        LAST(SCATTER_LINEAR)},
    [COLL_ALLGATHER] = {
        ROW(0,   BELOW(80 * K), ALLGATHER_DOUBLING),
        ROW(3,   BELOW(16 * K), ALLGATHER_BRUCK),
        LAST(ALLGATHER_RING)},
    [COLL_ALLTOALL] = {
        ROW(8,   BELOW(256),   ALLTOALL_BRUCK),
        LAST(ALLTOALL_LINEAR)},
    [COLL_REDUCE_SCATTER] = {
        ROW(0,   BELOW(2 * K), REDUCE_SCATTER_DOUBLING),
        ROW(2,   BELOW(512 * K), REDUCE_SCATTER_HALVING),
        LAST(REDUCE_SCATTER_PAIRWISE)},
    [COLL_SCAN] = {
        LAST(SCAN_DOUBLING)},
    [COLL_EXSCAN] = {
        LAST(EXSCAN_DOUBLING)},
    [COLL_NEIGHBOR_ALLGATHER] = {
        LAST(NEIGHBOR_ALLGATHER_LINEAR)},
    [COLL_NEIGHBOR_ALLTOALL] = {
        LAST(NEIGHBOR_ALLTOALL_LINEAR)},
};

/* The first choices for several hosts. */
static const struct choose_row over_hosts[] = {
    ROW(3,   SOME,         BARRIER_HOSTS),
    ROW(3,   BELOW(1024 * K), BCAST_HOSTS),
    ROW(3,   BELOW(1024 * K), REDUCE_HOSTS),
    ROW(3,   BELOW(1024 * K), ALLREDUCE_HOSTS),
    ROW(3,   BELOW(512 * K), ALLGATHER_HOSTS),
    ROW(3,   BELOW(256),   ALLTOALL_HOSTS),
    ROW(3,   BELOW(16 * K), REDUCE_SCATTER_HOSTS),
    ROW(3,   BELOW(1024 * K), SCAN_HOSTS),
    ROW(3,   BELOW(1024 * K), EXSCAN_HOSTS),
};
/* clang-format on */

/* Rows of any collective that come before all of these. */
static struct {
    struct choose_row *rows;
    int count;
} put;

static bool counts_runs, compares_calls;

int choose_put(const struct choose_row *row)
{
    struct choose_row *grown = realloc(put.rows, ((size_t)put.count + 1) * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    grown[put.count++] = *row;
    put.rows = grown;
    return 0;
}

/* ---- finding ---- */

static __attribute__((noinline)) MPI_Count sum(const MPI_Count *counts, int size)
{
    MPI_Count all = 0;
    for (int i = 0; i < size; i++)
        all += counts[i];
    return all;
}

/* Bytes as the table counts them; the most there can be where processes may differ. */
static MPI_Count bytes_of(const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    bool is_root = c->rank == c->root;
    if (c->kind == COLL_BARRIER || coll_is_of_neighbors(c))
        return 0;
    if (c->uneven && c->kind != COLL_REDUCE_SCATTER)
        return CHOOSE_MOST;
    if ((c->kind == COLL_GATHER && !is_root) || (c->kind == COLL_SCATTER && is_root))
        data = &c->send;
    MPI_Count bytes = coll_size(data->type);
    if (c->uneven)
        return bytes * sum(data->counts, c->size);
    if (c->kind == COLL_ALLGATHER || c->kind == COLL_REDUCE_SCATTER)
        bytes *= c->size;
    return bytes * data->count;
}

static bool is_in(struct choose_range range, int64_t value)
{
    return (uint64_t)(value - range.from) <= range.more;
}

static bool fits(const struct choose_row *row, const struct coll *c, unsigned offers,
                 MPI_Count bytes)
{
    return !((row->needs & ~offers) | (row->bars & offers)) && is_in(row->bytes, bytes) &&
           is_in(row->ranks, c->size) && is_in(row->hosts, c->hosts->count);
}

/* The first of count rows that fits; NULL: none does. */
static const struct choose_row *find(const struct choose_row *rows, int count,
                                     const struct coll *c)
{
    MPI_Count bytes = count ? bytes_of(c) : 0;
    unsigned offers = count ? algorithm_offers(c) : 0;
    int i = 0;
    while (i < count && (algorithms[rows[i].algorithm].kind != c->kind ||
                         !fits(&rows[i], c, offers, bytes)))
        i++;
    return i < count ? &rows[i] : NULL;
}

/* Where the table does not say all. */
static __attribute__((noinline)) const struct choose_row *find_special(const struct coll *c)
{
    int hosts_rows = c->hosts->count > 1 ? (int)(sizeof(over_hosts) / sizeof(*over_hosts)) : 0;
    const struct choose_row *row = find(put.rows, put.count, c);
    return row ? row : find(over_hosts, hosts_rows, c);
}

enum algorithm_id choose_algorithm(const struct coll *c)
{
    const struct choose_row *row =
        __builtin_expect(put.count || c->hosts->count > 1, 0) ? find_special(c) : NULL;
    if (__builtin_expect(row != NULL, 0))
        return row->algorithm;
    row = table[c->kind];
    if (row->last)
        return row->algorithm;
    MPI_Count bytes = bytes_of(c);
    unsigned offers = algorithm_offers(c);
    while (!row->last && !fits(row, c, offers, bytes))
        row++;
    return row->algorithm;
}

bool choose_is_forced(const struct coll *c)
{
    return compares_calls ||
           (__builtin_expect(put.count, 0) && !c->comm->remote && find(put.rows, put.count, c));
}

void choose_append(struct sched *s, const struct coll *c)
{
    if (__builtin_expect(c->comm->remote != NULL, 0))
        coll_inter(s, c);
    else
        algorithms[choose_algorithm(c)].run(s, c);
}

void choose_begin(struct sched *s, const struct coll *c)
{
    if (__builtin_expect(compares_calls, 0))
        checked_append(s, c);
    if (__builtin_expect(c->comm->remote != NULL, 0)) {
        coll_inter(s, c);
        return;
    }
    enum algorithm_id id = choose_algorithm(c);
    if (__builtin_expect(counts_runs, 0))
        algorithm_count(id);
    algorithms[id].run(s, c);
}

void choose_begin_unlike(struct sched *s, const struct coll *c)
{
    const struct choose_row *row = table[c->kind];
    while (!row->last)
        row++;
    if (__builtin_expect(counts_runs, 0))
        algorithm_count(row->algorithm);
    s->empties = true;
    algorithms[row->algorithm].run(s, c);
}

void choose_begin_as(struct sched *s, const struct coll *c, MPI_Count bytes)
{
    struct coll as = *c;
    as.recv.type = as.send.type = MPI_BYTE;
    as.recv.count = as.send.count = bytes;
    enum algorithm_id id = choose_algorithm(&as);
    if (__builtin_expect(counts_runs, 0))
        algorithm_count(id);
    if (bytes_of(c) != bytes) { /* pieces that others pass on may have the length that is due */
        s->empties = true;
        s->misfit = (struct sched_misfit){c->root, bytes_of(c), bytes};
        s->error = bytes > s->misfit.due ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
        s->stops = errh_is_fatal(&c->comm->errhandler);
    }
    algorithms[id].run(s, c);
}

void choose_count_region(const struct coll *c)
{
    if (__builtin_expect(counts_runs, 0))
        algorithm_count_region(c->kind);
}

void choose_compare_calls(void)
{
    compares_calls = true;
}

void choose_count_runs(void)
{
    counts_runs = true;
}
