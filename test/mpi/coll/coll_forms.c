/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives in every form beside a naive version of point-to-point messages: random calls from a
 * seed, several outstanding at a time, over several communicators, completed in different orders,
 * with others between; integers of all lengths, and random datatypes, laid out otherwise at each process;
 * datatypes and operations are freed as soon as a call has them. Memory must come to look as after the
 * naive calls, gaps and all.
 *
 * usage: coll_forms [threads] [FIRST COUNT]: by threads on their own communicators; with COUNT seeds
 * from FIRST on. A seed is about ten calls.
 */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "threads.h"

enum {
    COMMS = 4,
    CALLS = 6,
    LARGE = 3000,
#ifdef __SANITIZE_THREAD__ /* slow */
    SEEDS = 12,
#else
    SEEDS = 60,
#endif
    RUNS = 3,
    BLOCKS = 3, /* of a datatype, at most */
    LENGTH = 2, /* basic elements of a block, at most */
    WORD = 8,   /* bytes of the largest basic type; of a gap */
    EXTENT = BLOCKS * (LENGTH + 1) * WORD + WORD
};

enum form {
    NAIVE,
    BLOCKING,
    NONBLOCKING,
    PERSISTENT
};

enum kind {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
};

enum { OPS = 10 };
static MPI_Op ops[OPS];

/* Basic types; reductions take the integers. */
enum { INTEGERS = 8, BASICS = 10 };
static MPI_Datatype basics[BASICS];
static const size_t basic_sizes[BASICS] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

struct place {
    MPI_Comm comm;
    int rank, size, peers, inter;
    int me;       /* world rank */
    int peer[64]; /* world ranks of the peers */
};

struct call {
    const struct place *at;
    enum kind kind;
    unsigned seed;
    int count, root, in_place, gaps, user, op_index, basic;
    size_t extent;
    MPI_Datatype type;
    MPI_Op op;
    int scounts[64], rcounts[64], sdispls[64], rdispls[64], sbytes[64], rbytes[64];
    MPI_Datatype types[64];
    struct buffers memory;
};

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A number from 0 to below - 1 that all who name the same get. */
static int chosen(unsigned seed, int a, int b, int below)
{
    unsigned mixed = seed ^ (unsigned)(a + 1) * 2654435761u ^ (unsigned)(b + 1) * 40503u;
    (void)next(&mixed);
    return (int)(next(&mixed) % (unsigned)below);
}

/* Compose maps x -> a x + b: an operation that does not commute. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    unsigned *first = in, *second = inout;
    (void)type;
    for (int i = 0; i < *len; i++, first += 2, second += 2) {
        second[1] = first[0] * second[1] + first[1];
        second[0] = first[0] * second[0];
    }
}

/* ---- a call ---- */

static int is_reduction(enum kind kind)
{
    return kind >= REDUCE;
}

/* The elements of a call that moves data. */
struct layout {
    int blocks, lengths[BLOCKS];
    MPI_Aint displs[BLOCKS], extent;
    MPI_Datatype types[BLOCKS];
};

/* All processes have the same basic elements, and each puts them where it likes. */
static void draw_layout(const struct call *c, struct layout *l)
{
    unsigned common = c->seed, own = c->seed ^ (unsigned)(c->at->me + 1) * 2654435761u;
    int reverse = (int)(next(&own) % 2);
    MPI_Aint at = 0;
    l->blocks = 1 + (int)(next(&common) % BLOCKS);
    for (int k = 0; k < l->blocks; k++) {
        int i = reverse ? l->blocks - 1 - k : k;
        at += next(&own) % 2 * WORD;
        l->displs[i] = at;
        at += LENGTH * WORD;
        l->lengths[k] = 1 + (int)(next(&common) % LENGTH);
        l->types[k] = basics[next(&common) % BASICS];
    }
    l->extent = at + next(&own) % 2 * WORD;
}

