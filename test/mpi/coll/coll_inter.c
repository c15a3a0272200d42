/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives over intercommunicators of every shape that the world gives, from every root, with
 * few and many data: each value names its source and its destination. The left
 * group has plain ints, the right one ints with gaps. Now and then a process comes late.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* Ints of a block; of memory for an int with its gap; behind all of them. */
enum { LARGE = 20000, SPREAD = 3, SLACK = 4 };

static const int sizes[] = {0, 2, 300, LARGE};
static int me, world_size;
static int left_size; /* the first of the world are one group, the rest the other */
static MPI_Comm inter;
static int rank, size, peers; /* in inter */
static MPI_Datatype gaps, pair; /* two ints: at 1 and 3 of 6, and plain */
static MPI_Datatype type;       /* of my group's data */
static int per_element;         /* ints of that */
static int *in, *out;           /* [(world_size * LARGE + SLACK) * SPREAD] */

/* ---- data ---- */

static int is_left(void)
{
    return me < left_size;
}

/* The world rank of a remote member. */
static int peer(int i)
{
    return is_left() ? left_size + i : i;
}

/* Where the i-th int of my group's data is. */
static int at(int i)
{
    return is_left() ? i : 6 * (i / 2) + 1 + 2 * (i % 2);
}

/* The i-th int that one process sends to another. */
static int datum(int from, int to, int i)
{
    return (from + 1) * 1000003 + to * 10007 + i;
}

/* Write n ints behind the first so many. */
static void fill(int first, int n, int from, int to)
{
    for (int i = 0; i < n; i++)
        out[at(first + i)] = datum(from, to, i);
}

static void verify(int first, int n, int from, int to)
{
    for (int i = 0; i < n; i++)
        CHECK(in[at(first + i)] == datum(from, to, i));
}

/* Nothing has been written there. */
static void verify_none(int first, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(in[at(first + i)] == -1);
}

/* Forget the received data; expect so many ints. */
static void clear(int ints)
{
    static unsigned calls;
    memset(in, -1, ((size_t)ints + SLACK) * SPREAD * sizeof(*in));
    if (++calls % 16 == (unsigned)me)
        usleep(500);
}

/* So many ints as elements of my group. */
static int count(int ints)
{
    return ints / per_element;
}

/* What I call the root, which is a process of the world. */
static int named(int root)
{
    if ((root < left_size) != is_left())
        return is_left() ? root - left_size : root;
    return me == root ? MPI_ROOT : MPI_PROC_NULL;
}

/* ---- one way ---- */

/* An argument that must not be looked at. */
static int *const bad = (int *)8;

static void bcast(int n, int root)
{
    int as = named(root);
    clear(n);
    if (as == MPI_ROOT) {
        fill(0, n, root, 0);
        OK(MPI_Bcast(out, count(n), type, as, inter));
    } else if (as == MPI_PROC_NULL) {
        OK(MPI_Bcast(bad, -5, MPI_DATATYPE_NULL, as, inter));
    } else {
        OK(MPI_Bcast(in, count(n), type, as, inter));
        verify(0, n, root, 0);
        verify_none(n, 2);
    }
}

static void gather(int n, int root)
{
    int as = named(root);
    clear(peers * n);
    if (as == MPI_ROOT) {
        OK(MPI_Gather(bad, -1, MPI_DATATYPE_NULL, in, count(n), type, as, inter));
        for (int i = 0; i < peers; i++)
            verify(i * n, n, peer(i), root);
        verify_none(peers * n, 2);
    } else if (as == MPI_PROC_NULL) {
        OK(MPI_Gather(bad, -1, MPI_DATATYPE_NULL, bad, -1, MPI_DATATYPE_NULL, as, inter));
    } else {
        fill(0, n, me, root);
        OK(MPI_Gather(out, count(n), type, bad, -1, MPI_DATATYPE_NULL, as, inter));
    }
}

