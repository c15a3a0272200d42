/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Idle connections are let go and come back: each rank talks to each in random order for many
 * rounds, with receives that are posted before, of one process or of any, short and long messages,
 * and one rank that only computes meanwhile. All arrives once, in order and whole. usage:
 * p2p_let_go ROUNDS SEED [MOST]; with MOST, connections must have been let go, and no more than
 * that are open in the end.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

enum {
    RANKS = 16,
    EACH = 3, /* messages of a pair in a round, at most */
    LONG = 300000,
    TAG = 5
};

static int rank, size;
static uint32_t seed;

/* A number that depends on these alone. */
static uint32_t mix(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t x = seed;
    for (uint32_t i = 0; i < 4; i++) {
        x ^= (i == 0 ? a : i == 1 ? b : i == 2 ? c : d) + 0x9e3779b9u + (x << 6) + (x >> 2);
        x = (x ^ (x >> 16)) * 0x7feb352du;
        x = (x ^ (x >> 15)) * 0x846ca68bu;
    }
    return x ^ (x >> 16);
}

static int count_of(int round, int from, int to)
{
    uint32_t kind = mix((uint32_t)round, (uint32_t)from, (uint32_t)to, 1);
    return from == to || kind % 4 ? 0 : 1 + (int)(kind / 4 % EACH);
}

static int len_of(int round, int from, int to, int i)
{
    uint32_t kind = mix((uint32_t)round, (uint32_t)from, (uint32_t)to, 100 + (uint32_t)i);
    int most = kind % 16 == 0 ? LONG : kind % 4 == 0 ? 9000 : 100;
    return 12 + (int)(kind / 16 % (uint32_t)most);
}

/* Receives of any process must not take messages of a later round. */
static int tag_of(int round)
{
    return round % 3 ? TAG + round : TAG;
}

static void fill(unsigned char *data, int round, int from, int to, int i)
{
    int len = len_of(round, from, to, i), head[3] = {round, from, i};
    for (int k = 0; k < len; k++)
        data[k] = (unsigned char)(k * 7 + round + 3 * from + 5 * to + i);
    memcpy(data, head, sizeof(head));
}

/* next: of each process, which message of this round comes next. */
static void compare(const unsigned char *data, int got, int round, int from, int *next)
{
    static unsigned char want[LONG + 100];
    int i = next[from]++;
    if (i >= count_of(round, from, rank) || got != len_of(round, from, rank, i))
        fprintf(stderr, "rank %d, round %d: message %d of rank %d has %d bytes\n", rank, round, i,
                from, got);
    CHECK(i < count_of(round, from, rank));
    CHECK(got == len_of(round, from, rank, i));
    fill(want, round, from, rank, i);
    CHECK(!memcmp(data, want, (size_t)got));
}

static int messages_to(int round, int to)
{
    int sum = 0;
    for (int from = 0; from < size; from++)
        sum += count_of(round, from, to);
    return sum;
}

static unsigned char *in[RANKS * EACH], *out[RANKS * EACH];

/* Returns how many were posted. */
static int post(int round, MPI_Request *requests)
{
    int count = 0;
    bool any = round % 3 == 1;
    for (int from = 0; from < size; from++)
        for (int i = 0; i < count_of(round, from, rank); i++, count++)
            OK(MPI_Irecv(in[count], LONG + 100, MPI_BYTE, any ? MPI_ANY_SOURCE : from,
                         tag_of(round), MPI_COMM_WORLD, &requests[count]));
    return count;
}

static void order(int round, int *peers)
{
    for (int i = 0; i < size; i++)
        peers[i] = i;
    for (int i = size - 1; i > 0; i--) {
        int j = (int)(mix((uint32_t)round, (uint32_t)rank, (uint32_t)i, 2) % (uint32_t)(i + 1)),
            peer = peers[i];
        peers[i] = peers[j];
        peers[j] = peer;
    }
}

