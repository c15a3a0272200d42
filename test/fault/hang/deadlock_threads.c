/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs of several threads that never end, each by one mistake, for deadlock_threads.sh: usage:
 * deadlock_threads CASE. They want four ranks. Each rank has workers, and its main thread joins
 * them.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LARGE = 4 << 20,
    WORKERS = 2,
    SOON_US = 300000
};

static int rank, size;
static char *large;
static MPI_Comm own[WORKERS]; /* a communicator for each worker */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;

static void receive(int from, int tag)
{
    MPI_Recv(large, LARGE, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to, int tag)
{
    MPI_Send(large, 4, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

struct worker {
    pthread_t thread;
    int number;
    void (*run)(int worker);
};

static void *start(void *arg)
{
    struct worker *w = arg;
    w->run(w->number);
    return NULL;
}

static void begin(struct worker *w, int number, void (*run)(int worker))
{
    *w = (struct worker){.number = number, .run = run};
    pthread_create(&w->thread, NULL, start, w);
}

/* Run so many workers, each with its number, and join them. */
static void work(int count, void (*run)(int worker))
{
    struct worker workers[WORKERS];
    for (int i = 0; i < count; i++)
        begin(&workers[i], i, run);
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

/* Both workers of ranks 0 and 1 receive before they send. */
static void exchange(int worker)
{
    receive(1 - rank, worker);
    send(1 - rank, worker);
}

static void both_receive(void)
{
    if (rank < 2)
        work(2, exchange);
    barrier();
}

/* Each worker takes a message of the wrong tag. */
static void send_or_take(int worker)
{
    if (rank == 0)
        send(1, 10 + worker);
    else
        receive(0, 20 + worker);
}

static void wrong_tags(void)
{
    if (rank < 2)
        work(2, send_or_take);
    barrier();
}

/* The worker that would send is never woken. */
static void send_when_woken(int worker)
{
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    send(3, worker);
}

static void unwoken(void)
{
    struct worker w;
    if (rank == 2)
        begin(&w, 0, send_when_woken);
    if (rank == 3)
        receive(2, 0);
    barrier();
}

/* The second worker of rank 1 has nothing to do, it thinks. */
static void meet(int worker)
{
    if (rank != 1 || worker == 0)
        MPI_Barrier(own[worker]);
}

static void idle_worker(void)
{
    work(2, meet);
    barrier();
}

/* The lock is held across a send that the other rank can only receive with its own lock. */
static void receive_locked(int worker)
{
    usleep(SOON_US);
    pthread_mutex_lock(&mutex);
    receive(1 - rank, worker);
    pthread_mutex_unlock(&mutex);
}

static void send_locked(void)
{
    struct worker w;
    if (rank < 2) {
        begin(&w, 0, receive_locked);
        pthread_mutex_lock(&mutex);
        MPI_Ssend(large, 4, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        pthread_mutex_unlock(&mutex);
        pthread_join(w.thread, NULL);
    }
    barrier();
}

/* All workers wait for their left neighbour. */
static void around(int worker)
{
    receive((rank + size - 1) % size, worker);
    send((rank + 1) % size, worker);
}

static void two_rings(void)
{
    work(2, around);
}

/* One worker sends to its own rank what the other awaits with another tag. */
static void to_oneself(int worker)
{
    if (worker)
        MPI_Ssend(large, 4, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    else
        receive(0, 2);
}

static void oneself(void)
{
    if (rank == 0)
        work(2, to_oneself);
    barrier();
}

/* So many rounds in a worker, but in one rank. */
static int odd_rank, odd_rounds;
static void rounds(int worker)
{
    for (int i = 0; i < (rank == odd_rank ? odd_rounds : 3); i++)
        MPI_Allreduce(MPI_IN_PLACE, large, 8, MPI_INT, MPI_SUM, own[worker]);
}

static void round_more(void)
{
    odd_rank = 2;
    odd_rounds = 4;
    work(1, rounds);
}

static void round_less(void)
{
    odd_rank = 1;
    odd_rounds = 2;
    work(1, rounds);
}

/* Rank 3 thinks rank 1 the root. */
static void spread(int worker)
{
    MPI_Bcast(large, 8, MPI_INT, rank == 3 ? 1 : 0, own[worker]);
    MPI_Barrier(own[worker]);
}

static void worker_roots(void)
{
    work(1, spread);
}

/* A worker takes whatever comes, and so the one message that the main thread waits for. */
static void take_any(int worker)
{
    (void)worker;
    MPI_Recv(large, LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void greedy(void)
{
    if (rank == 1)
        send(0, 5);
    if (rank == 0) {
        work(1, take_any);
        receive(1, 5);
    }
    barrier();
}

/* Both workers see one message, and both receive it. */
static void look_and_take(int worker)
{
    (void)worker;
    MPI_Probe(1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&both);
    receive(1, 5);
}

static void probed_twice(void)
{
    if (rank == 1)
        send(0, 5);
    if (rank == 0)
        work(2, look_and_take);
    barrier();
}

/* A worker takes a message off the queue, and never receives it. */
static void take_off(int worker)
{
    MPI_Message message;
    MPI_Mprobe(1, worker, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
}

static void never_received(void)
{
    if (rank == 0)
        work(1, take_off);
    if (rank == 1)
        MPI_Ssend(large, 4, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    barrier();
}

/* Rank 3 does not send what the worker of rank 0 awaits beside a message of rank 2. */
static void gather_two(int worker)
{
    MPI_Request two[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(large + 8 * i, 4, MPI_BYTE, 2 + i, worker, MPI_COMM_WORLD, &two[i]);
    MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
}

static void one_of_two(void)
{
    if (rank == 0)
        work(1, gather_two);
    if (rank == 2)
        send(0, 0);
    barrier();
}

/* The worker of rank 0 never comes to its send. */
static void compute(int worker)
{
    volatile double sum = 0;
    for (double i = 0; i >= 0; i++)
        sum = sum + i;
    send(1, worker);
}

static void endless(void)
{
    struct worker w;
    if (rank == 0)
        begin(&w, 0, compute);
    if (rank == 1)
        receive(0, 0);
    barrier();
}

/* The worker makes a request and does not start it. */
static void make_request(int worker)
{
    MPI_Request request;
    MPI_Send_init(large, 4, MPI_BYTE, 1, 2 + worker, MPI_COMM_WORLD, &request);
}

static void unstarted(void)
{
    if (rank == 0) {
        work(1, make_request);
        receive(1, 3);
    }
    if (rank == 1) {
        receive(0, 2);
        send(0, 3);
    }
}

/* Two workers make parts of a message ready, and one of four is forgotten. */
static MPI_Request parts;
static void make_ready(int worker)
{
    MPI_Pready(2 * worker, parts);
    if (!worker)
        MPI_Pready(1, parts);
}

static void forgotten_part(void)
{
    if (rank == 1)
        MPI_Precv_init(large, 4, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &parts);
    if (rank == 2)
        MPI_Psend_init(large, 4, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &parts);
    if (rank < 1 || rank > 2)
        return;
    MPI_Start(&parts);
    if (rank == 2)
        work(2, make_ready);
    MPI_Wait(&parts, MPI_STATUS_IGNORE);
}

/* Rank 0 tells each rank once to stop, not each worker. */
static void until_stopped(int worker)
{
    (void)worker;
    receive(0, 99);
}

static void one_stop(void)
{
    for (int i = 1; i < size && rank == 0; i++)
        send(i, 99);
    if (rank)
        work(2, until_stopped);
    barrier();
}

/* The worker of rank 3 does not copy the communicator. */
static void copy(int worker)
{
    MPI_Comm made;
    MPI_Comm_dup(own[worker], &made);
}

static void worker_copies(void)
{
    if (rank != 3)
        work(1, copy);
    MPI_Barrier(own[0]);
}

/* Two workers share what is one worker's: rank 2 swaps its communicators. */
static void meet_swapped(int worker)
{
    if (rank == 2 && worker)
        return;
    MPI_Barrier(own[rank == 2 ? 1 : worker]);
}

static void swapped(void)
{
    work(2, meet_swapped);
    barrier();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"both_receive", both_receive},
    {"wrong_tags", wrong_tags},
    {"unwoken", unwoken},
    {"idle_worker", idle_worker},
    {"send_locked", send_locked},
    {"two_rings", two_rings},
    {"oneself", oneself},
    {"round_more", round_more},
    {"round_less", round_less},
    {"worker_roots", worker_roots},
    {"greedy", greedy},
    {"probed_twice", probed_twice},
    {"never_received", never_received},
    {"one_of_two", one_of_two},
    {"endless", endless},
    {"unstarted", unstarted},
    {"forgotten_part", forgotten_part},
    {"one_stop", one_stop},
    {"worker_copies", worker_copies},
    {"swapped", swapped},
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_barrier_init(&both, NULL, 2);
    large = calloc(1, LARGE);
    for (int i = 0; i < WORKERS; i++) {
        char label[16];
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
        snprintf(label, sizeof(label), "worker %d", i);
        MPI_Comm_set_name(own[i], label);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (large && !strcmp(name, cases[i].name))
            cases[i].run();
    MPI_Finalize();
    return 0;
}
