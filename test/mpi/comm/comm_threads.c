/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that make communicators at once, each out of its own parent: contexts must differ,
 * which messages with the same tag show, and the making must end. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 500, KEPT = 10 };

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

/* Communicators come and go, some live long; every one is used while others are made. */
static void *work(void *arg)
{
    struct job *job = arg;
    MPI_Comm kept[KEPT];
    for (int i = 0; i < KEPT; i++)
        kept[i] = MPI_COMM_NULL;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm part, *slot = &kept[i % KEPT];
        if (*slot != MPI_COMM_NULL) {
            talk(*slot, job->id, i);
            OK(MPI_Comm_free(slot));
        }
        OK(MPI_Comm_dup(job->parent, slot));
        OK(MPI_Comm_split(job->parent, check_rank(job->parent) % 2, 0, &part));
        talk(part, job->id, i);
        OK(MPI_Comm_free(&part));
    }
    for (int i = 0; i < KEPT; i++) {
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

/* Told apart by a text, without a communicator. */
static void *work_text(void *arg)
{
    struct job *job = arg;
    MPI_Group group;
    char text[32];
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;
        snprintf(text, sizeof(text), "org.example.thread-%d", job->id);
        OK(MPI_Comm_create_from_group(group, text, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        talk(comm, job->id, i);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
    return NULL;
}

/* Intercommunicators of the even and the odd ranks, whose leaders meet in one communicator. */
static void *work_inter(void *arg)
{
    struct job *job = arg;
    int rank = check_rank(job->parent);
    MPI_Comm side, inter, dup, all;
    OK(MPI_Comm_split(job->parent, rank % 2, 0, &side));
    for (int i = 0; i < ROUNDS / 10; i++) {
        OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - rank % 2, job->id, &inter));
        OK(MPI_Comm_dup(inter, &dup));
        OK(MPI_Intercomm_merge(dup, rank % 2, &all));
        OK(MPI_Comm_free(&inter));
        OK(MPI_Comm_free(&dup));
        talk(all, job->id, i);
        OK(MPI_Comm_free(&all));
    }
    OK(MPI_Comm_free(&side));
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
    run(work_text, jobs);
    if (check_size(MPI_COMM_WORLD) > 1)
        run(work_inter, jobs);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&jobs[i].parent));
    OK(MPI_Finalize());
    return 0;
}
