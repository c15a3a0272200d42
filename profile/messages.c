/* SPDX-License-Identifier: BSD-3-Clause */

/* The messages of a trace: which send and which receive are one; see struct profile_post. */
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1 /* an element that is left out has no hh.tbl */
#include <uthash.h>

#include "profile/profile.h"

/* ---- communicators ---- */

/* A communicator that the program uses. Its id is the same in all members: it says who they are,
 * and how many communicators of theirs came before. */
struct member_list {
    MPI_Comm comm;
    uint64_t id;
    int count, *world; /* of the peers: ranks in MPI_COMM_WORLD; below 0: it is of another */
    UT_hash_handle hh;
};

struct made_count {
    uint64_t members;
    uint64_t count;
    UT_hash_handle hh;
};

static struct member_list *comms;
static struct made_count *made;
static int own_rank;
/* The group of MPI_COMM_WORLD, while communicators are noted. Those that are made of sessions may be made
 * before MPI_Init and after MPI_Finalize, when there is no MPI_COMM_WORLD; they are not noted. */
static MPI_Group world_group;
static bool is_noting;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t group_hash(MPI_Group group, int **ranks, int *count)
{
    uint64_t hash = 1;
    PMPI_Group_size(group, count);
    int *here = malloc(((size_t)*count + 1) * sizeof(*here));
    *ranks = malloc(((size_t)*count + 1) * sizeof(**ranks));
    if (!here || !*ranks)
        abort();
    for (int i = 0; i < *count; i++)
        here[i] = i;
    PMPI_Group_translate_ranks(group, *count, here, world_group, *ranks);
    for (int i = 0; i < *count; i++)
        hash = mix(hash, (uint64_t)(*ranks)[i] + 1);
    free(here);
    return hash;
}

/* The members of an intercommunicator are those of both sides, in whichever order. */
static uint64_t members_of(MPI_Comm comm, int **ranks, int *count)
{
    MPI_Group group, remote;
    int is_inter, *others, n;
    PMPI_Comm_group(comm, &group);
    uint64_t hash = group_hash(group, ranks, count);
    PMPI_Group_free(&group);
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter) {
        PMPI_Comm_remote_group(comm, &remote);
        uint64_t far = group_hash(remote, &others, &n);
        PMPI_Group_free(&remote);
        free(*ranks);
        *ranks = others;
        *count = n;
        hash = mix(hash < far ? hash : far, hash < far ? far : hash);
    }
    return hash;
}

static void forget(MPI_Comm comm)
{
    struct member_list *list;
    HASH_FIND(hh, comms, &comm, sizeof(comm), list);
    if (!list)
        return;
    HASH_DEL(comms, list);
    free(list->world);
    free(list);
}

static void note_comm(MPI_Comm comm, MPI_Comm parent)
{
    struct made_count *number;
    struct member_list *list = calloc(1, sizeof(*list));
    if (!list)
        return;
    uint64_t members =
        members_of(parent == MPI_COMM_NULL ? comm : parent, &list->world, &list->count);
    forget(comm);
    HASH_FIND(hh, made, &members, sizeof(members), number);
    if (!number && (number = calloc(1, sizeof(*number)))) {
        number->members = members;
        HASH_ADD(hh, made, members, sizeof(members), number);
        if (!number->hh.tbl) {
            free(number);
            number = NULL;
        }
    }
    list->comm = comm;
    list->id = mix(members, number ? number->count++ : 0);
    HASH_ADD(hh, comms, comm, sizeof(comm), list);
    if (!list->hh.tbl) {
        free(list->world);
        free(list);
    }
}

void profile_comm_made(MPI_Comm comm, MPI_Comm parent)
{
    profile_lock();
    if (is_noting && comm != MPI_COMM_NULL)
        note_comm(comm, parent);
    profile_unlock();
}

void profile_comm_gone(MPI_Comm comm)
{
    profile_lock();
    forget(comm);
    profile_unlock();
}