static void scatter(int n, int root)
{
    int as = named(root);
    clear(n);
    if (as == MPI_ROOT) {
        for (int i = 0; i < peers; i++)
            fill(i * n, n, root, peer(i));
        OK(MPI_Scatter(out, count(n), type, bad, -1, MPI_DATATYPE_NULL, as, inter));
    } else if (as == MPI_PROC_NULL) {
        OK(MPI_Scatter(bad, -1, MPI_DATATYPE_NULL, bad, -1, MPI_DATATYPE_NULL, as, inter));
    } else {
        OK(MPI_Scatter(bad, -1, MPI_DATATYPE_NULL, in, count(n), type, as, inter));
        verify(0, n, root, me);
        verify_none(n, 2);
    }
}

/* ---- blocks of lengths of their own ---- */

/* How many ints go from one to another: an even number, and some get none. */
static int length(int from, int to, int n)
{
    return (n / 2 * ((from * 5 + to * 3) % 3)) & ~1;
}

/* Blocks from or to each, in my memory; they begin n ints apart. */
struct blocks {
    int counts[16], displs[16];
    MPI_Count large_counts[16];
    MPI_Aint large_displs[16], bytes[16];
    int byte_displs[16];
    MPI_Datatype types[16];
};

/* to: blocks to others; common: if they all are for one, or of one, that. */
static void lay_out(struct blocks *b, int n, int to, int common)
{
    for (int i = 0; i < peers; i++) {
        int other = peer(i), one = common < 0 ? me : common;
        b->counts[i] = count(to ? length(me, other, n) : length(other, one, n));
        b->displs[i] = count(i * n);
        b->byte_displs[i] = count(i * n) * (is_left() ? 4 : 24);
        b->large_counts[i] = b->counts[i];
        b->large_displs[i] = b->displs[i];
        b->bytes[i] = b->byte_displs[i];
        b->types[i] = type;
    }
}

static void gatherv(int n, int root)
{
    struct blocks b;
    int as = named(root);
    clear(peers * n);
    if (as == MPI_ROOT) {
        lay_out(&b, n, 0, -1);
        if (n > 2)
            OK(MPI_Gatherv(bad, -1, type, in, b.counts, b.displs, type, as, inter));
        else
            OK(MPI_Gatherv_c(bad, -1, type, in, b.large_counts, b.large_displs, type, as, inter));
        for (int i = 0; i < peers; i++)
            verify(i * n, length(peer(i), root, n), peer(i), root);
    } else if (as == MPI_PROC_NULL) {
        OK(MPI_Gatherv(bad, -1, type, bad, NULL, NULL, MPI_DATATYPE_NULL, as, inter));
    } else {
        fill(0, length(me, root, n), me, root);
        OK(MPI_Gatherv(out, count(length(me, root, n)), type, bad, NULL, NULL, type, as, inter));
    }
}

static void scatterv(int n, int root)
{
    struct blocks b;
    int as = named(root);
    clear(n);
    if (as == MPI_ROOT) {
        lay_out(&b, n, 1, -1);
        for (int i = 0; i < peers; i++)
            fill(i * n, length(root, peer(i), n), root, peer(i));
        if (n > 2)
            OK(MPI_Scatterv(out, b.counts, b.displs, type, bad, -1, type, as, inter));
        else
            OK(MPI_Scatterv_c(out, b.large_counts, b.large_displs, type, bad, -1, type, as, inter));
    } else if (as == MPI_PROC_NULL) {
        OK(MPI_Scatterv(bad, NULL, NULL, type, bad, -1, MPI_DATATYPE_NULL, as, inter));
    } else {
        OK(MPI_Scatterv(bad, NULL, NULL, type, in, count(length(root, me, n)), type, as, inter));
        verify(0, length(root, me, n), root, me);
    }
}

/* ---- both ways ---- */

/* The left group sends so many ints, the right one so many. */
static void allgather(int to_right, int to_left)
{
    int sends = is_left() ? to_right : to_left, gets = is_left() ? to_left : to_right;
    clear(peers * gets);
    fill(0, sends, me, 0);
    OK(MPI_Allgather(out, count(sends), type, in, count(gets), type, inter));
    for (int i = 0; i < peers; i++)
        verify(i * gets, gets, peer(i), 0);
    verify_none(peers * gets, 2);
}