static void make_gaps(struct call *c)
{
    struct layout l;
    MPI_Datatype narrow;
    draw_layout(c, &l);
    OK(MPI_Type_create_struct(l.blocks, l.lengths, l.displs, l.types, &narrow));
    OK(MPI_Type_create_resized(narrow, 0, l.extent, &c->type));
    OK(MPI_Type_commit(&c->type));
    OK(MPI_Type_free(&narrow));
}

/* Bytes from an element of a call's to the next one. */
static size_t extent_of(const struct call *c)
{
    struct layout l;
    if (is_reduction(c->kind) && c->user)
        return 2 * sizeof(int);
    if (is_reduction(c->kind) || !c->gaps)
        return basic_sizes[c->basic];
    draw_layout(c, &l);
    return (size_t)l.extent;
}

static void make_type(struct call *c)
{
    c->type = basics[c->basic];
    c->op = ops[c->op_index];
    if (is_reduction(c->kind) && c->user) {
        OK(MPI_Type_contiguous(2, MPI_INT, &c->type));
        OK(MPI_Type_commit(&c->type));
        OK(MPI_Op_create(compose, 0, &c->op));
    } else if (!is_reduction(c->kind) && c->gaps) {
        make_gaps(c);
    }
    for (int i = 0; i < c->at->peers; i++)
        c->types[i] = c->type;
}

static void free_type(struct call *c)
{
    if (c->type != basics[c->basic])
        OK(MPI_Type_free(&c->type));
    if (c->op != ops[c->op_index])
        OK(MPI_Op_free(&c->op));
}

/* Blocks of an uneven call lie in reverse, with gaps between them. */
static void make_counts(struct call *c)
{
    const struct place *at = c->at;
    int extent = (int)c->extent, send = 0, receive = 0;
    for (int i = at->peers - 1; i >= 0; i--) {
        int to = at->peer[i], to_all = c->kind != ALLTOALLV && c->kind != ALLTOALLW;
        c->scounts[i] = chosen(c->seed, to_all ? 0 : at->me, to, c->count + 1);
        c->rcounts[i] = chosen(c->seed, to_all ? 0 : to, to_all ? to : at->me, c->count + 1);
        if (c->in_place)
            c->rcounts[i] = c->scounts[i] = c->count;
        c->sdispls[i] = send;
        c->rdispls[i] = receive;
        c->sbytes[i] = send * extent;
        c->rbytes[i] = receive * extent;
        send += c->scounts[i] + i % 2;
        receive += c->rcounts[i] + i % 2;
    }
    if (c->kind == REDUCE_SCATTER) { /* both groups have as much */
        int part = c->count * at->peers, moved = part ? chosen(c->seed, 1, 1, part) : 0;
        for (int i = 0; i < at->size; i++)
            c->rcounts[i] = part;
        c->rcounts[0] += moved;
        c->rcounts[at->size - 1] -= moved;
    }
}

static void make(struct call *c, const struct place *at, unsigned *seed)
{
    memset(c, 0, sizeof(*c));
    c->at = at;
    c->seed = next(seed);
    c->kind = (enum kind)(next(seed) % KINDS);
    if (at->inter && c->kind >= SCAN)
        c->kind = ALLREDUCE;
    static const int counts[] = {0, 1, 2, 7, 40, LARGE};
    c->count = counts[next(seed) % 6];
    c->gaps = (int)(next(seed) % 2);
    c->user = (int)(next(seed) % 2);
    c->op_index = (int)(next(seed) % OPS);
    c->basic = (int)(next(seed) % (is_reduction(c->kind) ? INTEGERS : BASICS));
    c->in_place = (int)(next(seed) % 3 == 0) && !at->inter;
    /* the root by its world rank, so that both groups mean the same */
    int root = (int)(next(seed) % 64);
    c->root = root % at->size;
    if (at->inter) {
        int everyone = at->size + at->peers, named = root % everyone;
        c->root = named == at->me ? MPI_ROOT : MPI_PROC_NULL;
        for (int i = 0; i < at->peers; i++)
            if (at->peer[i] == named)
                c->root = i;
    }
    c->extent = extent_of(c);
    make_counts(c);
    int most = at->size > at->peers ? at->size : at->peers;
    size_t bytes = EXTENT * ((size_t)most + 1) * ((size_t)c->count + 1);
    if (c->kind == REDUCE_SCATTER || c->kind == REDUCE_SCATTER_BLOCK)
        bytes *= (size_t)most;
    buffers_make(&c->memory, bytes);
}

