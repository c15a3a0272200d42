/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Nonblocking and persistent collectives that go on while their callers do other things: wait for
 * messages, asleep; make other collectives; start persistent ones in orders of their own; free the
 * communicator.
 */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { FIRST = 12, ROUNDS = 12, LATE_US = 3000, KEPT = 5, LONG = 20000, TAG = 3 };

static int rank, size;

/* Until the communicator has its region. */
static MPI_Comm new_comm(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < FIRST; i++)
        OK(MPI_Barrier(comm));
    return comm;
}

/* The others complete an allreduce in the background while one member is late and all but it sleep
 * in a receive; its message comes after its part. */
static void sleep_meanwhile(MPI_Comm comm, int round)
{
    int late = round % size, in = rank + round, sum = -1, word = -1;
    MPI_Request request;
    if (rank == late)
        usleep(LATE_US);
    OK(MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    if (rank == late)
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; rank == late && i < size; i++)
        if (i != late)
            OK(MPI_Send(&round, 1, MPI_INT, i, TAG, comm));
    if (rank != late) {
        OK(MPI_Recv(&word, 1, MPI_INT, late, TAG, comm, MPI_STATUS_IGNORE));
        CHECK(word == round);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK(sum == size * (size - 1) / 2 + size * round);
}

/* A barrier that is over only once all are there. */
static void wait_for_last(MPI_Comm comm, int round)
{
    int late = round % size, done = 0;
    MPI_Request request;
    if (rank == late) {
        usleep(LATE_US);
        OK(MPI_Ibarrier(comm, &request));
    } else {
        OK(MPI_Ibarrier(comm, &request));
        OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Many operations of several lengths under way, blocking ones among them. */
static void fill(MPI_Comm comm, int *data)
{
    enum { MANY = 40 };
    MPI_Request requests[MANY];
    int sum = 0, in = rank;
    for (int i = 0; i < MANY; i++) {
        int count = i % 4 == 0 ? LONG / MANY : 1 + i;
        int *part = data + i * (LONG / MANY);
        for (int k = 0; k < count; k++)
            part[k] = rank == i % size ? i * 1000 + k : -1;
        OK(MPI_Ibcast(part, count, MPI_INT, i % size, comm, &requests[i]));
        if (i % 8 == 3)
            OK(MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm));
    }
    for (int i = MANY - 1; i >= 0; i--)
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    CHECK(sum == size * (size - 1) / 2);
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < (i % 4 == 0 ? LONG / MANY : 1 + i); k++)
            CHECK(data[i * (LONG / MANY) + k] == i * 1000 + k);
}

/* Each rank starts and completes persistent ones in another order. */
static void keep(MPI_Comm comm)
{
    MPI_Request kept[KEPT];
    int in[KEPT], out[KEPT];
    for (int i = 0; i < KEPT; i++)
        OK(MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &kept[i]));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < KEPT; i++) {
            int which = (i + rank * (round + 1)) % KEPT;
            in[which] = round * 100 + which * size + rank;
            OK(MPI_Start(&kept[which]));
        }
        for (int i = 0; i < KEPT; i++) {
            int which = (i * 2 + rank) % KEPT;
            OK(MPI_Wait(&kept[which], MPI_STATUS_IGNORE));
            CHECK(out[which] == round * 100 + which * size + size - 1);
        }
    }
    for (int i = 0; i < KEPT; i++)
        OK(MPI_Request_free(&kept[i]));
}

static void free_early(void)
{
    MPI_Comm comm = new_comm();
    MPI_Request request;
    int in = rank, out = -1;
    OK(MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_MAX, comm, &request));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(out == size - 1);
}

int main(int argc, char **argv)
{
    static int data[LONG];
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    MPI_Comm comm = new_comm();
    for (int round = 0; round < ROUNDS; round++) {
        sleep_meanwhile(comm, round);
        wait_for_last(comm, round);
        fill(comm, data);
    }
    keep(comm);
    free_early();
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
