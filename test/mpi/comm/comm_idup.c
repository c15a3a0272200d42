/* SPDX-License-Identifier: BSD-3-Clause */

/* Copies made in the background: many at once, between other collectives and other makings, of
 * copies, of intercommunicators, by several threads, and while a process is in other calls. */
#include <pthread.h>

#include "check.h"

enum { COPIES = 40, ROUNDS = 8, THREADS = 6 };

/* A message around the ring; on an intercommunicator to the same rank over there and back. */
static void talk(MPI_Comm comm, int number)
{
    int rank = check_rank(comm), size = check_size(comm), inter;
    int out[2] = {rank, number}, in[2] = {-1, -1}, to = (rank + 1) % size,
        from = (rank + size - 1) % size;
    OK(MPI_Comm_test_inter(comm, &inter));
    if (inter) {
        int there;
        OK(MPI_Comm_remote_size(comm, &there));
        to = from = rank < there ? rank : MPI_PROC_NULL;
    }
    OK(MPI_Sendrecv(out, 2, MPI_INT, to, 5, in, 2, MPI_INT, from, 5, comm, MPI_STATUS_IGNORE));
    CHECK(from == MPI_PROC_NULL || (in[0] == from && in[1] == number));
}

static void many(MPI_Comm parent, int with_others)
{
    MPI_Comm copy[COPIES], other;
    MPI_Request request[COPIES];
    for (int i = 0; i < COPIES; i++) {
        OK(MPI_Comm_idup(parent, &copy[i], &request[i]));
        CHECK(copy[i] != MPI_COMM_NULL && request[i] != MPI_REQUEST_NULL);
        if (with_others && i % 7 == 3)
            OK(MPI_Barrier(parent));
        if (with_others && i % 11 == 5) {
            OK(MPI_Comm_dup(parent, &other));
            talk(other, i);
            OK(MPI_Comm_free(&other));
        }
    }
    OK(MPI_Waitall(COPIES, request, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COPIES; i++)
        talk(copy[i * 7 % COPIES], i);
    for (int i = 0; i < COPIES; i++)
        OK(MPI_Comm_free(&copy[i]));
}

/* The copy goes on while its process waits for something else. */
static void behind_others(void)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), word = 0, flag = 0;
    MPI_Comm copy;
    MPI_Request request;
    if (size < 2)
        return;
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
    if (rank == 0) { /* comes to the copy only when all others are done with it */
        for (int i = 1; i < size; i++)
            OK(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MPI_Status status = {.MPI_SOURCE = 0};
        while (!flag)
            OK(MPI_Test(&request, &flag, &status));
        CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
        OK(MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    }
    talk(copy, 1);
    OK(MPI_Comm_free(&copy));
}

static int copy_attr(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    *(void **)out = in;
    *flag = 1;
    return *(int *)extra;
}

static void attributes_and_hints(void)
{
    int keyval, rc = MPI_SUCCESS, flag, value;
    void *got;
    MPI_Comm copy;
    MPI_Request request;
    MPI_Info info, back;
    char text[8];
    OK(MPI_Comm_create_keyval(copy_attr, MPI_COMM_NULL_DELETE_FN, &keyval, &rc));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_idup_with_info(MPI_COMM_SELF, info, &copy, &request));
    OK(MPI_Info_free(&info));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_get_attr(copy, keyval, &got, &flag));
    CHECK(flag && got == &value);
    OK(MPI_Comm_get_info(copy, &back));
    int size = sizeof(text);
    OK(MPI_Info_get_string(back, "mpi_assert_no_any_tag", &size, text, &flag));
    CHECK(flag && text[0] == 't');
    OK(MPI_Info_free(&back));
    OK(MPI_Comm_free(&copy));
    rc = MPI_ERR_OTHER; /* the callback's refusal is the call's */
    FAILS(MPI_ERR_OTHER, MPI_Comm_idup(MPI_COMM_SELF, &copy, &request));
    rc = MPI_SUCCESS;
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
    OK(MPI_Comm_free_keyval(&keyval));
    FAILS(MPI_ERR_ARG, MPI_Comm_idup(MPI_COMM_SELF, &copy, NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_idup(MPI_COMM_NULL, &copy, &request));
}

static void of_copies(void)
{
    MPI_Comm first, second, halves, across, copy;
    MPI_Request request;
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &first, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_idup(first, &second, &request));
    OK(MPI_Comm_free(&first)); /* it is read from until the copy is made */
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    talk(second, 2);
    int rank = check_rank(second), size = check_size(second);
    if (size > 1) {
        OK(MPI_Comm_split(second, rank % 2, 0, &halves));
        OK(MPI_Intercomm_create(halves, 0, second, 1 - rank % 2, 3, &across));
        many(across, 0);
        OK(MPI_Comm_idup(across, &copy, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        talk(copy, 3);
        OK(MPI_Comm_free(&copy));
        OK(MPI_Comm_free(&across));
        OK(MPI_Comm_free(&halves));
    }
    OK(MPI_Comm_free(&second));
}

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        many(*(MPI_Comm *)arg, i % 2);
    return NULL;
}

static void by_threads(void)
{
    pthread_t thread[THREADS];
    MPI_Comm parent[THREADS];
    MPI_Request request[THREADS];
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &parent[i], &request[i]));
    OK(MPI_Waitall(THREADS, request, MPI_STATUSES_IGNORE));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, work, &parent[i]));
    for (int i = 0; i < THREADS; i++) {
        CHECK(!pthread_join(thread[i], NULL));
        OK(MPI_Comm_free(&parent[i]));
    }
}

int main(int argc, char **argv)
{
    int level;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < ROUNDS; i++)
        many(MPI_COMM_WORLD, i % 2);
    many(MPI_COMM_SELF, 1);
    behind_others();
    attributes_and_hints();
    of_copies();
    by_threads();
    OK(MPI_Finalize());
    return 0;
}
