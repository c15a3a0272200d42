/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives among neighbours, in all forms, beside messages from each to each: grids with edges
 * and without, of one and two processes along a dimension; graphs with several edges between two
 * processes, to themselves, and with processes that have none. Several are outstanding at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "check.h"

enum {
    MOST = 64,
    LARGE = 3000,
    SPREAD = 6,
    RUNS = 3,
    KINDS = 5
};

enum form {
    BLOCKING,
    NONBLOCKING,
    PERSISTENT
};

enum kind {
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW
};

/* Who the neighbours are, and what tells several messages between two processes apart. */
struct side {
    int count, rank[MOST], tag[MOST];
};

struct place {
    MPI_Comm comm;
    int rank, size;
    struct side in, out;
};

struct call {
    const struct place *at;
    enum kind kind;
    unsigned seed;
    int count, gaps;
    MPI_Datatype type;
    int own; /* elements that are sent to all */
    int scounts[MOST], rcounts[MOST], sdispls[MOST], rdispls[MOST];
    MPI_Aint sbytes[MOST], rbytes[MOST];
    MPI_Datatype types[MOST];
    struct buffers memory;
};

/* A number from 0 to below - 1 that both ends of a message get. */
static int chosen(unsigned seed, int from, int to, int tag, int below)
{
    unsigned mixed = seed ^ (unsigned)(from + 1) * 2654435761u ^ (unsigned)(to + 1) * 40503u ^
                     (unsigned)(tag + 1) * 97u;
    for (int i = 0; i < 3; i++)
        mixed = mixed * 1664525u + 1013904223u;
    return (int)((mixed >> 8) % (unsigned)below);
}

/* ---- topologies ---- */

static void look(struct place *at)
{
    at->rank = check_rank(at->comm);
    at->size = check_size(at->comm);
}

static void add(struct side *side, int rank, int tag)
{
    CHECK(side->count < MOST);
    side->rank[side->count] = rank;
    side->tag[side->count++] = tag;
}

static void open_grid(struct place *at, int ndims, int *dims, const int *periods)
{
    memset(at, 0, sizeof(*at));
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &at->comm));
    look(at);
    for (int d = 0; d < ndims; d++) {
        int before, behind;
        OK(MPI_Cart_shift(at->comm, d, 1, &before, &behind));
        add(&at->out, before, 2 * d);
        add(&at->out, behind, 2 * d + 1);
        add(&at->in, before, 2 * d + 1); /* it goes behind from there */
        add(&at->in, behind, 2 * d);
    }
}

/* Edges between two processes, the same both ways. */
static int edges_between(int i, int j, int size)
{
    return i == j                                       ? i % 2
           : (i + j) % 3 == 0                           ? 0
           : (i + 1) % size == j || (j + 1) % size == i ? 2
                                                        : 1;
}

static void open_graph(struct place *at)
{
    int index[MOST], edges[MOST * MOST], count = 0, size = check_size(MPI_COMM_WORLD);
    memset(at, 0, sizeof(*at));
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++)
            for (int k = 0; k < edges_between(i, j, size); k++)
                edges[count++] = j;
        index[i] = count;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &at->comm));
    look(at);
    for (int j = 0; j < size; j++)
        for (int k = 0; k < edges_between(at->rank, j, size); k++) {
            add(&at->out, j, k);
            add(&at->in, j, k);
        }
}

/* Edges one way. */
static int edges_from(int i, int j, int size)
{
    return (i + 2) % size == j ? 2 : (3 * i + 5 * j) % 4 == 0;
}

static void open_dist(struct place *at)
{
    int size = check_size(MPI_COMM_WORLD), rank = check_rank(MPI_COMM_WORLD);
    memset(at, 0, sizeof(*at));
    for (int j = size - 1; j >= 0; j--) /* in an order of its own */
        for (int k = 0; k < edges_from(rank, j, size); k++)
            add(&at->out, j, k);
    for (int j = 0; j < size; j++)
        for (int k = 0; k < edges_from(j, rank, size); k++)
            add(&at->in, j, k);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, at->in.count, at->in.rank, MPI_UNWEIGHTED,
                                      at->out.count, at->out.rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &at->comm));
    look(at);
}

/* ---- a call ---- */

