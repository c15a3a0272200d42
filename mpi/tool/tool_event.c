/* SPDX-License-Identifier: BSD-3-Clause */

/* Events; see tool_event.h. */
#include "mpi/tool/tool_event.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/request/part.h"
#include "mpi/tool/tool_handle.h"
#include "os/clock.h"
#include "os/lock.h"

/* The data that MPI_T_event_copy gives. */
struct message_data {
    unsigned long long bytes;
    int peer, source, tag;
    unsigned context;
    int rendezvous;
};

struct connection_data {
    int peer, old_state, state;
};

_Static_assert(sizeof(struct message_data) <= TOOL_EVENT_BYTES, "it has room");

/* The bytes of a struct up to the end of its last member. */
#define UP_TO(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

/* The elements of an event about a message. */
#define AT(member) offsetof(struct message_data, member)
#define OF_MESSAGE(title)                                                                     \
    .verbosity = MPI_T_VERBOSITY_USER_DETAIL, .count = 6,                                     \
    .datatypes = {MPI_UNSIGNED_LONG_LONG, MPI_INT, MPI_INT, MPI_INT, MPI_UNSIGNED, MPI_INT},  \
    .displacements = {AT(bytes), AT(peer), AT(source), AT(tag), AT(context), AT(rendezvous)}, \
    .size = UP_TO(message_data, rendezvous),                                                  \
    .elements = {title, "bytes|peer|source|tag|context|rendezvous"}

static const struct tool_event events[MPID_EVENT_KINDS] = {
    [MPID_EVENT_ARRIVED] =
        {.name = "message_arrived",
         .about = "A message has arrived, of a program or of a collective. Its source is a rank of "
                  "the communicator that it was sent over, peer is the sender's in its group; of "
                  "a rendezvous only the announcement has arrived.",
         .category = TOOL_MESSAGES,
         OF_MESSAGE("message_arrived")},
    [MPID_EVENT_UNEXPECTED] =
        {.name = "message_unexpected",
         .about = "A message has arrived for which no receive was posted. Its source is a rank of "
                  "the communicator that it was sent over, peer is the sender's in its group; of "
                  "a rendezvous only the announcement has arrived.",
         .category = TOOL_MATCHING,
         OF_MESSAGE("message_unexpected")},
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
         .size = UP_TO(connection_data, state),
         .category = TOOL_CONNECTIONS,
         .elements = {"connection_state", "peer|old_state|state"}},
};

struct callback {
    MPI_T_event_cb_function *function; /* NULL: none */
    void *user_data;
};

