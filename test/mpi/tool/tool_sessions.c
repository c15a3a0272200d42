/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions of performance variables: each handle counts for itself, from its start to its stop, and
 * goes on from where it stood or from what was written; high-water marks are their own too. With
 * "threads", several threads have sessions, while others send, all at once.
 *
 * Everything is sent by a rank to itself.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tool.h"

static MPI_Comm self = MPI_COMM_SELF;
static char data[64];

static void sends(MPI_Comm comm, int messages, int bytes)
{
    char in[64];
    for (int i = 0; i < messages; i++)
        OK(MPI_Sendrecv(data, bytes, MPI_BYTE, 0, 3, in, bytes, MPI_BYTE, 0, 3, comm,
                        MPI_STATUS_IGNORE));
}

/* ---- one after another ---- */

static void alone(void)
{
    MPI_T_pvar_session session, other;
    counted value = 77;
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_session_create(&other));
    MPI_T_pvar_handle sent = tool_handle(session, "peer_messages_sent", &self, 1);
    MPI_T_pvar_handle bytes = tool_handle(session, "eager_bytes_sent", NULL, 1);
    MPI_T_pvar_handle apart = tool_handle(other, "peer_messages_sent", &self, 1);
    sends(self, 1, 10);
    SAME(tool_read(session, sent), 0);
    OK(MPI_T_pvar_start(session, sent));
    sends(self, 2, 10);
    SAME(tool_read(session, sent), 2);
    SAME(tool_read(other, apart), 0);
    OK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_start(other, apart)); /* changes nothing */
    sends(self, 3, 10);
    SAME(tool_read(session, sent), 5);
    SAME(tool_read(other, apart), 3);
    SAME(tool_read(session, bytes), 0);
    OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    SAME(tool_read(session, sent), 0);
    SAME(tool_read(other, apart), 3);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    sends(self, 4, 10);
    OK(MPI_T_pvar_stop(session, sent));
    sends(self, 5, 10);
    SAME(tool_read(session, sent), 4);
    SAME(tool_read(session, bytes), 90);
    OK(MPI_T_pvar_stop(session, sent));
    OK(MPI_T_pvar_start(session, sent));
    sends(self, 1, 10);
    SAME(tool_read(session, sent), 5);
    OK(MPI_T_pvar_readreset(session, sent, &value));
    SAME(value, 5);
    SAME(tool_read(session, sent), 0);
    value = 1000;
    OK(MPI_T_pvar_write(session, sent, &value));
    sends(self, 1, 10);
    SAME(tool_read(session, sent), 1001);
    OK(MPI_T_pvar_stop(session, sent));
    OK(MPI_T_pvar_write(session, sent, &value));
    sends(self, 1, 10);
    SAME(tool_read(session, sent), 1000);
    SAME(tool_read(other, apart), 15);
    CHECK(MPI_T_pvar_read(other, sent, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_handle_free(other, &sent) == MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_read(session, sent, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_read(other, sent, &value) == MPI_T_ERR_INVALID_HANDLE);
    SAME(tool_read(other, apart), 15);
    OK(MPI_T_pvar_session_free(&other));
}

static void pile(int messages, MPI_Request *requests)
{
    int flag;
    for (int i = 0; i < messages; i++)
        OK(MPI_Isend(data, 8, MPI_BYTE, 0, 5, self, &requests[i]));
    OK(MPI_Iprobe(0, 5, self, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
}

static void take(int messages, MPI_Request *requests)
{
    char in[8];
    for (int i = 0; i < messages; i++)
        OK(MPI_Recv(in, 8, MPI_BYTE, 0, 5, self, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
}

/* A mark is the highest of the time that its handle was started in. */
static void marks(void)
{
    MPI_Request requests[10];
    MPI_T_pvar_session session, other;
    counted value = 0;
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_session_create(&other));
    MPI_T_pvar_handle most = tool_handle(session, "unexpected_messages_most", NULL, 1);
    MPI_T_pvar_handle apart = tool_handle(other, "unexpected_messages_most", NULL, 1);
    pile(9, requests);
    take(9, requests);
    SAME(tool_read(session, most), 0);
    OK(MPI_T_pvar_start(session, most));
    SAME(tool_read(session, most), 0); /* what was before its start is none of its */
    pile(5, requests);
    OK(MPI_T_pvar_start(other, apart));
    SAME(tool_read(other, apart), 5); /* they are there */
    take(5, requests);
    OK(MPI_T_pvar_reset(other, apart));
    SAME(tool_read(other, apart), 0);
    SAME(tool_read(session, most), 5);
    pile(3, requests);
    take(3, requests);
    OK(MPI_T_pvar_stop(other, apart));
    pile(8, requests);
    take(8, requests);
    SAME(tool_read(session, most), 8);
    SAME(tool_read(other, apart), 3);
    OK(MPI_T_pvar_readreset(session, most, &value));
    SAME(value, 8);
    pile(2, requests);
    OK(MPI_T_pvar_readreset(session, most, &value));
    SAME(value, 2);
    take(1, requests);
    SAME(tool_read(session, most), 2); /* the level of the reset */
    take(1, requests + 1);
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_pvar_session_free(&other));
}

/* Of each class, what cannot be done with it is refused. */
static void refusals(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int count, variables, readonly, continuous, atomic, bind, class;
    static counted values[64];
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_num(&variables));
    for (int i = 0; i < variables; i++) {
        OK(MPI_T_pvar_get_info(i, NULL, NULL, NULL, &class, NULL, NULL, NULL, NULL, &bind,
                               &readonly, &continuous, &atomic));
        MPI_Comm none = MPI_COMM_NULL;
        if (bind == MPI_T_BIND_MPI_COMM) {
            CHECK(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) == MPI_T_ERR_INVALID);
            CHECK(MPI_T_pvar_handle_alloc(session, i, &none, &handle, &count) == MPI_T_ERR_INVALID);
        }
        OK(MPI_T_pvar_handle_alloc(session, i, &self, &handle, &count));
        CHECK(count == 1);
        CHECK(MPI_T_pvar_start(session, handle) ==
              (continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS));
        OK(MPI_T_pvar_read(session, handle, values));
        CHECK(MPI_T_pvar_stop(session, handle) ==
              (continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS));
        CHECK(MPI_T_pvar_write(session, handle, values) ==
              (readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS));
        CHECK(MPI_T_pvar_reset(session, handle) ==
              (readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS));
        CHECK(MPI_T_pvar_readreset(session, handle, values) ==
              (atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC));
        CHECK(MPI_T_pvar_read(session, handle, NULL) == MPI_T_ERR_INVALID);
        CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, values) == MPI_T_ERR_INVALID_HANDLE);
        if (class == MPI_T_PVAR_CLASS_TIMER) {
            static const double bad[] = {-1, 1e300, 0.0 / 0.0, 1.0 / 0.0};
            double good = 12.3;
            for (int k = 0; k < 4; k++)
                CHECK(MPI_T_pvar_write(session, handle, &bad[k]) == MPI_T_ERR_INVALID);
            OK(MPI_T_pvar_write(session, handle, &good));
            double is = tool_seconds(session, handle);
            CHECK(is > 12.2999999 && is < 12.3000001);
        }
        OK(MPI_T_pvar_handle_free(session, &handle));
        CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_T_ERR_INVALID_HANDLE);
    }
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES)); /* there are none */
    OK(MPI_T_pvar_session_free(&session));
    CHECK(MPI_T_pvar_session_free(&session) == MPI_T_ERR_INVALID_SESSION);
}

