/* SPDX-License-Identifier: BSD-3-Clause */

/* A sender far ahead of its receiver: 64 MiB of small messages, of which the receiver takes none
 * at first. Its memory grows by the eager credit and a record a message, not by the data; then
 * all messages come, whole and in order. */
#include <string.h>
#include <unistd.h>

#include "pattern.h"

enum {
    LEN = 4096,
    COUNT = (64 << 20) / LEN,
    TAKEN = (16 << 20) / LEN,
    CREDIT = 16 << 20,
    RECORD = 1024
};

/* What a sanitizer needs besides: shadow memory, and what it keeps after free(). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum {
    TIMES = 8
};
#else
enum {
    TIMES = 1
};
#endif

static size_t resident(void)
{
    unsigned long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu %lu", &all, &pages) == 2);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void send_ahead(int to)
{
    MPI_Request *requests = pattern_alloc(COUNT * sizeof(MPI_Request));
    char *out = pattern_alloc((size_t)COUNT * LEN);
    for (int i = 0; i < COUNT; i++) {
        pattern_fill(out + (size_t)i * LEN, LEN, (uint32_t)i);
        OK(MPI_Isend(out + (size_t)i * LEN, LEN, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[i]));
    }
    OK(MPI_Send(NULL, 0, MPI_BYTE, to, 2, MPI_COMM_WORLD));
    OK(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
    free(requests);
    free(out);
}

/* Messages that are taken as they come, for which a fabric touches what buffers it has. */
static void keep_pace(int partner)
{
    char out[LEN] = "", in[LEN];
    for (int i = 0; i < TAKEN; i++)
        OK(MPI_Sendrecv(out, LEN, MPI_BYTE, partner, 1, in, LEN, MPI_BYTE, partner, 1,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void lag(int from)
{
    char in[LEN];
    size_t before = resident();
    OK(MPI_Recv(NULL, 0, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    size_t grown = resident() - before;
    CHECK(grown <= TIMES * (CREDIT * 5 / 4 + (size_t)COUNT * RECORD));
    for (int i = 0; i < COUNT; i++) {
        memset(in, 0, LEN);
        OK(MPI_Recv(in, LEN, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(pattern_is(in, LEN, (uint32_t)i));
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), partner = me ^ 1;
    keep_pace(partner);
    for (int round = 0; round < 2; round++) { /* the second time with credit given back */
        if (me % 2 == round % 2)
            send_ahead(partner);
        else
            lag(partner);
    }
    OK(MPI_Finalize());
    return 0;
}