/* What a process has at first in the nth run. */
static void fill(const struct call *c, char *out, int run)
{
    buffers_fill(&c->memory, out, c->seed ^ (unsigned)(c->at->me * 7919 + run));
}

#define FORM(name, iname, ...)                                 \
    (form == BLOCKING      ? MPI_##name(__VA_ARGS__)           \
     : form == NONBLOCKING ? MPI_##iname(__VA_ARGS__, request) \
                           : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request))

static int move_even(const struct call *c, enum form form, char *out, MPI_Request *request)
{
    int n = c->count, is_root = c->root == c->at->rank && !c->at->inter;
    MPI_Datatype t = c->type;
    MPI_Comm comm = c->at->comm;
    const void *in = c->memory.in, *all = c->in_place ? MPI_IN_PLACE : c->memory.in;
    const void *in_place = c->in_place && is_root ? MPI_IN_PLACE : c->memory.in;
    void *out_place = c->in_place && is_root ? MPI_IN_PLACE : out;
    switch (c->kind) {
    case BARRIER: return FORM(Barrier, Ibarrier, comm);
    case BCAST: return FORM(Bcast, Ibcast, out, n, t, c->root, comm);
    case GATHER: return FORM(Gather, Igather, in_place, n, t, out, n, t, c->root, comm);
    case SCATTER: return FORM(Scatter, Iscatter, in, n, t, out_place, n, t, c->root, comm);
    case ALLGATHER: return FORM(Allgather, Iallgather, all, n, t, out, n, t, comm);
    default: return FORM(Alltoall, Ialltoall, all, n, t, out, n, t, comm);
    }
}

static int move_uneven(const struct call *c, enum form form, char *out, MPI_Request *request)
{
    int is_root = c->root == c->at->rank && !c->at->inter;
    int own = c->in_place ? c->count : chosen(c->seed, 0, c->at->me, c->count + 1);
    MPI_Datatype t = c->type;
    MPI_Comm comm = c->at->comm;
    const void *in = c->memory.in, *all = c->in_place ? MPI_IN_PLACE : c->memory.in;
    const void *in_place = c->in_place && is_root ? MPI_IN_PLACE : c->memory.in;
    void *out_place = c->in_place && is_root ? MPI_IN_PLACE : out;
    switch (c->kind) {
    case GATHERV:
        return FORM(Gatherv, Igatherv, in_place, own, t, out, c->rcounts, c->rdispls, t, c->root,
                    comm);
    case SCATTERV:
        return FORM(Scatterv, Iscatterv, in, c->scounts, c->sdispls, t, out_place, own, t, c->root,
                    comm);
    case ALLGATHERV:
        return FORM(Allgatherv, Iallgatherv, all, own, t, out, c->rcounts, c->rdispls, t, comm);
    case ALLTOALLV:
        return FORM(Alltoallv, Ialltoallv, all, c->scounts, c->sdispls, t, out, c->rcounts,
                    c->rdispls, t, comm);
    default:
        return FORM(Alltoallw, Ialltoallw, all, c->scounts, c->sbytes, c->types, out, c->rcounts,
                    c->rbytes, c->types, comm);
    }
}

