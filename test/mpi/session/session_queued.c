/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages of a process in the world model come before its MPI_Finalize, even if a session of the process goes on and the
 * first messages wait for the connection: a receive has the message, and no error. */
#include "check.h"

enum { COUNT = 3, LEN = 100000, TAG = 1 };

static char in[LEN], out[LEN], room[COUNT * (LEN + MPI_BSEND_OVERHEAD)];

int main(int argc, char **argv)
{
    MPI_Session session = MPI_SESSION_NULL;
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int i = 1; !rank && i < size; i++)
        for (int k = 0; k < COUNT; k++)
            OK(MPI_Recv(in, LEN, MPI_BYTE, i, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank) {
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
        OK(MPI_Buffer_attach(room, sizeof(room)));
        for (int k = 0; k < COUNT; k++)
            OK(MPI_Bsend(out, k ? LEN : 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    }
    OK(MPI_Finalize());
    if (session != MPI_SESSION_NULL)
        OK(MPI_Session_finalize(&session));
    return 0;
}
