/* SPDX-License-Identifier: BSD-3-Clause */

/* The four send modes, blocking and not, to the next rank and to oneself; and that a
 * synchronous send ends only once it has been matched. */
#include <string.h>

#include "pattern.h"

enum {
    BYTES = 200000
};

static const int sizes[] = {0, 1, 8, 500, 512, 513, 5000, 60000, BYTES};
enum {
    SIZES = sizeof(sizes) / sizeof(sizes[0])
};

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*isend_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const send_fn sends[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
static const isend_fn isends[] = {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};

static char out[BYTES], in[BYTES], attached[2 * BYTES];

/* The receive is posted before the send, as the ready mode asks for. */
static void ring(int mode, int blocking, int len, int to, int from)
{
    MPI_Request recv, send = MPI_REQUEST_NULL;
    MPI_Status status;
    int count = -1;
    uint32_t seed = (uint32_t)(mode * 100 + len);
    pattern_fill(out, (size_t)len, seed);
    memset(in, 0, sizeof(in));
    OK(MPI_Irecv(in, BYTES, MPI_BYTE, from, mode, MPI_COMM_WORLD, &recv));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (blocking)
        OK(sends[mode](out, len, MPI_BYTE, to, mode, MPI_COMM_WORLD));
    else
        OK(isends[mode](out, len, MPI_BYTE, to, mode, MPI_COMM_WORLD, &send));
    OK(MPI_Wait(&recv, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == len && status.MPI_SOURCE == from && status.MPI_TAG == mode);
    CHECK(pattern_is(in, (size_t)len, seed) && pattern_all(in + len, (size_t)(BYTES - len), 0));
}

/* The receiver says that it has begun before it receives: a synchronous send that ended
 * before that word was sent would be seen by the flag that follows it. */
static void synchrony(int me, int to, int from, int len)
{
    MPI_Request send;
    int flag = 1, word = 0;
    OK(MPI_Issend(out, len, MPI_BYTE, to, 1, MPI_COMM_WORLD, &send));
    for (int i = 0; i < 200; i++) {
        OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Sendrecv(&me, 1, MPI_INT, to, 2, &word, 1, MPI_INT, from, 2, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(word == from);
    OK(MPI_Recv(in, BYTES, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    OK(MPI_Buffer_attach(attached, sizeof(attached)));
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        for (int mode = 0; mode < 4; mode++)
            for (int i = 0; i < SIZES; i++)
                for (int blocking = 0; blocking < 2; blocking++)
                    ring(mode, blocking, sizes[i], to, from);
        for (int i = 0; i < SIZES; i++)
            synchrony(me, to, from, sizes[i]);
    }
    void *back;
    int back_size;
    OK(MPI_Buffer_detach(&back, &back_size));
    CHECK(back == attached && back_size == (int)sizeof(attached));
    OK(MPI_Finalize());
    return 0;
}
