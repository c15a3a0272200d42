/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests freed while they are active: their messages arrive whole, types and communicators
 * that they use may be freed as well, and MPI_Finalize waits for what is still to be sent. */
#include <string.h>

#include "pattern.h"

enum {
    COUNT = 24,
    MOST = 1 << 20
};

static const int sizes[] = {8, 600, 20000, 100000, MOST, 0};

static char *out[COUNT], *in[COUNT];

static int size_of(int i)
{
    return sizes[i % 6];
}

static void sends(MPI_Comm comm, int to, int from, uint32_t seed)
{
    for (int i = 0; i < COUNT; i++) {
        MPI_Request request;
        pattern_fill(out[i], (size_t)size_of(i), seed + (uint32_t)i);
        OK((i % 3 ? MPI_Isend : MPI_Issend)(out[i], size_of(i), MPI_BYTE, to, i, comm, &request));
        OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        OK(MPI_Recv(in[i], MOST, MPI_BYTE, from, i, comm, MPI_STATUS_IGNORE));
        CHECK(pattern_is(in[i], (size_t)size_of(i), seed + (uint32_t)i));
    }
}

static void receives(MPI_Comm comm, int to, int from, uint32_t seed)
{
    for (int i = 0; i < COUNT; i++) {
        MPI_Request request;
        memset(in[i], 0, (size_t)size_of(i));
        OK(MPI_Irecv(in[i], MOST, MPI_BYTE, from, i, comm, &request));
        OK(MPI_Request_free(&request));
    }
    OK(MPI_Barrier(comm));
    for (int i = 0; i < COUNT; i++) {
        pattern_fill(out[i], (size_t)size_of(i), seed + (uint32_t)i);
        OK(MPI_Ssend(out[i], size_of(i), MPI_BYTE, to, i, comm));
    }
    /* Synchronous sends were matched; the last word is a message after them. */
    OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, to, COUNT, NULL, 0, MPI_BYTE, from, COUNT, comm,
                    MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        while (!pattern_is(in[i], (size_t)size_of(i), seed + (uint32_t)i)) {
            int flag; /* a long one may still be on its way */
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
        }
}

static void freed_with_type_and_comm(int to, int from)
{
    enum {
        INTS = 50000
    };
    static int strided[2 * INTS], plain[INTS];
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request requests[2];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_vector(INTS, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 2 * INTS; i++)
        strided[i] = i;
    OK(MPI_Irecv(plain, INTS, MPI_INT, from, 0, comm, &requests[0]));
    OK(MPI_Issend(strided, 1, type, to, 0, comm, &requests[1]));
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < INTS; i++)
        CHECK(plain[i] == 2 * i);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A handle that was kept of a request that is freed while active is no good any more. */
static void stale_handle(void)
{
    int one = 1, got = 0;
    MPI_Request request, kept;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    kept = request;
    OK(MPI_Request_free(&request));
    FAILS(MPI_ERR_REQUEST, MPI_Wait(&kept, MPI_STATUS_IGNORE));
    OK(MPI_Ssend(&one, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    CHECK(got == 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    MPI_Comm comm;
    stale_handle();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < COUNT; i++) {
        out[i] = pattern_alloc(MOST);
        in[i] = pattern_alloc(MOST);
    }
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        sends(comm, to, from, 10);
        OK(MPI_Barrier(comm)); /* all of out has been read */
        receives(comm, to, from, 20);
        freed_with_type_and_comm(to, from);
    }
    /* Rank 1 receives only after rank 0 has gone into MPI_Finalize. */
    if (size > 1 && me == 0) {
        MPI_Request request;
        pattern_fill(out[0], MOST, 77);
        OK(MPI_Isend(out[0], MOST, MPI_BYTE, 1, 1, comm, &request));
        OK(MPI_Request_free(&request));
    }
    if (me == 1) {
        for (int i = 0; i < 100; i++) {
            int flag;
            OK(MPI_Iprobe(0, 1, comm, &flag, MPI_STATUS_IGNORE));
        }
        OK(MPI_Recv(in[0], MOST, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
        CHECK(pattern_is(in[0], MOST, 77));
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    for (int i = 0; i < COUNT; i++) {
        free(out[i]);
        free(in[i]);
    }
    return 0;
}
