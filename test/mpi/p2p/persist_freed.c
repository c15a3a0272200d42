/* SPDX-License-Identifier: BSD-3-Clause */

/* Persistent requests outlive the handles that they were made with: the datatype, with gaps
 * or without, and the communicator. */
#include "check.h"

enum { STARTS = 5, PEERS_TAG = 7 };

static MPI_Datatype make(int dense)
{
    MPI_Datatype type;
    OK(dense ? MPI_Type_dup(MPI_INT, &type) : MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

static void run(int dense)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    int rank = check_rank(comm), size = check_size(comm);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int out[3] = {0}, in[3];
    MPI_Request requests[2];
    MPI_Datatype type = make(dense);
    OK(MPI_Recv_init(in, 1, type, left, PEERS_TAG, comm, &requests[0]));
    OK(MPI_Send_init(out, 1, type, right, PEERS_TAG, comm, &requests[1]));
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&comm));
    for (int i = 0; i < STARTS; i++) {
        for (int k = 0; k < 3; k++) {
            out[k] = 100 * i + 10 * rank + k;
            in[k] = -1;
        }
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(in[0] == 100 * i + 10 * left && in[1] == -1);
        CHECK(in[2] == (dense ? -1 : 100 * i + 10 * left + 2));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    run(1);
    run(0);
    OK(MPI_Finalize());
    return 0;
}
