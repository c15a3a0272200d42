/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Comm_create and MPI_Comm_create_group. */
#include "check.h"

static int backwards(int member, void *arg)
{
    return *(int *)arg - 1 - member;
}

static int even(int member, void *arg)
{
    return 2 * member + *(int *)arg;
}

/* All, backwards; from a communicator that is itself backwards, too. */
static void all(void)
{
    int size = check_size(MPI_COMM_WORLD), result;
    int turn[][3] = {{size - 1, 0, -1}};
    MPI_Group world, turned;
    MPI_Comm comm, again;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, turn, &turned));
    OK(MPI_Comm_create(MPI_COMM_WORLD, turned, &comm));
    check_ring(comm, backwards, &size);
    OK(MPI_Comm_create(comm, world, &again));
    OK(MPI_Comm_compare(again, MPI_COMM_WORLD, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&turned));
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&comm));
}

/* Disjoint groups in one call; nobody; one's self alone. */
static void parts(void)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), odd = rank % 2;
    int every_other[][3] = {{odd, size - 1, 2}};
    MPI_Group world, part;
    MPI_Comm comm;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, every_other, &part));
    OK(MPI_Comm_create(MPI_COMM_WORLD, part, &comm));
    check_ring(comm, even, &odd);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&part));
    OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Group_incl(world, 1, &rank, &part));
    OK(MPI_Comm_create(MPI_COMM_WORLD, part, &comm));
    CHECK(check_size(comm) == 1);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&part));
    OK(MPI_Group_free(&world));
}

/* Members alone call: rank 0 is out, and the others make several that overlap. */
static void members_only(void)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), zero = 0;
    MPI_Group world, rest;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_excl(world, 1, &zero, &rest));
    for (int i = 0; rank > 0 && i < 20; i++) {
        MPI_Comm comm;
        int got = -1, me = rank;
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, rest, i, &comm));
        CHECK(check_size(comm) == size - 1 && check_rank(comm) == rank - 1);
        OK(MPI_Sendrecv(&me, 1, MPI_INT, rank % (size - 1), 0, &got, 1, MPI_INT, MPI_ANY_SOURCE,
                        0, comm, MPI_STATUS_IGNORE));
        CHECK(got == (rank > 1 ? rank - 1 : size - 1));
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&rest));
    OK(MPI_Group_free(&world));
}

/* A group must lie within the communicator. */
static void outside(void)
{
    MPI_Comm comm;
    MPI_Group world;
    if (check_size(MPI_COMM_WORLD) == 1)
        return;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_SELF, world, &comm));
    FAILS(MPI_ERR_TAG, MPI_Comm_create_group(MPI_COMM_SELF, MPI_GROUP_EMPTY, -1, &comm));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    all();
    parts();
    members_only();
    outside();
    OK(MPI_Finalize());
    return 0;
}