static int reduce(const struct call *c, enum form form, char *out, MPI_Request *request)
{
    int n = c->count, part = n * (c->at->inter ? c->at->peers : 1);
    int is_root = c->root == c->at->rank && !c->at->inter;
    MPI_Datatype t = c->type;
    MPI_Op op = c->op;
    MPI_Comm comm = c->at->comm;
    const void *all = c->in_place ? MPI_IN_PLACE : c->memory.in;
    const void *in_place = c->in_place && is_root ? MPI_IN_PLACE : c->memory.in;
    switch (c->kind) {
    case REDUCE: return FORM(Reduce, Ireduce, in_place, out, n, t, op, c->root, comm);
    case REDUCE_SCATTER:
        return FORM(Reduce_scatter, Ireduce_scatter, all, out, c->rcounts, t, op, comm);
    case REDUCE_SCATTER_BLOCK:
        return FORM(Reduce_scatter_block, Ireduce_scatter_block, all, out, part, t, op, comm);
    case SCAN: return FORM(Scan, Iscan, all, out, n, t, op, comm);
    case EXSCAN: return FORM(Exscan, Iexscan, all, out, n, t, op, comm);
    default: return FORM(Allreduce, Iallreduce, all, out, n, t, op, comm);
    }
}

/* ---- the same by messages ---- */

enum { TAG = 99 };

/* Data to a peer, or from one. */
struct part {
    char *at;
    int count; /* -1: nothing goes */
};

static int is_uneven(enum kind kind)
{
    return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV ||
           kind == ALLTOALLW;
}

static struct part part_to(const struct call *c, char *in, int peer)
{
    int root = c->root, is_root = c->at->inter ? root == MPI_ROOT : root == c->at->rank;
    int own = !is_uneven(c->kind) || c->in_place ? c->count
                                                 : chosen(c->seed, 0, c->at->me, c->count + 1);
    size_t even = (size_t)peer * (size_t)c->count * c->extent;
    switch (c->kind) {
    case BCAST: return (struct part){in, is_root ? c->count : -1};
    case GATHER:
    case GATHERV: return (struct part){in, peer == root ? own : -1};
    case SCATTER: return (struct part){in + even, is_root ? c->count : -1};
    case SCATTERV: return (struct part){in + c->sbytes[peer], is_root ? c->scounts[peer] : -1};
    case ALLGATHER:
    case ALLGATHERV: return (struct part){in, own};
    case ALLTOALL: return (struct part){in + even, c->count};
    default: return (struct part){in + c->sbytes[peer], c->scounts[peer]};
    }
}

static struct part part_from(const struct call *c, char *out, int peer)
{
    int root = c->root, is_root = c->at->inter ? root == MPI_ROOT : root == c->at->rank;
    int own = !is_uneven(c->kind) || c->in_place ? c->count
                                                 : chosen(c->seed, 0, c->at->me, c->count + 1);
    size_t even = (size_t)peer * (size_t)c->count * c->extent;
    switch (c->kind) {
    case BCAST: return (struct part){out, peer == root ? c->count : -1};
    case GATHER: return (struct part){out + even, is_root ? c->count : -1};
    case GATHERV: return (struct part){out + c->rbytes[peer], is_root ? c->rcounts[peer] : -1};
    case SCATTER:
    case SCATTERV: return (struct part){out, peer == root ? own : -1};
    case ALLGATHER:
    case ALLTOALL: return (struct part){out + even, c->count};
    default: return (struct part){out + c->rbytes[peer], c->rcounts[peer]};
    }
}

/* Where the input of a call is: it may be in place, in a block of the output's. */
static char *input_of(const struct call *c, char *out, char *copy)
{
    int all_in_place = c->kind != GATHER && c->kind != GATHERV && c->kind != SCATTER &&
                       c->kind != SCATTERV;
    int rank = c->at->rank;
    memcpy(copy, out, c->memory.bytes);
    if (c->kind == BCAST)
        return copy;
    if (!c->in_place || (!all_in_place && c->root != rank) || c->kind == SCATTER ||
        c->kind == SCATTERV)
        return c->memory.in;
    if (c->kind == GATHER || c->kind == ALLGATHER)
        return copy + (size_t)rank * (size_t)c->count * c->extent;
    if (c->kind == GATHERV || c->kind == ALLGATHERV)
        return copy + c->rbytes[rank];
    return copy;
}