/* Blocks lie in reverse, with gaps between them; even ones one after the other. */
static void make_blocks(struct call *c)
{
    const struct place *at = c->at;
    const struct side *out = &at->out, *in = &at->in;
    int extent = c->gaps ? SPREAD * 4 : 4, even = c->kind == ALLGATHER || c->kind == ALLTOALL;
    int to_all = c->kind == ALLGATHERV, send = 0, receive = 0;
    for (int i = out->count - 1; i >= 0; i--) {
        int n = chosen(c->seed, at->rank, to_all ? 0 : out->rank[i], to_all ? 0 : out->tag[i],
                       c->count + 1);
        c->scounts[i] = even ? c->count : n;
        c->sdispls[i] = even ? i * c->count : c->kind == ALLGATHERV ? 0 : send;
        c->sbytes[i] = (MPI_Aint)c->sdispls[i] * extent;
        send += c->scounts[i] + 1;
    }
    for (int i = in->count - 1; i >= 0; i--) {
        int n = chosen(c->seed, in->rank[i], to_all ? 0 : at->rank, to_all ? 0 : in->tag[i],
                       c->count + 1);
        c->rcounts[i] = even ? c->count : n;
        c->rdispls[i] = even ? i * c->count : receive;
        c->rbytes[i] = (MPI_Aint)c->rdispls[i] * extent;
        receive += c->rcounts[i] + 1;
    }
    for (int i = 0; i < out->count && c->kind == ALLGATHER; i++)
        c->sdispls[i] = 0;
    c->own = c->kind == ALLGATHER ? c->count : chosen(c->seed, at->rank, 0, 0, c->count + 1);
}

static void make(struct call *c, const struct place *at, unsigned seed)
{
    static const int counts[] = {0, 1, 7, LARGE};
    memset(c, 0, sizeof(*c));
    c->at = at;
    c->seed = seed;
    c->kind = (enum kind)(seed % KINDS);
    c->count = counts[seed / KINDS % 4];
    c->gaps = (int)(seed / 20 % 2);
    make_blocks(c);
    buffers_make(&c->memory, sizeof(int) * SPREAD * (MOST + 1) * ((size_t)c->count + 1));
}

static void make_type(struct call *c)
{
    c->type = MPI_INT;
    if (c->gaps) {
        int lengths[] = {1, 1}, displs[] = {1, 3};
        MPI_Datatype pair;
        OK(MPI_Type_indexed(2, lengths, displs, MPI_INT, &pair));
        OK(MPI_Type_create_resized(pair, 0, SPREAD * (MPI_Aint)sizeof(int), &c->type));
        OK(MPI_Type_commit(&c->type));
        OK(MPI_Type_free(&pair));
    }
    for (int i = 0; i < MOST; i++)
        c->types[i] = c->type;
}

static void fill(const struct call *c, char *out, int run)
{
    buffers_fill(&c->memory, out, c->seed ^ (unsigned)(c->at->rank * 7919 + run));
}

#define FORM(name, ...)                                                 \
    (form == BLOCKING      ? MPI_Neighbor_##name(__VA_ARGS__)           \
     : form == NONBLOCKING ? MPI_Ineighbor_##name(__VA_ARGS__, request) \
                           : MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request))

static int exchange(const struct call *c, enum form form, MPI_Request *request)
{
    const void *in = c->memory.in;
    void *got = c->memory.got;
    int n = c->count;
    MPI_Datatype t = c->type;
    MPI_Comm comm = c->at->comm;
    switch (c->kind) {
    case ALLGATHER: return FORM(allgather, in, n, t, got, n, t, comm);
    case ALLGATHERV:
        return FORM(allgatherv, in, c->own, t, got, c->rcounts, c->rdispls, t, comm);
    case ALLTOALL: return FORM(alltoall, in, n, t, got, n, t, comm);
    case ALLTOALLV:
        return FORM(alltoallv, in, c->scounts, c->sdispls, t, got, c->rcounts, c->rdispls, t,
                    comm);
    default:
        return FORM(alltoallw, in, c->scounts, c->sbytes, c->types, got, c->rcounts,
                    c->rbytes, c->types, comm);
    }
}

/* Do it, or start it, or prepare it; its datatype is freed behind it. */
static void do_call(struct call *c, enum form form, MPI_Request *request)
{
    make_type(c);
    OK(exchange(c, form, request));
    if (c->type != MPI_INT)
        OK(MPI_Type_free(&c->type));
}

