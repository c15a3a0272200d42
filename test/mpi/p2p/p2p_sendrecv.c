/* SPDX-License-Identifier: BSD-3-Clause */

/* Send and receive in one call, blocking and not, in place and not, with partners or without. */
#include <string.h>

#include "pattern.h"

enum {
    MOST = 500000
};

static char *out, *in;

static void expect(const MPI_Status *status, int from, int tag, int len)
{
    int count = -1;
    OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK(status->MPI_SOURCE == from && status->MPI_TAG == tag && count == len);
}

static void shift(int me, int to, int from, int len)
{
    MPI_Status status;
    MPI_Request request;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        pattern_fill(out, (size_t)len, (uint32_t)me);
        memset(in, 0, (size_t)len);
        if (nonblocking) {
            OK(MPI_Isendrecv(out, len, MPI_BYTE, to, 1, in, len, MPI_BYTE, from, MPI_ANY_TAG,
                             MPI_COMM_WORLD, &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_Sendrecv(out, len, MPI_BYTE, to, 1, in, len, MPI_BYTE, MPI_ANY_SOURCE, 1,
                            MPI_COMM_WORLD, &status));
        }
        expect(&status, from, 1, len);
        CHECK(pattern_is(in, (size_t)len, (uint32_t)from));
        if (nonblocking) {
            OK(MPI_Isendrecv_replace(out, len, MPI_BYTE, to, 2, from, 2, MPI_COMM_WORLD, &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_Sendrecv_replace(out, len, MPI_BYTE, to, 2, from, 2, MPI_COMM_WORLD, &status));
        }
        expect(&status, from, 2, len);
        CHECK(pattern_is(out, (size_t)len, (uint32_t)from));
    }
}

/* Replaced in every second int, and nothing else touched. */
static void strided(int me, int to, int from)
{
    enum {
        INTS = 40000
    };
    int *both = pattern_alloc(2 * INTS * sizeof(int));
    MPI_Datatype type;
    MPI_Request request;
    OK(MPI_Type_vector(INTS, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        for (int i = 0; i < 2 * INTS; i++)
            both[i] = i % 2 ? -1 : i + me;
        if (nonblocking) {
            OK(MPI_Isendrecv_replace(both, 1, type, to, 3, from, 3, MPI_COMM_WORLD, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Sendrecv_replace(both, 1, type, to, 3, from, 3, MPI_COMM_WORLD,
                                    MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < 2 * INTS; i++)
            CHECK(both[i] == (i % 2 ? -1 : i + from));
    }
    OK(MPI_Type_free(&type));
    free(both);
}

/* A line of ranks: the ends have no neighbour on one side. */
static void line(int me, int size)
{
    int left = me ? me - 1 : MPI_PROC_NULL, right = me + 1 < size ? me + 1 : MPI_PROC_NULL;
    MPI_Request request;
    MPI_Status status;
    int value = me, got = -5, both;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        got = -5;
        both = me;
        if (nonblocking) {
            OK(MPI_Isendrecv(&value, 1, MPI_INT, right, 4, &got, 1, MPI_INT, left, 4,
                             MPI_COMM_WORLD, &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_Sendrecv(&value, 1, MPI_INT, right, 4, &got, 1, MPI_INT, left, 4, MPI_COMM_WORLD,
                            &status));
        }
        CHECK(got == (me ? me - 1 : -5));
        expect(&status, left, me ? 4 : MPI_ANY_TAG, me ? (int)sizeof(int) : 0);
        if (nonblocking) {
            OK(MPI_Isendrecv_replace(&both, 1, MPI_INT, left, 5, right, 5, MPI_COMM_WORLD,
                                     &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_Sendrecv_replace(&both, 1, MPI_INT, left, 5, right, 5, MPI_COMM_WORLD, &status));
        }
        CHECK(both == (right == MPI_PROC_NULL ? me : me + 1));
        expect(&status, right, right == MPI_PROC_NULL ? MPI_ANY_TAG : 5,
               right == MPI_PROC_NULL ? 0 : (int)sizeof(int));
    }
    OK(MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 4, &got, 1, MPI_INT, MPI_PROC_NULL, 4,
                     MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    expect(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

/* The receive is too short: the error comes once both are over, and the send was made. */
static void truncated(int to, int from)
{
    MPI_Request request;
    MPI_Status status;
    FAILS(MPI_ERR_TRUNCATE, MPI_Sendrecv(out, 1000, MPI_BYTE, to, 6, in, 10, MPI_BYTE, from, 6,
                                         MPI_COMM_WORLD, &status));
    expect(&status, from, 6, 10);
    OK(MPI_Isendrecv(out, 1000, MPI_BYTE, to, 6, in, 10, MPI_BYTE, from, 6, MPI_COMM_WORLD,
                     &request));
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, &status));
    expect(&status, from, 6, 10);
    CHECK(request == MPI_REQUEST_NULL);
}

/* Freed while under way: it still takes place. */
static void freed(int me, int to, int from)
{
    MPI_Request request;
    static int got, both;
    got = both = me;
    OK(MPI_Isendrecv(&me, 1, MPI_INT, to, 7, &got, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Isendrecv_replace(&both, 1, MPI_INT, to, 8, from, 8, MPI_COMM_WORLD, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(got == from && both == from);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, 600, 9000, 70000, MOST};
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    out = pattern_alloc(MOST);
    in = pattern_alloc(MOST);
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        for (int i = 0; i < 6; i++)
            shift(me, to, from, sizes[i]);
        strided(me, to, from);
        truncated(to, from);
        freed(me, to, from);
    }
    line(me, size);
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}
