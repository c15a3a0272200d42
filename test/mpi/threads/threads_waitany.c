/* SPDX-License-Identifier: BSD-3-Clause */

/* Several threads in MPI_Waitany, MPI_Waitsome, MPI_Testany and MPI_Probe at once, each over its
 * own requests, while yet others send, cancel and free theirs. */
#include <string.h>

#include "threads.h"

enum {
    WAITERS = 4,
    ALL = 2 * WAITERS,
    WINDOW = 8,
    MESSAGES = 300
};

static int numbers[MESSAGES];

static void again(int values[], MPI_Request requests[], int slot, int from, int tag)
{
    values[slot] = -1;
    OK(MPI_Irecv(&values[slot], 1, MPI_INT, from, tag, MPI_COMM_WORLD, &requests[slot]));
}

/* A window of receives, taken as they come: every number must come once. */
static void *wait_for(void *arg)
{
    struct thread *thread = arg;
    int size = check_size(MPI_COMM_WORLD), me = check_rank(MPI_COMM_WORLD), tag = thread->number;
    int from = (me + size - 1) % size, posted = WINDOW, came = 0;
    int values[WINDOW], indices[WINDOW];
    char seen[MESSAGES] = {0};
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        again(values, requests, i, from, tag);
    while (came < MESSAGES) {
        int count = 1, flag = 0;
        if (tag % 3 == 0)
            OK(MPI_Waitsome(WINDOW, requests, &count, indices, MPI_STATUSES_IGNORE));
        else if (tag % 3 == 1)
            OK(MPI_Waitany(WINDOW, requests, &indices[0], MPI_STATUS_IGNORE));
        else
            while (!flag)
                OK(MPI_Testany(WINDOW, requests, &indices[0], &flag, MPI_STATUS_IGNORE));
        CHECK(count >= 1 && count <= WINDOW);
        for (int i = 0; i < count; i++) {
            int value = values[indices[i]];
            CHECK(value >= 0 && value < MESSAGES && !seen[value]);
            seen[value] = 1;
            came++;
            if (posted < MESSAGES) {
                again(values, requests, indices[i], from, tag);
                posted++;
            }
        }
    }
    for (int i = 0; i < WINDOW; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    return NULL;
}

/* Sends, some of them freed at once, and now and then a receive that is taken back. */
static void *send_to(void *arg)
{
    struct thread *thread = arg;
    int size = check_size(MPI_COMM_WORLD), me = check_rank(MPI_COMM_WORLD);
    int to = (me + 1) % size, tag = thread->number - WAITERS, nothing, flag = 0;
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request request, unwanted;
        MPI_Status status;
        OK((i % 5 == 4 ? MPI_Issend : MPI_Isend)(&numbers[i], 1, MPI_INT, to, tag, MPI_COMM_WORLD,
                                                 &request));
        if (i % 7 == 0) {
            OK(MPI_Irecv(&nothing, 1, MPI_INT, to, 1000 + tag, MPI_COMM_WORLD, &unwanted));
            OK(MPI_Cancel(&unwanted));
            OK(MPI_Wait(&unwanted, &status));
            OK(MPI_Test_cancelled(&status, &flag));
            CHECK(flag);
        }
        if (i % 3 == 0)
            OK(MPI_Request_free(&request));
        else
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return NULL;
}

static void *work(void *arg)
{
    return ((struct thread *)arg)->number < WAITERS ? wait_for(arg) : send_to(arg);
}

int main(int argc, char **argv)
{
    struct thread threads[ALL];
    threads_init(&argc, &argv);
    for (int i = 0; i < MESSAGES; i++)
        numbers[i] = i;
    threads_run(threads, ALL, work);
    OK(MPI_Finalize());
    return 0;
}