static void allgatherv(int n)
{
    struct blocks b;
    lay_out(&b, n, 0, 0);
    clear(peers * n);
    fill(0, length(me, 0, n), me, 0);
    if (n > 2)
        OK(MPI_Allgatherv(out, count(length(me, 0, n)), type, in, b.counts, b.displs, type, inter));
    else
        OK(MPI_Allgatherv_c(out, count(length(me, 0, n)), type, in, b.large_counts,
                            b.large_displs, type, inter));
    for (int i = 0; i < peers; i++)
        verify(i * n, length(peer(i), 0, n), peer(i), 0);
}

static void alltoall(int to_right, int to_left)
{
    int sends = is_left() ? to_right : to_left, gets = is_left() ? to_left : to_right;
    clear(peers * gets);
    for (int i = 0; i < peers; i++)
        fill(i * sends, sends, me, peer(i));
    OK(MPI_Alltoall(out, count(sends), type, in, count(gets), type, inter));
    for (int i = 0; i < peers; i++)
        verify(i * gets, gets, peer(i), me);
    verify_none(peers * gets, 2);
}

/* In four ways. */
static void alltoallv(int n, int how)
{
    struct blocks to, from;
    lay_out(&to, n, 1, -1);
    lay_out(&from, n, 0, -1);
    clear(peers * n);
    for (int i = 0; i < peers; i++)
        fill(i * n, length(me, peer(i), n), me, peer(i));
    if (how == 0)
        OK(MPI_Alltoallv(out, to.counts, to.displs, type, in, from.counts, from.displs, type,
                         inter));
    if (how == 1)
        OK(MPI_Alltoallv_c(out, to.large_counts, to.large_displs, type, in, from.large_counts,
                           from.large_displs, type, inter));
    if (how == 2)
        OK(MPI_Alltoallw(out, to.counts, to.byte_displs, to.types, in, from.counts,
                         from.byte_displs, from.types, inter));
    if (how == 3)
        OK(MPI_Alltoallw_c(out, to.large_counts, to.bytes, to.types, in, from.large_counts,
                           from.bytes, from.types, inter));
    for (int i = 0; i < peers; i++)
        verify(i * n, length(peer(i), me, n), peer(i), me);
}

/* ---- reductions ---- */

/* Pairs (a, b) are x -> a x + b, and one after the other: that does not commute. */
static void compose(const unsigned first[2], unsigned second[2])
{
    second[1] = second[0] * first[1] + second[1];
    second[0] = first[0] * second[0];
}

/* The same for both types of pairs. */
static void compose_all(void *in_pairs, void *inout, int *len, MPI_Datatype *used)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(*used, &low, &extent);
    int first = extent == 24 ? 1 : 0, apart = extent == 24 ? 2 : 1;
    for (int i = 0; i < *len; i++) {
        unsigned *a = (unsigned *)((char *)in_pairs + i * extent) + first;
        unsigned *b = (unsigned *)((char *)inout + i * extent) + first;
        unsigned before[2] = {a[0], a[apart]}, after[2] = {b[0], b[apart]};
        compose(before, after);
        b[0] = after[0];
        b[apart] = after[1];
    }
}

static MPI_Op composition;

/* How a reduction is done: of ints with MPI_SUM (maybe of the other group: without gaps), or of
 * pairs. Both groups have equally many. */
struct how {
    MPI_Op op;
    MPI_Datatype type;
    int ints; /* of an element */
};

static int place(const struct how *how, int i)
{
    return how->ints == 1 ? i : at(i);
}

