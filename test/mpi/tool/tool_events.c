/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events: a callback is called once for each message that arrives, for each that is unexpected, and
 * for each change of a connection, with the right elements, in order and in time; not before it is
 * registered nor after it is freed; and of those lost the number is told. With "threads", all
 * at MPI_THREAD_MULTIPLE, and from many threads at once.
 *
 * Messages are sent by a rank to itself, and between neighbours of a pair. What counts all that
 * comes is for a rank that is alone.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tool.h"

enum {
    MOST = 8192,
    LARGE = 2 << 20,
    CHANGES = 1000
};

/* What a callback has been told. */
struct message {
    counted bytes;
    int peer, source, tag;
    unsigned context;
    int rendezvous;
};

struct log {
    _Atomic int count;
    _Atomic int busy; /* callbacks that run */
    MPI_T_event_registration own;
    struct message messages[MOST];
    MPI_Count last_time;
};

static struct log arrived, unexpected;
static char out[LARGE], in[LARGE];
static int rank, size, to, members;
static MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF, duo;

static int type_of(const char *name)
{
    int index = -1;
    OK(MPI_T_event_get_index(name, &index));
    return index;
}

static void check_time(MPI_T_event_instance instance, MPI_Count *last)
{
    MPI_Count time, now, rate, most;
    MPI_T_source_order order;
    int source = -1;
    OK(MPI_T_event_get_source(instance, &source));
    OK(MPI_T_source_get_info(source, NULL, NULL, NULL, NULL, &order, &rate, &most, NULL));
    OK(MPI_T_event_get_timestamp(instance, &time));
    OK(MPI_T_source_get_timestamp(source, &now));
    CHECK(order == MPI_T_SOURCE_ORDERED && rate > 0 && time <= now && now <= most);
    CHECK(time >= *last && now - time < 100 * rate);
    *last = time;
}

/* Elements one by one are those of the whole; beyond its end nothing is written. */
static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void *arg)
{
    struct log *log = arg;
    char buffer[64];
    int elements = 6, wrong;
    MPI_Aint at[6];
    MPI_Datatype types[6];
    CHECK(atomic_fetch_add(&log->busy, 1) == 0);
    CHECK(safety == MPI_T_CB_REQUIRE_NONE && registration == log->own);
    int i = log->count;
    CHECK(i < MOST);
    struct message *m = &log->messages[i];
    OK(MPI_T_event_get_info(type_of("message_arrived"), NULL, NULL, NULL, types, at, &elements,
                            NULL, NULL, NULL, NULL, NULL));
    void *const parts[] = {&m->bytes, &m->peer, &m->source, &m->tag, &m->context, &m->rendezvous};
    memset(buffer, '#', sizeof(buffer));
    OK(MPI_T_event_copy(instance, buffer));
    CHECK(buffer[at[5] + (MPI_Aint)sizeof(int)] == '#');
    for (int k = 0; k < elements; k++) {
        int bytes;
        OK(MPI_T_event_read(instance, k, parts[k]));
        OK(MPI_Type_size(types[k], &bytes));
        CHECK(!memcmp(parts[k], buffer + at[k], (size_t)bytes));
    }
    CHECK(MPI_T_event_read(instance, 6, &wrong) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_read(instance, -1, &wrong) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_read(instance, 0, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_copy(instance, NULL) == MPI_T_ERR_INVALID);
    check_time(instance, &log->last_time);
    atomic_store(&log->count, i + 1);
    atomic_fetch_sub(&log->busy, 1);
}

static MPI_T_event_registration listen_to(const char *name, MPI_T_event_cb_function *callback,
                                          void *arg)
{
    MPI_T_event_registration made;
    OK(MPI_T_event_handle_alloc(type_of(name), NULL, MPI_INFO_NULL, &made));
    OK(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, arg, callback));
    return made;
}

