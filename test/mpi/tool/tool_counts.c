/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Performance variables of messages are exact, for every kind of message: in all, for each channel,
 * and for each peer.
 *
 * Ranks go in pairs, each over a communicator of its own, so that nothing comes but what is sent
 * here; the last of an odd number, and whoever is alone, is its own partner. With the argument
 * "threads" all of it is done at MPI_THREAD_MULTIPLE.
 */
#include <stdlib.h>

#include "tool.h"

enum {
    LARGE = 3 << 20,
    MOST_RANKS = 64
};

static char out[LARGE], in[LARGE];
static int rank, size, mate; /* mate: in MPI_COMM_WORLD */
static MPI_Comm world = MPI_COMM_WORLD, duo;
static int to; /* the partner in duo */

/* What a session sees of the traffic. */
enum what {
    EAGER_SENT,
    EAGER_SENT_BYTES,
    EAGER_RECEIVED,
    EAGER_RECEIVED_BYTES,
    RNDV_SENT,
    RNDV_SENT_BYTES,
    RNDV_RECEIVED,
    RNDV_RECEIVED_BYTES,
    CHANNEL_SENT,
    CHANNEL_SENT_BYTES,
    CHANNEL_RECEIVED,
    CHANNEL_RECEIVED_BYTES,
    TOTALS
};

static struct {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle total[TOTALS], peer[4];
} see;

/* Over which channel the partner is reached: its name. */
static void channel_of(int peer, char *name)
{
    MPI_T_pvar_session session;
    MPI_T_enum words;
    MPI_Datatype type;
    int states[MOST_RANKS], value = -1, len = 64, count;
    OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle handle = tool_handle(session, "peer_channel", &world, size);
    OK(MPI_T_pvar_read(session, handle, states));
    OK(MPI_T_pvar_get_info(tool_pvar("peer_channel"), NULL, NULL, NULL, NULL, &type, &words, NULL,
                           NULL, NULL, NULL, NULL, NULL));
    CHECK(type == MPI_INT && words != MPI_T_ENUM_NULL);
    OK(MPI_T_enum_get_info(words, &count, NULL, NULL));
    CHECK(states[peer] > 0 && states[peer] < count);
    OK(MPI_T_enum_get_item(words, states[peer], &value, name, &len));
    CHECK(value == states[peer]);
    OK(MPI_T_pvar_session_free(&session));
}

static void open_all(void)
{
    static const char *const totals[] = {
        "eager_messages_sent",          "eager_bytes_sent",         "eager_messages_received",
        "eager_bytes_received",         "rendezvous_messages_sent", "rendezvous_bytes_sent",
        "rendezvous_messages_received", "rendezvous_bytes_received"};
    static const char *const of_channel[] = {"messages_sent", "bytes_sent", "messages_received",
                                             "bytes_received"};
    static const char *const of_peer[] = {"peer_messages_sent", "peer_bytes_sent",
                                          "peer_messages_received", "peer_bytes_received"};
    char channel[64], name[160];
    channel_of(mate, channel);
    OK(MPI_T_pvar_session_create(&see.session));
    for (int i = 0; i < CHANNEL_SENT; i++)
        see.total[i] = tool_handle(see.session, totals[i], NULL, 1);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "channel_%s_%s", channel, of_channel[i]);
        see.total[CHANNEL_SENT + i] = tool_handle(see.session, name, NULL, 1);
        see.peer[i] = tool_handle(see.session, of_peer[i], &world, size);
    }
}

static void begin(void)
{
    OK(MPI_T_pvar_reset(see.session, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_start(see.session, MPI_T_PVAR_ALL_HANDLES));
}

static counted total(enum what what)
{
    return tool_read(see.session, see.total[what]);
}

/* So many messages and bytes have gone to the partner, and come from it, and nothing else. */
static void ends(int messages, counted bytes, int line)
{
    counted want[] = {(counted)messages, bytes, (counted)messages, bytes}, peers[MOST_RANKS];
    OK(MPI_T_pvar_stop(see.session, MPI_T_PVAR_ALL_HANDLES));
    for (int i = 0; i < 4; i++) {
        OK(MPI_T_pvar_read(see.session, see.peer[i], peers));
        for (int k = 0; k < size; k++)
            tool_same(peers[k], k == mate ? want[i] : 0, "what a peer has got or sent", line);
        tool_same(total((enum what)(CHANNEL_SENT + i)), want[i], "what a channel has", line);
        enum what eager = i < 2 ? EAGER_SENT : EAGER_RECEIVED;
        tool_same(total((enum what)(eager + i % 2)) + total((enum what)(eager + 4 + i % 2)),
                  want[i], "what went in all", line);
    }
}
#define ENDS(messages, bytes) ends((messages), (bytes), __LINE__)

/* All of it was eager, or none. */
static void ends_as(int messages, counted bytes, int eager, int line)
{
    ends(messages, bytes, line);
    tool_same(total(EAGER_SENT), eager ? (counted)messages : 0, "eager sent", line);
    tool_same(total(EAGER_SENT_BYTES), eager ? bytes : 0, "eager bytes sent", line);
    tool_same(total(EAGER_RECEIVED), eager ? (counted)messages : 0, "eager received", line);
    tool_same(total(EAGER_RECEIVED_BYTES), eager ? bytes : 0, "eager bytes received", line);
    tool_same(total(RNDV_SENT), eager ? 0 : (counted)messages, "rendezvous sent", line);
    tool_same(total(RNDV_RECEIVED), eager ? 0 : (counted)messages, "rendezvous received", line);
    tool_same(total(RNDV_SENT_BYTES), eager ? 0 : bytes, "rendezvous bytes sent", line);
    tool_same(total(RNDV_RECEIVED_BYTES), eager ? 0 : bytes, "rendezvous bytes received", line);
}

typedef int start_fn(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);

/* Some messages both ways at once, with receives of more room than need be. */
static void exchange(start_fn *start, int messages, int bytes)
{
    MPI_Request requests[16];
    for (int i = 0; i < messages; i++)
        OK(MPI_Irecv(in, LARGE, MPI_BYTE, to, i, duo, &requests[2 * i]));
    for (int i = 0; i < messages; i++)
        OK(start(out, bytes, MPI_BYTE, to, i, duo, &requests[2 * i + 1]));
    OK(MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE));
}