static int naive_move(const struct call *c, char *out)
{
    MPI_Request requests[128];
    char *copy = malloc(c->memory.bytes), *in = input_of(c, out, copy);
    int count = 0, keeps_own = (c->kind == SCATTER || c->kind == SCATTERV) && c->in_place;
    if (c->kind == BARRIER)
        in = out = copy;
    for (int i = 0; i < c->at->peers && c->kind != BARRIER; i++) {
        struct part from = part_from(c, out, i), to = part_to(c, in, i);
        int own = !c->at->inter && i == c->at->rank && keeps_own;
        if (from.count >= 0 && !own)
            OK(MPI_Irecv(from.at, from.count, c->type, i, TAG, c->at->comm, &requests[count++]));
        if (to.count >= 0 && !own)
            OK(MPI_Isend(to.at, to.count, c->type, i, TAG, c->at->comm, &requests[count++]));
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    free(copy);
    return MPI_SUCCESS;
}

/* Elements that each gives, and those of the result that this process gets: from one on, so many. */
static void shape_of(const struct call *c, int *given, int *first, int *taken)
{
    int rank = c->at->rank, block = c->count * (c->at->inter ? c->at->peers : 1);
    int is_root = c->at->inter ? c->root == MPI_ROOT : c->root == rank;
    *given = c->count;
    *first = 0;
    *taken = c->kind == REDUCE && !is_root ? 0 : c->count;
    if (c->kind != REDUCE_SCATTER && c->kind != REDUCE_SCATTER_BLOCK)
        return;
    *given = 0;
    for (int i = 0; i < c->at->size; i++) {
        *first = i == rank ? *given : *first;
        *given += c->kind == REDUCE_SCATTER ? c->rcounts[i] : block;
    }
    *taken = c->kind == REDUCE_SCATTER ? c->rcounts[rank] : block;
}

/* All give all they have to all, and each reduces for itself, in the order of ranks. */
static int naive_reduce(const struct call *c, char *out)
{
    MPI_Request requests[128];
    int given, first, taken, peers = c->at->peers, last = peers - 1;
    shape_of(c, &given, &first, &taken);
    size_t each = (size_t)given * c->extent;
    int in_place = c->in_place && (c->kind != REDUCE || c->root == c->at->rank);
    char *all = malloc((size_t)peers * each + 1), *own = malloc(each + 1);
    memcpy(own, in_place ? out : c->memory.in, each);
    for (int i = 0; i < peers; i++) {
        OK(MPI_Irecv(all + (size_t)i * each, given, c->type, i, TAG, c->at->comm,
                     &requests[2 * i]));
        OK(MPI_Isend(own, given, c->type, i, TAG, c->at->comm, &requests[2 * i + 1]));
    }
    OK(MPI_Waitall(2 * peers, requests, MPI_STATUSES_IGNORE));
    if (c->kind == SCAN || c->kind == EXSCAN)
        last = c->at->rank - (c->kind == EXSCAN);
    for (int i = 1; i <= last; i++)
        OK(MPI_Reduce_local(all + (size_t)(i - 1) * each, all + (size_t)i * each, given, c->type,
                            c->op));
    if (last >= 0)
        memcpy(out, all + (size_t)last * each + (size_t)first * c->extent,
               (size_t)taken * c->extent);
    free(all);
    free(own);
    return MPI_SUCCESS;
}

/* Do it, or start it, or prepare it; what it was given is freed behind it. */
static void do_call(struct call *c, enum form form, char *out, MPI_Request *request)
{
    make_type(c);
    if (form == NAIVE)
        OK((is_reduction(c->kind) ? naive_reduce : naive_move)(c, out));
    else if (is_reduction(c->kind))
        OK(reduce(c, form, out, request));
    else if (is_uneven(c->kind))
        OK(move_uneven(c, form, out, request));
    else
        OK(move_even(c, form, out, request));
    free_type(c);
}

/* ---- several at a time ---- */

static void compute(unsigned seed)
{
    volatile double x = 1;
    for (unsigned i = 0; i < seed % 20000; i++)
        x = x * 1.0000001 + 1e-9;
}

static void complete(MPI_Request *requests, unsigned how)
{
    int index, flag = 0;
    switch (how % 4) {
    case 0: OK(MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE)); break;
    case 1:
        for (int i = 0; i < CALLS; i++)
            OK(MPI_Waitany(CALLS, requests, &index, MPI_STATUS_IGNORE));
        break;
    case 2:
        for (int i = CALLS - 1; i >= 0; i--)
            OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        break;
    default:
        while (!flag) {
            compute(how);
            OK(MPI_Testall(CALLS, requests, &flag, MPI_STATUSES_IGNORE));
        }
    }
}

