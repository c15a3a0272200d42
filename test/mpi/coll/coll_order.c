/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives beside each other and beside messages: no process waits for another, where MPI
 * does not say so, and nothing is taken for something else.
 */
#include <unistd.h>

#include "check.h"

static int rank, size;

/* Receives for anything are pending all the while; collectives must not fall into them. */
static void beside_messages(void)
{
    MPI_Request request;
    MPI_Status status;
    int got = -1, sum = 0, all[64], next = (rank + 1) % size;
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK(sum == size * (size - 1) / 2 && all[next] == next);
    OK(MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    CHECK(got == (rank + size - 1) % size && status.MPI_TAG == 3);
}

/* A root may be many broadcasts ahead of the others; and they may be of different roots. */
static void ahead(void)
{
    for (int i = 0; i < 300; i++) {
        int value = rank == 0 ? i : -1;
        OK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
        CHECK(value == i);
    }
    for (int i = 0; i < 300; i++) {
        int value = rank == i % size ? i : -1, sum = 0;
        OK(MPI_Bcast(&value, 1, MPI_INT, i % size, MPI_COMM_WORLD));
        CHECK(value == i);
        OK(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, (i + 1) % size, MPI_COMM_WORLD));
        CHECK(rank != (i + 1) % size || sum == i * size);
    }
}

/* Two communicators with the same members, used in turn, with a message from the one between. */
static void beside_each_other(void)
{
    MPI_Comm twin, half;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    for (int i = 0; i < 50; i++) {
        int a = rank == 0 ? i : -1, b = rank == size - 1 ? -i : 1, c = 0, one = 1;
        OK(MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD));
        OK(MPI_Bcast(&b, 1, MPI_INT, size - 1, twin));
        OK(MPI_Allreduce(&one, &c, 1, MPI_INT, MPI_SUM, half));
        CHECK(a == i && b == -i && c == check_size(half));
    }
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&twin));
}

/* Nobody leaves a barrier before the last has come. */
static void barrier(void)
{
    for (int late = 0; late < size; late++) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        double start = MPI_Wtime();
        if (rank == late)
            usleep(30000);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        /* the start itself may be late on a crowded host: 20 ms of 30 are what must show */
        double waited = MPI_Wtime() - start, least = 0;
        OK(MPI_Allreduce(&waited, &least, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
        CHECK(least >= 0.020);
    }
}

/* What was sent before a barrier can be counted after it. */
static void barrier_by_messages(void)
{
    for (int round = 0; round < 20; round++) {
        int flag = 0, value;
        MPI_Request requests[64];
        for (int i = 0; i < size; i++)
            if (i != rank)
                OK(MPI_Isend(&round, 1, MPI_INT, i, 11, MPI_COMM_WORLD, &requests[i]));
            else
                requests[i] = MPI_REQUEST_NULL;
        OK(MPI_Waitall(size, requests, MPI_STATUSES_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < size - 1; i++) {
            MPI_Status status;
            do
                OK(MPI_Iprobe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &flag, &status));
            while (!flag);
            OK(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 11, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
            CHECK(value == round);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    beside_messages();
    ahead();
    beside_each_other();
    barrier();
    barrier_by_messages();
    OK(MPI_Barrier(MPI_COMM_SELF));
    OK(MPI_Finalize());
    return 0;
}
