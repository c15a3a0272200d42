/* SPDX-License-Identifier: BSD-3-Clause */

/* Partitioned messages round a ring, over several starts: partitions are ready in any order, and
 * those that are arrive while others are not. */
#include <string.h>

#include "check.h"

enum {
    PARTS = 10,
    LEN = 300,
    ROUNDS = 5,
    GO_ON = 77
};

struct ring {
    int me, size, right, left;
    int out[PARTS][LEN], in[PARTS][LEN];
    MPI_Request send, recv;
};

static int value(int from, int round, int part, int i)
{
    return from * 1000000 + round * 100000 + part * 1000 + i;
}

static void fill(struct ring *ring, int round, int part)
{
    for (int i = 0; i < LEN; i++)
        ring->out[part][i] = value(ring->me, round, part, i);
}

static int has(struct ring *ring, int round, int part)
{
    for (int i = 0; i < LEN; i++)
        if (ring->in[part][i] != value(ring->left, round, part, i))
            return 0;
    return 1;
}

static void await(struct ring *ring, int part)
{
    int there = 0;
    while (!there)
        OK(MPI_Parrived(ring->recv, part, &there));
}

/* One partition alone arrives; the sender goes on only when the receiver has seen it. */
static void one_first(struct ring *ring, int round)
{
    int first = (round * 7 + ring->me) % PARTS, theirs = (round * 7 + ring->left) % PARTS;
    int there = -1, seen = -1;
    fill(ring, round, first);
    OK(MPI_Pready(first, ring->send));
    await(ring, theirs);
    CHECK(has(ring, round, theirs));
    OK(MPI_Parrived(ring->recv, (theirs + 1) % PARTS, &there));
    CHECK(!there);
    OK(MPI_Test(&ring->recv, &there, MPI_STATUS_IGNORE));
    CHECK(!there);
    OK(MPI_Sendrecv(&theirs, 1, MPI_INT, ring->left, GO_ON, &seen, 1, MPI_INT, ring->right, GO_ON,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(seen == first);
    for (int i = PARTS - 1; i >= 0; i--) {
        if (i == first)
            continue;
        fill(ring, round, i);
        OK(MPI_Pready(i, ring->send));
    }
}

static void check_end(struct ring *ring, int round, const MPI_Status *status)
{
    int count = -1, there = 0;
    OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK(status->MPI_SOURCE == ring->left && status->MPI_TAG == 3 && count == PARTS * LEN);
    for (int i = 0; i < PARTS; i++) {
        CHECK(has(ring, round, i));
        OK(MPI_Parrived(ring->recv, i, &there)); /* not active: all have */
        CHECK(there);
    }
}

static void run(struct ring *ring)
{
    MPI_Status statuses[2];
    MPI_Request both[2];
    for (int round = 0; round < ROUNDS; round++) {
        memset(ring->in, 0, sizeof(ring->in));
        if (round % 2) {
            OK(MPI_Start(&ring->send));
            OK(MPI_Start(&ring->recv));
        } else {
            both[0] = ring->recv;
            both[1] = ring->send;
            OK(MPI_Startall(2, both));
        }
        one_first(ring, round);
        both[0] = ring->recv;
        both[1] = ring->send;
        if (round % 2) {
            OK(MPI_Wait(&ring->recv, &statuses[0]));
            OK(MPI_Wait(&ring->send, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Waitall(2, both, statuses));
        }
        CHECK(both[0] != MPI_REQUEST_NULL && both[1] != MPI_REQUEST_NULL);
        check_end(ring, round, &statuses[0]);
    }
}

int main(int argc, char **argv)
{
    static struct ring ring;
    OK(MPI_Init(&argc, &argv));
    ring.me = check_rank(MPI_COMM_WORLD);
    ring.size = check_size(MPI_COMM_WORLD);
    ring.right = (ring.me + 1) % ring.size;
    ring.left = (ring.me + ring.size - 1) % ring.size;
    OK(MPI_Psend_init(ring.out, PARTS, LEN, MPI_INT, ring.right, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &ring.send));
    OK(MPI_Precv_init(ring.in, PARTS, LEN, MPI_INT, ring.left, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &ring.recv));
    run(&ring);
    OK(MPI_Request_free(&ring.send));
    OK(MPI_Request_free(&ring.recv));
    CHECK(ring.send == MPI_REQUEST_NULL && ring.recv == MPI_REQUEST_NULL);
    OK(MPI_Finalize());
    return 0;
}
