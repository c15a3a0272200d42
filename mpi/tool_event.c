/* SPDX-License-Identifier: BSD-3-Clause */

/* Events; see tool_event.h. */
#include "mpi/tool_event.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"

/* What MPI_T_event_copy gives. */
struct unexpected_data {
    unsigned long long bytes;
    int peer, source, tag;
    unsigned context;
    int rendezvous;
};

struct connection_data {
    int peer, old_state, state;
};

static const struct tool_event events[MPID_EVENT_KINDS] = {
    [MPID_EVENT_UNEXPECTED] =
        {.name = "message_unexpected",
         .about = "A message has arrived for which no receive was posted. Its source is a rank of "
                  "the communicator that it was sent over, peer is the sender's in its group; of "
                  "a rendezvous only the announcement has arrived.",
         .verbosity = MPI_T_VERBOSITY_USER_DETAIL,
         .count = 6,
         .datatypes = {MPI_UNSIGNED_LONG_LONG, MPI_INT, MPI_INT, MPI_INT, MPI_UNSIGNED, MPI_INT},
         .displacements = {offsetof(struct unexpected_data, bytes),
                           offsetof(struct unexpected_data, peer),
                           offsetof(struct unexpected_data, source),
                           offsetof(struct unexpected_data, tag),
                           offsetof(struct unexpected_data, context),
                           offsetof(struct unexpected_data, rendezvous)},
         .size = sizeof(struct unexpected_data),
         .category = TOOL_MATCHING,
         .elements = {TOOL_ENUM, "message_unexpected",
                      "bytes|peer|source|tag|context|rendezvous"}},
    [MPID_EVENT_CONNECTION] =
        {.name = "connection_state",
         .about = "The connection to a process, the one of rank peer in its group, has changed its "
                  "state. The states are those of the enumeration of peer_state.",
         .verbosity = MPI_T_VERBOSITY_TUNER_BASIC,
         .count = 3,
         .datatypes = {MPI_INT, MPI_INT, MPI_INT},
         .displacements = {offsetof(struct connection_data, peer),
                           offsetof(struct connection_data, old_state),
                           offsetof(struct connection_data, state)},
         .size = sizeof(struct connection_data),
         .category = TOOL_CONNECTIONS,
         .elements = {TOOL_ENUM, "connection_state", "peer|old_state|state"}},
};

struct callback {
    MPI_T_event_cb_function *function; /* NULL: none */
    void *user_data;
};

struct tool_registration {
    _Alignas(8) uint32_t word; /* 0: freed by the user, and maybe still needed by deliver() */
    int index;
    uint64_t since_ns; /* when it was made: earlier events are none of its */
    struct callback callbacks[TOOL_SAFETIES];
    MPI_T_event_dropped_cb_function *dropped; /* NULL: none */
    MPI_T_event_free_cb_function *free_cb;
    void *free_data;
    struct tool_registration *next;
};

