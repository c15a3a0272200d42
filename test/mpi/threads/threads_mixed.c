/* SPDX-License-Identifier: BSD-3-Clause */

/* Eight threads a process mix what threads can disturb each other in: messages of unknown source
 * that are probed for and taken, arrays of requests that are tested and waited for in every way,
 * a partitioned message that all threads have a part in, persistent and cancelled requests,
 * communicators that come and go, and generalized requests that another thread completes. */
#include <stdbool.h>
#include <string.h>

#include "threads.h"

enum {
    EIGHT = 8,
    ROUNDS_MOST = 300,
    SECONDS = 3,
    FEW = 5,
    PER_THREAD = 4, /* partitions */
    PARTS = EIGHT * PER_THREAD,
    ELEMENTS = 700,
    LEN = 5000,
    QUEUE = 64
};

struct mix {
    MPI_Comm own;
    int number, round, me, size, to, from;
};

/* ---- generalized requests: a thread that completes what it finds in a queue ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    MPI_Request requests[QUEUE];
    int count, over;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static void *complete_all(void *arg)
{
    CHECK(!pthread_mutex_lock(&queue.lock));
    for (int i = 0;; i++) {
        while (!queue.count && !queue.over)
            CHECK(!pthread_cond_wait(&queue.change, &queue.lock));
        if (!queue.count)
            break;
        MPI_Request request = queue.requests[--queue.count];
        CHECK(!pthread_mutex_unlock(&queue.lock));
        if (i % 4 == 0)
            threads_pause(1);
        OK(MPI_Grequest_complete(request));
        CHECK(!pthread_mutex_lock(&queue.lock));
    }
    CHECK(!pthread_mutex_unlock(&queue.lock));
    return arg;
}

static int query(void *state, MPI_Status *status)
{
    OK(MPI_Status_set_elements(status, MPI_INT, *(int *)state));
    OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = *(int *)state;
    status->MPI_TAG = 1;
    return MPI_SUCCESS;
}

static int free_state(void *state)
{
    *(int *)state += 1000;
    return MPI_SUCCESS;
}

static int no_cancel(void *state, int complete)
{
    return state && complete ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* Waited for alone, or together with a message. */
static void generalized(struct mix *m)
{
    MPI_Request requests[2], send;
    MPI_Status statuses[2];
    int state = m->number + 3, got = -1, count = -1;
    OK(MPI_Grequest_start(query, free_state, no_cancel, &state, &requests[0]));
    OK(MPI_Irecv(&got, 1, MPI_INT, m->from, 7, m->own, &requests[1]));
    CHECK(!pthread_mutex_lock(&queue.lock));
    CHECK(queue.count < QUEUE);
    queue.requests[queue.count++] = requests[0];
    CHECK(!pthread_cond_signal(&queue.change));
    CHECK(!pthread_mutex_unlock(&queue.lock));
    OK(MPI_Isend(&m->round, 1, MPI_INT, m->to, 7, m->own, &send));
    if (m->round % 2) {
        OK(MPI_Waitall(2, requests, statuses));
    } else {
        OK(MPI_Wait(&requests[0], &statuses[0]));
        OK(MPI_Wait(&requests[1], &statuses[1]));
    }
    OK(MPI_Get_count(&statuses[0], MPI_INT, &count));
    CHECK(count == m->number + 3 && state == m->number + 1003 && got == m->round);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

/* ---- messages that are probed for ---- */

/* Take one message that is there. Returns its number; -1: there was none. */
static int take_one(struct mix *m, MPI_Comm comm, int tag)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int flag = 0, count = -1, in[FEW + 2];
    OK(MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &flag, &message, &status));
    if (!flag)
        return -1;
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count >= 2 && count <= FEW + 2 && status.MPI_SOURCE == m->from);
    if (m->round % 2) {
        OK(MPI_Mrecv(in, count, MPI_INT, &message, &status));
    } else {
        OK(MPI_Imrecv(in, count, MPI_INT, &message, &request));
        OK(MPI_Wait(&request, &status));
    }
    CHECK(message == MPI_MESSAGE_NULL && in[1] == m->round && count == in[0] + 2);
    return in[0];
}

/* Of a few messages with as many lengths, on the own communicator with any tag, or on the shared
 * one with the thread's. */
