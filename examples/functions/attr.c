/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A library keeps something of its own with a communicator; it is freed with it.
 *
 * Functions: MPI_Comm_create_keyval MPI_Comm_set_attr MPI_Comm_get_attr MPI_Comm_free_keyval
 * Ranks: 1
 * Prints:
 *     the cache has 3 entries
 *     the cache is freed
 */
#include <mpi.h>
#include <stdio.h>

struct cache {
    int entries;
};

static int release(MPI_Comm comm, int keyval, void *cache, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    ((struct cache *)cache)->entries = 0;
    printf("the cache is freed\n");
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int keyval, found;
    struct cache cache = {3}, *got;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &cache);
    MPI_Comm_get_attr(comm, keyval, &got, &found);
    if (rank == 0 && found)
        printf("the cache has %d entries\n", got->entries);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);
    MPI_Finalize();
    return 0;
}