static void verify(const struct call *c)
{
    if (!memcmp(c->memory.want, c->memory.got, c->memory.bytes))
        return;
    fprintf(stderr, "call %d of %d elements, %zu bytes each, seed %u, differs from the naive one at rank %d of %d\n",
            c->kind, c->count, c->extent, c->seed, c->at->rank, c->at->size);
    CHECK(!"the same");
}

/* The naive calls, over what the nth run begins with. */
static void do_naive(struct call *calls, int run)
{
    for (int i = 0; i < CALLS; i++) {
        fill(&calls[i], calls[i].memory.want, run);
        do_call(&calls[i], NAIVE, calls[i].memory.want, NULL);
    }
}

static void blocking(struct call *calls)
{
    for (int i = 0; i < CALLS; i++) {
        fill(&calls[i], calls[i].memory.got, 0);
        do_call(&calls[i], BLOCKING, calls[i].memory.got, NULL);
    }
    do_naive(calls, 0);
    for (int i = 0; i < CALLS; i++)
        verify(&calls[i]);
}

static void nonblocking(struct call *calls, unsigned how)
{
    MPI_Request requests[CALLS];
    for (int i = 0; i < CALLS; i++) {
        fill(&calls[i], calls[i].memory.got, 0);
        do_call(&calls[i], NONBLOCKING, calls[i].memory.got, &requests[i]);
        CHECK(requests[i] != MPI_REQUEST_NULL);
        if (how % 3 == 0)
            compute(how);
        if (how % 5 == (unsigned)i) /* a blocking one overtakes them */
            OK(MPI_Barrier(calls[i].at->comm));
    }
    complete(requests, how + (unsigned)calls[0].at->me);
    for (int i = 0; i < CALLS; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    do_naive(calls, 0);
    for (int i = 0; i < CALLS; i++)
        verify(&calls[i]);
}

static void persistent(struct call *calls, unsigned how)
{
    MPI_Request requests[CALLS];
    for (int i = 0; i < CALLS; i++)
        do_call(&calls[i], PERSISTENT, calls[i].memory.got, &requests[i]);
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < CALLS; i++)
            fill(&calls[i], calls[i].memory.got, run);
        if ((how + (unsigned)run) % 2)
            OK(MPI_Startall(CALLS, requests));
        for (int i = 0; i < CALLS && !((how + (unsigned)run) % 2); i++)
            OK(MPI_Start(&requests[(i + calls[0].at->me) % CALLS])); /* in an order of its own */
        complete(requests, how + (unsigned)(run + calls[0].at->me));
        do_naive(calls, run);
        for (int i = 0; i < CALLS; i++) {
            CHECK(requests[i] != MPI_REQUEST_NULL);
            verify(&calls[i]);
        }
    }
    for (int i = 0; i < CALLS; i++)
        OK(MPI_Request_free(&requests[i]));
}

/* ---- communicators ---- */

static void look(struct place *at)
{
    MPI_Group peers, world;
    int all[64];
    at->rank = check_rank(at->comm);
    at->peers = at->size = check_size(at->comm);
    at->me = check_rank(MPI_COMM_WORLD);
    OK(MPI_Comm_test_inter(at->comm, &at->inter));
    if (at->inter) {
        OK(MPI_Comm_remote_size(at->comm, &at->peers));
        OK(MPI_Comm_remote_group(at->comm, &peers));
    } else {
        OK(MPI_Comm_group(at->comm, &peers));
    }
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK(at->peers <= 64);
    for (int i = 0; i < at->peers; i++)
        all[i] = i;
    OK(MPI_Group_translate_ranks(peers, at->peers, all, world, at->peer));
    OK(MPI_Group_free(&peers));
    OK(MPI_Group_free(&world));
}

