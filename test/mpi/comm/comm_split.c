/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Comm_split and MPI_Comm_split_type. */
#include <limits.h>

#include "check.h"

/* Colors modulo arg, keys falling. */
struct split {
    int colors, color, size;
};

static int turned(int member, void *arg)
{
    const struct split *split = arg;
    int last = split->color;
    while (last + split->colors < split->size)
        last += split->colors;
    return last - member * split->colors;
}

static int rising(int member, void *arg)
{
    const struct split *split = arg;
    return split->color + member * split->colors;
}

static void by_color(void)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int colors = 1; colors <= size; colors++) {
        MPI_Comm up, down;
        struct split split = {colors, rank % colors, size};
        OK(MPI_Comm_split(MPI_COMM_WORLD, split.color, 7, &up)); /* equal keys: old order */
        check_ring(up, rising, &split);
        OK(MPI_Comm_split(MPI_COMM_WORLD, split.color, -rank, &down));
        check_ring(down, turned, &split);
        OK(MPI_Comm_free(&up));
        OK(MPI_Comm_free(&down));
    }
}

static void some(void)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    MPI_Comm comm = MPI_COMM_WORLD;
    int color = rank % 2 ? MPI_UNDEFINED : INT_MAX;
    struct split split = {2, 0, size};
    OK(MPI_Comm_split(MPI_COMM_WORLD, color, rank ? INT_MAX : INT_MIN, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank % 2 == 1));
    if (comm != MPI_COMM_NULL) {
        check_ring(comm, rising, &split);
        OK(MPI_Comm_free(&comm));
    }
}

/* A tree of splits: each half of each half, down to single processes. */
static void halves(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    while (check_size(comm) > 1) {
        MPI_Comm half;
        int rank = check_rank(comm), size = check_size(comm);
        OK(MPI_Comm_split(comm, rank < size / 2, rank, &half));
        CHECK(check_size(half) == (rank < size / 2 ? size / 2 : size - size / 2));
        OK(MPI_Comm_free(&comm));
        comm = half;
    }
    OK(MPI_Comm_free(&comm));
}

static void by_type(void)
{
    int result = -1, size = check_size(MPI_COMM_WORLD), rank = check_rank(MPI_COMM_WORLD);
    MPI_Comm comm;
    MPI_Info info;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    CHECK(check_size(comm) == size); /* these tests run on one host */
    OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, -rank,
                           MPI_INFO_NULL, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank == 0));
    if (rank) {
        CHECK(check_size(comm) == size - 1 && check_rank(comm) == size - 1 - rank);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL); /* a part that is smaller is asked for */
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
    CHECK(check_size(comm) == size);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", "no_such_resource"));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    by_color();
    some();
    halves();
    by_type();
    OK(MPI_Finalize());
    return 0;
}
