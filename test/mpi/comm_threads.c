/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that make communicators at once, each out of its own parent: contexts must differ,
 * which messages with the same tag show, and the making must end. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 30 };

struct job {
    MPI_Comm parent;
    int id;
};

/* Thread id's message says who sent it: one that went astray is seen. */
static void talk(MPI_Comm comm, int id, int round)
{
    int rank = check_rank(comm), size = check_size(comm);
    int out[3] = {rank, id, round}, in[3] = {-1, -1, -1};
    OK(MPI_Sendrecv(out, 3, MPI_INT, (rank + 1) % size, 9, in, 3, MPI_INT, MPI_ANY_SOURCE,
                    MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    CHECK(in[0] == (rank + size - 1) % size && in[1] == id && in[2] == round);
}

static void *work(void *arg)
{
    struct job *job = arg;
    MPI_Comm kept[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm part;
        OK(MPI_Comm_dup(job->parent, &kept[i]));
        OK(MPI_Comm_split(job->parent, check_rank(job->parent) % 2, 0, &part));
        talk(part, job->id, i);
        OK(MPI_Comm_free(&part));
    }
    for (int i = 0; i < ROUNDS; i++) {
        talk(kept[i], job->id, i);
        OK(MPI_Comm_free(&kept[i]));
    }
    return NULL;
}

/* All threads out of one communicator, told apart by tag alone. */
static void *work_group(void *arg)
{
    struct job *job = arg;
    MPI_Group group;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, job->id, &comm));
        talk(comm, job->id, i);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
    return NULL;
}

static void run(void *(*what)(void *), struct job *jobs)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, what, &jobs[i]));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int provided = -1;
    struct job jobs[THREADS];
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].id = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].parent));
    }
    run(work, jobs);
    run(work_group, jobs);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&jobs[i].parent));
    OK(MPI_Finalize());
    return 0;
}