static void modes(void)
{
    static const int sizes[] = {0, 1, 8, 100, 1000};
    for (int i = 0; i < 5; i++) {
        begin();
        exchange(MPI_Isend, 3, sizes[i]);
        ends_as(3, 3 * (counted)sizes[i], 1, __LINE__);
        begin();
        exchange(MPI_Issend, 4, sizes[i]);
        ends_as(4, 4 * (counted)sizes[i], 0, __LINE__);
    }
    begin();
    exchange(MPI_Issend, 2, 60000);
    ends_as(2, 120000, 0, __LINE__);
    for (int i = 0; i < 4; i++) {
        begin();
        exchange(MPI_Isend, 1, LARGE - i);
        ends_as(1, (counted)LARGE - (counted)i, 0, __LINE__);
    }
    begin();
    exchange(MPI_Isend, 2, 1000);
    exchange(MPI_Isend, 1, LARGE);
    ENDS(3, 2000 + LARGE);
    SAME(total(EAGER_SENT), 2);
    SAME(total(RNDV_SENT_BYTES), LARGE);
}

/* Blocking calls, whose fast ways are others. */
static void blocking(void)
{
    enum {
        ROUNDS = 50
    };
    if (mate == rank)
        return;
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        if (rank % 2)
            OK(MPI_Recv(in, 8, MPI_BYTE, to, 1, duo, MPI_STATUS_IGNORE));
        OK(MPI_Send(out, 8, MPI_BYTE, to, 1, duo));
        if (!(rank % 2))
            OK(MPI_Recv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, duo, MPI_STATUS_IGNORE));
    }
    ends_as(ROUNDS, 8 * ROUNDS, 1, __LINE__);
    begin();
    OK(MPI_Sendrecv(out, 100, MPI_BYTE, to, 1, in, 100, MPI_BYTE, to, 1, duo, MPI_STATUS_IGNORE));
    OK(MPI_Send(out, 5, MPI_BYTE, MPI_PROC_NULL, 1, duo));
    ENDS(1, 100);
}

/* More than the receiver has room for: all of it counts. */
static void truncated(void)
{
    MPI_Request request;
    int rc;
    OK(MPI_Comm_set_errhandler(duo, MPI_ERRORS_RETURN));
    for (int bytes = 100; bytes <= LARGE; bytes += LARGE - 100) {
        begin();
        OK(MPI_Isend(out, bytes, MPI_BYTE, to, 1, duo, &request));
        rc = MPI_Recv(in, 10, MPI_BYTE, to, 1, duo, MPI_STATUS_IGNORE);
        FAILS(MPI_ERR_TRUNCATE, rc);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ENDS(1, (counted)bytes);
    }
}

