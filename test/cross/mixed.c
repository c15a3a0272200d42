/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An even number of ranks, at most 8, on machines of two kinds, where rank r and r ^ 1 are of different ones: a ring,
 * all basic types both ways, derived ones, collectives, a window, and a file, whose name is the argument. Types that
 * hold long double are the matter of long_double.c. Run by mixed.sh.
 */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "check.h"

enum {
    MOST = 40000, /* elements: beyond what is sent eagerly */
    RANKS = 8,
    ALL = -1 /* the sum of all ranks */
};

static int rank, size, peer;

/* Element i of a rank: right in any type, and their sum, too. */
static int value(int of, int i)
{
    int sum = 0;
    if (of != ALL)
        return (of * 7 + i) % 15;
    for (int r = 0; r < size; r++)
        sum += value(r, i);
    return sum;
}

/* ---- the types ---- */

#define TYPE(name, c, type, adds)                     \
    static void fill_##name(void *buf, int n, int of) \
    {                                                 \
        c *to = buf;                                  \
        for (int i = 0; i < n; i++)                   \
            to[i] = (c)value(of, i);                  \
    }
#include "types.inc"
#undef TYPE

static void exchange(MPI_Datatype type, size_t bytes, bool adds, void (*fill)(void *buf, int n, int of))
{
    char *own = malloc(MOST * bytes), *in = malloc(MOST * bytes), *due = malloc(MOST * bytes);
    CHECK(own && in && due);
    fill(own, MOST, rank);
    for (int n = 1; n <= MOST; n *= 200) {
        memset(in, 0, MOST * bytes);
        fill(due, n, peer);
        OK(MPI_Sendrecv(own, n, type, peer, 1, in, n, type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(!memcmp(in, due, (size_t)n * bytes));
    }
    for (int root = 0; root < size; root++) {
        fill(in, MOST, rank);
        fill(due, MOST, root);
        OK(MPI_Bcast(in, MOST, type, root, MPI_COMM_WORLD));
        CHECK(!memcmp(in, due, MOST * bytes));
    }
    if (adds) {
        fill(due, MOST, ALL);
        OK(MPI_Allreduce(own, in, MOST, type, MPI_SUM, MPI_COMM_WORLD));
        CHECK(!memcmp(in, due, MOST * bytes));
    }
    free(own);
    free(in);
    free(due);
}

/* Structures with gaps, and pairs of a value and where it is. */
static void derived(void)
{
    struct mixture {
        char letter;
        double real;
        short three[3];
        long whole;
    } out = {'a' + (char)rank, rank + .5, {(short)rank, -1, 300}, -5000000000L - rank}, in = {0};
    int lengths[] = {1, 1, 3, 1};
    MPI_Aint at[] = {offsetof(struct mixture, letter), offsetof(struct mixture, real), offsetof(struct mixture, three),
                     offsetof(struct mixture, whole)};
    MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG}, type;
    struct {
        double value;
        int at;
    } real = {rank * 1.5, rank}, most;
    OK(MPI_Type_create_struct(4, lengths, at, parts, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(&out, 1, type, peer, 2, &in, 1, type, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in.letter == 'a' + peer && in.real == peer + .5 && in.whole == -5000000000L - peer);
    CHECK(in.three[0] == peer && in.three[1] == -1 && in.three[2] == 300);
    OK(MPI_Type_free(&type));
    OK(MPI_Allreduce(&real, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(most.value == (size - 1) * 1.5 && most.at == size - 1);
}

/* ---- calls ---- */

static void ring(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, token = 0;
    for (int round = 1; round <= 3; round++) {
        if (rank == 0)
            OK(MPI_Send(&token, 1, MPI_INT, right, round, MPI_COMM_WORLD));
        OK(MPI_Recv(&token, 1, MPI_INT, left, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (rank != 0) {
            token += rank;
            OK(MPI_Send(&token, 1, MPI_INT, right, round, MPI_COMM_WORLD));
        } else {
            CHECK(token == round * size * (size - 1) / 2);
        }
    }
}

static void collectives(void)
{
    int own[RANKS], in[RANKS], sum = size * (size - 1) / 2, one = -1;
    MPI_Request request;
    for (int r = 0; r < size; r++)
        own[r] = rank * 100 + r;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Alltoall(own, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        CHECK(in[r] == r * 100 + rank);
    OK(MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        CHECK(in[r] == r);
    OK(MPI_Gather(&rank, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD));
    CHECK(rank != 1 || in[size - 1] == size - 1);
    OK(MPI_Scatter(own, 1, MPI_INT, &one, 1, MPI_INT, 1, MPI_COMM_WORLD));
    CHECK(one == 100 + rank);
    OK(MPI_Reduce_scatter_block(own, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(one == sum * 100 + size * rank);
    OK(MPI_Scan(&rank, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(one == rank * (rank + 1) / 2);
    OK(MPI_Iallreduce(&rank, &one, 1, MPI_INT, MPI_BXOR, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(one == (size % 4 == 2 ? 1 : 0));
}

static void window(void)
{
    double memory[2] = {0, 0}, mine = rank + .25;
    MPI_Win win;
    OK(MPI_Win_create(memory, sizeof(memory), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&mine, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, win));
    OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memory[0] == peer + .25);
    CHECK(rank || memory[1] == size * (size - 1) / 2 + size * .25);
    OK(MPI_Win_free(&win));
}

/* As it lies in memory, by a collective; then in external32, which all machines read, long double also. */
static void file(const char *name)
{
    int own[1000], in[1000];
    long double real = rank + 1.5L, back = 0;
    MPI_File f;
    for (int i = 0; i < 1000; i++)
        own[i] = value(rank, i);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, rank * (MPI_Offset)sizeof(own), own, 1000, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, peer * (MPI_Offset)sizeof(own), in, 1000, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < 1000; i++)
        CHECK(in[i] == value(peer, i));
    OK(MPI_File_set_view(f, 0, MPI_LONG_DOUBLE, MPI_LONG_DOUBLE, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at(f, rank, &real, 1, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at(f, peer, &back, 1, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
    CHECK(back == peer + 1.5L);
    OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    int types = 0;
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    peer = rank ^ 1;
    CHECK(argc == 2 && size % 2 == 0 && size <= RANKS);
    ring();
#define TYPE(name, c, type, adds) exchange(type, sizeof(c), adds, fill_##name), types++;
#include "types.inc"
    derived();
    collectives();
    window();
    file(argv[1]);
    OK(MPI_Finalize());
    if (rank == 0)
        printf("%d ranks: a ring, %d types, collectives, a window, a file\n", size, types);
    return 0;
}
