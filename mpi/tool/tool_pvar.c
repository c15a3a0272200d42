/* SPDX-License-Identifier: BSD-3-Clause */

/* Performance variables; see tool_pvar.h. */
#include "mpi/tool/tool_pvar.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/tool/tool_handle.h"

/* ---- the table ---- */

/* The place of a variable's value. */
enum from {
    FROM_STATS,   /* in struct mpid_stats, at offset */
    FROM_MOST,    /* the mark of a level, whose number offset is */
    FROM_TIME,    /* in struct mpid_stats, at offset, in ns */
    FROM_CHANNEL, /* in struct mpid_traffic, at offset, and at second */
    FROM_PEER,    /* the same, of each peer */
    FROM_PEER_STATE,
    FROM_PEER_CHANNEL
};

struct pvar_row {
    const char *name, *about;
    uint8_t from;     /* enum from */
    uint8_t class;
    uint8_t category; /* enum tool_category */
    uint8_t verbosity;
    uint16_t offset, second; /* second: what is added; equal to offset: nothing */
};

#define STATS(field)   offsetof(struct mpid_stats, field), 0
#define SENT(field)    offsetof(struct mpid_traffic, eager_##field), \
                       offsetof(struct mpid_traffic, rndv_##field)
#define COUNTER        MPI_T_PVAR_CLASS_COUNTER
#define AGGREGATE      MPI_T_PVAR_CLASS_AGGREGATE
#define LEVEL          MPI_T_PVAR_CLASS_LEVEL
#define HIGHWATERMARK  MPI_T_PVAR_CLASS_HIGHWATERMARK
#define TIMER          MPI_T_PVAR_CLASS_TIMER
#define BASIC          MPI_T_VERBOSITY_USER_BASIC
#define TUNER          MPI_T_VERBOSITY_TUNER_BASIC

static const struct pvar_row rows[] = {
    {"posted_receives", "Receives that wait for a message.", FROM_STATS, LEVEL, TOOL_MATCHING,
     BASIC, STATS(level[MPID_LEVEL_POSTED])},
    {"posted_receives_most", "The most receives that have waited for a message at a time.",
     FROM_MOST, HIGHWATERMARK, TOOL_MATCHING, BASIC, MPID_LEVEL_POSTED, 0},
    {"unexpected_messages", "Messages that wait for a receive.", FROM_STATS, LEVEL, TOOL_MATCHING,
     BASIC, STATS(level[MPID_LEVEL_UNEXPECTED])},
    {"unexpected_messages_most", "The most messages that have waited for a receive at a time.",
     FROM_MOST, HIGHWATERMARK, TOOL_MATCHING, BASIC, MPID_LEVEL_UNEXPECTED, 0},
    {"unexpected_bytes", "Bytes of the messages that wait for a receive, as far as they are kept "
                         "in this process: those of a rendezvous are not.",
     FROM_STATS, LEVEL, TOOL_MATCHING, BASIC, STATS(level[MPID_LEVEL_UNEXPECTED_BYTES])},
    {"unexpected_bytes_most", "The most bytes that unexpected_bytes has been at a time.",
     FROM_MOST, HIGHWATERMARK, TOOL_MATCHING, BASIC, MPID_LEVEL_UNEXPECTED_BYTES, 0},
    {"unexpected_arrivals", "Messages that have arrived before their receive was posted.",
     FROM_STATS, COUNTER, TOOL_MATCHING, BASIC, STATS(unexpected)},

    {"eager_messages_sent", "Messages sent at once, without asking the receiver.", FROM_STATS,
     COUNTER, TOOL_MESSAGES, BASIC, STATS(traffic.eager_sent)},
    {"eager_bytes_sent", "Bytes of the messages sent at once.", FROM_STATS, AGGREGATE,
     TOOL_MESSAGES, BASIC, STATS(traffic.eager_sent_bytes)},
    {"eager_messages_received", "Messages received that were sent at once.", FROM_STATS, COUNTER,
     TOOL_MESSAGES, BASIC, STATS(traffic.eager_received)},
    {"eager_bytes_received", "Bytes of the messages received that were sent at once.", FROM_STATS,
     AGGREGATE, TOOL_MESSAGES, BASIC, STATS(traffic.eager_received_bytes)},
    {"rendezvous_messages_sent", "Messages sent once their receive was known, and complete.",
     FROM_STATS, COUNTER, TOOL_MESSAGES, BASIC, STATS(traffic.rndv_sent)},
    {"rendezvous_bytes_sent", "Bytes of the messages sent once their receive was known.",
     FROM_STATS, AGGREGATE, TOOL_MESSAGES, BASIC, STATS(traffic.rndv_sent_bytes)},
    {"rendezvous_messages_received", "Messages received that had asked first.", FROM_STATS,
     COUNTER, TOOL_MESSAGES, BASIC, STATS(traffic.rndv_received)},
    {"rendezvous_bytes_received", "Bytes of the messages received that had asked first.",
     FROM_STATS, AGGREGATE, TOOL_MESSAGES, BASIC, STATS(traffic.rndv_received_bytes)},
    {"rendezvous_streams", "Messages that were received as a stream of packets.", FROM_STATS,
     COUNTER, TOOL_MESSAGES, TUNER, STATS(engine[0])},
    {"rendezvous_pulls", "Messages that the receiver has copied out of the sender's memory.",
     FROM_STATS, COUNTER, TOOL_MESSAGES, TUNER, STATS(engine[1])},
    {"rendezvous_splits", "Messages that receiver and sender have copied a half each of.",
     FROM_STATS, COUNTER, TOOL_MESSAGES, TUNER, STATS(engine[2])},
    {"peer_messages_sent", "Messages sent to each process of a communicator, over whatever "
                           "communicator.",
     FROM_PEER, COUNTER, TOOL_MESSAGES, BASIC, SENT(sent)},
    {"peer_bytes_sent", "Bytes sent to each process of a communicator, over whatever "
                        "communicator.",
     FROM_PEER, AGGREGATE, TOOL_MESSAGES, BASIC, SENT(sent_bytes)},
    {"peer_messages_received", "Messages received from each process of a communicator, over "
                               "whatever communicator.",
     FROM_PEER, COUNTER, TOOL_MESSAGES, BASIC, SENT(received)},
    {"peer_bytes_received", "Bytes received from each process of a communicator, over whatever "
                            "communicator.",
     FROM_PEER, AGGREGATE, TOOL_MESSAGES, BASIC, SENT(received_bytes)},

    {"peer_state", "State of the connection to each process of a communicator.", FROM_PEER_STATE,
     MPI_T_PVAR_CLASS_STATE, TOOL_CONNECTIONS, BASIC, 0, 0},
    {"peer_channel", "Channel that each process of a communicator is reached by.",
     FROM_PEER_CHANNEL, MPI_T_PVAR_CLASS_STATE, TOOL_CONNECTIONS, BASIC, 0, 0},

    {"connections_let_go", "Connections that were idle, and that this process and its peer have closed.", FROM_STATS,
     COUNTER, TOOL_CONNECTIONS, BASIC, STATS(left)},

    {"wait_idle_time", "Seconds that waits had nothing to do, asleep or not, of all threads.",
     FROM_TIME, TIMER, TOOL_WAITING, BASIC, STATS(idle_ns)},
    {"wait_sleep_time", "Seconds that waits have slept, of all threads.", FROM_TIME, TIMER,
     TOOL_WAITING, BASIC, STATS(sleep_ns)},
    {"wait_sleeps", "How often a wait has gone to sleep.", FROM_STATS, COUNTER, TOOL_WAITING,
     BASIC, STATS(sleeps)},
    {"wait_yields", "How often a wait has yielded the processor.", FROM_STATS, COUNTER,
     TOOL_WAITING, TUNER, STATS(yields)},
    {"wakeups", "How often this process has woken others, or threads of its own, that slept.",
     FROM_STATS, COUNTER, TOOL_WAITING, BASIC, STATS(wakes)},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* One variable of these for each state of a connection, and for each channel. */
static const struct pvar_row state_row = {
    "connections_", "Connections that are in this state.", FROM_STATS, LEVEL, TOOL_CONNECTIONS,
    TUNER, 0, 0};
static const struct pvar_row channel_rows[] = {
    {"messages_sent", "Messages sent over this channel.", FROM_CHANNEL, COUNTER, TOOL_CHANNEL,
     BASIC, SENT(sent)},
    {"bytes_sent", "Bytes sent over this channel.", FROM_CHANNEL, AGGREGATE, TOOL_CHANNEL, BASIC,
     SENT(sent_bytes)},
    {"messages_received", "Messages received over this channel.", FROM_CHANNEL, COUNTER,
     TOOL_CHANNEL, BASIC, SENT(received)},
    {"bytes_received", "Bytes received over this channel.", FROM_CHANNEL, AGGREGATE, TOOL_CHANNEL,
     BASIC, SENT(received_bytes)},
};
enum { CHANNEL_ROWS = sizeof(channel_rows) / sizeof(channel_rows[0]) };

int tool_pvar_count(void)
{
    int channels = tool_category_count() - TOOL_CATEGORIES;
    return ROWS + MPID_STATES + channels * CHANNEL_ROWS;
}

/* The row of a variable; *which: the state or channel that it is about. */
static const struct pvar_row *row_of(int i, int *which)
{
    *which = 0;
    if (i < ROWS)
        return &rows[i];
    i -= ROWS;
    if (i < MPID_STATES) {
        *which = i;
        return &state_row;
    }
    i -= MPID_STATES;
    *which = i / CHANNEL_ROWS;
    return &channel_rows[i % CHANNEL_ROWS];
}

int tool_pvar_category(int i)
{
    int which;
    const struct pvar_row *row = row_of(i, &which);
    return row->from == FROM_CHANNEL ? TOOL_CATEGORIES + which : row->category;
}

/* The words of the enumerations are composed once. */
static char state_words[256], channel_words[256];
static const struct tool_enum enum_states = {"connection_states", state_words};
static const struct tool_enum enum_channels = {"channels", channel_words};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_word(char *words, size_t size, const char *word)
{
    size_t len = strlen(words);
    snprintf(words + len, size - len, "%s%s", len ? "|" : "", word);
}

static void make_words(void)
{
    for (int i = 0; mpid_state_name(i); i++)
        add_word(state_words, sizeof(state_words), mpid_state_name(i));
    add_word(channel_words, sizeof(channel_words), "none");
    for (int i = 0; mpid_channel_name(i); i++)
        add_word(channel_words, sizeof(channel_words), mpid_channel_name(i));
}

const struct tool_enum *tool_pvar_enum(int i)
{
    int which;
    const struct pvar_row *row = row_of(i, &which);
    pthread_once(&once, make_words);
    return row->from == FROM_PEER_STATE     ? &enum_states
           : row->from == FROM_PEER_CHANNEL ? &enum_channels
                                            : NULL;
}

void tool_pvar_describe(int i, struct tool_pvar *pvar)
{
    int which;
    const struct pvar_row *row = row_of(i, &which);
    const char *state = row == &state_row ? mpid_state_name(which) : "";
    if (row->from == FROM_CHANNEL)
        snprintf(pvar->name, sizeof(pvar->name), "channel_%s_%s", mpid_channel_name(which),
                 row->name);
    else
        snprintf(pvar->name, sizeof(pvar->name), "%s%s", row->name, state);
    bool is_peer = row->from == FROM_PEER || row->from == FROM_PEER_STATE ||
                   row->from == FROM_PEER_CHANNEL;
    bool is_state = row->class == MPI_T_PVAR_CLASS_STATE;
    pvar->about = row->about;
    pvar->class = row->class;
    pvar->verbosity = row->verbosity;
    pvar->bind = is_peer ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT;
    pvar->datatype = is_state                 ? MPI_INT
                     : row->from == FROM_TIME ? MPI_DOUBLE
                                              : MPI_UNSIGNED_LONG_LONG;
    pvar->enumtype = tool_pvar_enum(i);
    pvar->continuous = is_state || row->class == LEVEL;
}

/* ---- what the device says ---- */

static uint64_t at_offset(const void *from, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)from + offset, sizeof(value));
    return value;
}

