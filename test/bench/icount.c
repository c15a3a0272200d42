/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI calls between markers, for stepper to count their instructions. Run
 * two ranks, each under stepper:
 *
 *   mpiexec -n 2 stepper icount
 *
 * Rank 1 helps rank 0: it sends what is to be there, and says over plain
 * shared memory when it is, so that no counted call has to wait and rank 0
 * makes no MPI call in between. While a call is counted rank 1 waits there
 * too: in an MPI call it would fall asleep, stepping is slow, and the count
 * would hold a system call to wake it. Early rounds only warm up; the later ones
 * are counted, and each gives a line of its own.
 */

#include "bench.h"
#include "marker.h"
#include "raw.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    WARM = 40,   /* rounds before counting */
    COUNTED = 16, /* rounds counted */
    FEW = 100,    /* collectives that wait, and ... */
    MANY = 2000,  /* ... those that make no difference */
    TAG_PLAIN = 7,
    TAG_ARRIVED = 8,
    TAG_POSTED = 9,
    TAG_UNEXPECTED = 10,
    TAG_NEVER = 99,
};

static bool counting;

static void begin(const char *name)
{
    if (counting)
        marker(MARKER_BEGIN, name);
}

static void end(const char *name)
{
    if (counting)
        marker(MARKER_END, name);
}

/* What a pair of markers itself costs; the reader takes it off. */
static void count_nothing(void)
{
    begin("nothing");
    end("nothing");
}

static void count_simple(void)
{
    int rank;

    begin("Comm_rank");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    end("Comm_rank");
}

static void count_sends(struct raw *raw)
{
    char out[8] = "0123456";
    MPI_Request request;

    begin("Isend 8 B");
    MPI_Isend(out, 8, MPI_BYTE, 1, TAG_PLAIN, MPI_COMM_WORLD, &request);
    end("Isend 8 B");
    begin("Wait complete");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end("Wait complete");
    begin("Send 8 B");
    MPI_Send(out, 8, MPI_BYTE, 1, TAG_PLAIN, MPI_COMM_WORLD);
    end("Send 8 B");
    raw_signal(raw);
}

/* A receive request that is already complete: MPI_Test has seen to it that
 * it is, on a second request whose message came later. */
static void count_wait(struct raw *raw)
{
    char in[2][8];
    MPI_Request first, second;
    int done = 0;

    begin("Irecv unmatched");
    MPI_Irecv(in[0], 8, MPI_BYTE, 1, TAG_POSTED, MPI_COMM_WORLD, &first);
    end("Irecv unmatched");
    MPI_Irecv(in[1], 8, MPI_BYTE, 1, TAG_POSTED, MPI_COMM_WORLD, &second);
    raw_signal(raw);
    while (!done)
        MPI_Test(&second, &done, MPI_STATUS_IGNORE);
    begin("Wait received");
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    end("Wait received");
    raw_signal(raw);
}

