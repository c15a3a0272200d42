/* SPDX-License-Identifier: BSD-3-Clause */

/* Partitioned messages whose two sides are cut differently, of all sizes and of types with gaps. */
#include "pattern.h"

struct shape {
    int send_parts, send_count, recv_parts, recv_count;
    int gaps; /* 1: the sender's elements are apart, 2: the receiver's, 3: both */
    const char *claim;
};

static const struct shape shapes[] = {
    {4, 6, 4, 6, 0, "alike"},
    {4, 6, 1, 24, 0, "the receiver has one partition"},
    {1, 24, 4, 6, 0, "the sender has one partition"},
    {6, 4, 4, 6, 3, "neither divides the other"},
    {7, 30, 10, 21, 1, "neither divides the other, the sender's with gaps"},
    {10, 21, 7, 30, 2, "neither divides the other, the receiver's with gaps"},
    {1000, 1, 125, 8, 0, "many small partitions"},
    {63, 100, 100, 63, 3, "almost as many as are sent alone"},
    {129, 2, 3, 86, 2, "a last group that is smaller"},
    {3, 100000, 10, 30000, 0, "large partitions"},
    {100, 20000, 1, 2000000, 0, "many large partitions"},
    {5, 40000, 8, 25000, 3, "large partitions with gaps"},
    {3, 0, 2, 0, 0, "no data"},
    {0, 5, 0, 5, 0, "no partitions"},
    {0, 5, 4, 0, 0, "no partitions here, empty ones there"},
};

enum {
    SHAPES = sizeof(shapes) / sizeof(shapes[0]),
    ROUNDS = 3
};

static MPI_Datatype gapped; /* an int and room for another */

struct side {
    int *data;
    int parts, count, step; /* ints from an element to the next */
};

static struct side make(int parts, int count, int gaps)
{
    struct side side = {NULL, parts, count, gaps ? 2 : 1};
    size_t ints = (size_t)parts * (size_t)count * (size_t)side.step;
    side.data = malloc((ints + 1) * sizeof(int));
    CHECK(side.data);
    for (size_t i = 0; i <= ints; i++)
        side.data[i] = -1;
    return side;
}

static MPI_Datatype type_of(const struct side *side)
{
    return side->step == 2 ? gapped : MPI_INT;
}

static void make_ready(struct side *side, MPI_Request request, int round)
{
    int list[2], n = side->parts;
    for (int i = 0; i < n * side->count; i++)
        side->data[(size_t)i * (size_t)side->step] = i * 3 + round;
    if (n >= 8) { /* the middle, then from both ends */
        OK(MPI_Pready_range(2, n - 3, request));
        list[0] = n - 1;
        list[1] = 0;
        OK(MPI_Pready_list(2, list, request));
        OK(MPI_Pready(1, request));
        OK(MPI_Pready(n - 2, request));
    } else {
        for (int i = n - 1; i >= 0; i--)
            OK(MPI_Pready(i, request));
    }
    OK(MPI_Pready_list(0, NULL, request));
}

static void is_right(const struct side *side, int round)
{
    int n = side->parts * side->count;
    for (int i = 0; i < n; i++) {
        CHECK(side->data[(size_t)i * (size_t)side->step] == i * 3 + round);
        if (side->step == 2)
            CHECK(side->data[(size_t)i * 2 + 1] == -1);
    }
    CHECK(side->data[(size_t)n * (size_t)side->step] == -1);
}

static void is_there(MPI_Request request, int parts)
{
    for (int i = 0; i < parts; i++)
        for (int there = 0; !there;)
            OK(MPI_Parrived(request, i, &there));
}

static void run(const struct shape *shape, int large)
{
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), flag = 0;
    struct side out = make(shape->send_parts, shape->send_count, shape->gaps & 1);
    struct side in = make(shape->recv_parts, shape->recv_count, shape->gaps & 2);
    int right = (me + 1) % size, left = (me + size - 1) % size;
    MPI_Request requests[2];
    if (large) {
        OK(MPI_Precv_init(in.data, in.parts, in.count, type_of(&in), left, 1, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &requests[0]));
        OK(MPI_Psend_init(out.data, out.parts, out.count, type_of(&out), right, 1, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &requests[1]));
    } else {
        OK(MPI_Psend_init(out.data, out.parts, out.count, type_of(&out), right, 1, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &requests[1]));
        OK(MPI_Precv_init(in.data, in.parts, in.count, type_of(&in), left, 1, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &requests[0]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_Startall(2, requests));
        make_ready(&out, requests[1], round);
        if (round == 1)
            is_there(requests[0], in.parts);
        if (round == 2) {
            for (flag = 0; !flag;)
                OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
        } else {
            OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        }
        is_right(&in, round);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    free(in.data);
    free(out.data);
}

/* To and from nobody: complete as soon as started. */
static void with_nobody(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int data[4] = {1, 2, 3, 4}, flag = 0, count = -1;
    OK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[0]));
    OK(MPI_Precv_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[1]));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Pready_range(0, 3, requests[0]));
        OK(MPI_Parrived(requests[1], 3, &flag));
        CHECK(flag);
        OK(MPI_Waitall(2, requests, statuses));
        OK(MPI_Get_count(&statuses[1], MPI_INT, &count));
        CHECK(statuses[1].MPI_SOURCE == MPI_PROC_NULL && statuses[1].MPI_TAG == MPI_ANY_TAG);
        CHECK(count == 0 && data[0] == 1);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped));
    OK(MPI_Type_commit(&gapped));
    for (int i = 0; i < SHAPES; i++)
        run(&shapes[i], i % 2);
    with_nobody();
    OK(MPI_Type_free(&gapped));
    OK(MPI_Finalize());
    return 0;
}