static uint64_t traffic_of(const struct mpid_traffic *traffic, const struct pvar_row *row)
{
    return at_offset(traffic, row->offset) + at_offset(traffic, row->second);
}

static uint64_t peer_value(const struct group *group, int i, const struct pvar_row *row)
{
    struct process process = group_process(group, i);
    struct mpid_peer peer;
    mpid_stats_peer(&process.gid, process.rank, &peer);
    switch (row->from) {
    case FROM_PEER_STATE: return (uint64_t)peer.state;
    case FROM_PEER_CHANNEL: return (uint64_t)(peer.channel + 1);
    default: return traffic_of(&peer.traffic, row);
    }
}

/* The device's counts now; for a mark, the level. */
static void read_now(const struct tool_pvar_handle *handle, uint64_t *values)
{
    int which;
    const struct pvar_row *row = row_of(handle->index, &which);
    struct mpid_stats stats;
    struct mpid_traffic traffic;
    if (handle->group) {
        for (int i = 0; i < handle->count; i++)
            values[i] = peer_value(handle->group, i, row);
    } else if (row->from == FROM_CHANNEL) {
        mpid_stats_channel(which, &traffic);
        *values = traffic_of(&traffic, row);
    } else {
        mpid_stats(&stats, row == &state_row || row->category == TOOL_MESSAGES);
        *values = row == &state_row           ? stats.connections[which]
                  : row->from == FROM_MOST    ? stats.level[row->offset]
                                              : at_offset(&stats, row->offset);
    }
}

