/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many nonblocking collectives that are outstanding at once. Those that have begun do not need the
 * attention of each process for each of them: while one process is away the others complete all
 * that it has begun. Then parts that lie in chunks, blocks that others read where they
 * are, and many of random kinds and lengths, each of which gives the right data,
 * also where two threads wait for them ("threads").
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { FIRST = 12, AHEAD = 16, ROUNDS = 4, MANY = 120, MOST = 12000, AWAY_US = 1000, AWAY_LOOKS = 15000, PATH = 256 };
enum { CHUNKED = 100 /* more than a place has */, PULLED = 20000 /* more than a chunk has */ };

static int rank, size;

/* ---- one is away ---- */

/* Until all others have made their file: no call of MPI helps them. */
static void stay_away(const char *folder)
{
    char path[PATH];
    int looks = 0;
    for (int i = 1; i < size; i++) {
        snprintf(path, sizeof(path), "%.*s/%d", PATH - 13, folder, i);
        while (access(path, F_OK) && looks++ < AWAY_LOOKS)
            usleep(AWAY_US);
        unlink(path);
    }
    CHECK(looks < AWAY_LOOKS);
}

static void tell_done(const char *folder)
{
    char path[PATH];
    snprintf(path, sizeof(path), "%.*s/%d", PATH - 13, folder, rank);
    FILE *file = fopen(path, "w");
    CHECK(file && !fclose(file));
}

/* Rank 0 begins some, goes away, and finds that the others have completed them. */
static void complete_without_one(MPI_Comm comm)
{
    char folder[PATH] = "/tmp/coll_ahead.XXXXXX";
    MPI_Request requests[AHEAD];
    int sums[AHEAD], ins[AHEAD], words[AHEAD];
    CHECK(rank || mkdtemp(folder));
    OK(MPI_Bcast(folder, PATH, MPI_CHAR, 0, comm));
    for (int i = 0; i < AHEAD; i++) {
        ins[i] = i + rank;
        words[i] = rank ? -1 : 100 + i;
        if (i % 4 == 1)
            OK(MPI_Ibarrier(comm, &requests[i]));
        else if (i % 4 == 2)
            OK(MPI_Ibcast(&words[i], 1, MPI_INT, 0, comm, &requests[i]));
        else if (i % 4 == 3)
            OK(MPI_Ireduce(&ins[i], &sums[i], 1, MPI_INT, MPI_SUM, size - 1, comm, &requests[i]));
        else
            OK(MPI_Iallreduce(&ins[i], &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]));
    }
    if (rank == 0)
        stay_away(folder);
    OK(MPI_Waitall(AHEAD, requests, MPI_STATUSES_IGNORE));
    if (rank)
        tell_done(folder);
    for (int i = 0; i < AHEAD; i++) {
        CHECK((i % 4 && (i % 4 < 3 || rank < size - 1)) || sums[i] == size * i + size * (size - 1) / 2);
        CHECK(i % 4 != 2 || words[i] == 100 + i);
    }
    OK(MPI_Barrier(comm));
    CHECK(rank || !rmdir(folder));
}

/* ---- parts that lie in chunks ---- */

/* Ranks but 0 have given half of their parts when rank 0 comes and takes these. They give the others without having
 * taken any: chunks, which operations take in turn, are not to be taken again before that. */
