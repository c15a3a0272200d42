/* SPDX-License-Identifier: BSD-3-Clause */

/* Rank 0 asks that others go on after failures, and ends. The others wait until their host is lost: mpiexec names each
 * of them, though no rank is left that has asked. lost_hosts.py looks on. */
#include <mpi-ext.h>
#include <stdio.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { WAIT_S = 60 };

int main(int argc, char **argv)
{
    int rank, flag = 1;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank)
        sleep(WAIT_S);
    else
        OK(MPIX_Comm_agree(MPI_COMM_SELF, &flag));
    OK(MPI_Finalize());
    fprintf(stderr, "begun\n");
    return 0;
}