/* ---- sessions and handles ---- */

static struct tool_session *sessions;

static const struct pvar_row *row_of_handle(const struct tool_pvar_handle *handle)
{
    int which;
    return row_of(handle->index, &which);
}

/* Marks start again in the device for all: the handles of a mark share its value. */
static void share_mark(const struct pvar_row *row)
{
    uint64_t most = mpid_level_most((enum mpid_level)row->offset);
    for (struct tool_session *s = sessions; s; s = s->next)
        for (struct tool_pvar_handle *h = s->handles; h; h = h->next)
            if (row_of_handle(h) == row && h->started && h->value[0] < most)
                h->value[0] = most;
}

/* The device measures that time only while a handle needs it. */
static bool is_idle_time(const struct pvar_row *row)
{
    return row->from == FROM_TIME && row->offset == offsetof(struct mpid_stats, idle_ns);
}

void tool_pvar_start(struct tool_pvar_handle *handle)
{
    const struct pvar_row *row = row_of_handle(handle);
    if (handle->started)
        return;
    if (row->from == FROM_MOST)
        share_mark(row);
    if (is_idle_time(row))
        mpid_time_idle(true);
    read_now(handle, handle->base);
    handle->started = true;
    if (row->from == FROM_MOST && handle->value[0] < handle->base[0])
        handle->value[0] = handle->base[0];
}

