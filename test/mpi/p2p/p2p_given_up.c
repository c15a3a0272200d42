/* SPDX-License-Identifier: BSD-3-Clause */

/* The others have left MPI in order, in MPI_Finalize or beyond. A receive from one of them that the program can give up has
 * no error: it is tested, and cancelled; and a look for a message finds none. One that the program waits for ends. */
#include "check.h"

enum { MOST = 8, TAG = 1, NEVER = 2 };

static void check_waits(MPI_Request *request)
{
    int flag = 1, index;
    OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Testall(1, request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

static void check_cancelled(MPI_Request *request)
{
    MPI_Status status;
    int flag = 0;
    OK(MPI_Cancel(request));
    OK(MPI_Wait(request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
}

static void check_looks(int from)
{
    MPI_Message message;
    int flag = 1;
    OK(MPI_Iprobe(from, NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Improbe(from, NEVER, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

/* One that waits is complete before those that never are. */
static void check_waitany(MPI_Request requests[], int count)
{
    int in = 0, out = 3, index = -1;
    MPI_Request all[MOST + 1];
    for (int i = 0; i < count; i++)
        all[i] = requests[i];
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &all[count]));
    OK(MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
    OK(MPI_Waitany(count + 1, all, &index, MPI_STATUS_IGNORE));
    CHECK(index == count && in == out);
}

static void check_ended(int from)
{
    int in = 0, out = 0, flag = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Recv(&in, 1, MPI_INT, from, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, TAG, &in, 1, MPI_INT, from, NEVER,
                                             MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Probe(from, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Mprobe(from, NEVER, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&in, 1, MPI_INT, from, NEVER, MPI_COMM_WORLD, &request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&in, 1, MPI_INT, from, NEVER, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    OK(MPI_Recv_init(&in, 1, MPI_INT, from, NEVER, MPI_COMM_WORLD, &request));
    OK(MPI_Start(&request));
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The others have no connection, and end soon. */
static int sends(int rank)
{
    return rank % 2;
}

int main(int argc, char **argv)
{
    MPI_Request posted[MOST], begun[MOST], late;
    int in = 0, never[3], out = 7;
    OK(MPI_Init(&argc, &argv));
    int others = check_rank(MPI_COMM_WORLD) ? 0 : check_size(MPI_COMM_WORLD) - 1;
    CHECK(others <= MOST);
    if (sends(check_rank(MPI_COMM_WORLD)))
        OK(MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD));
    for (int i = 0; i < others; i++) {
        OK(MPI_Irecv(&never[0], 1, MPI_INT, i + 1, NEVER, MPI_COMM_WORLD, &posted[i]));
        OK(MPI_Recv_init(&never[1], 1, MPI_INT, i + 1, NEVER, MPI_COMM_WORLD, &begun[i]));
        OK(MPI_Start(&begun[i]));
        if (sends(i + 1))
            OK(MPI_Recv(&in, 1, MPI_INT, i + 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    double begin = MPI_Wtime();
    while (others && MPI_Wtime() - begin < 0.3)
        for (int i = 0; i < others; i++)
            check_looks(i + 1);
    if (others)
        check_waitany(posted, others);
    for (int i = 0; i < others; i++) {
        OK(MPI_Irecv(&never[2], 1, MPI_INT, i + 1, NEVER, MPI_COMM_WORLD, &late));
        check_waits(&posted[i]);
        check_waits(&begun[i]);
        check_waits(&late);
        check_cancelled(&posted[i]);
        check_cancelled(&begun[i]);
        check_cancelled(&late);
        OK(MPI_Request_free(&begun[i]));
        check_ended(i + 1);
    }
    OK(MPI_Finalize());
    return 0;
}
