/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A library uses MPI without MPI_Init and without MPI_COMM_WORLD: in a session of its own.
 *
 * Functions: MPI_Session_init MPI_Group_from_session_pset MPI_Comm_create_from_group
 * MPI_Session_finalize
 * Ranks: 2
 * Prints:
 *     2 processes
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, size;

    (void)argc, (void)argv;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "my.library", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("%d processes\n", size);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