/* So made before it is listened to, as callbacks compare it. */
static void open_log(struct log *log, const char *name)
{
    log->count = 0;
    log->last_time = 0;
    OK(MPI_T_event_handle_alloc(type_of(name), NULL, MPI_INFO_NULL, &log->own));
    OK(MPI_T_event_register_callback(log->own, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, log,
                                     on_message));
}

static void progress(void)
{
    int flag;
    OK(MPI_Iprobe(0, 999, self, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

/* ---- messages ---- */

/* Others go on at their own pace, and their messages come at any time: pick those that are meant.
 * Returns how many. */
static struct message picked[MOST];
static int only(const struct log *log, int peer, int context, int bytes)
{
    int kept = 0, count = log->count;
    for (int i = 0; i < count; i++) {
        const struct message *m = &log->messages[i];
        if (m->peer == peer && (context < 0 || m->context == (unsigned)context) &&
            (bytes < 0 || m->bytes == (counted)bytes))
            picked[kept++] = *m;
    }
    return kept;
}

static void is_message(const struct message *m, int peer, int source, int tag, int bytes, int asks)
{
    SAME(m->bytes, bytes);
    SAME(m->peer, peer);
    SAME(m->source, source);
    SAME(m->tag, tag);
    SAME(m->rendezvous, asks);
}

/* Expected and unexpected ones, eager and not. */
static void to_itself(void)
{
    MPI_Request requests[8];
    for (int posted = 0; posted < 2; posted++) {
        open_log(&arrived, "message_arrived");
        open_log(&unexpected, "message_unexpected");
        for (int i = 0; i < 4 && posted; i++)
            OK(MPI_Irecv(in, LARGE, MPI_BYTE, 0, i, self, &requests[4 + i]));
        OK(MPI_Isend(out, 0, MPI_BYTE, 0, 0, self, &requests[0]));
        OK(MPI_Isend(out, 100, MPI_BYTE, 0, 1, self, &requests[1]));
        OK(MPI_Isend(out, LARGE, MPI_BYTE, 0, 2, self, &requests[2]));
        OK(MPI_Issend(out, 5, MPI_BYTE, 0, 3, self, &requests[3]));
        while (only(&arrived, rank, -1, -1) < 4)
            progress();
        for (int i = 0; i < 4 && !posted; i++)
            OK(MPI_Irecv(in, LARGE, MPI_BYTE, 0, i, self, &requests[4 + i]));
        OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
        progress();
        for (int k = 0; k < (posted ? 1 : 2); k++) {
            SAME(only(k ? &unexpected : &arrived, rank, -1, -1), 4);
            const struct message *m = picked;
            is_message(&m[0], rank, 0, 0, 0, 0);
            is_message(&m[1], rank, 0, 1, 100, 0);
            is_message(&m[2], rank, 0, 2, LARGE, 1);
            is_message(&m[3], rank, 0, 3, 5, 1);
            CHECK(m[0].context == m[3].context);
        }
        OK(MPI_T_event_handle_free(arrived.own, NULL, NULL));
        OK(MPI_T_event_handle_free(unexpected.own, NULL, NULL));
        SAME(only(&unexpected, rank, -1, -1), posted ? 0 : 4);
        OK(MPI_Sendrecv(out, 1, MPI_BYTE, 0, 1, in, 1, MPI_BYTE, 0, 1, self, MPI_STATUS_IGNORE));
        SAME(only(&arrived, rank, -1, -1), 4);
    }
}

/* By blocking calls, of a partner, and in partitions. */
static void to_another(void)
{
    enum {
        ROUNDS = 100,
        PARTS = 4
    };
    MPI_Request requests[2];
    if (members < 2)
        return;
    int mate = rank - rank % 2 + to;
    open_log(&arrived, "message_arrived");
    OK(MPI_Sendrecv(out, 1, MPI_BYTE, 1 - to, 1, in, 1, MPI_BYTE, 1 - to, 1, duo,
                    MPI_STATUS_IGNORE)); /* tells its context */
    while (only(&arrived, rank, -1, 1) < 1)
        progress();
    int context = (int)picked[0].context;
    OK(MPI_Sendrecv(out, 1, MPI_BYTE, mate, 1, in, 1, MPI_BYTE, mate, 1, world,
                    MPI_STATUS_IGNORE)); /* the other listens too */
    for (int i = 0; i < ROUNDS; i++) {
        int bytes = i % 10 ? i : 100000 * i;
        if (rank % 2)
            OK(MPI_Recv(in, LARGE, MPI_BYTE, to, i, duo, MPI_STATUS_IGNORE));
        OK(MPI_Send(out, bytes % LARGE, MPI_BYTE, to, i, duo));
        if (rank % 2 == 0)
            OK(MPI_Recv(in, LARGE, MPI_BYTE, to, i, duo, MPI_STATUS_IGNORE));
    }
    progress();
    SAME(only(&arrived, mate, context, -1), ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        const struct message *m = &picked[i];
        int bytes = i % 10 ? i : 100000 * i;
        is_message(m, mate, to, i, bytes % LARGE, m->rendezvous);
    }
    OK(MPI_Precv_init(in, PARTS, 333, MPI_BYTE, to, 3, duo, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Psend_init(out, PARTS, 333, MPI_BYTE, to, 3, duo, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Startall(2, requests));
    OK(MPI_Pready_range(0, PARTS - 1, requests[0]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    SAME(only(&arrived, mate, -1, 333), PARTS);
    for (int i = 0; i < PARTS; i++)
        is_message(&picked[i], mate, to, picked[0].tag + i, 333, 0);
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_T_event_handle_free(arrived.own, NULL, NULL));
}

/* ---- registrations ---- */

static int calls[5], frees;
static MPI_T_event_registration own;

static void on_any(MPI_T_event_instance instance, MPI_T_event_registration registration,
                   MPI_T_cb_safety safety, void *arg)
{
    ++*(int *)arg;
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *arg)
{
    CHECK(arg == &frees && registration == own && safety == MPI_T_CB_REQUIRE_NONE);
    frees++;
}

/* Frees itself, and is not called again. */
static void on_last(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void *arg)
{
    ++*(int *)arg;
    OK(MPI_T_event_handle_free(registration, &frees, on_free));
    CHECK(frees == 0); /* it runs */
    CHECK(MPI_T_event_handle_free(registration, &frees, on_free) == MPI_T_ERR_INVALID_HANDLE);
}

static void say(int messages)
{
    MPI_Request request;
    for (int i = 0; i < messages; i++) {
        OK(MPI_Isend(out, 1, MPI_BYTE, 0, 7, self, &request));
        OK(MPI_Recv(in, 1, MPI_BYTE, 0, 7, self, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    progress();
}

static void registrations(void)
{
    static const MPI_T_cb_safety safeties[] = {
        MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_T_CB_REQUIRE_THREAD_SAFE,
        MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_NONE};
    MPI_T_event_registration other;
    MPI_Info info;
    int keys;
    memset(calls, 0, sizeof(calls));
    OK(MPI_T_event_handle_alloc(type_of("message_arrived"), NULL, MPI_INFO_NULL, &own));
    say(1);
    for (int i = 0; i < 4; i++) { /* the one that needs the least is called */
        OK(MPI_T_event_register_callback(own, safeties[i], MPI_INFO_NULL, &calls[i], on_any));
        say(i + 1);
        SAME(calls[i], i + 1);
        OK(MPI_T_event_callback_get_info(own, safeties[i], &info));
        OK(MPI_Info_get_nkeys(info, &keys));
        OK(MPI_T_event_callback_set_info(own, safeties[i], info));
        OK(MPI_Info_free(&info));
        CHECK(keys == 0);
    }
    other = listen_to("message_arrived", on_any, &calls[4]);
    say(1);
    SAME(calls[4], 1);
    SAME(calls[3], 5);
    OK(MPI_T_event_register_callback(own, safeties[3], MPI_INFO_NULL, NULL, NULL));
    say(1);
    SAME(calls[2], 4);
    SAME(calls[3], 5);
    OK(MPI_T_event_register_callback(own, safeties[2], MPI_INFO_NULL, &calls[3], on_any));
    say(1);
    SAME(calls[2], 4);
    SAME(calls[3], 6);
    frees = 0;
    OK(MPI_T_event_handle_free(own, &frees, on_free));
    SAME(frees, 1);
    say(1);
    SAME(calls[3], 6);
    SAME(calls[4], 4);
    frees = calls[0] = 0;
    own = listen_to("message_arrived", on_last, &calls[0]);
    say(3);
    SAME(calls[0], 1);
    SAME(frees, 1);
    SAME(calls[4], 7);
    OK(MPI_T_event_handle_free(other, NULL, NULL));
}

/* ---- loss ---- */

enum {
    FLOOD = 3000,
    ROOM = 1024
};

static counted lost;
static int flooded;

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                       MPI_T_cb_safety safety, void *arg)
{
    CHECK(arg == &flooded && source == 0 && count > 0 && registration == own);
    lost += (counted)count;
}

/* While a callback runs, nothing is told: more comes than there is room for. */
static void on_flood(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *arg)
{
    static MPI_Request requests[FLOOD];
    if (flooded++)
        return;
    for (int i = 0; i < FLOOD; i++)
        OK(MPI_Isend(out, 1, MPI_BYTE, 0, 8, self, &requests[i]));
    for (int i = 0; i < FLOOD; i++)
        OK(MPI_Recv(in, 1, MPI_BYTE, 0, 8, self, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(FLOOD, requests, MPI_STATUSES_IGNORE));
}

static void drops(void)
{
    lost = 0;
    flooded = 0;
    own = listen_to("message_arrived", on_flood, &flooded);
    OK(MPI_T_event_set_dropped_handler(own, on_dropped));
    say(1);
    SAME(flooded, 1 + ROOM);
    SAME(lost, FLOOD - ROOM);
    OK(MPI_T_event_set_dropped_handler(own, NULL));
    flooded = 0;
    say(1);
    SAME(flooded, 1 + ROOM);
    SAME(lost, FLOOD - ROOM);
    OK(MPI_T_event_handle_free(own, NULL, NULL));
    own = listen_to("message_arrived", on_any, &flooded); /* hears of nothing before */
    OK(MPI_T_event_set_dropped_handler(own, on_dropped));
    flooded = 0;
    say(1);
    SAME(flooded, 1);
    SAME(lost, FLOOD - ROOM);
    OK(MPI_T_event_handle_free(own, NULL, NULL));
}

/* ---- connections ---- */

static struct {
    int peer, old_state, state;
} changes[CHANGES];
static int change_count;
static MPI_Count change_time;

static void on_change(MPI_T_event_instance instance, MPI_T_event_registration registration,
                      MPI_T_cb_safety safety, void *arg)
{
    CHECK(change_count < CHANGES);
    OK(MPI_T_event_copy(instance, &changes[change_count++]));
    check_time(instance, &change_time);
}

static const char *state_name(int state)
{
    static char name[64];
    MPI_T_enum words;
    int len = sizeof(name);
    OK(MPI_T_pvar_get_info(tool_pvar("peer_state"), NULL, NULL, NULL, NULL, NULL, &words, NULL,
                           NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_enum_get_item(words, state, NULL, name, &len));
    return name;
}

/* Of each peer they are a chain, from its first state to the one that it is in. */
static void chains(int before_end)
{
    static int states[CHANGES];
    MPI_T_pvar_session session;
    if (before_end) {
        OK(MPI_T_pvar_session_create(&session));
        MPI_T_pvar_handle handle = tool_handle(session, "peer_state", &world, size);
        progress();
        OK(MPI_T_pvar_read(session, handle, states));
        OK(MPI_T_pvar_session_free(&session));
    }
    for (int peer = 0; peer < size; peer++) {
        int at = -1, closing = 0;
        for (int i = 0; i < change_count; i++) {
            if (changes[i].peer != peer)
                continue;
            CHECK(at < 0 ? !strcmp(state_name(changes[i].old_state), "unbound")
                         : changes[i].old_state == at);
            CHECK(changes[i].state != changes[i].old_state);
            at = changes[i].state;
            closing |= !strncmp(state_name(at), "clos", 4);
        }
        if (before_end)
            CHECK(at < 0 ? !strcmp(state_name(states[peer]), "unbound") : at == states[peer]);
        else if (at >= 0) /* what comes after is for sessions */
            CHECK(closing);
    }
}

/* ---- many threads ---- */

enum {
    THREADS = 4,
    EACH = 500
};

static _Atomic int heard, sending;
static _Atomic int running;

static void on_one(MPI_T_event_instance instance, MPI_T_event_registration registration,
                   MPI_T_cb_safety safety, void *arg)
{
    int bytes[16];
    CHECK(atomic_fetch_add(&running, 1) == 0); /* one at a time */
    OK(MPI_T_event_copy(instance, bytes));
    atomic_fetch_add(&heard, 1);
    atomic_fetch_sub(&running, 1);
}

static void *send_many(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    char got[8];
    for (int i = 0; i < EACH; i++)
        OK(MPI_Sendrecv(out, 8, MPI_BYTE, 0, 1, got, 8, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
    atomic_fetch_sub(&sending, 1);
    return NULL;
}

static void on_other(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
}

static void on_gone(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
}

static _Atomic int made, gone, heard_others, missed;

/* The others may be faster than whoever calls the callbacks. */
static void on_missed(MPI_Count count, MPI_T_event_registration registration, int source,
                      MPI_T_cb_safety safety, void *arg)
{
    atomic_fetch_add(&missed, (int)count);
}

static void *come_and_go(void *arg)
{
    while (atomic_load(&sending)) {
        MPI_T_event_registration registration =
            listen_to("message_arrived", on_other, &heard_others);
        OK(MPI_T_event_set_dropped_handler(registration, NULL));
        atomic_fetch_add(&made, 1);
        OK(MPI_T_event_handle_free(registration, &gone, on_gone));
    }
    return NULL;
}

static void many_threads(void)
{
    pthread_t threads[THREADS + 1];
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_dup(self, &comms[i]));
    own = listen_to("message_arrived", on_one, NULL);
    OK(MPI_T_event_set_dropped_handler(own, on_missed));
    atomic_store(&sending, THREADS);
    for (int i = 0; i <= THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, i < THREADS ? send_many : come_and_go, &comms[i]));
    for (int i = 0; i <= THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
    progress();
    SAME(heard + missed, THREADS * EACH);
    CHECK(made == gone);
    OK(MPI_T_event_handle_free(own, NULL, NULL));
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comms[i]));
}

int main(int argc, char **argv)
{
    int threads = argc > 1, level, want = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    OK(MPI_T_init_thread(want, &level));
    MPI_T_event_registration connections = listen_to("connection_state", on_change, NULL);
    OK(MPI_Init_thread(&argc, &argv, want, &level));
    rank = check_rank(world);
    size = check_size(world);
    OK(MPI_Comm_split(world, rank / 2, rank, &duo));
    members = check_size(duo);
    to = members > 1 ? 1 - rank % 2 : 0;
    to_itself();
    to_another();
    if (size == 1) {
        registrations();
        drops();
    }
    if (size == 1 && threads)
        many_threads();
    OK(MPI_Barrier(world));
    chains(1);
    OK(MPI_Comm_free(&duo));
    OK(MPI_Finalize());
    chains(0);
    OK(MPI_T_event_handle_free(connections, NULL, NULL));
    OK(MPI_T_finalize());
    return 0;
}
