/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages longer than their receive: the error's class, the count, the bytes that do arrive,
 * and that not one byte more is written; by every protocol, expected and not. */
#include <string.h>

#include "pattern.h"

enum {
    MOST = 1 << 20,
    MARGIN = 4096
};

static char *out, *in;

static const int sends[] = {2, 9, 41, 500, 600, 5000, 20000, 70000, 300000, MOST};
enum {
    SENDS = sizeof(sends) / sizeof(sends[0])
};

static void verify(int room, uint32_t seed, const MPI_Status *status, int from)
{
    int count = -1;
    OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK(count == room && status->MPI_SOURCE == from && status->MPI_TAG == 4);
    CHECK(pattern_is(in, (size_t)room, seed) && pattern_all(in + room, MARGIN, 0x5a));
}

/* how: bit 0: the receive comes first; bit 1: synchronous. */
static void cut(int len, int room, int how, int to, int from)
{
    MPI_Request requests[2];
    MPI_Status status[2];
    uint32_t seed = (uint32_t)(len + how);
    int early = how & 1;
    pattern_fill(out, (size_t)len, seed);
    memset(in, 0x5a, (size_t)room + MARGIN);
    if (early)
        OK(MPI_Irecv(in, room, MPI_BYTE, from, 4, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK((how & 2 ? MPI_Issend : MPI_Isend)(out, len, MPI_BYTE, to, 4, MPI_COMM_WORLD, &requests[1]));
    if (early) {
        FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, requests, status));
        CHECK(check_class(status[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
        CHECK(status[1].MPI_ERROR == MPI_SUCCESS);
    } else {
        FAILS(MPI_ERR_TRUNCATE, MPI_Recv(in, room, MPI_BYTE, from, 4, MPI_COMM_WORLD, &status[0]));
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    }
    verify(room, seed, &status[0], from);
}

/* Into every second int: what does not fit stays out of the gaps and of the end. */
static void cut_strided(int to, int from)
{
    enum {
        INTS = 50000,
        ROOM = 20000
    };
    MPI_Datatype strided;
    MPI_Request send;
    int *plain = pattern_alloc(INTS * sizeof(int)), *gaps = pattern_alloc(2 * INTS * sizeof(int));
    MPI_Status status;
    int count = -1;
    OK(MPI_Type_vector(ROOM, 1, 2, MPI_INT, &strided));
    OK(MPI_Type_commit(&strided));
    for (int i = 0; i < INTS; i++)
        plain[i] = i;
    memset(gaps, 0xff, 2 * INTS * sizeof(int));
    OK(MPI_Isend(plain, INTS, MPI_INT, to, 5, MPI_COMM_WORLD, &send));
    FAILS(MPI_ERR_TRUNCATE, MPI_Recv(gaps, 1, strided, from, 5, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, strided, &count));
    CHECK(count == 1);
    for (int i = 0; i < 2 * INTS; i++)
        CHECK(gaps[i] == (i % 2 || i >= 2 * ROOM ? -1 : i / 2));
    OK(MPI_Type_free(&strided));
    free(plain);
    free(gaps);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    out = pattern_alloc(MOST);
    in = pattern_alloc(MOST + MARGIN);
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        for (int i = 0; i < SENDS; i++)
            for (int how = 0; how < 4; how++) {
                cut(sends[i], sends[i] - 1, how, to, from);
                cut(sends[i], sends[i] / 2, how, to, from);
                cut(sends[i], 0, how, to, from);
            }
        cut_strided(to, from);
    }
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}
