/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffered sends; see buffer.h. */
#include "mpi/request/buffer.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/session.h"
#include "mpi/request/compared.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "os/lock.h"

/* A stretch of the user's memory: free, or with a message in it. */
struct segment {
    struct segment *next; /* by address; NULL: the last */
    struct request *request; /* the message under way; NULL: free */
    size_t size; /* bytes behind this header */
};

_Static_assert(sizeof(struct segment) + 64 <= MPI_BSEND_OVERHEAD, "what users add for us");

struct buffer {
    _Atomic int refs;    /* of its place, and of requests */
    struct os_lock lock; /* guards the segments */
    bool automatic;
    char *memory;
    MPI_Count size;
    struct segment *first;
};

enum { ALIGN = 16 };

struct buffer *buffer_process;

int buffer_attach(struct buffer **slot, void *memory, MPI_Count size)
{
    if (*slot)
        return MPI_ERR_BUFFER;
    struct buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer)
        return MPI_ERR_NO_MEM;
    atomic_init(&buffer->refs, 1);
    buffer->memory = memory;
    buffer->size = size;
    buffer->automatic = memory == MPI_BUFFER_AUTOMATIC;
    if (!buffer->automatic) {
        uintptr_t start = ((uintptr_t)memory + ALIGN - 1) / ALIGN * ALIGN;
        uintptr_t end = (uintptr_t)memory + (uintptr_t)size;
        if (start + sizeof(struct segment) <= end) {
            buffer->first = (struct segment *)start;
            *buffer->first = (struct segment){.size = end - start - sizeof(struct segment)};
        }
    }
    *slot = buffer;
    return MPI_SUCCESS;
}

static void ref(struct buffer *buffer)
{
    if (buffer)
        atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
}

static void unref(struct buffer *buffer)
{
    if (buffer && atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) == 1)
        free(buffer);
}

/* ---- segments ---- */

/* Free segments whose messages are out, and join free neighbours. Returns whether all is free. */
static bool collect(struct buffer *buffer)
{
    bool empty = true;
    struct segment **at = &buffer->first;
    while (*at) {
        struct segment *segment = *at;
        if (segment->request && request_is_complete(segment->request)) {
            request_free(segment->request);
            segment->request = NULL;
        }
        empty &= !segment->request;
        if (buffer->automatic && !segment->request) {
            *at = segment->next;
            free(segment);
            continue;
        }
        struct segment *next = segment->next;
        if (!segment->request && next && !next->request) {
            segment->size += sizeof(*next) + next->size;
            segment->next = next->next;
            continue;
        }
        if (!segment->request && next && request_is_complete(next->request)) {
            request_free(next->request);
            next->request = NULL;
            continue;
        }
        at = &segment->next;
    }
    return empty;
}

static struct segment *take(struct buffer *buffer, size_t len)
{
    len = (len + ALIGN - 1) / ALIGN * ALIGN;
    if (buffer->automatic) {
        struct segment *segment = malloc(sizeof(*segment) + len);
        if (segment) {
            *segment = (struct segment){.next = buffer->first, .size = len};
            buffer->first = segment;
        }
        return segment;
    }
    struct segment *segment = buffer->first;
    while (segment && (segment->request || segment->size < len))
        segment = segment->next;
    if (segment && segment->size >= len + sizeof(*segment) + ALIGN) {
        struct segment *rest = (struct segment *)((char *)(segment + 1) + len);
        *rest = (struct segment){.next = segment->next,
                                 .size = segment->size - len - sizeof(*rest)};
        segment->next = rest;
        segment->size = len;
    }
    return segment;
}

/* ---- sending ---- */

int buffer_send(const struct p2p_side *to, const void *buf, MPI_Count count, MPI_Datatype type)
{
    struct buffer *buffer = to->comm->buffer;
    if (!buffer && to->comm->group->session)
        buffer = session_buffer(to->comm->group->session);
    if (!buffer)
        buffer = buffer_process;
    struct mpid_bytes bytes;
    struct type *used;
    if (to->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int rc = type_place(type, buf, count, &bytes, &used);
    if (rc)
        return rc;
    if (!buffer)
        return MPI_ERR_BUFFER;
    (void)mpid_progress();
    os_lock(&buffer->lock);
    collect(buffer);
    struct segment *segment = take(buffer, bytes.len);
    if (segment) {
        type_pack(&bytes, 0, segment + 1, bytes.len);
        struct compared_data data = {segment + 1, (MPI_Count)bytes.len, MPI_BYTE, count, type};
        rc = compared_isend_any(to, &data, MPID_MORE, &segment->request);
        if (rc)
            segment->request = NULL;
    }
    os_unlock(&buffer->lock);
    return segment ? rc : MPI_ERR_BUFFER;
}

/* ---- waiting ---- */

static bool is_empty(struct buffer *buffer)
{
    if (!buffer)
        return true;
    os_lock(&buffer->lock);
    bool empty = collect(buffer);
    os_unlock(&buffer->lock);
    return empty;
}

static bool is_flushed(void *buffer)
{
    return is_empty(buffer);
}

void buffer_flush(struct buffer *buffer)
{
    static const struct mpid_condition flushed = {.is_done = is_flushed, .tell = mpid_tell_sends};
    mpid_wait_condition(&flushed, buffer);
}

int buffer_detach(struct buffer **slot, void **memory, MPI_Count *size)
{
    struct buffer *buffer = *slot;
    if (!buffer)
        return MPI_ERR_BUFFER;
    buffer_flush(buffer);
    *memory = buffer->memory;
    *size = buffer->automatic ? 0 : buffer->size;
    *slot = NULL;
    os_lock(&buffer->lock);
    buffer->first = NULL;
    os_unlock(&buffer->lock);
    unref(buffer);
    return MPI_SUCCESS;
}

void buffer_end(struct buffer **slot)
{
    void *memory;
    MPI_Count size;
    (void)buffer_detach(slot, &memory, &size);
}

/* ---- MPI_Buffer_iflush: the request has the buffer, or none, as its state ---- */

static bool is_complete(struct request *request)
{
    return is_empty(request->state);
}

/* Its sends, whichever they are. */
static void watch(const struct request *request, struct sleeper *sleeper)
{
    mpid_watch_request(sleeper, NULL);
}

static void tell(const struct request *request, struct mpid_wait_report *report)
{
    mpid_tell_sends(NULL, report);
}

static int outcome(const struct request *request, MPI_Status *status)
{
    status_set_empty(status);
    return MPI_SUCCESS;
}

static int abandon(struct request *request)
{
    request_free(request);
    return MPI_SUCCESS;
}

static void release(struct request *request)
{
    unref(request->state);
}

struct request *buffer_iflush(struct buffer *buffer, struct comm *comm)
{
    static const struct request_ops ops = {
        .is_complete = is_complete,
        .watch = watch,
        .tell = tell,
        .outcome = outcome,
        .abandon = abandon,
        .release = release,
    };
    struct request *request = request_create(&ops, comm);
    if (request && buffer) {
        request->owned = request->state = buffer;
        ref(buffer);
    }
    return request;
}
