/* SPDX-License-Identifier: BSD-3-Clause */

/* Eight threads, each with a communicator of its own and all on a shared one, do everything at
 * once for a few seconds: messages of all kinds, probes, cancelled and persistent requests,
 * collectives, attributes, datatypes, infos and texts of errors; contents are checked. */
#include <string.h>

#include "threads.h"

enum {
    EIGHT = 8,
    ROUNDS_MOST = 400,
    SECONDS = 4,
    MOST = 40000
};

static const int sizes[] = {0, 16, 900, 12000, MOST};

struct stress {
    MPI_Comm own;
    int number, round, me, size, to, from, len;
    char *out, *in;
};

/* Shared communicator: the tag tells the thread. */
static void shared(struct stress *s)
{
    MPI_Request requests[2], never;
    MPI_Status status;
    int index = -1, cancelled = 0;
    uint32_t seed = (uint32_t)(s->number * 5000 + s->round);
    pattern_fill(s->out, (size_t)s->len, seed + (uint32_t)s->me);
    OK(MPI_Irecv(s->in, MOST, MPI_BYTE, s->from, s->number, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(s->out, s->len, MPI_BYTE, s->to, s->number, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 2; i++)
        OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    CHECK(pattern_is(s->in, (size_t)s->len, seed + (uint32_t)s->from));
    OK(MPI_Irecv(&index, 1, MPI_INT, s->from, 100 + s->number, MPI_COMM_WORLD, &never));
    OK(MPI_Cancel(&never));
    OK(MPI_Wait(&never, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);
}

/* Own communicator: a probe of either kind for a message of unknown length. */
static void probed(struct stress *s)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int count = -1;
    uint32_t seed = (uint32_t)(s->number * 7000 + s->round);
    pattern_fill(s->out, (size_t)s->len, seed + (uint32_t)s->me);
    OK((s->round % 2 ? MPI_Isend : MPI_Issend)(s->out, s->len, MPI_BYTE, s->to, s->round, s->own,
                                               &request));
    if (s->round % 3) {
        OK(MPI_Mprobe(s->from, MPI_ANY_TAG, s->own, &message, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        OK(MPI_Mrecv(s->in, count, MPI_BYTE, &message, &status));
    } else {
        OK(MPI_Probe(MPI_ANY_SOURCE, s->round, s->own, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        OK(MPI_Recv(s->in, count, MPI_BYTE, s->from, s->round, s->own, &status));
    }
    CHECK(count == s->len && status.MPI_SOURCE == s->from && status.MPI_TAG == s->round);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(pattern_is(s->in, (size_t)s->len, seed + (uint32_t)s->from));
}

static void persistent(struct stress *s)
{
    MPI_Request requests[2];
    int out = 0, in = -1;
    OK(MPI_Send_init(&out, 1, MPI_INT, s->to, 3, s->own, &requests[0]));
    OK(MPI_Recv_init(&in, 1, MPI_INT, s->from, 3, s->own, &requests[1]));
    for (int i = 0; i < 3; i++) {
        out = i + s->me * 10;
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(in == i + s->from * 10);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

/* No messages: objects made and freed. */
static void objects(struct stress *s)
{
    int keyval, flag = 0, size = -1, length = 0, buflen = 40;
    char text[MPI_MAX_ERROR_STRING], value[40];
    int *got = NULL;
    MPI_Datatype type;
    MPI_Info info;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_set_attr(s->own, keyval, &s->round));
    OK(MPI_Comm_get_attr(s->own, keyval, &got, &flag));
    CHECK(flag && got == &s->round);
    OK(MPI_Comm_delete_attr(s->own, keyval));
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size(type, &size));
    CHECK(size == 24);
    OK(MPI_Type_free(&type));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "value"));
    OK(MPI_Info_get_string(info, "key", &buflen, value, &flag));
    CHECK(flag && !strcmp(value, "value"));
    OK(MPI_Info_free(&info));
    OK(MPI_Error_string(MPI_ERR_RANK, text, &length));
    CHECK(length > 0);
}

/* Returns whether every member has time left. */
static int collective(struct stress *s, double began)
{
    int root = s->round % s->size, word = s->me == root ? s->round : -1, sum = -1;
    int left = MPI_Wtime() - began < SECONDS, all = 0;
    OK(MPI_Bcast(&word, 1, MPI_INT, root, s->own));
    OK(MPI_Allreduce(&s->me, &sum, 1, MPI_INT, MPI_SUM, s->own));
    CHECK(word == s->round && sum == s->size * (s->size - 1) / 2);
    OK(MPI_Allreduce(&left, &all, 1, MPI_INT, MPI_MIN, s->own));
    return all;
}

static void *work(void *arg)
{
    struct thread *thread = arg;
    struct stress s = {.own = thread->comm, .number = thread->number};
    double began = MPI_Wtime();
    s.me = check_rank(s.own);
    s.size = check_size(s.own);
    s.to = (s.me + 1) % s.size;
    s.from = (s.me + s.size - 1) % s.size;
    s.out = pattern_alloc(MOST);
    s.in = pattern_alloc(MOST);
    do {
        s.len = sizes[(s.round + s.number) % 5];
        shared(&s);
        probed(&s);
        persistent(&s);
        objects(&s);
    } while (collective(&s, began) && ++s.round < ROUNDS_MOST);
    free(s.out);
    free(s.in);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[EIGHT];
    threads_init(&argc, &argv);
    threads_run_apart(threads, EIGHT, work);
    OK(MPI_Finalize());
    return 0;
}