/* The world, one that has it in reverse, one of every other rank, and one of its halves; each
 * process is in all of them. */
static int open_places(MPI_Comm comm, struct place *at)
{
    int rank = check_rank(comm), size = check_size(comm), left = rank < (size + 1) / 2;
    MPI_Comm half;
    OK(MPI_Comm_dup(comm, &at[0].comm));
    OK(MPI_Comm_split(comm, 0, -rank, &at[1].comm));
    OK(MPI_Comm_split(comm, rank % 2, rank, &at[2].comm));
    int count = 3;
    if (size > 1) {
        OK(MPI_Comm_split(comm, left, rank, &half));
        OK(MPI_Intercomm_create(half, 0, comm, left ? (size + 1) / 2 : 0, 3, &at[3].comm));
        OK(MPI_Comm_free(&half));
        count = 4;
    }
    for (int i = 0; i < count; i++)
        look(&at[i]);
    return count;
}

static unsigned first_seed, seeds = SEEDS;

static void *cases(void *arg)
{
    struct thread *thread = arg;
    struct place at[COMMS];
    int count = open_places(thread->comm, at);
    for (unsigned i = first_seed; i < first_seed + seeds; i++) {
        struct call calls[CALLS];
        unsigned seed = i * 7 + (unsigned)thread->number * 100000, how;
        for (int k = 0; k < CALLS; k++)
            make(&calls[k], &at[next(&seed) % (unsigned)count], &seed);
        how = next(&seed);
        if (i % 3 == 0)
            blocking(calls);
        else if (i % 3 == 1)
            nonblocking(calls, how);
        else
            persistent(calls, how);
        for (int k = 0; k < CALLS; k++)
            buffers_free(&calls[k].memory);
    }
    for (int i = 0; i < count; i++)
        OK(MPI_Comm_free(&at[i].comm));
    return NULL;
}

/* A communicator may go before its collectives are complete. */
static void freed_comm(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm copy;
        MPI_Request requests[2];
        int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
        int sum = -1, word = rank == size - 1 ? i : -1;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy, &requests[0]));
        OK(MPI_Bcast_init(&word, 1, MPI_INT, size - 1, copy, MPI_INFO_NULL, &requests[1]));
        OK(MPI_Comm_free(&copy));
        OK(MPI_Start(&requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(sum == size * (size - 1) / 2 && word == i);
        OK(MPI_Request_free(&requests[1]));
    }
}

/* A barrier is not complete before the last has come. */
static void waits_for_all(void)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), flag;
    for (int late = 0; late < size && size > 1; late++) {
        MPI_Request request;
        int word = 0;
        if (rank == late) {
            for (int i = 0; i < size; i++)
                if (i != rank)
                    OK(MPI_Recv(&word, 1, MPI_INT, i, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        } else {
            OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
            OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag);
            OK(MPI_Send(&word, 1, MPI_INT, late, 9, MPI_COMM_WORLD));
        }
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    struct thread threads[4];
    threads_init(&argc, &argv);
    const MPI_Op all[OPS] = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                             MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    memcpy(ops, all, sizeof(ops));
    const MPI_Datatype types[BASICS] = {MPI_INT8_T,   MPI_INT16_T,  MPI_INT32_T,  MPI_INT64_T, MPI_UINT8_T,
                                        MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_FLOAT,   MPI_DOUBLE};
    memcpy(basics, types, sizeof(basics));
    int is_threaded = argc > 1 && !strcmp(argv[1], "threads");
    if (argc > is_threaded + 2) {
        first_seed = (unsigned)atoi(argv[is_threaded + 1]);
        seeds = (unsigned)atoi(argv[is_threaded + 2]);
    }
    if (is_threaded) {
        threads_run_apart(threads, 4, cases);
    } else {
        threads[0] = (struct thread){.comm = MPI_COMM_WORLD};
        (void)cases(&threads[0]);
        freed_comm();
        waits_for_all();
    }
    OK(MPI_Finalize());
    return 0;
}
