/* SPDX-License-Identifier: BSD-3-Clause */

/* Which partitioned send belongs to which receive: by the order of initialization alone, whatever
 * is started first; apart from other messages; for good, also once requests are freed. */
#include <string.h>

#include "check.h"

enum {
    N = 5,
    PARTS = 3
};

static int me, peer;

static void init(MPI_Request *send, MPI_Request *recv, int out[PARTS], int in[PARTS], int tag,
                 MPI_Comm comm)
{
    if (send)
        OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, peer, tag, comm, MPI_INFO_NULL, send));
    if (recv)
        OK(MPI_Precv_init(in, PARTS, 1, MPI_INT, peer, tag, comm, MPI_INFO_NULL, recv));
}

static void fill(int data[PARTS], int value)
{
    for (int i = 0; i < PARTS; i++)
        data[i] = value * 10 + i;
}

static void is_filled(const int data[PARTS], int value)
{
    for (int i = 0; i < PARTS; i++)
        CHECK(data[i] == value * 10 + i);
}

/* All of one tag; sends are started backwards, receives from the middle on. */
static void by_order(void)
{
    MPI_Request send[N], recv[N];
    int out[N][PARTS], in[N][PARTS];
    for (int i = 0; i < N; i++)
        init(&send[i], me ? &recv[i] : NULL, out[i], in[i], 5, MPI_COMM_WORLD);
    for (int i = 0; i < N && !me; i++)
        init(NULL, &recv[i], NULL, in[i], 5, MPI_COMM_WORLD);
    for (int round = 0; round < 3; round++) {
        for (int i = N - 1; i >= 0; i--) {
            fill(out[i], me * 100 + round * 10 + i);
            OK(MPI_Start(&send[i]));
            OK(MPI_Pready_range(0, PARTS - 1, send[i]));
        }
        for (int i = 0; i < N; i++)
            OK(MPI_Start(&recv[(i + 2) % N]));
        OK(MPI_Waitall(N, send, MPI_STATUSES_IGNORE));
        OK(MPI_Waitall(N, recv, MPI_STATUSES_IGNORE));
        for (int i = 0; i < N; i++)
            is_filled(in[i], peer * 100 + round * 10 + i);
    }
    for (int i = 0; i < N; i++) {
        OK(MPI_Request_free(&send[i]));
        OK(MPI_Request_free(&recv[i]));
    }
}

/* Ordinary messages of the same tag, wild receives, and another communicator. */
static void apart(void)
{
    MPI_Comm other;
    MPI_Request send[2], recv[2], wild;
    MPI_Status status;
    int out[2][PARTS], in[2][PARTS], flag = 1, plain = 1000 + me, got = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &wild));
    init(&send[0], &recv[0], out[0], in[0], 5, other);
    init(&send[1], &recv[1], out[1], in[1], 5, MPI_COMM_WORLD);
    fill(out[0], 500 + me);
    fill(out[1], 600 + me);
    OK(MPI_Startall(2, send));
    for (int i = 0; i < PARTS; i++) {
        OK(MPI_Pready(i, send[0]));
        OK(MPI_Pready(i, send[1]));
    }
    OK(MPI_Startall(2, recv));
    OK(MPI_Waitall(2, recv, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(2, send, MPI_STATUSES_IGNORE));
    is_filled(in[0], 500 + peer);
    is_filled(in[1], 600 + peer);
    OK(MPI_Test(&wild, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &flag, &status));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&plain, 1, MPI_INT, peer, 5, MPI_COMM_WORLD));
    OK(MPI_Wait(&wild, &status));
    CHECK(got == 1000 + peer && status.MPI_TAG == 5);
    OK(MPI_Comm_free(&other)); /* the requests keep it */
    OK(MPI_Startall(2, recv));
    OK(MPI_Startall(2, send));
    for (int i = 0; i < 2; i++) {
        fill(out[i], 700 + me);
        OK(MPI_Pready_range(0, PARTS - 1, send[i]));
        OK(MPI_Wait(&recv[i], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&send[i], MPI_STATUS_IGNORE));
        is_filled(in[i], 700 + peer);
        OK(MPI_Request_free(&send[i]));
        OK(MPI_Request_free(&recv[i]));
    }
}

/* A pair that is freed before it was ever started, and one that is freed under way. */
static void freed(void)
{
    MPI_Request send[3], recv[3];
    int out[3][PARTS], in[3][PARTS], there = 0;
    for (int i = 0; i < 3; i++)
        init(me ? &send[i] : NULL, me ? NULL : &recv[i], out[i], in[i], 8, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        init(me ? NULL : &send[i], me ? &recv[i] : NULL, out[i], in[i], 8, MPI_COMM_WORLD);
    OK(MPI_Request_free(&send[0]));
    OK(MPI_Request_free(&recv[0]));
    memset(in, 0, sizeof(in));
    for (int i = 1; i < 3; i++) {
        fill(out[i], 800 + me * 10 + i);
        OK(MPI_Start(&recv[i]));
        OK(MPI_Start(&send[i]));
        OK(MPI_Pready_range(0, PARTS - 1, send[i]));
    }
    OK(MPI_Request_free(&send[1]));
    OK(MPI_Wait(&recv[1], MPI_STATUS_IGNORE));
    is_filled(in[1], 800 + peer * 10 + 1);
    OK(MPI_Request_free(&recv[1]));
    OK(MPI_Parrived(recv[2], 0, &there));
    OK(MPI_Request_free(&recv[2])); /* it still arrives: the buffer is needed until the end */
    OK(MPI_Wait(&send[2], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send[2]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    peer = check_size(MPI_COMM_WORLD) - 1 - me;
    by_order();
    apart();
    freed();
    OK(MPI_Finalize());
    return 0;
}