struct tool_registration {
    MPI_T_event_registration own; /* what leads to it, or has */
    bool freed;                   /* freed by the user, but deliver() may still need it */
    int index;
    uint64_t since_ns; /* time of its first callback: earlier events are not delivered to it */
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
static struct os_lock lock = OS_LOCK_INIT;
static struct tool_registration *registrations;
static bool delivering; /* a thread runs callbacks: nothing is removed from the list */
static bool again;      /* meanwhile other threads have noticed more events */
static unsigned wanted; /* the kinds, as bits, that the device has been told */

/* The event whose callbacks run, and its number, which is its handle: odd, so it differs from all
 * other handles. */
static struct tool_instance current;
static uintptr_t current_number;
static bool is_current;

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

/* The callback with the least safety; -1: there is none. */
static int least(const struct tool_registration *registration)
{
    for (int i = 0; i < TOOL_SAFETIES; i++)
        if (registration->callbacks[i].function)
            return i;
    return -1;
}

/* Begin with an event, which becomes the current one. Returns its handle. */
static MPI_T_event_instance begin(const struct mpid_event *event)
{
    struct tool_instance instance = {.index = (int)event->kind, .time_ns = event->time_ns};
    if (event->kind == MPID_EVENT_CONNECTION) {
        struct connection_data data = {event->peer, event->old_state, event->state};
        memcpy(instance.data, &data, sizeof(data));
    } else {
        struct message_data data = {.bytes = event->bytes,
                                    .peer = event->peer,
                                    .source = event->from.rank & ~PART_RANK,
                                    .tag = event->from.tag,
                                    .context = event->from.context,
                                    .rendezvous = event->rendezvous};
        memcpy(instance.data, &data, sizeof(data));
    }
    os_lock_slow(&lock);
    current = instance;
    current_number += 2;
    is_current = true;
    MPI_T_event_instance handle = (MPI_T_event_instance)(current_number | 1);
    os_unlock_slow(&lock);
    return handle;
}

static void end(void)
{
    os_lock_slow(&lock);
    is_current = false;
    os_unlock_slow(&lock);
}

bool tool_instance_get(MPI_T_event_instance handle, struct tool_instance *instance)
{
    os_lock_slow(&lock);
    bool is_it = is_current && (uintptr_t)handle == (current_number | 1);
    if (is_it)
        *instance = current;
    os_unlock_slow(&lock);
    return is_it;
}

static void tell_event(struct tool_registration *r, const struct mpid_event *event,
                       MPI_T_event_instance handle)
{
    os_lock_slow(&lock);
    bool mine = !r->freed && r->index == (int)event->kind && r->since_ns <= event->time_ns;
    int i = mine ? least(r) : -1;
    struct callback callback = i >= 0 ? r->callbacks[i] : (struct callback){0};
    os_unlock_slow(&lock);
    if (callback.function)
        callback.function(handle, r->own, MPI_T_CB_REQUIRE_NONE, callback.user_data);
}

static void tell_dropped(struct tool_registration *r, int index, uint64_t count)
{
    os_lock_slow(&lock);
    int i = !r->freed && r->index == index ? least(r) : -1;
    MPI_T_event_dropped_cb_function *dropped = i >= 0 ? r->dropped : NULL;
    void *user_data = i >= 0 ? r->callbacks[i].user_data : NULL;
    os_unlock_slow(&lock);
    if (dropped)
        dropped((MPI_Count)count, r->own, 0, MPI_T_CB_REQUIRE_NONE, user_data);
}

/* Remove a freed registration from the list; locked. NULL: there is none. */
static struct tool_registration *take_freed(void)
{
    struct tool_registration **at = &registrations;
    while (*at && !(*at)->freed)
        at = &(*at)->next;
    struct tool_registration *r = *at;
    if (r)
        *at = r->next;
    return r;
}

/* Unless callbacks run: then no callback of the freed ones runs any more. */
void tool_event_sweep(void)
{
    struct tool_registration *r;
    do {
        os_lock_slow(&lock);
        r = delivering ? NULL : take_freed();
        os_unlock_slow(&lock);
        if (r && r->free_cb)
            r->free_cb(r->own, MPI_T_CB_REQUIRE_NONE, r->free_data);
        free(r);
    } while (r);
}

static struct tool_registration *first(void)
{
    os_lock_slow(&lock);
    struct tool_registration *r = registrations;
    os_unlock_slow(&lock);
    return r;
}

static void deliver_all(void)
{
    struct mpid_event event;
    while (mpid_event_take(&event)) {
        MPI_T_event_instance handle = begin(&event);
        for (struct tool_registration *r = first(); r; r = r->next)
            tell_event(r, &event, handle);
        end();
    }
    for (int i = 0; i < MPID_EVENT_KINDS; i++) {
        uint64_t count = mpid_events_dropped((enum mpid_event_kind)i);
        for (struct tool_registration *r = count ? first() : NULL; r; r = r->next)
            tell_dropped(r, i, count);
    }
}

/* Whether to deliver; otherwise another thread delivers, and looks once more. */
static bool may_deliver(void)
{
    os_lock_slow(&lock);
    bool mine = !delivering;
    delivering = true;
    again = !mine;
    os_unlock_slow(&lock);
    return mine;
}

/* Whether to deliver once more. */
static bool must_deliver(void)
{
    os_lock_slow(&lock);
    bool more = again;
    again = false;
    delivering = more;
    os_unlock_slow(&lock);
    return more;
}

/* Runs in a call that has made progress, unlocked. A callback that makes progress itself finds that
 * a thread delivers already. */
static void deliver(void)
{
    if (!may_deliver())
        return;
    do
        deliver_all();
    while (must_deliver());
    tool_event_sweep();
}

/* ---- registrations ---- */

/* Tell the device which kinds have a callback; locked. */
static void want(void)
{
    unsigned kinds = 0;
    for (const struct tool_registration *r = registrations; r; r = r->next)
        if (!r->freed && least(r) >= 0)
            kinds |= 1u << r->index;
    mpid_events_want(kinds, deliver);
    for (int i = 0; i < MPID_EVENT_KINDS; i++) /* earlier losses are counted for no registration */
        if (kinds & ~wanted & 1u << i)
            (void)mpid_events_dropped((enum mpid_event_kind)i);
    wanted = kinds;
}

/* NULL: there is none. Locked, where the result is used. */
static struct tool_registration *find(MPI_T_event_registration handle)
{
    return tool_handle_find(handle, TOOL_REGISTRATION);
}

int tool_event_alloc(int index, MPI_T_event_registration *handle)
{
    struct tool_registration *r = malloc(sizeof(*r));
    if (!r)
        return MPI_T_ERR_OUT_OF_HANDLES;
    *r = (struct tool_registration){.own = tool_handle_make(TOOL_REGISTRATION, r), .index = index};
    if (!r->own) {
        free(r);
        return MPI_T_ERR_OUT_OF_HANDLES;
    }
    os_lock_slow(&lock);
    r->next = registrations;
    registrations = r;
    os_unlock_slow(&lock);
    *handle = r->own;
    return MPI_SUCCESS;
}

/* Locked. */
static void give_up(struct tool_registration *r)
{
    if (!r->freed)
        tool_handle_drop(r->own);
    r->freed = true;
}

int tool_event_free(MPI_T_event_registration handle, void *user_data,
                    MPI_T_event_free_cb_function *free_cb)
{
    os_lock_slow(&lock);
    struct tool_registration *r = find(handle);
    if (r) {
        r->free_cb = free_cb;
        r->free_data = user_data;
        give_up(r);
        want();
    }
    os_unlock_slow(&lock);
    tool_event_sweep();
    return r ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

void tool_event_end_all(void)
{
    os_lock_slow(&lock);
    for (struct tool_registration *r = registrations; r; r = r->next)
        give_up(r);
    want();
    os_unlock_slow(&lock);
}

int tool_event_check(MPI_T_event_registration handle)
{
    return find(handle) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

/* Its first callback is for events from now on. */
int tool_event_set_callback(MPI_T_event_registration handle, int safety, void *user_data,
                            MPI_T_event_cb_function *callback)
{
    os_lock_slow(&lock);
    struct tool_registration *r = find(handle);
    if (r) {
        if (least(r) < 0)
            r->since_ns = os_now_ns();
        r->callbacks[safety] = (struct callback){callback, user_data};
        want();
    }
    os_unlock_slow(&lock);
    return r ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int tool_event_check_callback(MPI_T_event_registration handle, int safety)
{
    os_lock_slow(&lock);
    const struct tool_registration *r = find(handle);
    bool has = r && safety >= 0 && r->callbacks[safety].function;
    os_unlock_slow(&lock);
    return !r ? MPI_T_ERR_INVALID_HANDLE : has ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int tool_event_set_dropped(MPI_T_event_registration handle,
                           MPI_T_event_dropped_cb_function *dropped)
{
    os_lock_slow(&lock);
    struct tool_registration *r = find(handle);
    if (r)
        r->dropped = dropped;
    os_unlock_slow(&lock);
    return r ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}