static void persistent(void)
{
    MPI_Request requests[2];
    OK(MPI_Send_init(out, 700, MPI_BYTE, to, 3, duo, &requests[0]));
    OK(MPI_Recv_init(in, 700, MPI_BYTE, to, 3, duo, &requests[1]));
    begin();
    for (int i = 0; i < 5; i++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    ends_as(5, 3500, 1, __LINE__);
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

/* The cut is said once; each partition of this size is a message. */
static void partitioned(void)
{
    enum {
        PARTS = 4,
        BYTES = 5000
    };
    MPI_Request requests[2];
    OK(MPI_Precv_init(in, PARTS, BYTES, MPI_BYTE, to, 3, duo, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Psend_init(out, PARTS, BYTES, MPI_BYTE, to, 3, duo, MPI_INFO_NULL, &requests[0]));
    for (int i = 0; i < 3; i++) {
        if (i)
            begin();
        OK(MPI_Startall(2, requests));
        OK(MPI_Pready_range(0, PARTS - 1, requests[0]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        if (i)
            ENDS(PARTS, PARTS * BYTES);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void probed(void)
{
    MPI_Message message;
    MPI_Request request;
    for (int bytes = 0; bytes <= LARGE; bytes += LARGE / 2) {
        begin();
        OK(MPI_Isend(out, bytes, MPI_BYTE, to, 1, duo, &request));
        OK(MPI_Mprobe(to, 1, duo, &message, MPI_STATUS_IGNORE));
        OK(MPI_Mrecv(in, LARGE, MPI_BYTE, &message, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ENDS(1, (counted)bytes);
    }
}

/* Far more than a receiver grants at once, so credit goes back and forth. */
static void many(void)
{
    enum {
        ROUNDS = 200,
        BATCH = 8,
        BYTES = 3000
    };
    begin();
    for (int i = 0; i < ROUNDS; i++)
        exchange(MPI_Isend, BATCH, BYTES);
    ENDS(ROUNDS * BATCH, (counted)ROUNDS * BATCH * BYTES);
}

/* A derived datatype counts by its data. */
static void sparse(void)
{
    MPI_Datatype type;
    MPI_Request request;
    OK(MPI_Type_vector(10, 3, 7, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    begin();
    OK(MPI_Isend(out, 2, type, to, 1, duo, &request));
    OK(MPI_Recv(in, 2, type, to, 1, duo, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ends_as(1, 2 * 30 * sizeof(int), 1, __LINE__);
    OK(MPI_Type_free(&type));
}

/* What a collective has sent to somebody, he has received. */
static void collectives(void)
{
    counted mine[4][MOST_RANKS], all[MOST_RANKS * MOST_RANKS], back[MOST_RANKS * MOST_RANKS];
    int values[MOST_RANKS] = {0}, sums[MOST_RANKS];
    begin();
    OK(MPI_Allreduce(values, sums, size, MPI_INT, MPI_SUM, world));
    OK(MPI_Alltoall(values, 1, MPI_INT, sums, 1, MPI_INT, world));
    OK(MPI_Bcast(out, LARGE, MPI_BYTE, 0, world));
    OK(MPI_Barrier(world));
    OK(MPI_T_pvar_stop(see.session, MPI_T_PVAR_ALL_HANDLES));
    for (int i = 0; i < 4; i++)
        OK(MPI_T_pvar_read(see.session, see.peer[i], mine[i]));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Allgather(mine[i], size, MPI_UNSIGNED_LONG_LONG, all, size, MPI_UNSIGNED_LONG_LONG,
                         world));
        OK(MPI_Allgather(mine[2 + i], size, MPI_UNSIGNED_LONG_LONG, back, size,
                         MPI_UNSIGNED_LONG_LONG, world));
        for (int k = 0; k < size * size; k++)
            SAME(back[k], all[k % size * size + k / size]);
    }
}

/* Elements are the peers in the order of the communicator that a handle is bound to, which may be
 * freed before it. */
static void bound(void)
{
    MPI_Comm back, inter;
    counted values[MOST_RANKS];
    OK(MPI_Comm_split(world, 0, size - rank, &back));
    MPI_T_pvar_handle handle = tool_handle(see.session, "peer_bytes_sent", &back, size);
    OK(MPI_Comm_free(&back));
    begin();
    exchange(MPI_Isend, 1, 77);
    OK(MPI_T_pvar_read(see.session, handle, values));
    for (int i = 0; i < size; i++)
        SAME(values[i], i == size - 1 - mate ? 77 : 0);
    OK(MPI_T_pvar_handle_free(see.session, &handle));
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
    if (mate == rank)
        return;
    OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, duo, to, 9, &inter));
    handle = tool_handle(see.session, "peer_bytes_received", &inter, 1);
    begin();
    exchange(MPI_Isend, 1, 88);
    OK(MPI_T_pvar_readreset(see.session, handle, values));
    SAME(values[0], 88);
    SAME(tool_read(see.session, handle), 0);
    OK(MPI_Comm_free(&inter));
    OK(MPI_T_pvar_handle_free(see.session, &handle));
}

static void make_pairs(void)
{
    rank = check_rank(world);
    size = check_size(world);
    mate = rank % 2 ? rank - 1 : rank + 1 < size ? rank + 1 : rank;
    CHECK(size <= MOST_RANKS);
    OK(MPI_Comm_split(world, rank / 2, rank, &duo));
    to = mate == rank ? 0 : 1 - rank % 2;
    exchange(MPI_Isend, 1, 0);
    exchange(MPI_Isend, 1, LARGE);
}

int main(int argc, char **argv)
{
    int threads = argc > 1, level;
    OK(MPI_T_init_thread(threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level));
    OK(MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level));
    make_pairs();
    open_all();
    modes();
    blocking();
    truncated();
    persistent();
    partitioned();
    probed();
    many();
    sparse();
    bound();
    OK(MPI_Barrier(world));
    collectives();
    OK(MPI_Comm_free(&duo));
    OK(MPI_Finalize());
    CHECK(total(CHANNEL_SENT) < 1000000);
    OK(MPI_T_pvar_session_free(&see.session));
    OK(MPI_T_finalize());
    return 0;
}
