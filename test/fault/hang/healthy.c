/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs without a mistake that go on until they are ended, for healthy.sh: usage: healthy CASE
 * WORKERS. With workers each thread does the case on a communicator of its own, while the main
 * thread joins them. They wait for each other all the time, and now and then one takes a nap.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LARGE = 1 << 20,
    WORKERS_MAX = 4,
    NAP_US = 20000
};

static int rank, size;

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    unsigned seed, round;
    char *buffer;
    void (*run)(struct worker *w);
};

static void nap(struct worker *w)
{
    if (rand_r(&w->seed) % 64 == 0)
        usleep((useconds_t)(rand_r(&w->seed) % NAP_US));
}

/* Large and small messages around a ring. */
static void ring(struct worker *w)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int count = w->round % 16 ? 8 : LARGE / 2;
    MPI_Sendrecv(w->buffer, count, MPI_BYTE, right, 1, w->buffer + LARGE / 2, count, MPI_BYTE, left,
                 1, w->comm, MPI_STATUS_IGNORE);
}

/* Requests to and from both neighbours. */
static void halo(struct worker *w)
{
    MPI_Request all[4];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Irecv(w->buffer, 8, MPI_BYTE, left, 1, w->comm, &all[0]);
    MPI_Irecv(w->buffer + 8, 8, MPI_BYTE, right, 2, w->comm, &all[1]);
    MPI_Isend(w->buffer + 16, 8, MPI_BYTE, right, 1, w->comm, &all[2]);
    MPI_Issend(w->buffer + 24, 8, MPI_BYTE, left, 2, w->comm, &all[3]);
    MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
}

/* One collective after another, with roots that change. */
static void collectives(struct worker *w)
{
    char *from = w->buffer, *to = w->buffer + LARGE / 2;
    int root = (int)(w->round % (unsigned)size);
    switch (w->round % 7) {
    case 0: MPI_Barrier(w->comm); break;
    case 1: MPI_Bcast(from, 1024, MPI_INT, root, w->comm); break;
    case 2: MPI_Allreduce(from, to, 4, MPI_INT, MPI_SUM, w->comm); break;
    case 3: MPI_Gather(from, 16, MPI_INT, to, 16, MPI_INT, root, w->comm); break;
    case 4: MPI_Scatter(from, 16, MPI_INT, to, 16, MPI_INT, root, w->comm); break;
    case 5: MPI_Alltoall(from, 16, MPI_INT, to, 16, MPI_INT, w->comm); break;
    default: MPI_Reduce(from, to, 512, MPI_INT, MPI_SUM, root, w->comm);
    }
}

/* Rank 0 gives each other rank something to do, and takes any answer. */
static void farm(struct worker *w)
{
    MPI_Status status;
    if (rank) {
        MPI_Recv(w->buffer, 8, MPI_BYTE, 0, MPI_ANY_TAG, w->comm, &status);
        MPI_Send(w->buffer, 8, MPI_BYTE, 0, status.MPI_TAG, w->comm);
        return;
    }
    for (int i = 1; i < size; i++)
        MPI_Send(w->buffer, 8, MPI_BYTE, i, i, w->comm);
    for (int i = 1; i < size; i++) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &status);
        MPI_Recv(w->buffer, 8, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, w->comm, &status);
    }
}

/* Messages that come in another order than they are received, and are polled for. */
static void crossed(struct worker *w)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, flag = 0;
    MPI_Request request;
    MPI_Send(w->buffer, 8, MPI_BYTE, right, 7, w->comm);
    MPI_Isend(w->buffer, 8, MPI_BYTE, right, 8, w->comm, &request);
    MPI_Recv(w->buffer + 8, 8, MPI_BYTE, left, 8, w->comm, MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Iprobe(left, 7, w->comm, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(w->buffer + 8, 8, MPI_BYTE, left, 7, w->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Communicators that come and go. */
static void copies(struct worker *w)
{
    MPI_Comm copy, half;
    MPI_Comm_dup(w->comm, &copy);
    MPI_Barrier(copy);
    MPI_Comm_split(copy, rank % 2, rank, &half);
    MPI_Allreduce(MPI_IN_PLACE, w->buffer, 4, MPI_INT, MPI_MAX, half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

static const struct {
    const char *name;
    void (*run)(struct worker *w);
} cases[] = {
    {"ring", ring}, {"halo", halo},       {"collectives", collectives},
    {"farm", farm}, {"crossed", crossed}, {"copies", copies},
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (;; w->round++) {
        w->run(w);
        nap(w);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[WORKERS_MAX];
    int level, count = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init_thread(&argc, &argv, count ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < (count ? count : 1) && i < WORKERS_MAX; i++) {
        workers[i] = (struct worker){.seed = (unsigned)(rank * WORKERS_MAX + i)};
        workers[i].buffer = calloc(1, LARGE);
        for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
            if (argc > 1 && !strcmp(argv[1], cases[c].name))
                workers[i].run = cases[c].run;
        if (!workers[i].run || !workers[i].buffer)
            return 2;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    if (rank == 0) {
        puts("begun");
        fflush(stdout);
    }
    for (int i = 0; i < count && i < WORKERS_MAX; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    if (!count)
        work(&workers[0]);
    for (int i = 0; i < count && i < WORKERS_MAX; i++)
        pthread_join(workers[i].thread, NULL);
    MPI_Finalize();
    return 0;
}
