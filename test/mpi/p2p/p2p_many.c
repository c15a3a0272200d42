/* SPDX-License-Identifier: BSD-3-Clause */

/* A hundred thousand messages that nobody has asked for, then as many receives that nothing has
 * come for: all are matched, in order and by tag, and it takes no quadratic time. */
#include "pattern.h"

enum {
    COUNT = 100000,
    STRIDE = 7919
};

static MPI_Request *sends, *recvs;
static int *got, *numbers;

/* Every message once, in an order of its own: COUNT and STRIDE have no common factor. */
static int shuffled(int i)
{
    return (int)((long long)i * STRIDE % COUNT);
}

static void unexpected(int to, int from)
{
    for (int i = 0; i < COUNT; i++)
        OK(MPI_Isend(&numbers[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i++) {
        int tag = shuffled(i), value = -1;
        MPI_Status status;
        if (i % 1000 == 0) {
            OK(MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status));
            CHECK(status.MPI_TAG == tag);
        }
        OK(MPI_Recv(&value, 1, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        CHECK(value == tag);
    }
    OK(MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE));
}

static void unexpected_in_order(int to, int from)
{
    for (int i = 0; i < COUNT; i++)
        OK(MPI_Isend(&numbers[i], 1, MPI_INT, to, i % 10, MPI_COMM_WORLD, &sends[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i++) {
        int value = -1;
        OK(MPI_Recv(&value, 1, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, i % 3 ? MPI_ANY_TAG : i % 10,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(value == i);
    }
    OK(MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE));
}

static void posted(int to, int from)
{
    for (int i = 0; i < COUNT; i++) {
        got[i] = -1;
        OK(MPI_Irecv(&got[i], 1, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, i, MPI_COMM_WORLD,
                     &recvs[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i++) {
        int tag = shuffled(i);
        OK(MPI_Send(&tag, 1, MPI_INT, to, tag, MPI_COMM_WORLD));
    }
    OK(MPI_Waitall(COUNT, recvs, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++)
        CHECK(got[i] == i);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    sends = pattern_alloc(COUNT * sizeof(MPI_Request));
    recvs = pattern_alloc(COUNT * sizeof(MPI_Request));
    got = pattern_alloc(COUNT * sizeof(int));
    numbers = pattern_alloc(COUNT * sizeof(int));
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    for (int distance = 0; distance < (size > 1 ? 2 : 1); distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        unexpected(to, from);
        unexpected_in_order(to, from);
        posted(to, from);
    }
    free(sends);
    free(recvs);
    free(got);
    free(numbers);
    OK(MPI_Finalize());
    return 0;
}
