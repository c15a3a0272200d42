/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives one after the other on many communicators, which share memory on one
 * host: every value is checked against what the definition gives. Kind, size, root, operation and
 * communicator of each come from one seed, the same at all ranks; each rank is late now and then,
 * by itself.
 *
 * coll_region [ROUNDS [SEED [THREADS]]]
 *
 * With threads, each has communicators of its own.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "threads.h"

enum {
    COMMS = 5,
    SIZES = 11,
    LONG_OF_TWO = 80000, /* elements, instead of the longest: two ranks have longer chunks than more have */
    LATE_US = 2000,
    OUTSTANDING = 3,
    RANKS = 64
};

/* Of MPI_UINT64_T. */
static const int sizes[SIZES] = {0, 1, 2, 8, 15, 16, 31, 250, 500, 4099, 20000};

/* A rank's part in one collective. */
struct part {
    uint64_t number; /* of the collective */
    int count, root, rank, size;
    MPI_Op op;
    bool in_place;
    MPI_Comm comm;
    uint64_t *in, *out;
};

struct run {
    uint64_t seed, late; /* of what is the same at all ranks; and of what is not */
    uint64_t number;
    MPI_Comm comms[COMMS];
    uint64_t *in, *out;
    size_t room; /* elements of each */
};

static int rounds = 300;
static uint64_t first_seed = 1;
static MPI_Op chain;

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

/* Element i of what a rank gives to another. */
static uint64_t value(const struct part *p, int rank, int to, int i)
{
    uint64_t v = p->number * 0x9e3779b97f4a7c15u + (uint64_t)rank * 1000003u +
                 (uint64_t)to * 7919u + (uint64_t)i * 31u;
    return v ^ v >> 29;
}

/* ---- operations ---- */

/* a(b(x)), where a pair (m, c) in one word is m x + c, modulo 2^32: it does not commute. */
static uint64_t compose(uint64_t a, uint64_t b)
{
    uint32_t am = (uint32_t)(a >> 32), ac = (uint32_t)a, bm = (uint32_t)(b >> 32), bc = (uint32_t)b;
    return (uint64_t)(am * bm) << 32 | (uint32_t)(am * bc + ac);
}

static void chain_all(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint64_t *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *len; i++)
        b[i] = compose(a[i], b[i]);
}

static uint64_t combine(MPI_Op op, uint64_t a, uint64_t b)
{
    if (op == MPI_SUM)
        return a + b;
    if (op == MPI_MAX)
        return a > b ? a : b;
    return compose(a, b);
}

/* Of element i of what the ranks from first to last give to another. */
static uint64_t folded(const struct part *p, int first, int last, int to, int i)
{
    uint64_t v = value(p, first, to, i);
    for (int r = first + 1; r <= last; r++)
        v = combine(p->op, v, value(p, r, to, i));
    return v;
}

/* ---- checks ---- */

static void fill(const struct part *p, uint64_t *at, int rank, int to)
{
    for (int i = 0; i < p->count; i++)
        at[i] = value(p, rank, to, i);
}

static void expect(const struct part *p, const uint64_t *at, int rank, int to)
{
    for (int i = 0; i < p->count; i++)
        CHECK(at[i] == value(p, rank, to, i));
}

static void expect_folded(const struct part *p, int first, int last, int to)
{
    for (int i = 0; i < p->count; i += 1 + p->count / 97)
        CHECK(p->out[i] == folded(p, first, last, to, i));
}

/* The input of a reduction. */
static const void *input(struct part *p)
{
    uint64_t *in = p->in_place ? p->out : p->in;
    fill(p, in, p->rank, 0);
    return p->in_place ? MPI_IN_PLACE : in;
}

static uint64_t *block(const struct part *p, uint64_t *at, int i)
{
    return at + (size_t)p->count * (size_t)i;
}

/* ---- the collectives ---- */

static void barrier(struct part *p)
{
    OK(MPI_Barrier(p->comm));
}

static void bcast(struct part *p)
{
    memset(p->out, 0, (size_t)p->count * sizeof(*p->out));
    if (p->rank == p->root)
        fill(p, p->out, p->root, 0);
    OK(MPI_Bcast(p->out, p->count, MPI_UINT64_T, p->root, p->comm));
    expect(p, p->out, p->root, 0);
}

