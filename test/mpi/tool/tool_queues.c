/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Performance variables of queues, waits and connections: lengths at every moment, their marks,
 * time that passes in a wait, sleeps and wakings.
 *
 * Ranks go in pairs, in which one watches while the other does what it is told. A single rank
 * sends to itself. With "threads", at MPI_THREAD_MULTIPLE.
 */
#include <pthread.h>
#include <time.h>

#include "tool.h"

enum {
    MESSAGES = 7,
    BYTES = 1000,
    MOST_RANKS = 64,
    GO = 900,
    DONE,
    NEVER
};

static char out[MESSAGES * BYTES], in[MESSAGES * BYTES], large[2 << 20], place[2 << 20];
static int rank, size;
static MPI_Comm world = MPI_COMM_WORLD, duo;
static int to; /* the partner in duo */
static MPI_T_pvar_session session;

static void tell(int tag)
{
    OK(MPI_Send(NULL, 0, MPI_BYTE, to, tag, duo));
}

static void hear(int tag)
{
    OK(MPI_Recv(NULL, 0, MPI_BYTE, to, tag, duo, MPI_STATUS_IGNORE));
}

static void progress(void)
{
    int flag;
    OK(MPI_Iprobe(to, NEVER, duo, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

static void rest(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

/* ---- messages that wait ---- */

static void send_all(MPI_Request *requests)
{
    for (int i = 0; i < MESSAGES; i++)
        OK(MPI_Isend(out, i * BYTES, MPI_BYTE, to, i, duo, &requests[i]));
    OK(MPI_Isend(large, sizeof(large), MPI_BYTE, to, MESSAGES, duo, &requests[MESSAGES]));
}

static void serve(void)
{
    MPI_Request requests[MESSAGES + 1];
    for (int round = 0; round < 2; round++) {
        hear(GO);
        send_all(requests);
        OK(MPI_Waitall(MESSAGES + 1, requests, MPI_STATUSES_IGNORE));
        hear(DONE);
    }
}

/* Those of a rendezvous keep their bytes. */
static void watch_unexpected(int alone)
{
    MPI_Request requests[MESSAGES + 1];
    MPI_T_pvar_handle level = tool_handle(session, "unexpected_messages", NULL, 1);
    MPI_T_pvar_handle kept = tool_handle(session, "unexpected_bytes", NULL, 1);
    MPI_T_pvar_handle most = tool_handle(session, "unexpected_messages_most", NULL, 1);
    MPI_T_pvar_handle kept_most = tool_handle(session, "unexpected_bytes_most", NULL, 1);
    MPI_T_pvar_handle ever = tool_handle(session, "unexpected_arrivals", NULL, 1);
    counted bytes = BYTES * MESSAGES * (MESSAGES - 1) / 2;
    for (int round = 0; round < 2; round++) {
        SAME(tool_read(session, level), 0);
        SAME(tool_read(session, most), round ? MESSAGES + 1 : 0);
        OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
        SAME(tool_read(session, most), 0);
        OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
        if (alone)
            send_all(requests);
        else
            tell(GO);
        while (tool_read(session, level) < MESSAGES + 1)
            progress();
        for (int i = MESSAGES; i >= 0; i--) {
            SAME(tool_read(session, level), i + 1);
            int last = i < MESSAGES ? i : MESSAGES - 1;
            SAME(tool_read(session, kept), BYTES * last * (last + 1) / 2);
            OK(MPI_Recv(i < MESSAGES ? in : place, (int)(i < MESSAGES ? sizeof(in) : sizeof(place)),
                        MPI_BYTE, to, i, duo, MPI_STATUS_IGNORE));
            SAME(tool_read(session, ever), MESSAGES + 1);
        }
        if (alone)
            OK(MPI_Waitall(MESSAGES + 1, requests, MPI_STATUSES_IGNORE));
        else
            tell(DONE);
        SAME(tool_read(session, most), MESSAGES + 1);
        SAME(tool_read(session, kept_most), bytes);
        SAME(tool_read(session, ever), MESSAGES + 1);
        OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    }
    OK(MPI_T_pvar_handle_free(session, &level));
    OK(MPI_T_pvar_handle_free(session, &kept));
    OK(MPI_T_pvar_handle_free(session, &most));
    OK(MPI_T_pvar_handle_free(session, &kept_most));
    OK(MPI_T_pvar_handle_free(session, &ever));
}

/* ---- receives that wait ---- */

static void watch_posted(int alone)
{
    MPI_Request requests[MESSAGES];
    int flag;
    MPI_T_pvar_handle level = tool_handle(session, "posted_receives", NULL, 1);
    MPI_T_pvar_handle most = tool_handle(session, "posted_receives_most", NULL, 1);
    OK(MPI_T_pvar_start(session, most));
    for (int i = 0; i < MESSAGES; i++) {
        SAME(tool_read(session, level), i);
        SAME(tool_read(session, most), i);
        OK(MPI_Irecv(in, 1, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : to, i, duo, &requests[i]));
    }
    OK(MPI_Cancel(&requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    SAME(tool_read(session, level), MESSAGES - 1);
    for (int i = 1; i < MESSAGES; i++) {
        if (alone)
            OK(MPI_Send(out, 1, MPI_BYTE, to, i, duo));
        else
            tell(GO);
        for (flag = 0; !flag;)
            OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        SAME(tool_read(session, level), MESSAGES - 1 - i);
    }
    SAME(tool_read(session, most), MESSAGES);
    OK(MPI_T_pvar_reset(session, most));
    SAME(tool_read(session, most), 0);
    OK(MPI_T_pvar_handle_free(session, &level));
    OK(MPI_T_pvar_handle_free(session, &most));
}

static void serve_posted(void)
{
    for (int i = 1; i < MESSAGES; i++) {
        hear(GO);
        OK(MPI_Send(out, 1, MPI_BYTE, to, i, duo));
    }
}

/* ---- waits ---- */

enum {
    PAUSE_MS = 120,
    TRIES = 20
};

/* Time passes in waits as it passes on the clock. */
static void watch_waits(void)
{
    MPI_T_pvar_handle idle = tool_handle(session, "wait_idle_time", NULL, 1);
    MPI_T_pvar_handle asleep = tool_handle(session, "wait_sleep_time", NULL, 1);
    MPI_T_pvar_handle sleeps = tool_handle(session, "wait_sleeps", NULL, 1);
    double began = MPI_Wtime();
    tell(GO);
    hear(GO);
    SAME(tool_read(session, sleeps), 0); /* none is started */
    CHECK(tool_seconds(session, idle) == 0 && tool_seconds(session, asleep) == 0);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    /* On a busy machine a wait may begin late, and be short. */
    for (int i = 0; i < 3 || (i < TRIES && tool_seconds(session, asleep) <= PAUSE_MS * 1.5e-3); i++) {
        double before = tool_seconds(session, idle);
        tell(GO);
        hear(GO); /* it takes PAUSE_MS */
        CHECK(tool_seconds(session, idle) > before);
        CHECK(tool_seconds(session, idle) <= MPI_Wtime() - began);
        CHECK(tool_seconds(session, asleep) <= tool_seconds(session, idle));
    }
    CHECK(tool_seconds(session, idle) > PAUSE_MS * 1.5e-3);
    CHECK(tool_seconds(session, asleep) > PAUSE_MS * 1.5e-3);
    CHECK(tool_read(session, sleeps) >= 1);
    OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    double before = tool_seconds(session, idle);
    tell(DONE);
    hear(DONE);
    CHECK(tool_seconds(session, idle) == before);
    OK(MPI_T_pvar_handle_free(session, &idle));
    OK(MPI_T_pvar_handle_free(session, &asleep));
    OK(MPI_T_pvar_handle_free(session, &sleeps));
}

static void serve_waits(void)
{
    MPI_Status status;
    do {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, to, MPI_ANY_TAG, duo, &status));
        rest(PAUSE_MS);
        tell(status.MPI_TAG);
    } while (status.MPI_TAG != DONE);
}

/* Over shared memory the sender wakes it. It may find the sleeper just looking up. */
static void wake(int shared)
{
    MPI_T_pvar_handle wakeups = tool_handle(session, "wakeups", NULL, 1);
    OK(MPI_T_pvar_start(session, wakeups));
    counted before = 0, woken = 0;
    for (int i = 0; i < TRIES && woken == before; i++) {
        before = woken;
        rest(PAUSE_MS);
        tell(GO);
        woken = tool_read(session, wakeups);
        CHECK(woken <= before + 1);
    }
    CHECK(!shared || woken == 1);
    CHECK(shared || woken == 0);
    tell(DONE);
    OK(MPI_T_pvar_handle_free(session, &wakeups));
}

static void be_woken(void)
{
    MPI_Status status;
    do
        OK(MPI_Recv(NULL, 0, MPI_BYTE, to, MPI_ANY_TAG, duo, &status));
    while (status.MPI_TAG != DONE);
}

/* ---- threads ---- */

static void *receive_one(void *arg)
{
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    return NULL;
}

/* A thread waits for what another sends to its own process: the other wakes it. */
static void wake_thread(void)
{
    pthread_t thread;
    MPI_T_pvar_handle wakeups = tool_handle(session, "wakeups", NULL, 1);
    MPI_T_pvar_handle idle = tool_handle(session, "wait_idle_time", NULL, 1);
    MPI_T_pvar_handle sleeps = tool_handle(session, "wait_sleeps", NULL, 1);
    double began = MPI_Wtime();
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    for (int i = 0; i < TRIES && tool_read(session, wakeups) == 0; i++) {
        CHECK(!pthread_create(&thread, NULL, receive_one, NULL));
        rest(PAUSE_MS);
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_SELF));
        CHECK(!pthread_join(thread, NULL));
    }
    CHECK(tool_read(session, wakeups) > 0);
    CHECK(tool_read(session, sleeps) > 0);
    CHECK(tool_seconds(session, idle) > PAUSE_MS * 0.5e-3);
    CHECK(tool_seconds(session, idle) <= MPI_Wtime() - began);
    OK(MPI_T_pvar_handle_free(session, &wakeups));
    OK(MPI_T_pvar_handle_free(session, &idle));
    OK(MPI_T_pvar_handle_free(session, &sleeps));
}

/* ---- connections ---- */

static const char *word_of(const char *variable, int value)
{
    static char name[64];
    MPI_T_enum words;
    int len = sizeof(name);
    OK(MPI_T_pvar_get_info(tool_pvar(variable), NULL, NULL, NULL, NULL, NULL, &words, NULL, NULL,
                           NULL, NULL, NULL, NULL));
    OK(MPI_T_enum_get_item(words, value, NULL, name, &len));
    return name;
}

/* Of all states, as many connections are in each as there are peers in it. */
static int connections(void)
{
    int states[MOST_RANKS], channels[MOST_RANKS], items;
    MPI_T_pvar_handle state = tool_handle(session, "peer_state", &world, size);
    MPI_T_pvar_handle channel = tool_handle(session, "peer_channel", &world, size);
    MPI_T_enum words;
    OK(MPI_T_pvar_read(session, state, states));
    OK(MPI_T_pvar_read(session, channel, channels));
    OK(MPI_T_pvar_get_info(tool_pvar("peer_state"), NULL, NULL, NULL, NULL, NULL, &words, NULL,
                           NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_enum_get_info(words, &items, NULL, NULL));
    for (int i = 0; i < items; i++) {
        char name[128];
        counted count = 0;
        snprintf(name, sizeof(name), "connections_%s", word_of("peer_state", i));
        MPI_T_pvar_handle level = tool_handle(session, name, NULL, 1);
        for (int k = 0; k < size; k++)
            count += states[k] == i;
        if (strcmp(name, "connections_unbound")) /* no counts of an unknown peer */
            SAME(tool_read(session, level), count);
        OK(MPI_T_pvar_handle_free(session, &level));
    }
    int mate = rank - rank % 2 + to;
    CHECK(!strcmp(word_of("peer_state", states[mate]), "open"));
    int shared = !strcmp(word_of("peer_channel", channels[mate]), "shm");
    if (mate == rank)
        CHECK(!strcmp(word_of("peer_channel", channels[mate]), "loopback"));
    for (int k = 0; k < size; k++)
        CHECK(!strcmp(word_of("peer_state", states[k]), "unbound") == (channels[k] == 0));
    OK(MPI_T_pvar_handle_free(session, &state));
    OK(MPI_T_pvar_handle_free(session, &channel));
    return shared;
}

int main(int argc, char **argv)
{
    int threads = argc > 1, level, members, shared;
    OK(MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    OK(MPI_T_pvar_session_create(&session));
    rank = check_rank(world);
    size = check_size(world);
    OK(MPI_Comm_split(world, rank / 2, rank, &duo));
    members = check_size(duo);
    to = members > 1 ? 1 - rank % 2 : 0;
    if (members == 1) {
        watch_unexpected(1);
        watch_posted(1);
        shared = connections();
    }
    for (int i = 0; i < 2 && members > 1; i++) {
        int watching = rank % 2 == i;
        watching ? watch_unexpected(0) : serve();
        watching ? watch_posted(0) : serve_posted();
        shared = connections();
        watching ? watch_waits() : serve_waits();
        watching ? wake(shared) : be_woken();
    }
    if (threads)
        wake_thread();
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    OK(MPI_Comm_free(&duo));
    OK(MPI_Finalize());
    return 0;
}
