/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives that move data, from one element to more than a message holds at once, from every
 * root: what arrives says where it came from and where it was meant to go.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LARGE = 70001 };

static const int sizes[] = {0, 1, 7, 300, 5000, LARGE};
static int rank, size;
static int *in, *out; /* [size * LARGE] */

/* The i-th int that one rank sends to another. */
static int datum(int from, int to, int i)
{
    return from * 1000003 + to * 10007 + i;
}

static void fill(int *at, int from, int to, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = datum(from, to, i);
}

static void verify(const int *at, int from, int to, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(at[i] == datum(from, to, i));
}

static void clear(void)
{
    memset(in, -1, (size_t)size * LARGE * sizeof(*in));
}

static void bcast(int n, int root)
{
    clear();
    if (rank == root)
        fill(in, root, 0, n);
    OK(MPI_Bcast(in, n, MPI_INT, root, MPI_COMM_WORLD));
    verify(in, root, 0, n);
    CHECK(n == LARGE || in[n] == -1);
}

static void gather(int n, int root)
{
    clear();
    fill(out, rank, root, n);
    OK(MPI_Gather(out, n, MPI_INT, rank == root ? in : NULL, n, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < size && rank == root; i++)
        verify(in + i * n, i, root, n);
    /* The root's own is there already. */
    clear();
    fill(in + root * n, root, root, rank == root ? n : 0);
    OK(MPI_Gather(rank == root ? MPI_IN_PLACE : out, n, MPI_INT, in, n, MPI_INT, root,
                  MPI_COMM_WORLD));
    for (int i = 0; i < size && rank == root; i++)
        verify(in + i * n, i, root, n);
}

static void scatter(int n, int root)
{
    clear();
    for (int i = 0; i < size && rank == root; i++)
        fill(out + i * n, root, i, n);
    OK(MPI_Scatter(rank == root ? out : NULL, n, MPI_INT, in, n, MPI_INT, root, MPI_COMM_WORLD));
    verify(in, root, rank, n);
    clear();
    OK(MPI_Scatter(out, n, MPI_INT, rank == root ? MPI_IN_PLACE : in, n, MPI_INT, root,
                   MPI_COMM_WORLD));
    if (rank != root)
        verify(in, root, rank, n);
}

static void allgather(int n)
{
    clear();
    fill(out, rank, 0, n);
    OK(MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        verify(in + i * n, i, 0, n);
    clear();
    fill(in + rank * n, rank, 0, n);
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        verify(in + i * n, i, 0, n);
}

static void alltoall(int n)
{
    clear();
    for (int i = 0; i < size; i++)
        fill(out + i * n, rank, i, n);
    OK(MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        verify(in + i * n, i, rank, n);
    for (int i = 0; i < size; i++)
        fill(in + i * n, rank, i, n);
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        verify(in + i * n, i, rank, n);
}

/* ---- blocks of unequal size: rank i has n + i; they lie in turned order ---- */

static int counts[64], displs[64];

static void lay_out(int n)
{
    int at = 0;
    for (int i = size - 1; i >= 0; i--) {
        counts[i] = i % 3 == 1 ? 0 : n + i;
        displs[i] = at;
        at += counts[i] + 1;
    }
}

static void uneven_root(int n, int root)
{
    lay_out(n);
    clear();
    fill(out, rank, root, counts[rank]);
    OK(MPI_Gatherv(out, counts[rank], MPI_INT, in, counts, displs, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < size && rank == root; i++) {
        verify(in + displs[i], i, root, counts[i]);
        CHECK(in[displs[i] + counts[i]] == -1);
    }
    clear();
    for (int i = 0; i < size; i++)
        fill(out + displs[i], root, i, counts[i]);
    OK(MPI_Scatterv(out, counts, displs, MPI_INT, in, counts[rank], MPI_INT, root,
                    MPI_COMM_WORLD));
    verify(in, root, rank, counts[rank]);
    CHECK(in[counts[rank]] == -1);
}

static void uneven_all(int n)
{
    lay_out(n);
    clear();
    fill(out, rank, 0, counts[rank]);
    OK(MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) {
        verify(in + displs[i], i, 0, counts[i]);
        CHECK(in[displs[i] + counts[i]] == -1);
    }
}

/* Rank i sends (i + j) ints to rank j, and as many columns of a matrix in alltoallw. */
static void alltoallv(void)
{
    int sends[64], recvs[64];
    MPI_Datatype types[64], column;
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    clear();
    for (int i = 0; i < size; i++) {
        sends[i] = recvs[i] = rank + i;
        displs[i] = 3 * size * i;
        fill(out + displs[i], rank, i, sends[i]);
    }
    OK(MPI_Alltoallv(out, sends, displs, MPI_INT, in, recvs, displs, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        verify(in + displs[i], i, rank, recvs[i]);

    clear();
    for (int i = 0; i < size; i++) {
        sends[i] = recvs[i] = i != rank; /* one column, sent as three ints */
        displs[i] = 6 * i * (int)sizeof(int);
        counts[i] = 3 * sends[i];
        types[i] = column;
        fill(out + 6 * i, rank, i, 3);
    }
    MPI_Datatype ints[64];
    for (int i = 0; i < size; i++)
        ints[i] = MPI_INT;
    OK(MPI_Alltoallw(out, counts, displs, ints, in, recvs, displs, types, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        for (int k = 0; k < 3; k++) {
            CHECK(in[6 * i + 2 * k] == (i == rank ? -1 : datum(i, rank, k)));
            CHECK(in[6 * i + 2 * k + 1] == -1);
        }
    OK(MPI_Type_free(&column));
}

/* The same with counts of MPI_Count. */
static void wide(void)
{
    MPI_Count n = 4, many[64];
    MPI_Aint at[64];
    for (int i = 0; i < size; i++) {
        many[i] = 4;
        at[i] = 5 * i;
    }
    clear();
    fill(out, rank, 0, 4);
    OK(MPI_Allgatherv_c(out, n, MPI_INT, in, many, at, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        verify(in + 5 * i, i, 0, 4);
    clear();
    for (int i = 0; i < size; i++)
        fill(out + 5 * i, rank, i, 4);
    OK(MPI_Alltoallv_c(out, many, at, MPI_INT, in, many, at, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        verify(in + 5 * i, i, rank, 4);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    in = malloc(((size_t)size + 1) * LARGE * sizeof(*in));
    out = malloc(((size_t)size + 1) * LARGE * sizeof(*out));
    CHECK(in && out);
    for (int k = 0; k < 6; k++) {
        int n = sizes[k];
        for (int root = 0; root < size; root += n == LARGE ? size : 1) {
            bcast(n, root);
            gather(n, root);
            scatter(n, root);
        }
        for (int root = 0; root < size && n < 1000; root++)
            uneven_root(n, root);
        allgather(n);
        alltoall(n);
        if (n < LARGE)
            uneven_all(n);
    }
    alltoallv();
    wide();
    free(in);
    free(out);
    OK(MPI_Finalize());
    return 0;
}