void messages_open(void)
{
    profile_lock();
    PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    is_noting = true;
    note_comm(MPI_COMM_WORLD, MPI_COMM_NULL);
    note_comm(MPI_COMM_SELF, MPI_COMM_NULL);
    profile_unlock();
}

void messages_close(void)
{
    is_noting = false;
    PMPI_Group_free(&world_group);
}

/* A rank's in MPI_COMM_WORLD, or -1. */
static int world_rank(const struct member_list *list, int rank)
{
    return list && rank >= 0 && rank < list->count ? list->world[rank] : -1;
}

/* ---- sends ---- */

struct stream_key {
    uint64_t comm;
    int peer, tag;
};

/* Messages of one sender, receiver, communicator and tag. */
struct sent_stream {
    struct stream_key key;
    uint64_t count;
    UT_hash_handle hh;
};

static struct sent_stream *streams;

static uint64_t flow_id(uint64_t comm, int from, int to, int tag, uint64_t index)
{
    return mix(mix(mix(mix(mix(1, comm), (uint64_t)from), (uint64_t)to), (uint64_t)tag), index);
}

static void note_sent(struct profile_span *span, const struct member_list *list, int to, int tag)
{
    struct stream_key key;
    struct sent_stream *stream;
    memset(&key, 0, sizeof(key));
    key.comm = list->id;
    key.peer = to;
    key.tag = tag;
    HASH_FIND(hh, streams, &key, sizeof(key), stream);
    if (!stream) {
        stream = calloc(1, sizeof(*stream));
        if (!stream)
            return;
        stream->key = key;
        HASH_ADD(hh, streams, key, sizeof(key), stream);
        if (!stream->hh.tbl) {
            free(stream);
            return;
        }
    }
    trace_flow(flow_id(list->id, own_rank, to, tag, stream->count++), true, span->begun_ns,
               profile_thread());
}

void profile_sent(struct profile_span *span, MPI_Comm comm, int dest, int tag, int64_t count,
                  MPI_Datatype type)
{
    struct member_list *list;
    MPI_Count size = 0;
    if (dest < 0)
        return;
    PMPI_Type_size_c(type, &size);
    span->bytes = count * size;
    span->tag = tag;
    profile_lock();
    HASH_FIND(hh, comms, &comm, sizeof(comm), list);
    span->peer = world_rank(list, dest);
    if (span->peer >= 0 && trace_is_open())
        note_sent(span, list, span->peer, tag);
    profile_unlock();
}

/* ---- receives ---- */

struct received {
    uint64_t comm, order, at_ns;
    int from, tag, thread;
};

static struct {
    struct received *all;
    size_t count, room;
    uint64_t posts;
} receives;

struct profile_post profile_posted(MPI_Comm comm)
{
    struct member_list *list;
    struct profile_post post = {0};
    profile_lock();
    HASH_FIND(hh, comms, &comm, sizeof(comm), list);
    if (list)
        post = (struct profile_post){list->id, ++receives.posts};
    profile_unlock();
    return post;
}

static void note_received(const struct received *received)
{
    if (receives.count == receives.room) {
        size_t room = receives.room ? 2 * receives.room : 1024;
        struct received *more = realloc(receives.all, room * sizeof(*more));
        if (!more)
            return;
        receives.all = more;
        receives.room = room;
    }
    receives.all[receives.count++] = *received;
}

void profile_received(struct profile_span *span, const struct profile_post *post, MPI_Comm comm,
                      const MPI_Status *status)
{
    struct member_list *list;
    MPI_Count bytes = 0;
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    if (!post->order || status->MPI_SOURCE < 0 || cancelled)
        return;
    PMPI_Get_elements_c(status, MPI_BYTE, &bytes);
    profile_lock();
    HASH_FIND(hh, comms, &comm, sizeof(comm), list);
    int from = world_rank(list, status->MPI_SOURCE);
    span->peer = from;
    span->tag = status->MPI_TAG;
    span->bytes = bytes == MPI_UNDEFINED ? 0 : bytes;
    if (from >= 0 && trace_is_open())
        note_received(&(struct received){post->comm, post->order, profile_now_ns(), from,
                                         status->MPI_TAG, profile_thread()});
    profile_unlock();
}

