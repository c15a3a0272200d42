/* SPDX-License-Identifier: BSD-3-Clause */

/* Each rank of a first host sleeps, with connections over shared memory alone, until a rank of a second
 * host sends it a message, the first between the two. Prints how late the median of these messages
 * came, in ms: both hosts are to have one clock. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { APART_MS = 130 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double receive(int rank, int half)
{
    double sent_ms;
    MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + 1) % half, 1, NULL, 0, MPI_BYTE, (rank + half - 1) % half, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&sent_ms, 1, MPI_DOUBLE, rank + half, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return now_ms() - sent_ms;
}

static void send(int rank, int half)
{
    struct timespec pause = {1, (rank - half) * APART_MS * 1000000L};
    pause.tv_sec += pause.tv_nsec / 1000000000L;
    pause.tv_nsec %= 1000000000L;
    nanosleep(&pause, NULL);
    double sent_ms = now_ms();
    MPI_Send(&sent_ms, 1, MPI_DOUBLE, rank - half, 2, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    double late_ms = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int half = size / 2;
    double *all = calloc((size_t)size, sizeof(*all));
    if (!all)
        return 1;
    if (rank < half)
        late_ms = receive(rank, half);
    else
        send(rank, half);
    MPI_Gather(&late_ms, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    qsort(all, (size_t)half, sizeof(*all), compare);
    if (!rank)
        printf("%.1f\n", all[half / 2]);
    free(all);
    MPI_Finalize();
    return 0;
}
