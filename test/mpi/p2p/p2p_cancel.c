/* SPDX-License-Identifier: BSD-3-Clause */

/* Cancelling: receives that nobody answers, sends that nobody has matched, whether they wait
 * here or have asked already; and that what is matched is not cancelled. */
#include <string.h>

#include "pattern.h"

enum {
    LONG = 1 << 20,
    ROUNDS = 20
};

static char *out, *in;

static int was_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int flag = -1;
    OK(MPI_Wait(request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    return flag;
}

/* Of four receives the second and the third go; the others get the messages in order. */
static void receives(int to, int from)
{
    MPI_Request recv[4];
    MPI_Status status;
    int got[4] = {-1, -1, -1, -1}, flag;
    for (int i = 0; i < 4; i++)
        OK(MPI_Irecv(&got[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : from, 1, MPI_COMM_WORLD,
                     &recv[i]));
    for (int i = 1; i < 3; i++) {
        OK(MPI_Cancel(&recv[i]));
        CHECK(was_cancelled(&recv[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++)
        OK(MPI_Send(&i, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&recv[0], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag);
    OK(MPI_Wait(&recv[3], MPI_STATUS_IGNORE));
    CHECK(got[0] == 0 && got[3] == 1 && got[1] == -1 && got[2] == -1);
}

static void too_late(int to, int from)
{
    MPI_Request recv, send;
    int got = -1, value = 7;
    OK(MPI_Irecv(&got, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &recv));
    OK(MPI_Isend(&value, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &send));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int flag = 0;
    while (!flag)
        OK(MPI_Request_get_status(recv, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Cancel(&recv));
    CHECK(!was_cancelled(&recv) && got == 7);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

/* Nobody receives: sends in rendezvous are cancelled, whether synchronous and short or long,
 * and the receiver never sees them. */
static void sends(int to, int from, int len, int synchronous)
{
    MPI_Request send;
    int flag = 1, value = 3, got = -1;
    OK((synchronous ? MPI_Issend : MPI_Isend)(out, len, MPI_BYTE, to, 3, MPI_COMM_WORLD, &send));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* by now it has asked */
    OK(MPI_Cancel(&send));
    OK(MPI_Cancel(&send));
    CHECK(was_cancelled(&send));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Iprobe(from, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Sendrecv(&value, 1, MPI_INT, to, 3, &got, 1, MPI_INT, from, 3, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(got == 3);
}

/* Cancelled right away, while the receiver may or may not have it: it is received, or it was
 * cancelled, and both sides agree. */
static void race(int to, int from, int len, int round)
{
    MPI_Request send, recv;
    MPI_Status status;
    int mine, theirs = -1, came;
    memset(in, 0, (size_t)len);
    pattern_fill(out, (size_t)len, (uint32_t)round);
    OK(MPI_Irecv(in, len, MPI_BYTE, from, 10 + round, MPI_COMM_WORLD, &recv));
    OK(MPI_Issend(out, len, MPI_BYTE, to, 10 + round, MPI_COMM_WORLD, &send));
    OK(MPI_Cancel(&send));
    mine = was_cancelled(&send);
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, to, 5, &theirs, 1, MPI_INT, from, 5, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    if (theirs)
        OK(MPI_Cancel(&recv));
    OK(MPI_Wait(&recv, &status));
    OK(MPI_Test_cancelled(&status, &came));
    CHECK(came == theirs);
    CHECK(theirs || pattern_is(in, (size_t)len, (uint32_t)round));
}

/* A message that a probe has taken is matched. */
static void taken(int to, int from)
{
    MPI_Request send;
    MPI_Message message;
    OK(MPI_Issend(out, 100, MPI_BYTE, to, 6, MPI_COMM_WORLD, &send));
    OK(MPI_Mprobe(from, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Cancel(&send));
    OK(MPI_Mrecv(in, 100, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    CHECK(!was_cancelled(&send));
}

/* A send to oneself that nobody has matched is cancelled when the call returns. */
static void to_self(int synchronous, int len)
{
    MPI_Request send;
    MPI_Status status;
    int me = check_rank(MPI_COMM_WORLD), flag = 0;
    for (int i = 0; i < ROUNDS; i++) {
        OK((synchronous ? MPI_Issend : MPI_Isend)(out, len, MPI_BYTE, me, 7, MPI_COMM_WORLD, &send));
        if (i % 2) /* it may have been seen, or not */
            OK(MPI_Iprobe(me, 7, MPI_COMM_WORLD, &flag, &status));
        OK(MPI_Cancel(&send));
        OK(MPI_Request_get_status(send, &flag, &status));
        CHECK(flag);
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
        OK(MPI_Test(&send, &flag, &status));
        CHECK(flag && send == MPI_REQUEST_NULL);
        OK(MPI_Iprobe(me, 7, MPI_COMM_WORLD, &flag, &status));
        CHECK(!flag);
    }
}

/* Persistent requests go on being of use. */
static void persistent(int to, int from)
{
    MPI_Request recv;
    int got = -1, value = 11;
    OK(MPI_Recv_init(&got, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &recv));
    OK(MPI_Start(&recv));
    OK(MPI_Cancel(&recv));
    CHECK(was_cancelled(&recv) && recv != MPI_REQUEST_NULL);
    OK(MPI_Start(&recv));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&value, 1, MPI_INT, to, 7, MPI_COMM_WORLD));
    CHECK(!was_cancelled(&recv) && got == 11);
    OK(MPI_Request_free(&recv));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, 512, 513, 30000, LONG};
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    out = pattern_alloc(LONG);
    in = pattern_alloc(LONG);
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        receives(to, from);
        too_late(to, from);
        for (int i = 0; i < 6; i++) {
            sends(to, from, sizes[i], 1);
            for (int round = 0; round < ROUNDS; round++)
                race(to, from, sizes[i], round);
        }
        sends(to, from, LONG, 0);
        taken(to, from);
        persistent(to, from);
    }
    for (int i = 0; i < 6; i++)
        to_self(1, sizes[i]);
    to_self(0, LONG);
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}
