/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that have gone to sleep in blocking calls while others work: each is woken by what it
 * waits for, whoever in the process brings it about, and not a look-up later. */
#include "threads.h"

enum {
    ROUNDS = 12,
    SLEEPERS = 4,
    SLEEP_MS = 20,
    LATE_MS = 25
};

static _Atomic int woken, late;

/* A message tells when it was sent. Machines are busy, so some may be late; but a thread that
 * nobody wakes looks up ten times a second, which makes three of four late. */
static void judge(double sent)
{
    woken++;
    late += (MPI_Wtime() - sent) * 1e3 > LATE_MS;
}

static void *sleeper(void *arg)
{
    struct thread *thread = arg;
    for (int round = 0; round < ROUNDS; round++) {
        double sent = 0;
        MPI_Request request;
        int index;
        switch ((thread->number + round) % 4) {
        case 0:
            OK(MPI_Recv(&sent, 1, MPI_DOUBLE, MPI_ANY_SOURCE, thread->number, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
            break;
        case 1:
            OK(MPI_Probe(MPI_ANY_SOURCE, thread->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Recv(&sent, 1, MPI_DOUBLE, MPI_ANY_SOURCE, thread->number, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
            break;
        case 2:
            OK(MPI_Irecv(&sent, 1, MPI_DOUBLE, MPI_ANY_SOURCE, thread->number, MPI_COMM_WORLD,
                         &request));
            OK(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE));
            break;
        default:
            OK(MPI_Irecv(&sent, 1, MPI_DOUBLE, MPI_ANY_SOURCE, thread->number, MPI_COMM_WORLD,
                         &request));
            OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        }
        judge(sent);
    }
    return NULL;
}

/* Works a while, then sends to each sleeper of its own process and of the next. */
static void wake_all(int to, int round)
{
    for (int i = 0; i < SLEEPERS; i++) {
        threads_pause(SLEEP_MS);
        double now = MPI_Wtime();
        OK((round % 2 ? MPI_Ssend : MPI_Send)(&now, 1, MPI_DOUBLE, to, i, MPI_COMM_WORLD));
    }
}

/* A long message to a sleeping thread of this process: both sides have a part in it, and the
 * sender sleeps too. */
static void *send_long(void *arg)
{
    struct thread *thread = arg;
    enum {
        LEN = 1 << 20
    };
    char *bytes = pattern_alloc(LEN);
    int me = check_rank(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        if (thread->number == 0) {
            pattern_fill(bytes, LEN, (uint32_t)round);
            OK(MPI_Send(bytes, LEN, MPI_BYTE, me, 9, MPI_COMM_WORLD));
            continue;
        }
        threads_pause(SLEEP_MS);
        MPI_Request request;
        double began = MPI_Wtime();
        OK(MPI_Irecv(bytes, LEN, MPI_BYTE, me, 9, MPI_COMM_WORLD, &request));
        if (round % 2) /* the other thread is the one that must move things */
            threads_pause(SLEEP_MS);
        else
            judge(began);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(pattern_is(bytes, LEN, (uint32_t)round));
    }
    free(bytes);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[SLEEPERS], senders[2];
    threads_init(&argc, &argv);
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int i = 0; i < SLEEPERS; i++) {
        threads[i].number = i;
        CHECK(!pthread_create(&threads[i].id, NULL, sleeper, &threads[i]));
    }
    for (int round = 0; round < ROUNDS; round++)
        wake_all(round % 2 ? me : (me + 1) % size, round);
    for (int i = 0; i < SLEEPERS; i++)
        CHECK(!pthread_join(threads[i].id, NULL));
    threads_run(senders, 2, send_long);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(late * 2 < woken);
    OK(MPI_Finalize());
    return 0;
}