static void count_receives(struct raw *raw)
{
    char in[8];
    MPI_Request request;
    int found = 0;

    raw_await(raw);
    begin("Recv arrived");
    MPI_Recv(in, 8, MPI_BYTE, 1, TAG_ARRIVED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end("Recv arrived");
    begin("Iprobe miss");
    MPI_Iprobe(1, TAG_NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    end("Iprobe miss");
    raw_signal(raw);
    while (!found)
        MPI_Iprobe(1, TAG_UNEXPECTED, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    begin("Irecv unexpected");
    MPI_Irecv(in, 8, MPI_BYTE, 1, TAG_UNEXPECTED, MPI_COMM_WORLD, &request);
    end("Irecv unexpected");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Collectives of one process: what a call costs before it sends anything. */
static void count_collectives(void)
{
    long in = 1, out;

    begin("Barrier self");
    MPI_Barrier(MPI_COMM_SELF);
    end("Barrier self");
    begin("Allreduce self");
    MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_SELF);
    end("Allreduce self");
}

/* One-sided operations on memory that is mapped: this process's own, since no other has a part in
 * them. */
static void count_window(MPI_Win window)
{
    long one = 1, was;

    begin("Put 8 B");
    MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    end("Put 8 B");
    begin("Flush");
    MPI_Win_flush(0, window);
    end("Flush");
    begin("Fetch_and_op");
    MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 1, MPI_SUM, window);
    end("Fetch_and_op");
}

/* Rank 1 comes to the call right after its signal, and is given time for that. */
static void await_caller(struct raw *raw)
{
    struct timespec t = {0, 200000};
    raw_await(raw);
    nanosleep(&t, NULL);
}

/* Collectives to which the other process has come already, through shared memory. */
static void count_pairs(struct raw *raw, MPI_Request *kept)
{
    long in = 1, out;

    await_caller(raw);
    begin("Barrier of 2");
    MPI_Barrier(MPI_COMM_WORLD);
    end("Barrier of 2");
    await_caller(raw);
    begin("Allreduce of 2");
    MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    end("Allreduce of 2");
    await_caller(raw);
    begin("Allreduce kept");
    MPI_Start(kept);
    MPI_Wait(kept, MPI_STATUS_IGNORE);
    end("Allreduce kept");
}

static void help_pairs(struct raw *raw, MPI_Request *kept)
{
    long in = 1, out;

    raw_signal(raw);
    MPI_Barrier(MPI_COMM_WORLD);
    raw_signal(raw);
    MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    raw_signal(raw);
    MPI_Start(kept);
    MPI_Wait(kept, MPI_STATUS_IGNORE);
}

/* A nonblocking collective that begins while others wait, since rank 1 has not come to them. */
static void count_queue(struct raw *raw, int rank)
{
    static MPI_Request requests[MANY + COUNTED];

    if (rank != 0)
        raw_await(raw);
    for (int i = 0; i < MANY + COUNTED; i++) {
        const char *name = i >= MANY ? "Ibarrier behind 2000" : "Ibarrier behind 100";
        counting = rank == 0 && (i >= MANY || (i >= FEW && i < FEW + COUNTED));
        begin(name);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]);
        end(name);
    }
    if (rank == 0)
        raw_signal(raw);
    MPI_Waitall(MANY + COUNTED, requests, MPI_STATUSES_IGNORE);
}

/* Some turns of progress do more than the others do, each so-many-th one. Rounds of even numbers of turns would meet it
 * in the same call each time. */
static void shift_turns(int round)
{
    for (int i = 0, found; i < round; i++)
        MPI_Iprobe(1, TAG_NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* Rank 1's part, step for step. */
static void help(struct raw *raw)
{
    char word[8] = "7654321";

    raw_await(raw); /* the sends are counted */
    MPI_Recv(word, 8, MPI_BYTE, 0, TAG_PLAIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(word, 8, MPI_BYTE, 0, TAG_PLAIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raw_await(raw); /* the receives are posted */
    MPI_Send(word, 8, MPI_BYTE, 0, TAG_POSTED, MPI_COMM_WORLD);
    MPI_Send(word, 8, MPI_BYTE, 0, TAG_POSTED, MPI_COMM_WORLD);
    raw_await(raw); /* they are complete */
    MPI_Send(word, 8, MPI_BYTE, 0, TAG_ARRIVED, MPI_COMM_WORLD);
    raw_signal(raw); /* a message lies there */
    raw_await(raw);  /* it is received */
    MPI_Send(word, 8, MPI_BYTE, 0, TAG_UNEXPECTED, MPI_COMM_WORLD);
}

/* Whether somebody traces this process: a marker kills it otherwise. */
static bool traced(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    int tracer = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (file)
        fclose(file);
    return tracer != 0;
}

int main(int argc, char **argv)
{
    struct raw *raw;
    MPI_Request kept;
    MPI_Win window;
    long in = 1, out, *memory;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!traced()) {
        errno = EINVAL;
        bench_fail("run me under stepper");
    }
    raw = raw_open(false);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &window);
    MPI_Win_lock_all(0, window);
    MPI_Allreduce_init(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
    for (int i = 0; i < WARM + COUNTED; i++) {
        counting = rank == 0 && i >= WARM;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            shift_turns(i);
            count_nothing();
            count_simple();
            count_collectives();
            count_window(window);
            count_sends(raw);
            count_wait(raw);
            count_receives(raw);
            count_pairs(raw, &kept);
        } else if (rank == 1) {
            help(raw);
            help_pairs(raw, &kept);
        }
    }
    count_queue(raw, rank);
    MPI_Request_free(&kept);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    raw_close(raw);
    MPI_Finalize();
    return 0;
}