/* Every second word at the root; elsewhere without gaps. */
static void bcast_gaps(struct part *p)
{
    MPI_Datatype gaps;
    int stride = p->rank == p->root ? 2 : 1;
    OK(MPI_Type_vector(p->count, 1, stride, MPI_UINT64_T, &gaps));
    OK(MPI_Type_commit(&gaps));
    if (p->rank == p->root)
        for (int i = 0; i < p->count; i++)
            p->out[(size_t)stride * (size_t)i] = value(p, p->root, 0, i);
    OK(MPI_Bcast(p->out, 1, gaps, p->root, p->comm));
    for (int i = 0; i < p->count; i++)
        CHECK(p->out[(size_t)stride * (size_t)i] == value(p, p->root, 0, i));
    OK(MPI_Type_free(&gaps));
}

static void reduce(struct part *p)
{
    bool is_root = p->rank == p->root;
    p->in_place &= is_root;
    const void *in = input(p);
    OK(MPI_Reduce(in, p->out, p->count, MPI_UINT64_T, p->op, p->root, p->comm));
    if (is_root)
        expect_folded(p, 0, p->size - 1, 0);
}

static void allreduce(struct part *p)
{
    const void *in = input(p);
    OK(MPI_Allreduce(in, p->out, p->count, MPI_UINT64_T, p->op, p->comm));
    expect_folded(p, 0, p->size - 1, 0);
}

static void scan(struct part *p)
{
    const void *in = input(p);
    OK(MPI_Scan(in, p->out, p->count, MPI_UINT64_T, p->op, p->comm));
    expect_folded(p, 0, p->rank, 0);
}

static void exscan(struct part *p)
{
    const void *in = input(p);
    OK(MPI_Exscan(in, p->out, p->count, MPI_UINT64_T, p->op, p->comm));
    if (p->rank)
        expect_folded(p, 0, p->rank - 1, 0);
}

static void gather(struct part *p)
{
    bool here = p->rank == p->root && p->in_place;
    uint64_t *mine = here ? block(p, p->out, p->rank) : p->in;
    fill(p, mine, p->rank, p->root);
    OK(MPI_Gather(here ? MPI_IN_PLACE : mine, p->count, MPI_UINT64_T, p->out, p->count,
                  MPI_UINT64_T, p->root, p->comm));
    for (int r = 0; r < p->size && p->rank == p->root; r++)
        expect(p, block(p, p->out, r), r, p->root);
}

static void scatter(struct part *p)
{
    bool here = p->rank == p->root && p->in_place;
    for (int r = 0; r < p->size && p->rank == p->root; r++)
        fill(p, block(p, p->in, r), p->root, r);
    OK(MPI_Scatter(p->in, p->count, MPI_UINT64_T, here ? MPI_IN_PLACE : p->out, p->count,
                   MPI_UINT64_T, p->root, p->comm));
    expect(p, here ? block(p, p->in, p->rank) : p->out, p->root, p->rank);
}

static void allgather(struct part *p)
{
    uint64_t *mine = p->in_place ? block(p, p->out, p->rank) : p->in;
    fill(p, mine, p->rank, 0);
    OK(MPI_Allgather(p->in_place ? MPI_IN_PLACE : mine, p->count, MPI_UINT64_T, p->out, p->count,
                     MPI_UINT64_T, p->comm));
    for (int r = 0; r < p->size; r++)
        expect(p, block(p, p->out, r), r, 0);
}

static void alltoall(struct part *p)
{
    uint64_t *mine = p->in_place ? p->out : p->in;
    for (int r = 0; r < p->size; r++)
        fill(p, block(p, mine, r), p->rank, r);
    OK(MPI_Alltoall(p->in_place ? MPI_IN_PLACE : mine, p->count, MPI_UINT64_T, p->out, p->count,
                    MPI_UINT64_T, p->comm));
    for (int r = 0; r < p->size; r++)
        expect(p, block(p, p->out, r), r, p->rank);
}

static void reduce_scatter(struct part *p)
{
    uint64_t *mine = p->in_place ? p->out : p->in;
    for (int r = 0; r < p->size; r++)
        fill(p, block(p, mine, r), p->rank, r);
    OK(MPI_Reduce_scatter_block(p->in_place ? MPI_IN_PLACE : mine, p->out, p->count, MPI_UINT64_T,
                                p->op, p->comm));
    expect_folded(p, 0, p->size - 1, p->rank);
}

/* ---- blocks of unequal lengths, each in the room of an equal one ---- */

/* Elements from one rank to another: none, a third, two thirds, all. */
static int length(const struct part *p, int from, int to)
{
    return p->count * ((from * 3 + to * 5 + (int)(p->number % 7)) % 4) / 3;
}

static void expect_some(const struct part *p, const uint64_t *at, int from, int to)
{
    for (int i = 0; i < length(p, from, to); i++)
        CHECK(at[i] == value(p, from, to, i));
}