/* Add the counts since the start; the next count begins at base. */
static void settle(struct tool_pvar_handle *handle)
{
    const struct pvar_row *row = row_of_handle(handle);
    if (!handle->started)
        return;
    if (row->from == FROM_MOST) {
        share_mark(row);
        return;
    }
    uint64_t *base = handle->base, *now = base + handle->count;
    read_now(handle, now);
    for (int i = 0; i < handle->count; i++) {
        if (now[i] > base[i]) /* otherwise the device is gone: the process ends */
            handle->value[i] += now[i] - base[i];
        base[i] = now[i];
    }
}

void tool_pvar_stop(struct tool_pvar_handle *handle)
{
    const struct pvar_row *row = row_of_handle(handle);
    if (!handle->started)
        return;
    settle(handle);
    handle->started = false;
    if (is_idle_time(row))
        mpid_time_idle(false);
}

/* Copy the values out. */
static void give(const struct tool_pvar_handle *handle, const struct tool_pvar *pvar, void *buf)
{
    for (int i = 0; i < handle->count; i++) {
        if (pvar->datatype == MPI_INT)
            ((int *)buf)[i] = (int)handle->value[i];
        else if (pvar->datatype == MPI_DOUBLE)
            ((double *)buf)[i] = (double)handle->value[i] * 1e-9;
        else
            ((unsigned long long *)buf)[i] = handle->value[i];
    }
}