/* The same by messages, each with a tag of its own. */
static void do_messages(struct call *c, int run)
{
    const struct side *out = &c->at->out, *in = &c->at->in;
    MPI_Request requests[2 * MOST];
    MPI_Aint extent = c->gaps ? SPREAD * 4 : 4;
    int count = 0;
    fill(c, c->memory.want, run);
    make_type(c);
    for (int i = 0; i < in->count; i++)
        OK(MPI_Irecv(c->memory.want + c->rdispls[i] * extent, c->rcounts[i], c->type, in->rank[i],
                     in->tag[i], c->at->comm, &requests[count++]));
    for (int i = 0; i < out->count; i++)
        OK(MPI_Isend(c->memory.in + c->sdispls[i] * extent, c->scounts[i], c->type, out->rank[i],
                     out->tag[i], c->at->comm, &requests[count++]));
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    if (c->type != MPI_INT)
        OK(MPI_Type_free(&c->type));
}

static void verify(const struct call *c, enum form form)
{
    if (!memcmp(c->memory.want, c->memory.got, c->memory.bytes))
        return;
    fprintf(stderr, "call %d of form %d, %d elements, differs at rank %d\n", c->kind, form,
            c->count, c->at->rank);
    CHECK(!"the same");
}

/* ---- all of a topology ---- */

enum {
    CALLS = 40
};

static void run_blocking(struct call *calls)
{
    for (int i = 0; i < CALLS; i++) {
        do_messages(&calls[i], 0);
        fill(&calls[i], calls[i].memory.got, 0);
        do_call(&calls[i], BLOCKING, NULL);
        verify(&calls[i], BLOCKING);
    }
}

static void run_nonblocking(struct call *calls)
{
    MPI_Request requests[CALLS];
    for (int i = 0; i < CALLS; i++) {
        fill(&calls[i], calls[i].memory.got, 0);
        do_call(&calls[i], NONBLOCKING, &requests[i]);
        if (i % 9 == 4)
            OK(MPI_Barrier(calls[i].at->comm));
    }
    for (int i = 0; i < CALLS; i++) /* each in an order of its own */
        OK(MPI_Wait(&requests[(i * 7 + calls[0].at->rank) % CALLS], MPI_STATUS_IGNORE));
    for (int i = 0; i < CALLS; i++)
        verify(&calls[i], NONBLOCKING);
}

static void run_persistent(struct call *calls)
{
    MPI_Request requests[CALLS];
    for (int i = 0; i < CALLS; i++)
        do_call(&calls[i], PERSISTENT, &requests[i]);
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < CALLS; i++)
            do_messages(&calls[i], run);
        for (int i = 0; i < CALLS; i++)
            fill(&calls[i], calls[i].memory.got, run);
        OK(MPI_Startall(CALLS, requests));
        OK(MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < CALLS; i++)
            verify(&calls[i], PERSISTENT);
    }
    for (int i = 0; i < CALLS; i++)
        OK(MPI_Request_free(&requests[i]));
}

static void run(struct place *at)
{
    static struct call calls[CALLS];
    if (at->comm == MPI_COMM_NULL)
        return;
    for (unsigned i = 0; i < CALLS; i++)
        make(&calls[i], at, i);
    run_blocking(calls);
    run_nonblocking(calls);
    run_persistent(calls);
    for (int i = 0; i < CALLS; i++)
        buffers_free(&calls[i].memory);
    OK(MPI_Comm_free(&at->comm));
}

/* Without a topology there are no neighbours. */
static void errors(void)
{
    int a[4] = {0}, b[4], dims[] = {check_size(MPI_COMM_WORLD)}, periods[] = {1};
    MPI_Comm grid;
    MPI_Request request;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TOPOLOGY,
          MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD, &request));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid));
    OK(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, grid));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_alltoall(a, 1, MPI_INT, a, 1, MPI_INT, grid));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_alltoall(a, -1, MPI_INT, b, 1, MPI_INT, grid));
    FAILS(MPI_ERR_ARG, MPI_Neighbor_alltoallv(a, NULL, NULL, MPI_INT, b, a, a, MPI_INT, grid));
    FAILS(MPI_ERR_TYPE, MPI_Neighbor_allgather_init(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, grid,
                                                    MPI_INFO_NULL, &request));
    OK(MPI_Comm_free(&grid));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    struct place at;
    OK(MPI_Init(&argc, &argv));
    int size = check_size(MPI_COMM_WORLD);
    for (int periods = 0; periods < 2; periods++) {
        open_grid(&at, 1, &size, &periods);
        run(&at);
    }
    for (int k = 0; k < 4; k++) {
        int dims[3] = {0, 0, 1}, periods[3] = {k % 2, k / 2, 1};
        OK(MPI_Dims_create(size, 2, dims));
        open_grid(&at, 3, dims, periods);
        run(&at);
    }
    open_graph(&at);
    run(&at);
    open_dist(&at);
    run(&at);
    errors();
    OK(MPI_Finalize());
    return 0;
}