/* ---- at once ---- */

enum {
    THREADS = 4,
    ROUNDS = 300
};

static MPI_Comm comms[THREADS];
static _Atomic int sending;

static void *send_many(void *arg)
{
    sends(*(MPI_Comm *)arg, ROUNDS, 16);
    atomic_fetch_sub(&sending, 1);
    return NULL;
}

/* A counter never goes back, however often others begin and end. */
static void *watch(void *arg)
{
    (void)arg;
    while (atomic_load(&sending)) {
        MPI_T_pvar_session session;
        int level;
        counted before = 0;
        OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
        OK(MPI_T_pvar_session_create(&session));
        MPI_T_pvar_handle sent = tool_handle(session, "peer_messages_sent", &self, 1);
        MPI_T_pvar_handle most = tool_handle(session, "unexpected_messages_most", NULL, 1);
        MPI_T_pvar_handle idle = tool_handle(session, "wait_idle_time", NULL, 1);
        OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
        for (int i = 0; i < 20; i++) {
            counted now = tool_read(session, sent);
            CHECK(now >= before && now <= THREADS * ROUNDS);
            before = now;
            CHECK(tool_read(session, most) <= THREADS * ROUNDS);
            CHECK(tool_seconds(session, idle) >= 0);
        }
        OK(MPI_T_pvar_session_free(&session));
        OK(MPI_T_finalize());
    }
    return NULL;
}

static void at_once(void)
{
    pthread_t threads[2 * THREADS];
    MPI_T_pvar_session session;
    OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle sent = tool_handle(session, "peer_messages_sent", &self, 1);
    MPI_T_pvar_handle got = tool_handle(session, "channel_loopback_bytes_received", NULL, 1);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_dup(self, &comms[i]));
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    atomic_store(&sending, THREADS);
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, i % 2 ? watch : send_many, &comms[i / 2]));
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
    SAME(tool_read(session, sent), THREADS * ROUNDS);
    SAME(tool_read(session, got), THREADS * ROUNDS * 16);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comms[i]));
    OK(MPI_T_pvar_session_free(&session));
}

int main(int argc, char **argv)
{
    int threads = argc > 1, level, want = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    OK(MPI_Init_thread(&argc, &argv, want, &level));
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    CHECK(level == want);
    alone();
    marks();
    refusals();
    if (threads)
        at_once();
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}
