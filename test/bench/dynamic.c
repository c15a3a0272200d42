/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How long it takes to spawn processes, and to connect two. Prints milliseconds, a line each time; dynamic.py compiles and
 * runs it with each MPI.
 *
 *     dynamic spawn COUNT TIMES     one rank: MPI_Comm_spawn of so many processes, which part with it
 *     dynamic connect TIMES         two ranks, which connect and accept, each for itself
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void spawn(char *program, int count, int times)
{
    char *words[] = {"child", NULL};
    for (int i = 0; i < times; i++) {
        MPI_Comm children;
        double begin = MPI_Wtime();
        MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
        printf("%.4f\n", (MPI_Wtime() - begin) * 1e3);
        fflush(stdout);
        MPI_Comm_disconnect(&children);
    }
}

/* Rank 1 connects to rank 0, and tells how long that took. */
static void meet(int rank, int times)
{
    char port[MPI_MAX_PORT_NAME];
    if (!rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < times; i++) {
        MPI_Comm other;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (rank)
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        else
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        double took = (MPI_Wtime() - begin) * 1e3;
        if (rank)
            printf("%.4f\n", took);
        fflush(stdout);
        MPI_Comm_disconnect(&other);
    }
    if (!rank)
        MPI_Close_port(port);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    else if (argc > 3 && !strcmp(argv[1], "spawn"))
        spawn(argv[0], atoi(argv[2]), atoi(argv[3]));
    else if (argc > 2 && !strcmp(argv[1], "connect"))
        meet(rank, atoi(argv[2]));
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