/* What a rank's blocks are: to or from each other, where "to" is one that they all go to. */
struct lengths {
    int counts[RANKS], displs[RANKS];
};

static void to_each(const struct part *p, int from, struct lengths *l)
{
    for (int r = 0; r < p->size; r++) {
        l->counts[r] = length(p, from, r);
        l->displs[r] = r * p->count;
    }
}

static void from_each(const struct part *p, int to, struct lengths *l)
{
    for (int r = 0; r < p->size; r++) {
        l->counts[r] = length(p, r, to);
        l->displs[r] = r * p->count;
    }
}

static void gatherv(struct part *p)
{
    struct lengths l = {0};
    bool here = p->rank == p->root && p->in_place;
    uint64_t *mine = here ? block(p, p->out, p->rank) : p->in;
    from_each(p, p->root, &l);
    fill(p, mine, p->rank, p->root);
    OK(MPI_Gatherv(here ? MPI_IN_PLACE : mine, l.counts[p->rank], MPI_UINT64_T, p->out, l.counts,
                   l.displs, MPI_UINT64_T, p->root, p->comm));
    for (int r = 0; r < p->size && p->rank == p->root; r++)
        expect_some(p, block(p, p->out, r), r, p->root);
}

static void scatterv(struct part *p)
{
    struct lengths l = {0};
    bool here = p->rank == p->root && p->in_place;
    to_each(p, p->root, &l);
    for (int r = 0; r < p->size && p->rank == p->root; r++)
        fill(p, block(p, p->in, r), p->root, r);
    OK(MPI_Scatterv(p->in, l.counts, l.displs, MPI_UINT64_T, here ? MPI_IN_PLACE : p->out,
                    l.counts[p->rank], MPI_UINT64_T, p->root, p->comm));
    if (!here)
        expect_some(p, p->out, p->root, p->rank);
}

static void allgatherv(struct part *p)
{
    struct lengths l = {0};
    uint64_t *mine = p->in_place ? block(p, p->out, p->rank) : p->in;
    from_each(p, 0, &l);
    fill(p, mine, p->rank, 0);
    OK(MPI_Allgatherv(p->in_place ? MPI_IN_PLACE : mine, l.counts[p->rank], MPI_UINT64_T, p->out,
                      l.counts, l.displs, MPI_UINT64_T, p->comm));
    for (int r = 0; r < p->size; r++)
        expect_some(p, block(p, p->out, r), r, 0);
}

static void alltoallv(struct part *p)
{
    struct lengths to, from;
    to_each(p, p->rank, &to);
    from_each(p, p->rank, &from);
    for (int r = 0; r < p->size; r++)
        fill(p, block(p, p->in, r), p->rank, r);
    OK(MPI_Alltoallv(p->in, to.counts, to.displs, MPI_UINT64_T, p->out, from.counts, from.displs,
                     MPI_UINT64_T, p->comm));
    for (int r = 0; r < p->size; r++)
        expect_some(p, block(p, p->out, r), r, p->rank);
}

/* In place, received data are as long as sent data. */
static void alltoallv_in_place(struct part *p)
{
    struct lengths l = {0};
    for (int r = 0; r < p->size; r++) {
        l.counts[r] = length(p, r + p->rank, r + p->rank);
        l.displs[r] = r * p->count;
        fill(p, block(p, p->out, r), p->rank, r);
    }
    OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_UINT64_T, p->out, l.counts, l.displs,
                     MPI_UINT64_T, p->comm));
    for (int r = 0; r < p->size; r++)
        for (int i = 0; i < l.counts[r]; i++)
            CHECK(block(p, p->out, r)[i] == value(p, r, p->rank, i));
}

/* Half as much, with gaps at the even end; the odd one's elements follow each other. */
static void alltoallw(struct part *p)
{
    MPI_Datatype gaps, types[RANKS];
    int stride = p->rank % 2 ? 1 : 2, to[RANKS], from[RANKS], displs[RANKS];
    OK(MPI_Type_create_resized(MPI_UINT64_T, 0, stride * (int)sizeof(uint64_t), &gaps));
    OK(MPI_Type_commit(&gaps));
    for (int r = 0; r < p->size; r++) {
        types[r] = gaps;
        to[r] = length(p, p->rank, r) / 2;
        from[r] = length(p, r, p->rank) / 2;
        displs[r] = r * p->count * (int)sizeof(uint64_t);
        for (int i = 0; i < to[r]; i++)
            block(p, p->in, r)[stride * i] = value(p, p->rank, r, i);
    }
    OK(MPI_Alltoallw(p->in, to, displs, types, p->out, from, displs, types, p->comm));
    OK(MPI_Type_free(&gaps));
    for (int r = 0; r < p->size; r++)
        for (int i = 0; i < from[r]; i++)
            CHECK(block(p, p->out, r)[stride * i] == value(p, r, p->rank, i));
}