static void probed(struct mix *m)
{
    bool own = m->round % 3;
    MPI_Comm comm = own ? m->own : MPI_COMM_WORLD;
    MPI_Request requests[FEW];
    int out[FEW][FEW + 2], seen = 0;
    for (int i = 0; i < FEW; i++) {
        int tag = own ? (i * 7 + m->round) % 100 : 500 + m->number;
        out[i][0] = i;
        out[i][1] = m->round;
        memset(&out[i][2], 0, FEW * sizeof(int));
        OK((i % 2 ? MPI_Isend : MPI_Issend)(out[i], i + 2, MPI_INT, m->to, tag, comm,
                                            &requests[i]));
    }
    for (int left = FEW; left;) {
        int i = take_one(m, comm, own ? MPI_ANY_TAG : 500 + m->number);
        if (i < 0)
            continue;
        CHECK(i < FEW && !(seen >> i & 1) && (own || i == FEW - left));
        seen |= 1 << i;
        left--;
    }
    OK(MPI_Waitall(FEW, requests, MPI_STATUSES_IGNORE));
}

/* ---- arrays of requests ---- */

/* Sends and receives, each array completed in its own way. */
static void arrays(struct mix *m)
{
    MPI_Request in[FEW], out[FEW];
    MPI_Status statuses[FEW];
    int values[FEW], sent[FEW], indices[FEW], n = 0, index = -1, done = 0;
    for (int i = 0; i < FEW; i++) {
        values[i] = -1;
        sent[i] = m->round * 100 + i;
        OK(MPI_Irecv(&values[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : m->from, 200 + i, m->own,
                     &in[i]));
    }
    for (int i = FEW - 1; i >= 0; i--)
        OK((i % 2 ? MPI_Issend : MPI_Isend)(&sent[i], 1, MPI_INT, m->to, 200 + i, m->own, &out[i]));
    while (done < FEW) {
        OK((m->round % 2 ? MPI_Testsome : MPI_Waitsome)(FEW, in, &n, indices, statuses));
        for (int k = 0; k < n; k++)
            CHECK(statuses[k].MPI_TAG == 200 + indices[k] && statuses[k].MPI_SOURCE == m->from &&
                  values[indices[k]] == m->round * 100 + indices[k]);
        done += n;
    }
    for (int i = 0; i < FEW; i++)
        OK(MPI_Waitany(FEW, out, &index, MPI_STATUS_IGNORE));
    OK(MPI_Waitany(FEW, out, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
}

/* ---- persistent requests, one of which is cancelled ---- */

static void persistent(struct mix *m)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    char *out = pattern_alloc(LEN), *in = pattern_alloc(LEN);
    int nothing, flag = 0, cancelled = 0;
    OK((m->round % 2 ? MPI_Send_init : MPI_Ssend_init)(out, LEN, MPI_BYTE, m->to, 300, m->own,
                                                       &requests[0]));
    OK(MPI_Recv_init(in, LEN, MPI_BYTE, MPI_ANY_SOURCE, 300, m->own, &requests[1]));
    OK(MPI_Recv_init(&nothing, 1, MPI_INT, m->from, 301, m->own, &requests[2]));
    for (int i = 0; i < FEW; i++) {
        uint32_t seed = (uint32_t)(m->round * 50 + m->number * 5 + i);
        pattern_fill(out, LEN, seed + (uint32_t)m->me);
        OK(MPI_Startall(3, requests));
        OK(MPI_Cancel(&requests[2]));
        if (i % 2)
            OK(MPI_Waitall(3, requests, statuses));
        else
            for (flag = 0; !flag;)
                OK(MPI_Testall(3, requests, &flag, statuses));
        CHECK(pattern_is(in, LEN, seed + (uint32_t)m->from));
        OK(MPI_Test_cancelled(&statuses[2], &cancelled));
        CHECK(cancelled);
    }
    for (int i = 0; i < 3; i++)
        OK(MPI_Request_free(&requests[i]));
    free(out);
    free(in);
}

/* ---- communicators ---- */

static void talk(struct mix *m, MPI_Comm comm)
{
    int out[2] = {m->number, m->round}, in[2] = {-1, -1};
    OK(MPI_Sendrecv(out, 2, MPI_INT, m->to, 0, in, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                    MPI_STATUS_IGNORE));
    CHECK(in[0] == m->number && in[1] == m->round);
}

static void communicators(struct mix *m)
{
    MPI_Comm copy, later, part;
    MPI_Request request;
    MPI_Group group;
    OK(MPI_Comm_idup(m->own, &later, &request));
    OK(MPI_Comm_dup(m->own, &copy));
    talk(m, copy);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 600 + m->number, &part));
    OK(MPI_Group_free(&group));
    talk(m, part);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    talk(m, later);
    OK(MPI_Comm_free(&later));
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&copy));
}

