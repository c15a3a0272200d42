/* SPDX-License-Identifier: BSD-3-Clause */

/* Persistent requests of every kind, started many times, singly and together; with the
 * datatype and the communicator that they were made with freed by their user. */
#include <string.h>

#include "pattern.h"

enum {
    MOST = 200000,
    ROUNDS = 12,
    KINDS = 4
};

typedef int (*init_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static const init_fn inits[KINDS] = {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};

static char *out, *in, *attached;

static int flag_of(MPI_Request request)
{
    int flag = -1;
    OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    return flag;
}

static void each_kind(int to, int from, int len)
{
    MPI_Request requests[2 * KINDS];
    MPI_Status status;
    int count, index, flag = 0;
    size_t step = (size_t)len;
    for (int i = 0; i < KINDS; i++) {
        OK(MPI_Recv_init(in + (size_t)i * step, len, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : from, i,
                         MPI_COMM_WORLD, &requests[i]));
        OK(inits[i](out + (size_t)i * step, len, MPI_BYTE, to, i, MPI_COMM_WORLD,
                    &requests[KINDS + i]));
        CHECK(flag_of(requests[i]) == 1);
    }
    OK(MPI_Waitall(2 * KINDS, requests, MPI_STATUSES_IGNORE)); /* none is active */
    OK(MPI_Waitany(2 * KINDS, requests, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    OK(MPI_Test(&requests[0], &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    for (int round = 0; round < ROUNDS; round++) {
        memset(in, 0, KINDS * step);
        pattern_fill(out, KINDS * step, (uint32_t)round);
        OK(MPI_Startall(KINDS, requests));
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* the ready mode wants it */
        if (round % 2)
            OK(MPI_Startall(KINDS, requests + KINDS));
        else
            for (int i = 0; i < KINDS; i++)
                OK(MPI_Start(&requests[KINDS + i]));
        OK(MPI_Wait(&requests[1], &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK(count == len && status.MPI_SOURCE == from && status.MPI_TAG == 1);
        OK(MPI_Waitall(2 * KINDS, requests, MPI_STATUSES_IGNORE));
        CHECK(pattern_is(in, KINDS * step, (uint32_t)round));
        for (int i = 0; i < 2 * KINDS; i++)
            CHECK(requests[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 2 * KINDS; i++)
        OK(MPI_Request_free(&requests[i]));
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void outlive(int to, int from)
{
    enum {
        INTS = 3000
    };
    MPI_Request requests[2];
    MPI_Datatype strided;
    MPI_Comm comm;
    static int sent[2 * INTS], got[2 * INTS];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_vector(INTS, 1, 2, MPI_INT, &strided));
    OK(MPI_Type_commit(&strided));
    OK(MPI_Recv_init(got, 1, strided, from, 0, comm, &requests[0]));
    OK(MPI_Send_init(sent, 1, strided, to, 0, comm, &requests[1]));
    OK(MPI_Type_free(&strided));
    OK(MPI_Comm_free(&comm));
    for (int round = 1; round < ROUNDS; round++) {
        for (int i = 0; i < 2 * INTS; i++) {
            sent[i] = i * round;
            got[i] = -1;
        }
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 2 * INTS; i++)
            CHECK(got[i] == (i % 2 ? -1 : i * round));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void nobody(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count = -1;
    OK(MPI_Recv_init(in, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_init(out, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, statuses));
        OK(MPI_Get_count(&statuses[0], MPI_BYTE, &count));
        CHECK(statuses[0].MPI_SOURCE == MPI_PROC_NULL && statuses[0].MPI_TAG == MPI_ANY_TAG);
        CHECK(count == 0);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

/* Freed while it is active: what was started still takes place. */
static void freed(int to, int from)
{
    MPI_Request requests[2];
    int value = 5;
    static int got;
    got = 0;
    OK(MPI_Recv_init(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Ssend_init(&value, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Start(&requests[0]));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Start(&requests[1]));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(got == 5);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, 600, 20000, MOST};
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    out = pattern_alloc(KINDS * MOST);
    in = pattern_alloc(KINDS * MOST);
    attached = pattern_alloc(2 * MOST);
    OK(MPI_Buffer_attach(attached, 2 * MOST));
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        for (int i = 0; i < 5; i++)
            each_kind(to, from, sizes[i]);
        outlive(to, from);
        freed(to, from);
    }
    nobody();
    void *back;
    int back_size;
    OK(MPI_Buffer_detach(&back, &back_size));
    free(out);
    free(in);
    free(attached);
    OK(MPI_Finalize());
    return 0;
}