static int send_all(int round, MPI_Request *requests)
{
    int peers[RANKS], count = 0;
    order(round, peers);
    for (int k = 0; k < size; k++) {
        int to = peers[k];
        for (int i = 0; i < count_of(round, rank, to); i++, count++) {
            bool synchronous =
                mix((uint32_t)round, (uint32_t)rank, (uint32_t)to, 7 + (uint32_t)i) % 8 == 0;
            fill(out[count], round, rank, to, i);
            OK((synchronous ? MPI_Issend : MPI_Isend)(out[count], len_of(round, rank, to, i),
                                                      MPI_BYTE, to, tag_of(round), MPI_COMM_WORLD,
                                                      &requests[count]));
        }
    }
    return count;
}

/* Receives are complete in the order in which they were posted, for each process. */
static void take_posted(int round, int count, MPI_Request *requests, int *next)
{
    for (int i = 0; i < count; i++) {
        MPI_Status status;
        int got;
        OK(MPI_Wait(&requests[i], &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &got));
        compare(in[i], got, round, status.MPI_SOURCE, next);
    }
}

static void take_probed(int round, int *next)
{
    for (int left = messages_to(round, rank); left; left--) {
        MPI_Status status;
        int got;
        OK(MPI_Probe(MPI_ANY_SOURCE, tag_of(round), MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &got));
        OK(MPI_Recv(in[0], got, MPI_BYTE, status.MPI_SOURCE, tag_of(round), MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        compare(in[0], got, round, status.MPI_SOURCE, next);
    }
}

static void compute(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 100;
    while (clock() < end)
        ;
    usleep(3000);
}

/* One round. A third of them posts nothing before. */
static void play(int round)
{
    MPI_Request receives[RANKS * EACH], sends[RANKS * EACH];
    int next[RANKS] = {0}, posted = round % 3 == 2 ? 0 : post(round, receives);
    if (mix((uint32_t)round, 0, 0, 3) % (uint32_t)(2 * size) == (uint32_t)rank)
        compute();
    int sent = send_all(round, sends);
    if (round % 3 == 2)
        take_probed(round, next);
    else
        take_posted(round, posted, receives, next);
    OK(MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE));
    for (int from = 0; from < size; from++)
        CHECK(next[from] == count_of(round, from, rank));
}

/* What MPI_T tells. */
static MPI_T_pvar_session session;
static MPI_T_pvar_handle open_now, let_go;

static void begin_counts(void)
{
    int provided;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    open_now = tool_handle(session, "connections_open", NULL, 1);
    let_go = tool_handle(session, "connections_let_go", NULL, 1);
    OK(MPI_T_pvar_start(session, let_go));
}

static void end_counts(void)
{
    OK(MPI_T_pvar_handle_free(session, &open_now));
    OK(MPI_T_pvar_handle_free(session, &let_go));
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
}

/* In the end all is idle, and what is too much goes, but for the connection with this process
 * itself. */
static void check_few(counted most)
{
    counted open, own, all = 0;
    time_t end = time(NULL) + 20;
    int flag;
    while ((open = tool_read(session, open_now)) > most + 1 && time(NULL) < end) {
        OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        usleep(100);
    }
    if (open > most + 1)
        fprintf(stderr, "rank %d has %llu connections\n", rank, open);
    CHECK(open <= most + 1);
    own = tool_read(session, let_go);
    OK(MPI_Allreduce(&own, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all > (counted)size);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    CHECK(argc >= 3 && size <= RANKS);
    int rounds = atoi(argv[1]);
    seed = (uint32_t)atoi(argv[2]);
    for (int i = 0; i < RANKS * EACH; i++) {
        in[i] = malloc(LONG + 100);
        out[i] = malloc(LONG + 100);
        CHECK(in[i] && out[i]);
    }
    begin_counts();
    for (int round = 0; round < rounds; round++)
        play(round);
    if (argc > 3)
        check_few((counted)atoi(argv[3]));
    end_counts();
    for (int i = 0; i < RANKS * EACH; i++) {
        free(in[i]);
        free(out[i]);
    }
    OK(MPI_Finalize());
    return 0;
}
