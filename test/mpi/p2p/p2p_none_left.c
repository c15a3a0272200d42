/* SPDX-License-Identifier: BSD-3-Clause */

/* The only thread of a process waits for a message from any other, and all others have called MPI_Finalize: the call ends
 * with the error that names one of them gives. A receive that is only posted stays: this process may send to itself. */
#include <time.h>

#include "check.h"

static int class_of(int code)
{
    int class = -1;
    OK(MPI_Error_class(code, &class));
    return class;
}

/* Messages of this process to itself come, though nobody else can send. */
static void check_own(MPI_Comm comm, int count)
{
    enum { MOST = 300000, MESSAGES = 100 };
    static char in[MOST], out[MOST];
    MPI_Request sends[MESSAGES];
    MPI_Status status;
    MPI_Datatype type; /* not a predefined one, whose receive looks for messages first */
    OK(MPI_Type_contiguous(1, MPI_BYTE, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < MESSAGES; i++)
        OK(MPI_Isend(out, count, type, 0, 1, comm, &sends[i]));
    for (int i = 0; i < MESSAGES; i++) {
        if (i % 2)
            OK(MPI_Probe(MPI_ANY_SOURCE, 1, comm, &status));
        OK(MPI_Recv(in, count, type, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
    }
    OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MESSAGES; i++)
        OK(MPI_Sendrecv(out, count, type, 0, 1, in, count, type, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&type));
}

static void check_ended(MPI_Comm comm)
{
    const struct timespec pause = {.tv_nsec = 300000000};
    int in = 0, out = 5, flag = 1, size;
    MPI_Message message;
    MPI_Request request;
    OK(MPI_Comm_size(comm, &size));
    int class = class_of(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
    CHECK(class == class_of(MPI_Recv(&in, 1, MPI_INT, size - 1, 1, comm, MPI_STATUS_IGNORE)));
    CHECK(class == class_of(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE)));
    CHECK(class == class_of(MPI_Probe(MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE)));
    CHECK(class == class_of(MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, MPI_STATUS_IGNORE)));
    OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &request));
    nanosleep(&pause, NULL);
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Send(&out, 1, MPI_INT, 0, 1, comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == out);
}

int main(int argc, char **argv)
{
    int rank, size, in = 0;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (rank)
        OK(MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    for (int i = 1; !rank && i < size; i++) { /* what they have sent before they left comes */
        OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in > 0 && in < size);
    }
    if (!rank) {
        check_ended(MPI_COMM_WORLD);
        check_own(MPI_COMM_WORLD, 1);
        check_own(MPI_COMM_WORLD, 5000);
        check_own(MPI_COMM_WORLD, 300000);
        check_ended(MPI_COMM_WORLD);
    }
    OK(MPI_Finalize());
    return 0;
}