/* The i-th pair of ints of the result over the other group. */
static void wanted(const struct how *how, int i, unsigned result[2])
{
    unsigned next[2];
    result[0] = result[1] = 0;
    for (int p = 0; p < peers; p++) {
        next[0] = (unsigned)datum(peer(p), 0, 2 * i);
        next[1] = (unsigned)datum(peer(p), 0, 2 * i + 1);
        if (how->ints == 2 && p > 0)
            compose(result, next);
        result[0] = how->ints == 2 ? next[0] : result[0] + next[0];
        result[1] = how->ints == 2 ? next[1] : result[1] + next[1];
    }
}

static void operands(const struct how *how, int n)
{
    clear(n);
    for (int i = 0; i < n; i++)
        out[place(how, i)] = datum(me, 0, i);
}

/* Check the n ints of the result that begin at first. */
static void verify_result(const struct how *how, int first, int n)
{
    unsigned result[2];
    for (int i = 0; i < n; i += 2) {
        wanted(how, (first + i) / 2, result);
        CHECK((unsigned)in[place(how, i)] == result[0]);
        CHECK((unsigned)in[place(how, i + 1)] == result[1]);
    }
    CHECK(in[place(how, n)] == -1);
}

static void reduce(const struct how *how, int n, int root)
{
    int as = named(root);
    operands(how, n);
    if (as == MPI_ROOT) {
        OK(MPI_Reduce(bad, in, n / how->ints, how->type, how->op, as, inter));
        verify_result(how, 0, n);
    } else if (as == MPI_PROC_NULL) {
        OK(MPI_Reduce(bad, bad, -1, MPI_DATATYPE_NULL, MPI_OP_NULL, as, inter));
    } else {
        OK(MPI_Reduce(out, bad, n / how->ints, how->type, how->op, as, inter));
    }
}

static void allreduce(const struct how *how, int n)
{
    operands(how, n);
    OK(MPI_Allreduce(out, in, n / how->ints, how->type, how->op, inter));
    verify_result(how, 0, n);
}

/* n ints for each pair of processes. */
static void reduce_scatter_block(const struct how *how, int n)
{
    operands(how, n * size * peers);
    OK(MPI_Reduce_scatter_block(out, in, n * peers / how->ints, how->type, how->op, inter));
    verify_result(how, rank * n * peers, n * peers);
}

/* The first of a group gets what the others leave. */
static void reduce_scatter(const struct how *how, int n)
{
    int counts[16], all = n * size * peers / how->ints, first = 0;
    MPI_Count large_counts[16];
    counts[0] = all;
    for (int i = 1; i < size; i++) {
        counts[i] = i % 2 ? n / how->ints : 0;
        counts[0] -= counts[i];
    }
    for (int i = 0; i < size; i++) {
        large_counts[i] = counts[i];
        first += i < rank ? counts[i] : 0;
    }
    operands(how, n * size * peers);
    if (n > 2)
        OK(MPI_Reduce_scatter(out, in, counts, how->type, how->op, inter));
    else
        OK(MPI_Reduce_scatter_c(out, in, large_counts, how->type, how->op, inter));
    verify_result(how, first * how->ints, counts[rank] * how->ints);
}

static void reductions(int n)
{
    struct how ways[] = {{MPI_SUM, MPI_INT, 1}, {composition, is_left() ? pair : type, 2}};
    for (int i = 0; i < 2; i++) {
        for (int root = 0; root < world_size; root++)
            reduce(&ways[i], n, root);
        allreduce(&ways[i], n);
        if (n * size * peers <= world_size * LARGE) {
            reduce_scatter_block(&ways[i], n);
            reduce_scatter(&ways[i], n);
        }
    }
}

/* ---- messages of others ---- */

/* While a partitioned message is under way whose tag is the number of a collective, from a remote
 * member with the rank of a local one. */
