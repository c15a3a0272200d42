/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages of every size where something changes on the way, to the next rank and to oneself,
 * expected and unexpected, with the bytes around the buffer watched. */
#include <string.h>

#include "pattern.h"

enum {
    MOST = 4 << 20,
    MARGIN = 64
};

static const int edges[] = {0,         1,         8,        24,       40,       48,
                            56,        64,        96,       128,      512,      1024,
                            4096,      8 << 10,   16 << 10, 32 << 10, 64 << 10, 128 << 10,
                            256 << 10, 512 << 10, 1 << 20,  2 << 20,  MOST};
enum {
    EDGES = sizeof(edges) / sizeof(edges[0])
};

static char *out, *in;

static void check_place(int len, uint32_t seed)
{
    CHECK(pattern_is(in + MARGIN, (size_t)len, seed));
    CHECK(pattern_all(in, MARGIN, 0xa5) && pattern_all(in + MARGIN + len, MARGIN, 0xa5));
}

static void clear_place(int len)
{
    memset(in, 0xa5, (size_t)(len + 2 * MARGIN));
}

static void expected(int len, int to, int from)
{
    MPI_Request requests[2];
    uint32_t seed = (uint32_t)len + 1;
    pattern_fill(out, (size_t)len, seed);
    clear_place(len);
    OK(MPI_Irecv(in + MARGIN, len, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, len, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_place(len, seed);
}

static void unexpected(int len, int to, int from)
{
    MPI_Request send;
    MPI_Status status;
    int count = -1;
    uint32_t seed = (uint32_t)len + 2;
    pattern_fill(out, (size_t)len, seed);
    clear_place(len);
    OK(MPI_Isend(out, len, MPI_BYTE, to, 2, MPI_COMM_WORLD, &send));
    OK(MPI_Probe(from, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == len);
    OK(MPI_Recv(in + MARGIN, len, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    check_place(len, seed);
}

/* Back and forth, so that the blocking fast paths have their turn too. */
static void blocking(int len, int me, int to)
{
    uint32_t seed = (uint32_t)len + 3;
    int first = me < to;
    clear_place(len);
    if (first) {
        pattern_fill(out, (size_t)len, seed);
        OK(MPI_Send(out, len, MPI_BYTE, to, 3, MPI_COMM_WORLD));
    }
    OK(MPI_Recv(in + MARGIN, len, MPI_BYTE, to, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!first)
        OK(MPI_Send(in + MARGIN, len, MPI_BYTE, to, 3, MPI_COMM_WORLD));
    check_place(len, seed);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    int partner = me ^ 1;
    out = pattern_alloc(MOST + 1);
    in = pattern_alloc(MOST + 1 + 2 * MARGIN);
    for (int i = 0; i < EDGES; i++) {
        for (int len = edges[i] - 1; len <= edges[i] + 1; len++) {
            if (len < 0)
                continue;
            for (int distance = 0; distance < 2; distance++) {
                int to = (me + distance) % size, from = (me + size - distance) % size;
                expected(len, to, from);
                unexpected(len, to, from);
            }
            if (partner < size)
                blocking(len, me, partner);
        }
    }
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}