static int compare(const void *va, const void *vb)
{
    const struct received *a = va, *b = vb;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void messages_write_receives(void)
{
    uint64_t index = 0;
    if (receives.count)
        qsort(receives.all, receives.count, sizeof(*receives.all), compare);
    for (size_t i = 0; i < receives.count; i++) {
        const struct received *r = &receives.all[i], *last = r - 1;
        bool goes_on = i && last->comm == r->comm && last->from == r->from && last->tag == r->tag;
        index = goes_on ? index + 1 : 0;
        trace_flow(flow_id(r->comm, r->from, own_rank, r->tag, index), false, r->at_ns, r->thread);
    }
    free(receives.all);
    receives.all = NULL;
    receives.count = receives.room = 0;
}

/* ---- requests ---- */

struct pending_item {
    struct profile_pending it;
    UT_hash_handle hh;
};

static struct pending_item *pendings;

static struct pending_item *find_pending(uintptr_t handle)
{
    struct pending_item *item;
    HASH_FIND(hh, pendings, &handle, sizeof(handle), item);
    return item;
}

void profile_pend(uintptr_t handle, const struct profile_pending *pending)
{
    profile_lock();
    struct pending_item *item = find_pending(handle);
    if (!item && (item = calloc(1, sizeof(*item)))) {
        item->it.handle = handle;
        HASH_ADD(hh, pendings, it.handle, sizeof(handle), item);
        if (!item->hh.tbl) {
            free(item);
            item = NULL;
        }
    }
    if (item) {
        item->it = *pending;
        item->it.handle = handle;
    }
    profile_unlock();
}

bool profile_unpend(uintptr_t handle, struct profile_pending *pending)
{
    profile_lock();
    struct pending_item *item = find_pending(handle);
    if (item) {
        *pending = item->it;
        HASH_DEL(pendings, item);
        free(item);
    }
    profile_unlock();
    return item;
}

void profile_started(struct profile_span *span, MPI_Request request)
{
    struct profile_pending pending;
    if (!profile_unpend((uintptr_t)request, &pending))
        return;
    if (pending.is_send)
        profile_sent(span, pending.comm, pending.dest, pending.tag, pending.count, pending.type);
    else
        pending.post = profile_posted(pending.comm);
    profile_pend((uintptr_t)request, &pending);
}

void profile_completed(struct profile_span *span, MPI_Request request, const MPI_Status *status)
{
    struct profile_pending pending;
    if (request == MPI_REQUEST_NULL || !profile_unpend((uintptr_t)request, &pending))
        return;
    if (!pending.is_send)
        profile_received(span, &pending.post, pending.comm, status);
    pending.post = (struct profile_post){0}; /* until it is started again */
    if (pending.is_persistent)
        profile_pend((uintptr_t)request, &pending);
}

void profile_waits_begin(struct profile_waits *waits, int count, const MPI_Request requests[],
                         MPI_Status statuses[])
{
    size_t n = count > 0 ? (size_t)count : 0;
    *waits = (struct profile_waits){
        .count = count, .requests = waits->few_requests, .statuses = waits->few_statuses};
    if (n > sizeof(waits->few_requests) / sizeof(waits->few_requests[0])) {
        waits->memory = malloc(n * (sizeof(*requests) + sizeof(*statuses)));
        if (!waits->memory)
            abort();
        waits->statuses = waits->memory;
        waits->requests = (MPI_Request *)(waits->statuses + n);
    }
    if (statuses && statuses != MPI_STATUSES_IGNORE)
        waits->statuses = statuses;
    if (n && requests)
        memcpy(waits->requests, requests, n * sizeof(*requests));
}

void profile_waits_end(struct profile_waits *waits, struct profile_span *span, int count,
                       const int indices[])
{
    for (int i = 0; i < count; i++)
        profile_completed(span, waits->requests[indices ? indices[i] : i], &waits->statuses[i]);
    free(waits->memory);
}
