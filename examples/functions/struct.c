/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Structures are sent as they are. The type gets the size of one, so that several in a row are
 * found.
 *
 * Functions: MPI_Type_create_struct MPI_Type_create_resized
 * Ranks: 2
 * Prints:
 *     particle 1 has charge -1 at 2.5
 */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

struct particle {
    signed char charge;
    double place;
};

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int lengths[2] = {1, 1};
    MPI_Aint offsets[2] = {offsetof(struct particle, charge), offsetof(struct particle, place)};
    MPI_Datatype parts[2] = {MPI_SIGNED_CHAR, MPI_DOUBLE}, fields, particle;
    MPI_Type_create_struct(2, lengths, offsets, parts, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(struct particle), &particle);
    MPI_Type_commit(&particle);
    struct particle both[2] = {{1, 1.5}, {-1, 2.5}}, got[2];
    if (rank == 0)
        MPI_Send(both, 2, particle, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(got, 2, particle, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("particle 1 has charge %d at %.1f\n", got[1].charge, got[1].place);
    }
    MPI_Type_free(&particle);
    MPI_Type_free(&fields);
    MPI_Finalize();
    return 0;
}
