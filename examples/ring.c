/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A token goes round a ring of ranks; each adds itself. Shows blocking and
 * nonblocking point-to-point messages, and works with a single rank too.
 *
 *   mpicc ring.c -o ring
 *   mpiexec -n 4 ./ring [ROUNDS]
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_TOKEN = 1 };

int main(int argc, char **argv)
{
    int rank, size, status = 0;
    long token = 0, expected;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;

    for (int round = 0; round < rounds; round++) {
        if (rank == 0) {
            MPI_Request request;
            long back;

            /* The receive is posted first: a single rank sends to itself, and a blocking send may
             * wait until the message is received. */
            MPI_Irecv(&back, 1, MPI_LONG, previous, TAG_TOKEN, MPI_COMM_WORLD, &request);
            MPI_Send(&token, 1, MPI_LONG, next, TAG_TOKEN, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            token = back;
            printf("round %d: the token is %ld\n", round + 1, token);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, previous, TAG_TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, next, TAG_TOKEN, MPI_COMM_WORLD);
        }
    }
    expected = (long)rounds * size * (size - 1) / 2;
    if (rank == 0 && token != expected) {
        fprintf(stderr, "ring: the token is %ld and should be %ld\n", token, expected);
        status = 1;
    }
    MPI_Finalize();
    return status;
}
