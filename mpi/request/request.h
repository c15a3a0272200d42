/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI requests over the device's. A request handle is a pointer to one, or
 * MPI_REQUEST_NULL, or request_done: the one shared request that is complete
 * from the start, which eager sends return, so that they cost no allocation.
 */
#ifndef MPI_REQUEST_H
#define MPI_REQUEST_H

#include <mpi.h>
#include <stddef.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/handle.h"
#include "os/lock.h"
#include "os/pool.h"

struct type;
struct buffer;
struct part;
struct request;

enum request_kind {
    REQUEST_SEND = 1,
    REQUEST_RECV,
    REQUEST_PERSISTENT, /* inner is what start made; NULL: inactive */
    REQUEST_PAIR,       /* MPI_Isendrecv: the receive, and inner the send */
    REQUEST_FLUSH,      /* MPI_Buffer_iflush: complete once buffer is empty */
    REQUEST_NO_PROC,    /* complete from the start: a receive from MPI_PROC_NULL */
    REQUEST_GENERAL,    /* of the user's own making: grequest.h */
    REQUEST_PART,       /* partitioned: part.h */
    REQUEST_TASK        /* request_begin() to request_complete() */
};

/* What a persistent request does at each start. */
struct request_start {
    int (*start)(const struct request_start *what, struct request **started);
    bool receive; /* or it sends */
    struct comm *comm; /* the request's */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    unsigned mode;
    struct request *request;          /* whose it is */
    struct request_start *next, *prev; /* in the list of all */
};

struct request {
    struct object object;
    uint8_t kind;
    struct comm *comm; /* referenced, or NULL */
    struct type *type; /* referenced, or NULL: held until completion */
    struct request *inner;
    union {
        struct buffer *buffer;       /* REQUEST_FLUSH: referenced; NULL: there is none */
        struct part *part;           /* REQUEST_PART */
        struct request_start *start; /* REQUEST_PERSISTENT: owned */
    };
    void *owned;             /* freed with the request; of a REQUEST_FLUSH: its buffer */
    struct mpid_request dev; /* last: what channels have reserved follows */
};

/* So that the device's part lies on cache lines as it is meant to. */
_Static_assert(offsetof(struct request, dev) == 56, "the device's part of a request has moved");

extern struct request request_done;

/* request_init() comes after mpid_init(), which tells the size of requests. */
void request_init(void);
void request_fini(void);

extern struct request_store {
    struct os_lock lock; /* guards the pool */
    struct os_pool pool;
} request_store;

/* A request of this kind; comm (NULL: none) is referenced. NULL: no memory. */
static inline struct request *request_create(enum request_kind kind, struct comm *comm)
{
    os_lock(&request_store.lock);
    struct request *request = os_pool_get(&request_store.pool);
    os_unlock(&request_store.lock);
    if (__builtin_expect(!request, 0))
        return 0;
    object_init(&request->object, OBJECT_REQUEST);
    request->kind = (uint8_t)kind;
    request->comm = comm;
    request->type = 0;
    request->inner = 0;
    request->owned = 0;
    if (comm)
        object_ref(&comm->object);
    return request;
}

/* A request that goes on until somebody in this process completes it with an error class. */
struct request *request_begin(enum request_kind kind, struct comm *comm);
void request_complete(struct request *request, int error_class);

/* Give a REQUEST_PERSISTENT what it does; from here on it owns that. */
void request_set_start(struct request *request, struct request_start *start);

/* Give back what a request holds besides its communicator. */
void request_release(struct request *request);

/* Release a complete request, its references and what it owns. */
static inline void request_free(struct request *request)
{
    struct comm *comm = request->comm;
    if (__builtin_expect(request->type || request->owned || request == &request_done, 0)) {
        if (request == &request_done)
            return;
        request_release(request);
    }
    request->object.word = 0;
    os_lock(&request_store.lock);
    os_pool_put(&request_store.pool, request);
    os_unlock(&request_store.lock);
    if (comm)
        comm_unref(comm);
}
/* Release it once it is complete: now, or when its communication is over. Returns MPI_SUCCESS,
 * or what the callback of a REQUEST_GENERAL returned. */
int request_abandon(struct request *request);

bool request_is_complete_slow(struct request *request);
static inline bool request_is_complete(struct request *request)
{
    if (__builtin_expect(request->kind <= REQUEST_RECV, 1))
        return mpid_is_complete(&request->dev);
    return request_is_complete_slow(request);
}
/* Whether it is persistent and not started. */
bool request_is_inactive(const struct request *request);

void request_wait(struct request *request);
/* Say what it waits for, where somebody asks (mpid_wait_telling()). */
void request_tell(const struct request *request, struct mpid_tale *tale);

/* Take the outcome of a complete request: fill status, return its error class (of a
 * REQUEST_GENERAL: what the user's callback returned). The request stays. */
int request_outcome(const struct request *request, MPI_Status *status);
/* Then free it, or make it inactive. *handle becomes MPI_REQUEST_NULL where it was freed. Returns
 * the error: the outcome's, or, of a REQUEST_GENERAL, that of freeing. */
int request_end(struct request *request, int outcome, MPI_Request *handle);
/* Both. */
int request_finish(struct request *request, MPI_Status *status, MPI_Request *handle);

/* What went wrong with a message, as an error class. */
int request_class(const struct mpid_request *dev);

/* Tell of a failed request through its communicator's error handler. */
int request_raise(struct comm *comm, int error_class, const char *function,
                  const MPI_Status *status);

static inline struct request *request_from(MPI_Request handle)
{
    if (handle_is_constant(handle))
        return 0;
    return handle_leads_to(handle, OBJECT_REQUEST) ? (struct request *)handle : 0;
}

static inline MPI_Request request_handle(struct request *request)
{
    return (MPI_Request)request;
}

#endif
