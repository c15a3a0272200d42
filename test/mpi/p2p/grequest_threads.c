/* SPDX-License-Identifier: BSD-3-Clause */

/* Generalized requests that other threads complete: who sleeps in a wait for them is woken at
 * once, and freeing one while it is being completed frees it once. */
#include "threads.h"

enum {
    ROUNDS = 12,
    SLEEP_MS = 20,
    LATE_MS = 25,
    RACES = 2000
};

struct work {
    MPI_Request request;
    double done;
    _Atomic int frees;
};

static int late;

static int query(void *state, MPI_Status *status)
{
    OK(MPI_Status_set_elements(status, MPI_BYTE, 0));
    OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int end(void *state)
{
    struct work *work = state;
    work->frees++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    return MPI_SUCCESS;
}

static void start(struct work *work)
{
    work->frees = 0;
    OK(MPI_Grequest_start(query, end, cancel, work, &work->request));
}

/* Works a while. */
static void *worker(void *arg)
{
    struct work *work = arg;
    threads_pause(SLEEP_MS);
    work->done = MPI_Wtime();
    OK(MPI_Grequest_complete(work->request));
    return NULL;
}

static void *completer(void *arg)
{
    struct work *work = arg;
    OK(MPI_Grequest_complete(work->request));
    return NULL;
}

/* Each wait sleeps; machines are busy, so some may be late, but nobody wakes half of them by
 * chance: a thread looks up ten times a second. */
static void asleep(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct work work;
        pthread_t thread;
        int index = -1, count = -1;
        start(&work);
        MPI_Request request = work.request;
        CHECK(!pthread_create(&thread, NULL, worker, &work));
        switch (round % 4) {
        case 0: OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); break;
        case 1: OK(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE)); break;
        case 2: OK(MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE)); break;
        default: OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        }
        late += (MPI_Wtime() - work.done) * 1e3 > LATE_MS;
        CHECK(request == MPI_REQUEST_NULL && work.frees == 1);
        CHECK(!pthread_join(thread, NULL));
    }
    CHECK(late * 2 < ROUNDS);
}

static void races(void)
{
    for (int round = 0; round < RACES; round++) {
        struct work work;
        pthread_t thread;
        start(&work);
        MPI_Request request = work.request;
        CHECK(!pthread_create(&thread, NULL, completer, &work));
        if (round % 2)
            OK(MPI_Request_free(&request));
        else
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(!pthread_join(thread, NULL));
        CHECK(work.frees == 1);
    }
}

int main(int argc, char **argv)
{
    threads_init(&argc, &argv);
    asleep();
    races();
    OK(MPI_Finalize());
    return 0;
}
