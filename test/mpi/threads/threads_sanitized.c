/* SPDX-License-Identifier: BSD-3-Clause */

/* A correct program, built with the thread sanitizer beside a library that is not: it is not warned.
 * With an argument it ends before MPI begins. */
#include <stdlib.h>

#include "check.h"
#include "threads.h"

enum {
    SENDERS = 4,
    ROUNDS = 40,
    LARGEST = 100000
};

static int rank, size;

static void fill(int *numbers, int count, int value)
{
    for (int i = 0; i < count; i++)
        numbers[i] = value;
}

static void complete(int round, MPI_Request *requests)
{
    int done = 0;
    if (round % 2)
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    while (round % 2 == 0 && !done)
        OK(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
}

static void make_objects(MPI_Comm comm)
{
    MPI_Comm copy;
    MPI_Datatype type;
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&type));
}

static void *exchange(void *arg)
{
    static const int counts[] = {1, 100, 5000, LARGEST};
    struct thread *me = arg;
    int to = (rank + 1) % size, from = (rank + size - 1) % size, other = me->number ^ 1;
    int *out = malloc(LARGEST * sizeof(int)), *in = malloc(LARGEST * sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        int count = counts[round % 4], sum = 0;
        MPI_Request requests[2];
        fill(out, count, round + me->number);
        OK(MPI_Irecv(in, count, MPI_INT, round % 3 ? from : MPI_ANY_SOURCE, me->number,
                     MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(out, count, MPI_INT, to, other, MPI_COMM_WORLD, &requests[1]));
        complete(round, requests);
        for (int i = 0; i < count; i++)
            CHECK(in[i] == round + other);
        fill(in, count, -1);
        OK(MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, me->comm));
        CHECK(sum == count * size);
        if (round % 10 == 0)
            make_objects(me->comm);
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[SENDERS];
    if (argc > 1)
        return 0;
    threads_init(&argc, &argv);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    threads_run_apart(threads, SENDERS, exchange);
    OK(MPI_Finalize());
    return 0;
}
