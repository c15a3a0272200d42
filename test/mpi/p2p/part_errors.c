/* SPDX-License-Identifier: BSD-3-Clause */

/* Wrong arguments of partitioned communication, and calls at the wrong time; none of them harms
 * the request. */
#include <limits.h>
#include <string.h>

#include "check.h"

static int data[4], into[4];

static int make(int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag)
{
    MPI_Request request;
    int send = MPI_Psend_init(data, partitions, count, type, peer, tag, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request);
    int recv = MPI_Precv_init(data, partitions, count, type, peer, tag, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request);
    CHECK(check_class(send) == check_class(recv));
    return send;
}

static void arguments(void)
{
    MPI_Request request;
    MPI_Datatype open;
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    OK(MPI_Type_contiguous(2, MPI_INT, &open));
    FAILS(MPI_ERR_ARG, make(-1, 1, MPI_INT, me, 0));
    FAILS(MPI_ERR_COUNT, make(1, -1, MPI_INT, me, 0));
    FAILS(MPI_ERR_COUNT, make(INT_MAX, INT64_MAX / 2, MPI_INT, me, 0));
    FAILS(MPI_ERR_TYPE, make(1, 1, MPI_DATATYPE_NULL, me, 0));
    FAILS(MPI_ERR_TYPE, make(1, 1, open, me, 0));
    FAILS(MPI_ERR_RANK, make(1, 1, MPI_INT, size, 0));
    FAILS(MPI_ERR_RANK, make(1, 1, MPI_INT, MPI_ANY_SOURCE, 0));
    FAILS(MPI_ERR_TAG, make(1, 1, MPI_INT, me, -1));
    FAILS(MPI_ERR_TAG, make(1, 1, MPI_INT, me, MPI_ANY_TAG));
    FAILS(MPI_ERR_BUFFER,
          MPI_Psend_init(NULL, 1, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    FAILS(MPI_ERR_COMM,
          MPI_Psend_init(data, 1, 1, MPI_INT, me, 0, MPI_COMM_NULL, MPI_INFO_NULL, &request));
    FAILS(MPI_ERR_ARG,
          MPI_Psend_init(data, 1, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, NULL));
    OK(MPI_Type_free(&open));
}

static void times(void)
{
    MPI_Request send, recv, plain;
    int me = check_rank(MPI_COMM_WORLD), flag = 0;
    int twice[] = {1, 2, 1}, wrong[] = {0, 4};
    OK(MPI_Psend_init(data, 4, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(into, 4, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    OK(MPI_Recv_init(into, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &plain));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, send));
    OK(MPI_Parrived(recv, 0, &flag));
    CHECK(flag);
    OK(MPI_Start(&recv));
    OK(MPI_Start(&send));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&send));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, recv));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, plain));
    FAILS(MPI_ERR_REQUEST, MPI_Parrived(send, 0, &flag));
    flag = 0;
    OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
    CHECK(flag);
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&send));
    FAILS(MPI_ERR_ARG, MPI_Pready(4, send));
    FAILS(MPI_ERR_ARG, MPI_Pready(-1, send));
    FAILS(MPI_ERR_ARG, MPI_Parrived(recv, 4, &flag));
    FAILS(MPI_ERR_ARG, MPI_Parrived(recv, 0, NULL));
    FAILS(MPI_ERR_ARG, MPI_Pready_range(2, 1, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_range(2, 4, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_list(2, wrong, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_list(-1, wrong, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_list(1, NULL, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_list(3, twice, send)); /* 1 and 2 are ready now */
    OK(MPI_Pready(0, send));
    FAILS(MPI_ERR_ARG, MPI_Pready(0, send));
    OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Pready(3, send));
    OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK(!memcmp(data, into, sizeof(data)));
    OK(MPI_Request_free(&plain));
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&recv));
}

/* Counts are of MPI_Count, so there is no form with _c. */
static void long_counts(void)
{
    const MPI_Count count = (MPI_Count)3 << 31;
    MPI_Request requests[2];
    OK(MPI_Psend_init(data, 2, count, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Precv_init(into, 2, count, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Startall(2, requests));
    OK(MPI_Pready_range(0, 1, requests[0]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; i++)
        OK(MPI_Request_free(&requests[i]));
}

/* More than there is room for: the receive has what fits, and fails. */
static void too_long(void)
{
    MPI_Request send, recv;
    MPI_Status status;
    int me = check_rank(MPI_COMM_WORLD), part[2] = {0, -1}, count = -1;
    OK(MPI_Psend_init(data, 2, 2, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(part, 1, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    OK(MPI_Start(&send));
    OK(MPI_Start(&recv));
    OK(MPI_Pready_range(0, 1, send));
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&recv, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 1 && part[0] == data[0] && part[1] == -1);
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&recv));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < 4; i++)
        data[i] = 40 + i;
    arguments();
    times();
    too_long();
    long_counts();
    OK(MPI_Finalize());
    return 0;
}