static void keep_own_parts(MPI_Comm comm)
{
    static int ins[AHEAD][CHUNKED], sums[AHEAD][CHUNKED];
    MPI_Request requests[AHEAD];
    if (rank == 0)
        usleep(10 * AWAY_US);
    for (int i = 0; i < AHEAD; i++) {
        for (int k = 0; k < CHUNKED; k++)
            ins[i][k] = rank + i * CHUNKED + k;
        OK(MPI_Iallreduce(ins[i], sums[i], CHUNKED, MPI_INT, MPI_SUM, comm, &requests[i]));
        if (rank && i == AHEAD / 2 - 1)
            usleep(30 * AWAY_US);
    }
    OK(MPI_Waitall(AHEAD, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < AHEAD; i++)
        for (int k = 0; k < CHUNKED; k++)
            CHECK(sums[i][k] == size * (i * CHUNKED + k) + size * (size - 1) / 2);
}

/* ---- blocks that stay until they are read ---- */

static void begin_gather(int i, MPI_Comm comm, int *in, int *out, MPI_Request *request)
{
    for (int k = 0; k < CHUNKED; k++)
        in[k] = rank + i * CHUNKED + k;
    OK(MPI_Iallgather(in, CHUNKED, MPI_INT, out, CHUNKED, MPI_INT, comm, request));
}

/* Ranks but 0 have given their parts up to long blocks, and are away. Rank 0 has come to those, and waits for them to
 * be read there; what it gives meanwhile takes no chunk of a part that they have not taken. */
static void keep_unread_parts(void)
{
    MPI_Comm comm;
    static int ins[AHEAD][CHUNKED];
    int *outs = malloc(sizeof(int) * AHEAD * CHUNKED * (size_t)size), flag;
    int *blocks = calloc(2 * PULLED * (size_t)size, sizeof(int)), counts[8], displs[8];
    MPI_Request requests[AHEAD + 1];
    CHECK(outs && blocks && size <= 8);
    for (int i = 0; i < size; i++) {
        counts[i] = PULLED;
        displs[i] = i * PULLED;
    }
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* all of whose chunks are free */
    for (int i = 0; i < FIRST; i++)
        OK(MPI_Barrier(comm));
    if (rank == 0)
        usleep(20 * AWAY_US);
    for (int i = 0; i < AHEAD / 2 - 1; i++)
        begin_gather(i, comm, ins[i], outs + i * CHUNKED * size, &requests[i]);
    OK(MPI_Ialltoallv(blocks, counts, displs, MPI_INT, blocks + PULLED * size, counts, displs, MPI_INT, comm,
                      &requests[AHEAD]));
    if (rank)
        usleep(60 * AWAY_US);
    for (int i = 0; !rank && i < AWAY_LOOKS; i++)
        OK(MPI_Test(&requests[AHEAD], &flag, MPI_STATUS_IGNORE));
    for (int i = AHEAD / 2 - 1; i < AHEAD; i++)
        begin_gather(i, comm, ins[i], outs + i * CHUNKED * size, &requests[i]);
    OK(MPI_Waitall(AHEAD + 1, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < AHEAD * CHUNKED * size; i++)
        CHECK(outs[i] == i / CHUNKED % size + i / (CHUNKED * size) * CHUNKED + i % CHUNKED);
    OK(MPI_Comm_free(&comm));
    free(outs);
    free(blocks);
}

/* ---- many of all kinds ---- */

struct one {
    int kind, root, count, *in, *out;
};

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

/* Mostly short; each 16th may take many operations. */
static int random_count(unsigned *seed)
{
    unsigned random = next_random(seed), most = random % 16 ? random % 3 ? 8 : 600 : MOST;
    return (int)(1 + next_random(seed) % most);
}

static int value(int i, int from, int k)
{
    return i * 7 + from * 1000 + k;
}

static void begin(struct one *one, int i, MPI_Comm comm, MPI_Request *request)
{
    int count = one->count;
    for (int k = 0; k < count; k++)
        one->in[k] = value(i, rank, k);
    memset(one->out, 0xff, (size_t)count * (size_t)size * sizeof(int));
    switch (one->kind) {
    case 0: OK(MPI_Iallreduce(one->in, one->out, count, MPI_INT, MPI_SUM, comm, request)); break;
    case 1: OK(MPI_Iallgather(one->in, count, MPI_INT, one->out, count, MPI_INT, comm, request)); break;
    case 2: OK(MPI_Ibcast(one->in, count, MPI_INT, one->root, comm, request)); break;
    case 3: OK(MPI_Iscan(one->in, one->out, count, MPI_INT, MPI_SUM, comm, request)); break;
    case 4: OK(MPI_Igather(one->in, count, MPI_INT, one->out, count, MPI_INT, one->root, comm, request)); break;
    case 5: OK(MPI_Ireduce(one->in, one->out, count, MPI_INT, MPI_SUM, one->root, comm, request)); break;
    default: OK(MPI_Ibarrier(comm, request));
    }
}

static int sum_of(int i, int ranks, int k)
{
    int sum = 0;
    for (int from = 0; from < ranks; from++)
        sum += value(i, from, k);
    return sum;
}

static int is_right(const struct one *one, int i)
{
    bool many = one->kind == 1 || (one->kind == 4 && rank == one->root);
    for (int k = 0; k < one->count; k++) {
        if ((one->kind == 0 || (one->kind == 5 && rank == one->root)) && one->out[k] != sum_of(i, size, k))
            return 0;
        if (one->kind == 2 && one->in[k] != value(i, one->root, k))
            return 0;
        if (one->kind == 3 && one->out[k] != sum_of(i, rank + 1, k))
            return 0;
        for (int from = 0; many && from < size; from++)
            if (one->out[from * one->count + k] != value(i, from, k))
                return 0;
    }
    return 1;
}

struct half {
    MPI_Request *requests;
    int parity;
};

static void *wait_half(void *arg)
{
    struct half *half = arg;
    for (int i = MANY - 1; i >= 0; i--)
        if (i % 2 == half->parity)
            OK(MPI_Wait(&half->requests[i], MPI_STATUS_IGNORE));
    return NULL;
}

static void wait_all(MPI_Request *requests, bool threads)
{
    struct half halves[] = {{requests, 0}, {requests, 1}};
    pthread_t thread;
    if (threads)
        CHECK(!pthread_create(&thread, NULL, wait_half, &halves[1]));
    else
        wait_half(&halves[1]);
    wait_half(&halves[0]);
    if (threads)
        CHECK(!pthread_join(thread, NULL));
}

static void mix(MPI_Comm comm, unsigned seed, bool threads)
{
    static struct one ones[MANY];
    MPI_Request requests[MANY];
    int *words = malloc((size_t)MANY * MOST * (size_t)(size + 1) * sizeof(int)), *at = words, sum = 0;
    CHECK(words);
    for (int i = 0; i < MANY; i++) {
        int count = random_count(&seed), kind = (int)(next_random(&seed) % 7), root = (int)(next_random(&seed) % (unsigned)size);
        ones[i] = (struct one){kind, root, count, at, at + count};
        at += (size_t)count * (size_t)(size + 1);
        begin(&ones[i], i, comm, &requests[i]);
        if (i % 32 == 31)
            OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        if (i % 50 == 10 + rank)
            usleep(AWAY_US);
    }
    wait_all(requests, threads);
    for (int i = 0; i < MANY; i++)
        CHECK(is_right(&ones[i], i));
    free(words);
}

int main(int argc, char **argv)
{
    bool threads = argc > 1;
    int provided;
    MPI_Comm comm;
    OK(MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < FIRST; i++) /* until it has its memory */
        OK(MPI_Barrier(comm));
    if (!getenv("VIREO_CHANNELS")) /* else it has none */
        complete_without_one(comm);
    keep_own_parts(comm);
    keep_unread_parts();
    for (unsigned round = 0; round < ROUNDS; round++)
        mix(comm, 17 + round, threads);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
