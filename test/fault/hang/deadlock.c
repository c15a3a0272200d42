/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs that never end, each by one mistake, for deadlock.sh: usage: deadlock CASE. They want
 * four ranks.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LARGE = 4 << 20,
    SOON_US = 300000
};

static int rank, size;
static char *large;

static __attribute__((noinline)) void receive(int from, int tag)
{
    MPI_Recv(large, LARGE, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to, int tag, int count)
{
    MPI_Send(large, count, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

/* Ranks 0 and 1 both receive before they send. */
static void head_to_head(void)
{
    if (rank < 2) {
        receive(1 - rank, 5);
        send(1 - rank, 5, 4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 sends with tag 7 what rank 2 wants with tag 8. */
static void wrong_tag(void)
{
    if (rank == 1)
        send(2, 7, 4);
    if (rank == 2)
        receive(1, 8);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 3 sends in a duplicate what rank 0 wants in the original. */
static void wrong_comm(void)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "the copy");
    if (rank == 3)
        MPI_Send(large, 4, MPI_BYTE, 0, 1, copy);
    if (rank == 0)
        receive(3, 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 2 takes another branch, in which it waits for rank 0. */
static void missing(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        receive(0, 3);
    else
        MPI_Allreduce(MPI_IN_PLACE, large, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Rank 1 has nothing more to do, it thinks. */
static void finalized(void)
{
    if (rank == 1) {
        send(0, 0, 4);
        MPI_Finalize();
        exit(0);
    }
    if (rank == 0) {
        receive(1, 0);
        receive(1, 0);
    }
}

/* Rank 2 leaves a large send behind, which rank 0 receives with another tag. */
static void unsent(void)
{
    MPI_Request request;
    if (rank == 2) {
        MPI_Isend(large, LARGE, MPI_BYTE, 0, 21, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    if (rank == 0)
        receive(2, 22);
}

/* Rank 3 waits until its buffer is empty, of a message to rank 0, which computes. */
static void buffered(void)
{
    if (rank == 3) {
        MPI_Buffer_attach(malloc(2 * LARGE), 2 * LARGE);
        MPI_Bsend(large, LARGE, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    if (rank == 0)
        sleep(100);
}

/* Rank 1 receives in parts what rank 2 sends whole. */
static void parts(void)
{
    MPI_Request request;
    if (rank == 1) {
        MPI_Precv_init(large, 4, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 2)
        MPI_Ssend(large, 4, MPI_INT, 1, 6, MPI_COMM_WORLD);
}

/* Rank 2 waits for a message to rank 1 of which it has not made every part ready. */
static void unready(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1)
        MPI_Precv_init(large, 4, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank == 2)
        MPI_Psend_init(large, 4, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (request == MPI_REQUEST_NULL)
        return;
    MPI_Start(&request);
    if (rank == 2)
        MPI_Pready_range(0, 2, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Two large sends, and nobody receives yet. */
static void sends(void)
{
    if (rank >= 2) {
        send(5 - rank, 0, LARGE);
        receive(5 - rank, 0);
    }
}

/* Rank 3 computes, outside MPI. */
static void computes(void)
{
    volatile double sum = 0;
    for (double i = 0; rank == 3; i++)
        sum = sum + i;
    MPI_Bcast(large, 8, MPI_BYTE, 3, MPI_COMM_WORLD);
}

/* Rank 2 sleeps outside MPI while rank 0 waits for any message. */
static void sleeps(void)
{
    if (rank == 2)
        sleep(100);
    else
        MPI_Probe(2, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1 has ended before anything was sent to it: rank 2 hears of that. */
static void ended(void)
{
    if (rank == 1) {
        MPI_Finalize();
        exit(0);
    }
    if (rank == 2) {
        usleep(SOON_US);
        receive(1, 9);
    }
}

/* Rank 0 makes a request that it never starts, and then waits for rank 1's answer. */
static void never_started(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI_Send_init(large, 4, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
        receive(1, 3);
    }
    if (rank == 1) {
        receive(0, 2);
        send(0, 3, 4);
    }
}

/* Rank 3 reduces where the others broadcast; they go on. */
static void different(void)
{
    if (rank == 3)
        MPI_Allreduce(MPI_IN_PLACE, large, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Bcast(large, 8, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 gathers where the others scatter: all wait in it. */
static void mixed(void)
{
    if (rank == 1)
        MPI_Gather(large, 8, MPI_INT, large + 64, 8, MPI_INT, 1, MPI_COMM_WORLD);
    else
        MPI_Scatter(large + 64, 8, MPI_INT, large, 8, MPI_INT, 1, MPI_COMM_WORLD);
}

/* Rank 0 sends with tag 8 what rank 1 wants with tag 7, and rank 2 computes. */
static void busy_tag(void)
{
    volatile double sum = 0;
    if (rank == 0)
        send(1, 8, 4);
    if (rank == 1)
        receive(0, 7);
    for (double i = 0; rank == 2; i++)
        sum = sum + i;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What rank 0 sends with tag 8 is early: it waits for rank 2, and would then send with tag 7. */
static void early(void)
{
    if (rank == 0) {
        send(1, 8, 4);
        receive(2, 1);
        send(1, 7, 4);
    }
    if (rank == 1) {
        receive(0, 7);
        receive(0, 8);
    }
    if (rank == 2)
        sleep(100);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In a ring rank 1 takes other tags than all others. */
static void ring_tag(void)
{
    int tag = rank == 1 ? 12 : 11, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(large, 4, MPI_BYTE, right, tag, large + 64, 4, MPI_BYTE, left, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In the third round of an exchange rank 2 forgets one of its sends. */
static void unsent_round(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < 5; round++) {
        MPI_Request all[4];
        int n = 0;
        MPI_Irecv(large, 4, MPI_BYTE, left, 0, MPI_COMM_WORLD, &all[n++]);
        MPI_Irecv(large + 64, 4, MPI_BYTE, right, 1, MPI_COMM_WORLD, &all[n++]);
        MPI_Isend(large + 128, 4, MPI_BYTE, left, 1, MPI_COMM_WORLD, &all[n++]);
        if (rank != 2 || round != 2)
            MPI_Isend(large + 128, 4, MPI_BYTE, right, 0, MPI_COMM_WORLD, &all[n++]);
        MPI_Waitall(n, all, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 3 sends to rank 0 of the world what is for rank 0 of its half. */
static void strayed(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    if (rank == 3)
        MPI_Send(large, 4, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Recv(large, 4, MPI_BYTE, 1, 7, half, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 receives from rank 3 what rank 0 has sent. */
static void source(void)
{
    if (rank == 0)
        send(1, 7, 4);
    if (rank == 1)
        receive(3, 7);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 takes a message off the queue, and never receives it. */
static void taken(void)
{
    MPI_Message message;
    if (rank == 0)
        MPI_Mprobe(1, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Ssend(large, 4, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 2 is of the group, and does not call. */
static void group(void)
{
    static const int members[3] = {0, 1, 2};
    MPI_Group world, three;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, members, &three);
    if (rank < 2)
        MPI_Comm_create_group(MPI_COMM_WORLD, three, 5, &made);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 3 does not take part. */
static void uncopied(void)
{
    MPI_Comm copy;
    if (rank != 3)
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 2 thinks rank 1 the root. */
static void root(void)
{
    MPI_Gather(large, 8, MPI_INT, large + 64, 8, MPI_INT, rank == 2 ? 1 : 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 2 thinks rank 1 the root of a broadcast. */
static void bcast_root(void)
{
    MPI_Bcast(large, LARGE, MPI_BYTE, rank == 2 ? 1 : 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 does one round more, or less, than the others. */
static void rounds(int odd)
{
    for (int i = 0; i < (rank == 1 ? odd : 3); i++)
        MPI_Allreduce(MPI_IN_PLACE, large, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void once_more(void)
{
    rounds(4);
}

static void early_leaver(void)
{
    rounds(2);
}

/* Rank 0 takes from any rank what it then wants from rank 2. */
static void wildcard(void)
{
    if (rank == 2)
        send(0, 4, 4);
    if (rank == 0) {
        receive(MPI_ANY_SOURCE, 4);
        receive(2, 4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 does one barrier more than all others, in their midst. */
static void extra(void)
{
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(MPI_IN_PLACE, large, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0 && i == 1)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 1 sends with tag 5 what rank 0 looks for with tag 4. */
static void peeks_tag(void)
{
    int flag = 0;
    if (rank == 1)
        send(0, 5, 4);
    while (rank == 0 && !flag)
        MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same with MPI_Test. */
static void tests_tag(void)
{
    MPI_Request request;
    int flag = 0;
    if (rank == 1)
        send(0, 5, 4);
    if (rank == 0)
        MPI_Irecv(large, 4, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
    while (rank == 0 && !flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks 0 to 3 wait for each other; of the many others half look for a message, and half compute.
 */
static void crowd(void)
{
    volatile double sum = 0;
    int flag = 0;
    if (rank < 4)
        receive((rank + 1) % 4, 1);
    while (rank % 2 && !flag)
        MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (double i = 0; rank % 2 == 0; i++)
        sum = sum + i;
}

/* Ranks 0 and 1 wait for each other, and rank 0 has hardly any processor time. */
static void starved(void)
{
    cpu_set_t cpus = {{0}};
    int cpu = sched_getcpu();
    MPI_Bcast(&cpu, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CPU_SET(cpu, &cpus);
    if (rank != 1)
        (void)sched_setaffinity(0, sizeof(cpus), &cpus);
    if (rank == 0)
        (void)sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    if (rank < 2)
        receive(1 - rank, 5);
    while (sched_getcpu() >= 0)
        ;
}

/* No mistake: a ring that goes on. */
static void lively(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (;;)
        MPI_Sendrecv(large, 4, MPI_BYTE, right, 1, large + 64, 4, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

/* Ranks 0 and 1 come to two communicators in different orders. */
static void crossed(void)
{
    MPI_Comm two[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &two[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &two[1]);
    MPI_Comm_set_name(two[0], "first");
    MPI_Comm_set_name(two[1], "second");
    MPI_Barrier(two[rank == 1]);
    MPI_Barrier(two[rank != 1]);
}

/* All wait for their left neighbour, of several requests each. */
static void ring(void)
{
    MPI_Request two[2];
    int left = (rank + size - 1) % size;
    MPI_Irecv(large, 4, MPI_BYTE, left, 1, MPI_COMM_WORLD, &two[0]);
    MPI_Irecv(large + 8, 4, MPI_BYTE, left, 2, MPI_COMM_WORLD, &two[1]);
    MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
}

/* Ranks 1 to 3 wait for a barrier that they have begun; rank 0 is elsewhere. */
static void begun(void)
{
    MPI_Request request;
    if (rank == 0)
        receive(1, 3);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 3 begins another collective than the others. */
static void begun_other(void)
{
    MPI_Request request;
    if (rank == 3)
        MPI_Igather(large, 1, MPI_INT, large + 64, 1, MPI_INT, 3, MPI_COMM_WORLD, &request);
    else
        MPI_Iallreduce(MPI_IN_PLACE, large, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 0 does not start what it has made. */
static void unstarted(void)
{
    MPI_Request request;
    MPI_Allreduce_init(MPI_IN_PLACE, large, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 2 copies a communicator by another call. */
static void copied(void)
{
    MPI_Comm copy;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 2)
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    else
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 0 looks again and again for what rank 1 never sends; all others wait for rank 0. */
static void polls(void)
{
    int flag = 0;
    while (rank == 0 && !flag)
        MPI_Iprobe(1, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same with MPI_Test, and with a pause between two looks. */
static void tests(void)
{
    MPI_Request request;
    int flag = 0;
    if (rank == 0)
        MPI_Irecv(large, 4, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
    while (rank == 0 && !flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        usleep(SOON_US / 10);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same with MPI_Iprobe and a pause. */
static void peeks(void)
{
    int flag = 0;
    while (rank == 0 && !flag) {
        MPI_Iprobe(1, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(SOON_US / 10);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each waits for rank 3 in another function; rank 3 computes. */
static void named(void)
{
    MPI_Request request;
    MPI_Comm copy;
    int index;
    MPI_Irecv(large, 4, MPI_BYTE, 3, 1, MPI_COMM_WORLD, &request);
    if (rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
    if (rank == 2)
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    while (rank == 3)
        usleep(SOON_US);
}

/* An intercommunicator between ranks 0 and 1 and ranks 2 and 3. */
static void bridge(MPI_Comm *inter)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 1, inter);
    MPI_Comm_set_name(*inter, "bridge");
    MPI_Barrier(*inter);
}

/* Rank 3 is missing; its group waits within, and rank 0 for the other group. */
static void between(void)
{
    MPI_Comm inter;
    bridge(&inter);
    if (rank == 3)
        receive(0, 14);
    MPI_Allreduce(large, large + 8, 1, MPI_INT, MPI_SUM, inter);
}

/* The root is missing; its group has gone on. */
static void unrooted(void)
{
    MPI_Comm inter;
    bridge(&inter);
    if (rank == 0)
        receive(3, 14);
    MPI_Bcast(large, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0, inter);
    MPI_Barrier(inter);
}

static void *wait_in_thread(void *from)
{
    receive(*(int *)from, 11);
    return NULL;
}

/* Two threads of rank 0 wait, for ranks 1 and 2, which wait for rank 0. */
static void threads(void)
{
    static int from[2] = {1, 2};
    pthread_t other;
    if (rank == 0) {
        pthread_create(&other, NULL, wait_in_thread, &from[1]);
        wait_in_thread(&from[0]);
        pthread_join(other, NULL);
    } else if (rank < 3) {
        receive(0, 12);
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *send_locked(void *arg)
{
    usleep(SOON_US);
    pthread_mutex_lock(&mutex);
    send(1 - rank, 0, 4);
    pthread_mutex_unlock(&mutex);
    return arg;
}

/* Ranks 0 and 1 receive with the lock held that their other threads want, to send. */
static void locked(void)
{
    pthread_t other;
    if (rank > 1)
        return;
    pthread_create(&other, NULL, send_locked, NULL);
    pthread_mutex_lock(&mutex);
    receive(1 - rank, 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static void *compute(void *arg)
{
    volatile double sum = 0;
    for (double i = 0; i >= 0; i++)
        sum = sum + i;
    send(1, 0, 4);
    return arg;
}

/* Rank 1 waits for rank 0, and rank 0 for rank 1; but another thread of rank 0 computes, to send.
 */
static void helper(void)
{
    pthread_t other;
    if (rank == 0)
        pthread_create(&other, NULL, compute, NULL);
    if (rank < 2)
        receive(1 - rank, 0);
}

static void *send_late(void *arg)
{
    sleep(100);
    send(1, 0, 4);
    return arg;
}

/* The same, but the other thread of rank 0 sleeps before it sends: no mistake. */
static void naps(void)
{
    pthread_t other;
    if (rank == 0)
        pthread_create(&other, NULL, send_late, NULL);
    if (rank < 2)
        receive(1 - rank, 0);
}

static void *make_and_free(void *arg)
{
    enum {
        MANY = 3000
    };
    MPI_Request requests[MANY];
    for (;;) {
        for (int i = 0; i < MANY; i++)
            MPI_Send_init(large, 4, MPI_BYTE, 0, i % 5, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < MANY; i++)
            MPI_Request_free(&requests[i]);
    }
    return arg;
}

/* Rank 0 waits for rank 1, whose threads make requests that they never start. */
static void restless(void)
{
    pthread_t other;
    if (rank == 0)
        receive(1, 13);
    for (int i = 0; i < 3 && rank == 1; i++)
        pthread_create(&other, NULL, make_and_free, NULL);
    for (int flag = 0; rank == 1 && !flag;)
        MPI_Iprobe(0, 13, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Rank 2 has nobody in its way, and is not MPI's yet. */
static void late(int *argc, char ***argv)
{
    const char *mine = getenv("BNR_RANK");
    if (mine && !strcmp(mine, "2"))
        sleep(100);
    MPI_Init(argc, argv);
    large = calloc(1, LARGE);
    MPI_Ssend(large, 4, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
}

/* Rank 0 waits for rank 1, which writes a line every 20 ms. */
static void ticks(void)
{
    if (rank == 0)
        receive(1, 15);
    while (rank == 1) {
        puts("tick");
        fflush(stdout);
        usleep(SOON_US / 15);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"head_to_head", head_to_head},
    {"wrong_tag", wrong_tag},
    {"wrong_comm", wrong_comm},
    {"missing", missing},
    {"finalized", finalized},
    {"sends", sends},
    {"unsent", unsent},
    {"buffered", buffered},
    {"parts", parts},
    {"unready", unready},
    {"computes", computes},
    {"sleeps", sleeps},
    {"ended", ended},
    {"never_started", never_started},
    {"different", different},
    {"mixed", mixed},
    {"crossed", crossed},
    {"ring", ring},
    {"starved", starved},
    {"begun", begun},
    {"begun_other", begun_other},
    {"unstarted", unstarted},
    {"copied", copied},
    {"polls", polls},
    {"tests", tests},
    {"peeks", peeks},
    {"named", named},
    {"between", between},
    {"unrooted", unrooted},
    {"crowd", crowd},
    {"lively", lively},
    {"busy_tag", busy_tag},
    {"early", early},
    {"ring_tag", ring_tag},
    {"unsent_round", unsent_round},
    {"strayed", strayed},
    {"source", source},
    {"taken", taken},
    {"group", group},
    {"uncopied", uncopied},
    {"root", root},
    {"bcast_root", bcast_root},
    {"once_more", once_more},
    {"early_leaver", early_leaver},
    {"wildcard", wildcard},
    {"extra", extra},
    {"peeks_tag", peeks_tag},
    {"tests_tag", tests_tag},
    {"threads", threads},
    {"locked", locked},
    {"helper", helper},
    {"naps", naps},
    {"restless", restless},
    {"ticks", ticks},
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int level;
    if (!strcmp(name, "late"))
        late(&argc, &argv);
    int multiple = !strcmp(name, "threads") || !strcmp(name, "restless") ||
                   !strcmp(name, "locked") || !strcmp(name, "helper") ||
                   !strcmp(name, "naps");
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    large = calloc(1, LARGE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (large && !strcmp(name, cases[i].name))
            cases[i].run();
    MPI_Finalize();
    return 0;
}
