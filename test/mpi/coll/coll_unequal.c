/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Bcast and MPI_Scatter whose root gives more or less than the others ask for, where these go through shared
 * memory, and where only one side's length does: the others are told, the data are right, nobody hangs, and later
 * calls are right again. So are persistent ones of all kinds whose members differ.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "regions.h"

enum { FIRST = 12, STARTS = 3, MOST = 120000, LONGEST = 1200000, BLOCK = 300000, FORMS = 3 };
enum { LONG = 1 << 20, LONG_BLOCK = 1 << 18 /* ints: what is longer goes by messages */ };
enum form { BLOCKING, NONBLOCKING, PERSISTENT };

/* Elements of the root and of the others. */
static const int counts[][2] = {{0, 1},          {1, 0},        {1, 100},       {100, 1},        {700, 8000},
                                {8000, 700},     {8192, 16384}, {16384, 8192},  {8192, MOST},    {MOST, 8192},
                                {20000, 100000}, {60, 100000},  {100000, 0}};
/* One of both goes by messages, or both do; if the root does, all may have pieces of each other of wrong lengths. */
static const int long_bcasts[][2] = {{LONGEST, 8192}, {8192, LONGEST}, {LONGEST, 1},
                                     {1, LONGEST},    {LONGEST, 0},    {LONGEST, 1100000}};
static const int long_scatters[][2] = {{BLOCK, 100}, {100, BLOCK}, {BLOCK, 280000}};

static MPI_Comm world;
static int rank, size, *in, *out;

static int begin(enum form form, bool scatters, int count, int root, MPI_Request *request)
{
    if (form == NONBLOCKING)
        return scatters ? MPI_Iscatter(in, count, MPI_INT, out, count, MPI_INT, root, world, request)
                        : MPI_Ibcast(out, count, MPI_INT, root, world, request);
    if (form == PERSISTENT)
        return scatters
                   ? MPI_Scatter_init(in, count, MPI_INT, out, count, MPI_INT, root, world, MPI_INFO_NULL, request)
                   : MPI_Bcast_init(out, count, MPI_INT, root, world, MPI_INFO_NULL, request);
    return scatters ? MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, world)
                    : MPI_Bcast(out, count, MPI_INT, root, world);
}

/* The root's data for a rank, in a run. */
static int value(int run, int to, int i)
{
    return run * 1000003 + to * 7919 + i;
}

static int more_of(const int *count)
{
    return count[0] > count[1] ? count[0] : count[1];
}

static void fill(int run, bool scatters, int count, int root, int reach)
{
    for (int i = 0; i < reach; i++)
        out[i] = -1;
    for (int to = 0; scatters && to < size; to++)
        for (int i = 0; i < count; i++)
            in[to * count + i] = value(run, to, i);
    for (int i = 0; !scatters && rank == root && i < count; i++)
        out[i] = value(run, 0, i);
}

static void judge(int code, int run, bool scatters, const int *count, int root)
{
    int theirs = count[0], mine = rank == root ? count[0] : count[1];
    bool mixed = theirs > (scatters ? LONG_BLOCK : LONG);
    if (rank == root)
        CHECK(mixed || !code);
    else
        FAILS(theirs > mine ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, code);
    for (int i = 0; i < mine && i < theirs && !mixed; i++)
        CHECK(out[i] == value(run, scatters ? rank : 0, i));
    for (int i = mine; i < theirs; i++)
        CHECK(out[i] == -1);
}

/* Nobody may need the next collective to go on. */
static void come_together(void)
{
    int word = 0;
    for (int i = 1; i < size; i++)
        if (rank == 0)
            OK(MPI_Recv(&word, 1, MPI_INT, i, 0, world, MPI_STATUS_IGNORE));
    if (rank)
        OK(MPI_Send(&word, 1, MPI_INT, 0, 0, world));
}

static void sum_is_right(void)
{
    long one = 1, sum = 0;
    OK(MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, world));
    CHECK(sum == size);
}

static void unequal(enum form form, bool scatters, const int *count, int root)
{
    int mine = rank == root ? count[0] : count[1];
    MPI_Request request = MPI_REQUEST_NULL;
    for (int run = 0; run < (form == PERSISTENT ? STARTS : 1); run++) {
        fill(run, scatters, mine, root, more_of(count));
        int code = run ? MPI_SUCCESS : begin(form, scatters, mine, root, &request);
        if (form != BLOCKING) {
            OK(code);
            if (form == PERSISTENT)
                OK(MPI_Start(&request));
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        judge(code, run, scatters, count, root);
        come_together();
    }
    if (form == PERSISTENT)
        OK(MPI_Request_free(&request));
    sum_is_right();
}

/* Of other kinds somebody is told, in each run. */
static void others(int kind, int few, int many)
{
    int mine = rank == size - 1 ? many : few, wrong = 0, all = 0;
    MPI_Request request;
    if (kind == 0)
        OK(MPI_Gather_init(in, mine, MPI_INT, out, mine, MPI_INT, 0, world, MPI_INFO_NULL, &request));
    else if (kind == 1)
        OK(MPI_Allgather_init(in, mine, MPI_INT, out, mine, MPI_INT, world, MPI_INFO_NULL, &request));
    else if (kind == 2)
        OK(MPI_Alltoall_init(in, mine, MPI_INT, out, mine, MPI_INT, world, MPI_INFO_NULL, &request));
    else if (kind == 3)
        OK(MPI_Reduce_init(in, out, mine, MPI_INT, MPI_SUM, 0, world, MPI_INFO_NULL, &request));
    else if (kind == 4)
        OK(MPI_Bcast_init(in, mine, MPI_INT, 0, world, MPI_INFO_NULL, &request));
    else
        OK(MPI_Scan_init(in, out, mine, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request));
    for (int run = 0; run < STARTS; run++) {
        OK(MPI_Start(&request));
        wrong = MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        OK(MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, world));
        CHECK(all > 0);
    }
    OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    if (no_regions())
        return 77;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    rank = check_rank(world);
    size = check_size(world);
    in = malloc(sizeof(int) * (LONGEST > BLOCK * size ? LONGEST : BLOCK * (size_t)size));
    out = malloc(sizeof(int) * (LONGEST > MOST * size ? LONGEST : MOST * (size_t)size));
    CHECK(in && out);
    for (int i = 0; i < FIRST; i++)
        OK(MPI_Barrier(world));
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        for (int form = 0; form < 2 * FORMS; form++)
            unequal((enum form)(form % FORMS), form >= FORMS, counts[i], i % 2 ? size - 1 : 0);
    for (int form = 0; form < PERSISTENT; form++) {
        for (size_t i = 0; i < sizeof(long_bcasts) / sizeof(*long_bcasts); i++)
            unequal((enum form)form, false, long_bcasts[i], i % 3 ? size - 1 : 0);
        for (size_t i = 0; i < sizeof(long_scatters) / sizeof(*long_scatters); i++)
            unequal((enum form)form, true, long_scatters[i], i % 2 ? size - 1 : 0);
    }
    for (int kind = 0; kind < 6; kind++) {
        memset(in, 0, sizeof(int) * MOST * (size_t)size);
        others(kind, 100, 200);
        others(kind, 8192, 16384);
    }
    others(4, 8192, LONGEST);
    others(4, LONGEST, 8192);
    free(in);
    free(out);
    OK(MPI_Comm_free(&world));
    OK(MPI_Finalize());
    return 0;
}