static const MPI_T_cb_safety safeties[TOOL_SAFETIES] = {
    MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

/* Guards the rest. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct tool_registration *registrations;
static bool delivering; /* some thread runs callbacks: nothing is taken out of the list */

int tool_event_count(void)
{
    return MPID_EVENT_KINDS;
}

const struct tool_event *tool_event_row(int i)
{
    return &events[i];
}

int tool_event_safety(MPI_T_cb_safety safety)
{
    for (int i = 0; i < TOOL_SAFETIES; i++)
        if (safeties[i] == safety)
            return i;
    return -1;
}

/* ---- delivery ---- */

/* The callback that needs the least; -1: there is none. */
static int least(const struct tool_registration *registration)
{
    for (int i = 0; i < TOOL_SAFETIES; i++)
        if (registration->callbacks[i].function)
            return i;
    return -1;
}

/* Tell the device what somebody has a callback for; locked. */
static void deliver(void);
static void want(void)
{
    unsigned kinds = 0;
    for (const struct tool_registration *r = registrations; r; r = r->next)
        if (r->word && least(r) >= 0)
            kinds |= 1u << r->index;
    mpid_events_want(kinds, deliver);
}

static void fill(struct tool_instance *instance, const struct mpid_event *event)
{
    *instance = (struct tool_instance){
        .word = TOOL_INSTANCE, .index = (int)event->kind, .time_ns = event->time_ns};
    if (event->kind == MPID_EVENT_UNEXPECTED) {
        struct unexpected_data data = {.bytes = event->bytes,
                                       .peer = event->peer,
                                       .source = event->from.rank,
                                       .tag = event->from.tag,
                                       .context = event->from.context,
                                       .rendezvous = event->rendezvous};
        memcpy(instance->data, &data, sizeof(data));
    } else {
        struct connection_data data = {event->peer, event->old_state, event->state};
        memcpy(instance->data, &data, sizeof(data));
    }
}

static void tell_event(struct tool_registration *r, struct tool_instance *instance)
{
    pthread_mutex_lock(&mutex);
    int i = r->word && r->index == instance->index && r->since_ns <= instance->time_ns ? least(r)
                                                                                       : -1;
    struct callback callback = i >= 0 ? r->callbacks[i] : (struct callback){0};
    pthread_mutex_unlock(&mutex);
    if (callback.function)
        callback.function((MPI_T_event_instance)instance, (MPI_T_event_registration)r, safeties[i],
                          callback.user_data);
}

static void tell_dropped(struct tool_registration *r, int index, uint64_t count)
{
    pthread_mutex_lock(&mutex);
    int i = r->word && r->index == index ? least(r) : -1;
    MPI_T_event_dropped_cb_function *dropped = i >= 0 ? r->dropped : NULL;
    void *user_data = i >= 0 ? r->callbacks[i].user_data : NULL;
    pthread_mutex_unlock(&mutex);
    if (dropped)
        dropped((MPI_Count)count, (MPI_T_event_registration)r, 0, safeties[i], user_data);
}

/* Take a freed registration out of the list; locked. NULL: there is none. */
static struct tool_registration *take_freed(void)
{
    struct tool_registration **at = &registrations;
    while (*at && (*at)->word)
        at = &(*at)->next;
    struct tool_registration *r = *at;
    if (r)
        *at = r->next;
    return r;
}

/* No callback of the freed ones will run any more. */
static void sweep(void)
{
    struct tool_registration *r;
    do {
        pthread_mutex_lock(&mutex);
        r = delivering ? NULL : take_freed();
        pthread_mutex_unlock(&mutex);
        if (r && r->free_cb)
            r->free_cb((MPI_T_event_registration)r, MPI_T_CB_REQUIRE_NONE, r->free_data);
        free(r);
    } while (r);
}

static struct tool_registration *first(void)
{
    pthread_mutex_lock(&mutex);
    struct tool_registration *r = registrations;
    pthread_mutex_unlock(&mutex);
    return r;
}

/* Runs in a call that has made progress, unlocked. A callback that makes progress itself finds
 * that somebody delivers. */
static void deliver(void)
{
    struct mpid_event event;
    struct tool_instance instance;
    pthread_mutex_lock(&mutex);
    bool mine = !delivering;
    delivering = true;
    pthread_mutex_unlock(&mutex);
    if (!mine)
        return;
    while (mpid_event_take(&event)) {
        fill(&instance, &event);
        for (struct tool_registration *r = first(); r; r = r->next)
            tell_event(r, &instance);
    }
    for (int i = 0; i < MPID_EVENT_KINDS; i++) {
        uint64_t count = mpid_events_dropped((enum mpid_event_kind)i);
        for (struct tool_registration *r = count ? first() : NULL; r; r = r->next)
            tell_dropped(r, i, count);
    }
    pthread_mutex_lock(&mutex);
    delivering = false;
    pthread_mutex_unlock(&mutex);
    sweep();
}

/* ---- registrations ---- */

struct tool_registration *tool_registration_from(MPI_T_event_registration handle)
{
    return tool_leads_to(handle, TOOL_REGISTRATION) ? (struct tool_registration *)handle : NULL;
}

struct tool_registration *tool_event_alloc(int index)
{
    struct tool_registration *r = malloc(sizeof(*r));
    if (!r)
        return NULL;
    *r = (struct tool_registration){
        .word = TOOL_REGISTRATION, .index = index, .since_ns = os_now_ns()};
    pthread_mutex_lock(&mutex);
    r->next = registrations;
    registrations = r;
    pthread_mutex_unlock(&mutex);
    return r;
}

void tool_event_free(struct tool_registration *registration, void *user_data,
                     MPI_T_event_free_cb_function *free_cb)
{
    pthread_mutex_lock(&mutex);
    registration->word = 0;
    registration->free_cb = free_cb;
    registration->free_data = user_data;
    want();
    pthread_mutex_unlock(&mutex);
    sweep();
}

void tool_event_free_all(void)
{
    pthread_mutex_lock(&mutex);
    for (struct tool_registration *r = registrations; r; r = r->next)
        r->word = 0;
    want();
    pthread_mutex_unlock(&mutex);
    sweep();
}

void tool_event_set_callback(struct tool_registration *registration, int safety, void *user_data,
                             MPI_T_event_cb_function *callback)
{
    pthread_mutex_lock(&mutex);
    registration->callbacks[safety] = (struct callback){callback, user_data};
    want();
    pthread_mutex_unlock(&mutex);
}

bool tool_event_has_callback(struct tool_registration *registration, int safety)
{
    pthread_mutex_lock(&mutex);
    bool has = registration->callbacks[safety].function != NULL;
    pthread_mutex_unlock(&mutex);
    return has;
}

void tool_event_set_dropped(struct tool_registration *registration,
                            MPI_T_event_dropped_cb_function *dropped)
{
    pthread_mutex_lock(&mutex);
    registration->dropped = dropped;
    pthread_mutex_unlock(&mutex);
}
