/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Jobs that wait for processes of other jobs in vain, for their reports: see waits.py.
 *
 *     waits spawn LEVELS     spawns a job that does the same, and waits for its rank 1; the last one waits for its spawner
 *     waits accept | connect NAME     rank 1 waits for rank 0 of the other job, the others for a barrier
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void wait_for(int other, int tag, MPI_Comm comm)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, other, tag, comm, MPI_STATUS_IGNORE);
}

static void spawn(char *program, int levels)
{
    char below[16], *words[] = {"spawn", below, NULL};
    MPI_Comm parent, children;
    MPI_Comm_get_parent(&parent);
    snprintf(below, sizeof(below), "%d", levels - 1);
    if (!levels)
        wait_for(0, 5, parent);
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    wait_for(1, 7, children);
}

static void meet(int accepts, const char *name)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (accepts) {
        if (!rank) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Publish_name(name, MPI_INFO_NULL, port);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    } else {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* which has the errors of names */
        while (!rank && MPI_Lookup_name(name, MPI_INFO_NULL, port))
            usleep(10000);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    }
    if (rank == 1)
        wait_for(0, 9, other);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "spawn"))
        spawn(argv[0], atoi(argv[2]));
    else
        meet(!strcmp(argv[1], "accept"), argv[2]);
    MPI_Finalize();
    return 0;
}
