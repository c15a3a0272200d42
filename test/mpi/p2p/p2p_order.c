/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages of one sender that fit the same receive arrive in order, whatever their sizes, tags
 * and protocols, and whenever their receives are posted; under random schedules. */
#include <string.h>

#include "pattern.h"

enum {
    MESSAGES = 400,
    TAGS = 3,
    MOST = 100000,
    ROUNDS = 6
};

static const int sizes[] = {8, 16, 100, 600, 9000, 20000, 70000, MOST};

/* What each sender sends as its i-th message, which all ranks can work out. */
struct plan {
    int size, tag;
};

static struct plan plan_of(int from, int to, int round, int i)
{
    uint64_t state = (uint64_t)(((from * 64 + to) * 64 + round) * 4096 + i);
    pattern_random(&state);
    uint32_t a = pattern_random(&state), b = pattern_random(&state);
    int small = a % 3;
    return (struct plan){sizes[small ? a / 3 % 3 : a / 3 % 8], (int)(b % TAGS)};
}

static char *bodies;

static void send_all(int me, int to, int round, MPI_Request *requests)
{
    for (int i = 0; i < MESSAGES; i++) {
        struct plan plan = plan_of(me, to, round, i);
        int *body = (int *)(bodies + (size_t)i * MOST);
        body[0] = i;
        body[1] = me;
        OK((i % 7 == 3 ? MPI_Issend : MPI_Isend)(body, plan.size, MPI_BYTE, to, plan.tag,
                                                 MPI_COMM_WORLD, &requests[i]));
    }
}

/* What has come from each sender so far, by tag: the number of the last. */
struct progress {
    int last[16][TAGS];
    int count;
};

static void note(struct progress *progress, const int *body, const MPI_Status *status, int me,
                 int round)
{
    int count = -1, from = status->MPI_SOURCE, tag = status->MPI_TAG, i = body[0];
    OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK(body[1] == from && i > progress->last[from][tag]);
    struct plan plan = plan_of(from, me, round, i);
    CHECK(plan.tag == tag && plan.size == count);
    for (int j = progress->last[from][tag] + 1; j < i; j++)
        CHECK(plan_of(from, me, round, j).tag != tag); /* none of this tag was left out */
    progress->last[from][tag] = i;
    progress->count++;
}

/* One after the other, with wildcards chosen at random. What is asked for by tag is asked for
 * only while there is still one of it to come. */
static void recv_one(struct progress *progress, int me, int senders, int round, uint64_t *state)
{
    static int body[MOST / sizeof(int)];
    MPI_Status status;
    uint32_t dice = pattern_random(state);
    int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
    if (dice % 4) {
        MPI_Message message;
        int flag;
        OK(MPI_Improbe(MPI_ANY_SOURCE, dice % 4 == 1 ? MPI_ANY_TAG : (int)(dice / 4 % TAGS),
                       MPI_COMM_WORLD, &flag, &message, &status));
        if (flag) {
            OK(MPI_Mrecv(body, MOST, MPI_BYTE, &message, &status));
            note(progress, body, &status, me, round);
            return;
        }
    }
    if (senders == 1 && dice / 8 % 2)
        source = (me + 1) % 2;
    OK(MPI_Recv(body, MOST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status));
    note(progress, body, &status, me, round);
}

/* A window of posted receives, some by source, some by tag, some by neither. */
static void recv_posted(int me, int from, int round)
{
    enum {
        WINDOW = 16
    };
    MPI_Request requests[WINDOW];
    static int body[WINDOW][MOST / sizeof(int)];
    struct progress progress;
    memset(&progress, -1, sizeof(progress));
    progress.count = 0;
    for (int i = 0; i < MESSAGES; i++) {
        int slot = i % WINDOW;
        MPI_Status status;
        if (i >= WINDOW) {
            OK(MPI_Wait(&requests[slot], &status));
            note(&progress, body[slot], &status, me, round);
        }
        OK(MPI_Irecv(body[slot], MOST, MPI_BYTE, i % 2 ? from : MPI_ANY_SOURCE,
                     i % 3 ? MPI_ANY_TAG : plan_of(from, me, round, i).tag, MPI_COMM_WORLD,
                     &requests[slot]));
    }
    for (int i = MESSAGES; i < MESSAGES + WINDOW; i++) {
        MPI_Status status;
        OK(MPI_Wait(&requests[i % WINDOW], &status));
        note(&progress, body[i % WINDOW], &status, me, round);
    }
    CHECK(progress.count == MESSAGES);
}

int main(int argc, char **argv)
{
    static MPI_Request requests[MESSAGES];
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    bodies = pattern_alloc((size_t)MESSAGES * MOST);
    memset(bodies, 0, (size_t)MESSAGES * MOST);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t state = (uint64_t)(round * 1000 + me);
        int posted = round % 2, to = (me + 1) % size, from = (me + size - 1) % size;
        if (posted) {
            send_all(me, to, round, requests);
            recv_posted(me, from, round);
        } else { /* all to rank 0 */
            struct progress progress;
            int senders = size > 1 ? size - 1 : 1;
            memset(&progress, -1, sizeof(progress));
            progress.count = 0;
            if (me || size == 1)
                send_all(me, 0, round, requests);
            while (!me && progress.count < senders * MESSAGES)
                recv_one(&progress, me, size == 1 ? 2 : senders, round, &state);
        }
        if (posted || me || size == 1)
            OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(bodies);
    OK(MPI_Finalize());
    return 0;
}