void tool_pvar_read(struct tool_pvar_handle *handle, void *buf)
{
    struct tool_pvar pvar;
    tool_pvar_describe(handle->index, &pvar);
    if (pvar.continuous)
        read_now(handle, handle->value);
    else
        settle(handle);
    give(handle, &pvar, buf);
}

enum { SECONDS_MOST = 1000000000 };

bool tool_pvar_write(struct tool_pvar_handle *handle, const void *buf)
{
    const double *times = buf;
    const unsigned long long *numbers = buf;
    bool is_time = row_of_handle(handle)->from == FROM_TIME;
    for (int i = 0; i < handle->count && is_time; i++)
        if (!(times[i] >= 0 && times[i] <= SECONDS_MOST)) /* nor if it is no number */
            return false;
    settle(handle);
    for (int i = 0; i < handle->count; i++)
        handle->value[i] = is_time ? (uint64_t)(times[i] * 1e9 + 0.5) : numbers[i];
    return true;
}

/* Give it its starting value. */
static void clear(struct tool_pvar_handle *handle)
{
    memset(handle->value, 0, (size_t)handle->count * sizeof(handle->value[0]));
    if (row_of_handle(handle)->from == FROM_MOST)
        read_now(handle, handle->value);
}

void tool_pvar_reset(struct tool_pvar_handle *handle)
{
    settle(handle);
    clear(handle);
}

void tool_pvar_read_reset(struct tool_pvar_handle *handle, void *buf)
{
    tool_pvar_read(handle, buf);
    clear(handle);
}

int tool_pvar_alloc(struct tool_session *session, int index, struct comm *comm,
                    struct tool_pvar_handle **handle)
{
    int count = comm ? comm->peers : 1;
    struct tool_pvar_handle *made =
        calloc(1, sizeof(*made) + 3 * (size_t)count * sizeof(made->value[0]));
    if (!made)
        return MPI_T_ERR_OUT_OF_HANDLES;
    made->own = tool_handle_make(TOOL_PVAR, made);
    if (!made->own) {
        free(made);
        return MPI_T_ERR_OUT_OF_HANDLES;
    }
    made->index = index;
    made->count = count;
    made->session = session;
    made->base = made->value + count;
    if (comm) {
        made->group = comm->remote ? comm->remote : comm->group;
        group_ref(made->group);
    }
    DL_PREPEND(session->handles, made);
    clear(made);
    *handle = made;
    return MPI_SUCCESS;
}

struct tool_pvar_handle *tool_pvar_from(const struct tool_session *session,
                                        MPI_T_pvar_handle handle)
{
    struct tool_pvar_handle *found = tool_handle_find(handle, TOOL_PVAR);
    return found && found->session == session ? found : NULL;
}

void tool_pvar_free(struct tool_pvar_handle *handle)
{
    tool_pvar_stop(handle);
    DL_DELETE(handle->session->handles, handle);
    group_unref(handle->group);
    tool_handle_drop(handle->own);
    free(handle);
}

struct tool_session *tool_session_create(void)
{
    struct tool_session *session = malloc(sizeof(*session));
    if (!session)
        return NULL;
    *session = (struct tool_session){.own = tool_handle_make(TOOL_SESSION, session)};
    if (!session->own) {
        free(session);
        return NULL;
    }
    DL_PREPEND(sessions, session);
    return session;
}

struct tool_session *tool_session_from(MPI_T_pvar_session session)
{
    return tool_handle_find(session, TOOL_SESSION);
}

void tool_session_free(struct tool_session *session)
{
    while (session->handles)
        tool_pvar_free(session->handles);
    DL_DELETE(sessions, session);
    tool_handle_drop(session->own);
    free(session);
}

void tool_session_free_all(void)
{
    while (sessions)
        tool_session_free(sessions);
}