/* Some that do not block are under way meanwhile. */
static void outstanding(struct part *p)
{
    MPI_Request requests[OUTSTANDING];
    uint64_t in[OUTSTANDING], out[OUTSTANDING];
    for (int i = 0; i < OUTSTANDING; i++) {
        in[i] = value(p, p->rank, 0, i);
        OK(MPI_Iallreduce(&in[i], &out[i], 1, MPI_UINT64_T, p->op, p->comm, &requests[i]));
    }
    uint64_t *kept = p->in;
    allreduce(p);
    p->in = kept;
    OK(MPI_Waitall(OUTSTANDING, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < OUTSTANDING; i++)
        CHECK(out[i] == folded(p, 0, p->size - 1, 0, i));
}

/* Scans of many lengths, more of them than there is room for, between two calls that all take from the first rank;
 * the last rank is late, so that the first ones are ahead as far as they may be. */
static void scans_in_a_row(struct part *p)
{
    enum { ROW = 90, SHORT = 5 };
    struct part one = *p;
    if (p->rank == p->size - 1)
        usleep(LATE_US / 4);
    one.root = 0;
    one.count = SHORT;
    bcast(&one);
    for (int i = 0; i < ROW; i++) {
        one.number = p->number + ((uint64_t)i << 32);
        one.count = i % 7 == 3 ? p->count / 4 : 1 + i % SHORT;
        one.in_place = i % 2;
        one.in = p->in;
        (i % 3 ? scan : exscan)(&one);
    }
    one.count = SHORT;
    bcast(&one);
}

static void (*const kinds[])(struct part *p) = {
    barrier, bcast,   bcast_gaps, reduce,    allreduce, scan,           exscan,
    gather,  scatter, allgather,  alltoall,  reduce_scatter, outstanding, barrier, allreduce,
    gatherv, scatterv, allgatherv, alltoallv, alltoallv_in_place, alltoallw, scans_in_a_row,
};

/* ---- many of them ---- */

static void make_comms(struct run *run, MPI_Comm world)
{
    int rank = check_rank(world), size = check_size(world);
    OK(MPI_Comm_dup(world, &run->comms[0]));
    OK(MPI_Comm_split(world, 0, size - rank, &run->comms[1]));
    OK(MPI_Comm_split(world, rank % 2, rank, &run->comms[2]));
    OK(MPI_Comm_split(world, 0, rank, &run->comms[3]));
    OK(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &run->comms[4]));
}

static void free_comms(struct run *run)
{
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_free(&run->comms[i]));
}

static void one(struct run *run)
{
    MPI_Op ops[] = {MPI_SUM, MPI_MAX, chain};
    uint64_t kind = draw(&run->seed, sizeof(kinds) / sizeof(*kinds));
    struct part p = {.number = ++run->number,
                     .comm = run->comms[draw(&run->seed, COMMS)],
                     .op = ops[draw(&run->seed, 3)],
                     .count = sizes[draw(&run->seed, SIZES)],
                     .in_place = draw(&run->seed, 2),
                     .in = run->in,
                     .out = run->out};
    uint64_t root = draw(&run->seed, 1000);
    p.rank = check_rank(p.comm);
    p.size = check_size(p.comm);
    if (p.size == 2 && p.count == sizes[SIZES - 1])
        p.count = LONG_OF_TWO;
    p.root = (int)(root % (uint64_t)p.size);
    if (draw(&run->late, 50) == 0)
        usleep((useconds_t)draw(&run->late, LATE_US));
    kinds[kind](&p);
}

/* Blocks that fill the list of a member to its last byte, or nearly: then come empty ones, for members
 * who go on to messages at once. The giver does not wait for these. */