static void beside_parts(void)
{
    int got[2] = {-1, -1}, mine = me, with = (size < peers ? size : peers) - 1 - rank;
    MPI_Request requests[2];
    MPI_Comm other;
    OK(MPI_Comm_dup(inter, &other));
    for (int tag = 0; tag < 3; tag++) {
        if (with >= 0) {
            OK(MPI_Precv_init(&got[0], 1, 1, MPI_INT, with, tag, other, MPI_INFO_NULL,
                              &requests[0]));
            OK(MPI_Psend_init(&mine, 1, 1, MPI_INT, with, tag, other, MPI_INFO_NULL,
                              &requests[1]));
            OK(MPI_Start(&requests[0]));
        }
        got[1] = -1;
        mine = me;
        OK(MPI_Allreduce(&mine, &got[1], 1, MPI_INT, MPI_MAX, other));
        CHECK(got[1] == peer(peers - 1));
        if (with < 0)
            continue;
        OK(MPI_Start(&requests[1]));
        OK(MPI_Pready(0, requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(got[0] == peer(with));
        OK(MPI_Request_free(&requests[0]));
        OK(MPI_Request_free(&requests[1]));
    }
    OK(MPI_Comm_free(&other));
}

/* While communicators are copied in the background, begun in between. */
static void beside_copies(void)
{
    MPI_Comm copies[3];
    MPI_Request requests[3];
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_idup(inter, &copies[i], &requests[i]));
        alltoall(2, 4);
        bcast(300, i % world_size);
        reductions(2);
    }
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Barrier(copies[i]));
        OK(MPI_Comm_free(&copies[i]));
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Nobody leaves a barrier before all of both groups are there; on one host, clocks are the same. */
static void barrier(void)
{
    int late[] = {0, left_size - 1, left_size, world_size - 1};
    for (int i = 0; i < 4; i++) {
        double last, first, came, left;
        if (me == late[i])
            usleep(1000);
        came = now();
        OK(MPI_Barrier(inter));
        left = now();
        OK(MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
        OK(MPI_Allreduce(&left, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
        CHECK(last <= first);
    }
}

/* ---- errors ---- */

static void check_text(int code, const char *function, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    OK(MPI_Error_string(code, text, &len));
    CHECK(strstr(text, function) && strstr(text, part));
}

static void wrong(void)
{
    int zeros[16] = {0};
    int code = MPI_Bcast(in, 1, MPI_INT, peers, inter);
    FAILS(MPI_ERR_ROOT, code);
    check_text(code, "MPI_Bcast", "MPI_PROC_NULL");
    FAILS(MPI_ERR_ROOT, MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, -77, inter));
    FAILS(MPI_ERR_ROOT, MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, peers, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, MPI_ROOT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, inter));
    FAILS(MPI_ERR_COUNT, MPI_Scatter(in, -1, MPI_INT, NULL, 0, MPI_INT, MPI_ROOT, inter));
    FAILS(MPI_ERR_TYPE, MPI_Scatter(in, 1, MPI_DATATYPE_NULL, NULL, 0, MPI_INT, MPI_ROOT, inter));
    FAILS(MPI_ERR_ARG, MPI_Gatherv(NULL, 0, MPI_INT, in, NULL, zeros, MPI_INT, MPI_ROOT, inter));
    FAILS(MPI_ERR_OP, MPI_Reduce(NULL, in, 1, MPI_FLOAT, MPI_BAND, MPI_ROOT, inter));
    FAILS(MPI_ERR_OP, MPI_Reduce(in, NULL, 1, MPI_INT, MPI_OP_NULL, 0, inter));
    code = MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, inter);
    FAILS(MPI_ERR_BUFFER, code);
    check_text(code, "MPI_Allreduce", "use two buffers");
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(in, 1, MPI_INT, in, 1, MPI_INT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoall(in + peers - 1, 1, MPI_INT, in, 1, MPI_INT, inter));
    code = MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, inter);
    FAILS(MPI_ERR_COMM, code);
    check_text(code, "MPI_Scan", "MPI_Intercomm_merge");
    FAILS(MPI_ERR_COMM, MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, inter));
}

