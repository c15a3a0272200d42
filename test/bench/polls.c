/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs that do much at once, or only ask whether something has come; crowded.py runs them.
 *
 *   polls ring test|iprobe|wait ROUNDS   a token goes round; prints us a hop
 *   polls sparse ROUNDS                  exchanges whose receivers do not know their senders; prints us a round
 *   polls many COUNT                     so many nonblocking allreduces at once; prints ms until all are done
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_TAG = 1, TAGS = 100, MOST = 8 };

static int rank, size;

static void fail(const char *what)
{
    fprintf(stderr, "polls: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void await_token(const char *how, int *token, int from)
{
    MPI_Request request;
    int has_come = 0;
    if (!strcmp(how, "iprobe")) {
        while (!has_come)
            MPI_Iprobe(from, TOKEN_TAG, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
        MPI_Recv(token, 1, MPI_INT, from, TOKEN_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(token, 1, MPI_INT, from, TOKEN_TAG, MPI_COMM_WORLD, &request);
    if (!strcmp(how, "wait"))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        while (!has_come)
            MPI_Test(&request, &has_come, MPI_STATUS_IGNORE);
}

static void go_round(const char *how, int rounds)
{
    int before = (rank + size - 1) % size, after = (rank + 1) % size, token = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (!rank)
            MPI_Send(&token, 1, MPI_INT, after, TOKEN_TAG, MPI_COMM_WORLD);
        await_token(how, &token, before);
        token++;
        if (rank)
            MPI_Send(&token, 1, MPI_INT, after, TOKEN_TAG, MPI_COMM_WORLD);
    }
    if (!rank && token != rounds * size)
        fail("the token is wrong");
    if (!rank)
        printf("%.2f\n", 1e6 * (MPI_Wtime() - began) / rounds / size);
}

/* Take a message of this round, if one has come. Returns how many. */
static int take_one(int round)
{
    MPI_Status status;
    int has_come, word[2];
    MPI_Iprobe(MPI_ANY_SOURCE, round % TAGS, MPI_COMM_WORLD, &has_come, &status);
    if (!has_come)
        return 0;
    MPI_Recv(word, 2, MPI_INT, status.MPI_SOURCE, round % TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (word[0] != round || word[1] != status.MPI_SOURCE)
        fail("a message is wrong");
    return 1;
}

/* Synchronous sends to some; when they are done a barrier begins, and when that is, all have come. Returns how many have
 * come here. */
static int exchange(int round, int *wanted)
{
    int word[2] = {round, rank}, count = rand() % MOST, taken = 0, begun = 0, done = 0;
    int *sent = calloc((size_t)size, sizeof(*sent));
    MPI_Request sends[MOST], barrier = MPI_REQUEST_NULL;
    if (!sent)
        fail("no memory");
    for (int i = 0; i < count; i++) {
        int to = rand() % size;
        sent[to]++;
        MPI_Issend(word, 2, MPI_INT, to, round % TAGS, MPI_COMM_WORLD, &sends[i]);
    }
    MPI_Reduce_scatter_block(sent, wanted, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    free(sent);
    while (!done) {
        int all = 0;
        taken += take_one(round);
        if (begun)
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        else
            MPI_Testall(count, sends, &all, MPI_STATUSES_IGNORE);
        if (all) {
            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
            begun = 1;
        }
    }
    return taken;
}

static void exchange_often(int rounds)
{
    srand((unsigned)rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        int wanted = 0;
        if (exchange(i, &wanted) != wanted)
            fail("messages are missing");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%.1f\n", 1e6 * (MPI_Wtime() - began) / rounds);
}

static void reduce_many(int count)
{
    MPI_Request *requests = calloc((size_t)count, sizeof(*requests));
    int *in = calloc((size_t)count, sizeof(*in)), *out = calloc((size_t)count, sizeof(*out));
    if (!requests || !in || !out)
        fail("no memory");
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        in[i] = i;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        if (out[i] != i * size)
            fail("a sum is wrong");
    if (!rank)
        printf("%.2f\n", 1e3 * (MPI_Wtime() - began));
    free(requests);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 4 && !strcmp(argv[1], "ring"))
        go_round(argv[2], atoi(argv[3]));
    else if (argc == 3 && !strcmp(argv[1], "sparse"))
        exchange_often(atoi(argv[2]));
    else if (argc == 3 && !strcmp(argv[1], "many"))
        reduce_many(atoi(argv[2]));
    else
        fail("there is no such way");
    MPI_Finalize();
    return 0;
}
