/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that access files at once: each its own, collectively, in an order that differs from process
 * to process; and one file by all threads of a process. */
#include <pthread.h>

#include "io.h"

enum { THREADS = 4, ROUNDS = 20, N = 500 };

static int rank, size;
static MPI_Comm comms[THREADS], selves[THREADS];
static MPI_File files[THREADS], common;
static pthread_barrier_t together;

static void *own_file(void *arg)
{
    int me = (int)(long)arg, data[N], got[N];
    MPI_Status status;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            data[i] = rank * 1000000 + me * 100000 + round * 1000 + i;
        MPI_Offset at = (MPI_Offset)rank * N * (int)sizeof(int);
        OK(MPI_File_write_at_all(files[me], at, data, N, MPI_INT, &status));
        OK(MPI_File_read_at_all(files[me], at, got, N, MPI_INT, &status));
        CHECK(io_count(&status, MPI_INT) == N && !memcmp(data, got, sizeof(data)));
    }
    return NULL;
}

/* Every THREADS-th block of the file is a thread's: sieves of several threads overlap. */
static void *common_file(void *arg)
{
    int me = (int)(long)arg, turn = rank * THREADS + me, data[N], got[N];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            data[i] = turn * 100000 + round * N + i;
        MPI_Datatype apart;
        MPI_File own;
        OK(MPI_Type_vector(N, 1, THREADS * size, MPI_INT, &apart));
        OK(MPI_Type_commit(&apart));
        OK(MPI_File_open(selves[me], io_name("common"), MPI_MODE_RDWR, MPI_INFO_NULL, &own));
        OK(MPI_File_set_view(own, turn * (int)sizeof(int), MPI_INT, apart, "native", MPI_INFO_NULL));
        OK(MPI_File_write_at(own, 0, data, N, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(own, 0, got, N, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(!memcmp(data, got, sizeof(data)));
        OK(MPI_File_close(&own));
        OK(MPI_Type_free(&apart));
    }
    return NULL;
}

/* Accesses of one handle: contiguous ones, of each thread elsewhere. */
static void *one_handle(void *arg)
{
    int me = (int)(long)arg, data[N], got[N];
    MPI_Request request;
    pthread_barrier_wait(&together);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Offset at = ((MPI_Offset)(rank * THREADS + me) * ROUNDS + round) * (int)sizeof(data);
        for (int i = 0; i < N; i++)
            data[i] = me * 1000 + i + round;
        OK(MPI_File_iwrite_at(common, at, data, N, MPI_INT, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(common, at, got, N, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(!memcmp(data, got, sizeof(data)));
    }
    return NULL;
}

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        int which = rank % 2 ? THREADS - 1 - i : i;
        CHECK(!pthread_create(&threads[i], NULL, body, (void *)(long)which));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
}

int main(void)
{
    int provided;
    char name[16];
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    io_begin();
    CHECK(!pthread_barrier_init(&together, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof(name), "own%d", i);
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        OK(MPI_Comm_dup(MPI_COMM_SELF, &selves[i]));
        OK(MPI_File_open(comms[i], io_name(name),
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &files[i]));
    }
    common = io_open("common", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    run(own_file);
    run(common_file);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    run(one_handle);
    for (int i = 0; i < THREADS; i++) {
        OK(MPI_File_close(&files[i]));
        OK(MPI_Comm_free(&comms[i]));
        OK(MPI_Comm_free(&selves[i]));
    }
    OK(MPI_File_close(&common));
    pthread_barrier_destroy(&together);
    CHECK(io_end() == 0);
    OK(MPI_Finalize());
    return 0;
}