/* ---- a partitioned message of all threads ---- */

static struct {
    pthread_barrier_t gate;
    MPI_Request send, recv;
    int out[PARTS * ELEMENTS], in[PARTS * ELEMENTS];
} shared;

static void meet(void)
{
    int rc = pthread_barrier_wait(&shared.gate);
    CHECK(!rc || rc == PTHREAD_BARRIER_SERIAL_THREAD);
}

static int value(int rank, int round, int i)
{
    return rank * 65537 + round * 257 + i;
}

/* Each makes parts ready that lie between those of others, and looks for as many. One starts both
 * requests, and another waits for them. */
static void partitioned(struct mix *m)
{
    if (m->number == 0) {
        MPI_Request both[2] = {shared.send, shared.recv};
        OK(MPI_Startall(2, both));
    }
    meet();
    for (int k = 0; k < PER_THREAD; k++) {
        int part = k * EIGHT + m->number;
        for (int i = part * ELEMENTS; i < (part + 1) * ELEMENTS; i++)
            shared.out[i] = value(m->me, m->round, i);
        OK(MPI_Pready(part, shared.send));
    }
    for (int k = 0; k < PER_THREAD; k++) {
        int part = m->number * PER_THREAD + k, there = 0;
        while (!there && m->round % 2)
            OK(MPI_Parrived(shared.recv, part, &there));
    }
    if (m->number == m->round % EIGHT) {
        OK(MPI_Wait(&shared.recv, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&shared.send, MPI_STATUS_IGNORE));
    }
    meet();
    for (int i = m->number; i < PARTS * ELEMENTS; i += EIGHT)
        CHECK(shared.in[i] == value(m->from, m->round, i));
    meet();
}

static void make_shared(int to, int from)
{
    OK(MPI_Psend_init(shared.out, PARTS, ELEMENTS, MPI_INT, to, 900, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &shared.send));
    OK(MPI_Precv_init(shared.in, PARTS, ELEMENTS, MPI_INT, from, 900, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &shared.recv));
    CHECK(!pthread_barrier_init(&shared.gate, NULL, EIGHT));
}

/* ---- all of it ---- */

/* Whether every thread of every process has time left: thread 0 asks, the others hear of it. */
static int goes_on(struct mix *m, double began)
{
    static int all;
    if (m->number == 0) {
        int left = MPI_Wtime() - began < SECONDS;
        OK(MPI_Allreduce(&left, &all, 1, MPI_INT, MPI_MIN, m->own));
    }
    meet();
    return all;
}

static void *work(void *arg)
{
    static void (*const kinds[])(struct mix *) = {probed, arrays, persistent, generalized,
                                                  communicators};
    struct thread *thread = arg;
    struct mix m = {.own = thread->comm, .number = thread->number};
    double began = MPI_Wtime();
    m.me = check_rank(m.own);
    m.size = check_size(m.own);
    m.to = (m.me + 1) % m.size;
    m.from = (m.me + m.size - 1) % m.size;
    for (m.round = 0; m.round < ROUNDS_MOST; m.round++) {
        if (m.round % 4 == 0)
            partitioned(&m);
        if (m.round % 16 == 15 && !goes_on(&m, began))
            break;
        kinds[(m.round + m.number) % 5](&m);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[EIGHT];
    pthread_t completer;
    threads_init(&argc, &argv);
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    make_shared((me + 1) % size, (me + size - 1) % size);
    CHECK(!pthread_create(&completer, NULL, complete_all, NULL));
    threads_run_apart(threads, EIGHT, work);
    CHECK(!pthread_mutex_lock(&queue.lock));
    queue.over = 1;
    CHECK(!pthread_cond_signal(&queue.change));
    CHECK(!pthread_mutex_unlock(&queue.lock));
    CHECK(!pthread_join(completer, NULL));
    OK(MPI_Request_free(&shared.send));
    OK(MPI_Request_free(&shared.recv));
    OK(MPI_Finalize());
    return 0;
}
