/* SPDX-License-Identifier: BSD-3-Clause */

/* Many threads make partitions of one message ready, others consume what has arrived, while the
 * main threads sleep in the wait for all. */
#include <string.h>

#include "threads.h"

enum {
    PER_THREAD = 25,
    PARTS = THREADS * PER_THREAD,
    ROUNDS = 20,
    PAUSE_MS = 5
};

static MPI_Request send, recv;
static int *out, *in, count, me, left, current;

static int value(int from, int part, int i)
{
    return from * 7919 + current * 104729 + part * 31 + i;
}

static void *produce(void *arg)
{
    struct thread *thread = arg;
    if (current % 4 == 0)
        threads_pause(PAUSE_MS);
    for (int k = 0; k < PER_THREAD; k++) {
        int part = k * THREADS + thread->number; /* neighbours are other threads' */
        for (int i = 0; i < count; i++)
            out[part * count + i] = value(me, part, i);
        OK(MPI_Pready(part, send));
    }
    return NULL;
}

static void *consume(void *arg)
{
    struct thread *thread = arg;
    for (int k = 0; k < PER_THREAD; k++) {
        int part = thread->number * PER_THREAD + k, there = 0;
        while (!there)
            OK(MPI_Parrived(recv, part, &there));
        for (int i = 0; i < count; i++)
            CHECK(in[part * count + i] == value(left, part, i));
    }
    return NULL;
}

static void round_of(int round)
{
    struct thread producers[THREADS], consumers[THREADS];
    current = round;
    OK(MPI_Start(&recv));
    OK(MPI_Start(&send));
    for (int i = 0; i < THREADS; i++) {
        producers[i].number = consumers[i].number = i;
        CHECK(!pthread_create(&producers[i].id, NULL, produce, &producers[i]));
        if (round % 2)
            CHECK(!pthread_create(&consumers[i].id, NULL, consume, &consumers[i]));
    }
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    for (int i = 0; i < THREADS; i++) {
        CHECK(!pthread_join(producers[i].id, NULL));
        if (round % 2)
            CHECK(!pthread_join(consumers[i].id, NULL));
    }
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < count; i++)
            CHECK(in[part * count + i] == value(left, part, i));
    memset(in, 0, (size_t)PARTS * (size_t)count * sizeof(int));
}

static void run(int elements)
{
    int size = check_size(MPI_COMM_WORLD);
    count = elements;
    me = check_rank(MPI_COMM_WORLD);
    left = (me + size - 1) % size;
    out = calloc((size_t)PARTS * (size_t)count, sizeof(int));
    in = calloc((size_t)PARTS * (size_t)count, sizeof(int));
    CHECK(out && in);
    OK(MPI_Psend_init(out, PARTS, count, MPI_INT, (me + 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &send));
    OK(MPI_Precv_init(in, PARTS, count, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    for (int round = 0; round < ROUNDS; round++)
        round_of(round);
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&recv));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    threads_init(&argc, &argv);
    run(4);
    run(20000);
    OK(MPI_Finalize());
    return 0;
}