static void fill_list(MPI_Comm comm, int len)
{
    int rank = check_rank(comm), size = check_size(comm), word = rank;
    int to[RANKS] = {0}, from[RANKS] = {0}, displs[RANKS] = {0};
    char *block = malloc((size_t)len), *got = malloc((size_t)len);
    CHECK(block && got);
    to[1] = rank == 0 ? len : 0;
    from[0] = rank == 1 ? len : 0;
    for (int both = 0; both < 2; both++) {
        memset(block, 'a' + both, (size_t)len);
        memset(got, 0, (size_t)len);
        if (both)
            OK(MPI_Alltoallv(block, to, displs, MPI_CHAR, got, from, displs, MPI_CHAR, comm));
        else
            OK(MPI_Scatterv(block, to, displs, MPI_CHAR, got, from[0], MPI_CHAR, 0, comm));
        for (int i = 0; i < from[0]; i++)
            CHECK(got[i] == 'a' + both);
        if (rank == 0)
            OK(MPI_Send(&word, 1, MPI_INT, size - 1, 7, comm));
        if (rank == size - 1)
            OK(MPI_Recv(&word, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE));
        CHECK(word == (rank == size - 1 ? 0 : rank));
        word = rank;
    }
    free(block);
    free(got);
}

static void fill_lists(MPI_Comm comm)
{
    enum { CHUNK = 32768, ENTRY = 16 }; /* bytes in the region */
    int size = check_size(comm);
    for (int less = -8; size > 2 && less <= 16; less += 4)
        fill_list(comm, CHUNK - ENTRY * size - less);
}

/* Operations get their elements where the processor may load the widest ones at once. */
static void expect_aligned(void *in, void *inout, int *len, MPI_Datatype *type)
{
    long double _Complex *a = in, *b = inout;
    (void)type;
    CHECK((uintptr_t)in % _Alignof(long double _Complex) == 0);
    CHECK((uintptr_t)inout % _Alignof(long double _Complex) == 0);
    for (int i = 0; i < *len; i++)
        b[i] += a[i];
}

static void wide_elements(MPI_Comm comm)
{
    enum { MOST = 40 };
    const MPI_Datatype type = MPI_C_LONG_DOUBLE_COMPLEX;
    int rank = check_rank(comm), size = check_size(comm);
    long double _Complex in[MOST], out[MOST], *blocks = calloc((size_t)(MOST * size), sizeof(*blocks));
    MPI_Op op;
    CHECK(blocks);
    OK(MPI_Op_create(expect_aligned, 1, &op));
    for (int i = 0; i < MOST * size; i++)
        in[i % MOST] = blocks[i] = rank + 1;
    for (int count = 1; count <= MOST; count += 3) {
        OK(MPI_Allreduce(in, out, count, type, op, comm));
        CHECK(out[count - 1] == size * (size + 1) / 2);
        OK(MPI_Reduce(in, out, count, type, op, size - 1, comm));
        OK(MPI_Scan(in, out, count, type, op, comm));
        CHECK(out[count - 1] == (rank + 1) * (rank + 2) / 2);
        OK(MPI_Exscan(in, out, count, type, op, comm));
        CHECK(rank == 0 || out[count - 1] == rank * (rank + 1) / 2);
        OK(MPI_Reduce_scatter_block(blocks, out, count, type, op, comm));
        CHECK(out[count - 1] == size * (size + 1) / 2);
    }
    OK(MPI_Op_free(&op));
    free(blocks);
}

static void *many(void *arg)
{
    struct thread *thread = arg;
    int size = check_size(MPI_COMM_WORLD);
    struct run run = {.seed = first_seed + (uint64_t)thread->number * 1000,
                      .late = first_seed + (uint64_t)check_rank(MPI_COMM_WORLD)};
    CHECK(size <= RANKS);
    run.room = (size_t)sizes[SIZES - 1] * (size_t)(size + 1) + 3 * (size_t)LONG_OF_TWO;
    run.in = calloc(run.room, sizeof(*run.in));
    run.out = calloc(run.room, sizeof(*run.out));
    CHECK(run.in && run.out);
    OK(MPI_Barrier(thread->comm));
    fill_lists(thread->comm);
    wide_elements(thread->comm);
    for (int i = 0; i < rounds; i++) {
        if (i % 100 == 0)
            make_comms(&run, thread->comm);
        one(&run);
        if (i % 100 == 99 || i == rounds - 1)
            free_comms(&run);
    }
    free(run.in);
    free(run.out);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[THREADS] = {0};
    int count = argc > 3 ? atoi(argv[3]) : 1;
    if (count > 1)
        threads_init(&argc, &argv);
    else
        OK(MPI_Init(&argc, &argv));
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    OK(MPI_Op_create(chain_all, 0, &chain));
    for (int i = 0; i < count; i++) {
        threads[i].number = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm));
    }
    if (count > 1)
        threads_run(threads, count, many);
    else
        many(&threads[0]);
    for (int i = 0; i < count; i++)
        OK(MPI_Comm_free(&threads[i].comm));
    OK(MPI_Op_free(&chain));
    MPI_Finalize();
    return 0;
}
