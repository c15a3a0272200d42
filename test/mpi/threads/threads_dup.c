/* SPDX-License-Identifier: BSD-3-Clause */

/* Communicators duplicated by several threads, each from its own parent, while others exchange
 * messages and buffered sends over theirs. */
#include "threads.h"

enum {
    ROUNDS = 25,
    LEN = 3000
};

static void dup_often(struct thread *thread)
{
    MPI_Comm comm;
    int me, size, got = -1;
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Comm_dup(thread->comm, &comm));
        me = check_rank(comm);
        size = check_size(comm);
        OK(MPI_Sendrecv(&i, 1, MPI_INT, (me + 1) % size, 0, &got, 1, MPI_INT,
                        (me + size - 1) % size, 0, comm, MPI_STATUS_IGNORE));
        CHECK(got == i);
        OK(MPI_Comm_free(&comm));
    }
}

static void talk(struct thread *thread)
{
    MPI_Comm comm = thread->comm;
    int me = check_rank(comm), size = check_size(comm);
    char out[LEN], in[LEN];
    OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < 4 * ROUNDS; i++) {
        uint32_t seed = (uint32_t)(i + thread->number);
        pattern_fill(out, LEN, seed);
        OK(MPI_Bsend(out, LEN, MPI_BYTE, (me + 1) % size, i, comm));
        OK(MPI_Recv(in, LEN, MPI_BYTE, (me + size - 1) % size, i, comm, MPI_STATUS_IGNORE));
        CHECK(pattern_is(in, LEN, seed));
        if (i % 10 == 9)
            OK(MPI_Comm_flush_buffer(comm));
    }
    void *back;
    int back_size;
    OK(MPI_Comm_detach_buffer(comm, &back, &back_size));
}

static void *work(void *arg)
{
    struct thread *thread = arg;
    if (thread->number % 2)
        talk(thread);
    else
        dup_often(thread);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[THREADS];
    threads_init(&argc, &argv);
    threads_run_apart(threads, THREADS, work);
    OK(MPI_Finalize());
    return 0;
}