static void wrong_place(void)
{
    int zeros[16] = {0};
    MPI_Datatype ints[16];
    void *const place = MPI_IN_PLACE;
    for (int i = 0; i < 16; i++)
        ints[i] = MPI_INT;
    int code = MPI_Alltoallv(place, zeros, zeros, MPI_INT, in, zeros, zeros, MPI_INT, inter);
    FAILS(MPI_ERR_BUFFER, code);
    check_text(code, "MPI_Alltoallv", "MPI_IN_PLACE has no meaning over an intercommunicator");
    FAILS(MPI_ERR_BUFFER,
          MPI_Alltoallw(place, zeros, zeros, ints, in, zeros, zeros, ints, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoall(place, 1, MPI_INT, in, 1, MPI_INT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(place, 1, MPI_INT, in, 1, MPI_INT, inter));
    FAILS(MPI_ERR_BUFFER,
          MPI_Allgatherv(place, 0, MPI_INT, in, zeros, zeros, MPI_INT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(place, in, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_scatter(place, in, zeros, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_scatter_block(place, in, 1, MPI_INT, MPI_SUM, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(place, 1, MPI_INT, 0, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Gather(place, 1, MPI_INT, in, 1, MPI_INT, 0, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Gather(in, 1, MPI_INT, place, 1, MPI_INT, MPI_ROOT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Scatter(in, 1, MPI_INT, place, 1, MPI_INT, 0, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Scatter(place, 1, MPI_INT, in, 1, MPI_INT, MPI_ROOT, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce(place, in, 1, MPI_INT, MPI_SUM, 0, inter));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce(in, place, 1, MPI_INT, MPI_SUM, MPI_ROOT, inter));
}

/* Receivers of too much data get an error, and the next collective is in order. */
static void truncation(void)
{
    int as = named(0), code = MPI_Bcast(in, as == MPI_ROOT ? 4 : 2, MPI_INT, as, inter);
    if (as < 0)
        OK(code);
    else if (rank == 0)
        FAILS(MPI_ERR_TRUNCATE, code);
}

/* ---- all ---- */

static void move(int n)
{
    for (int root = 0; root < world_size; root++) {
        bcast(n, root);
        gather(n, root);
        scatter(n, root);
        gatherv(n, root);
        scatterv(n, root);
    }
    allgather(n, n);
    allgather(n, 0);
    allgather(2, n);
    allgatherv(n);
    alltoall(n, n);
    alltoall(0, n);
    alltoall(n, 2);
    for (int how = 0; how < 4; how++)
        alltoallv(n, how);
}

static void with_groups(int left)
{
    MPI_Comm local;
    left_size = left;
    OK(MPI_Comm_split(MPI_COMM_WORLD, is_left(), 0, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, is_left() ? left_size : 0, 5, &inter));
    OK(MPI_Comm_free(&local));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    rank = check_rank(inter);
    size = check_size(inter);
    OK(MPI_Comm_remote_size(inter, &peers));
    type = is_left() ? MPI_INT : gaps;
    per_element = is_left() ? 1 : 2;
    barrier();
    wrong();
    wrong_place();
    truncation();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        move(sizes[i]);
        reductions(sizes[i]);
    }
    beside_parts();
    beside_copies();
    OK(MPI_Comm_free(&inter));
}

int main(int argc, char **argv)
{
    MPI_Aint apart[] = {4, 12};
    MPI_Datatype ints;
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    world_size = check_size(MPI_COMM_WORLD);
    CHECK(world_size <= 16);
    OK(MPI_Type_create_hindexed_block(2, 1, apart, MPI_INT, &ints));
    OK(MPI_Type_create_resized(ints, 4, 24, &gaps)); /* a lower bound, which moves nothing */
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_free(&ints));
    OK(MPI_Op_create(compose_all, 0, &composition));
    in = malloc(((size_t)world_size * LARGE + SLACK) * SPREAD * sizeof(*in));
    out = malloc(((size_t)world_size * LARGE + SLACK) * SPREAD * sizeof(*out));
    CHECK(in && out);
    for (int left = 1; left < world_size; left++)
        with_groups(left);
    free(in);
    free(out);
    OK(MPI_Op_free(&composition));
    OK(MPI_Type_free(&gaps));
    OK(MPI_Type_free(&pair));
    OK(MPI_Finalize());
    return 0;
}
