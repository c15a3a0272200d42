/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI requests over the device's. A handle is a pointer to one, or MPI_REQUEST_NULL, or request_done:
 * a shared one, complete from the start, which costs no allocation. The memory is request_store's:
 * request_end() gives it back, or request_abandon() once the request is complete, or as ops say.
 */
#ifndef MPI_REQUEST_H
#define MPI_REQUEST_H

#include <mpi.h>
#include <stddef.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/handle.h"
#include "mpi/left.h"
#include "os/lock.h"
#include "os/memory/pool.h"

struct type;
struct request;

/*
 * What a kind of request does. A new kind is a file that has such a table, and gives it to
 * request_create(). NULL: as the comment says.
 */
struct request_ops {
    bool calls_user; /* outcome, end and cancel return values of the user's functions, no class */
    bool raises;     /* end calls an error handler by itself, and returns a code */
    bool (*is_complete)(struct request *request);                        /* NULL: once dev is */
    bool (*is_inactive)(const struct request *request);                  /* NULL: it never is */
    void (*watch)(const struct request *request, struct sleeper *sleeper); /* NULL: dev */
    void (*tell)(const struct request *request, struct mpid_wait_report *report); /* NULL: dev's message */
    int (*outcome)(const struct request *request, MPI_Status *status);
    int (*end)(struct request *request, int outcome, MPI_Request *handle); /* NULL: free it */
    int (*abandon)(struct request *request);  /* NULL: free it once dev is complete */
    int (*cancel)(struct request *request);   /* NULL: it cannot be cancelled */
    int (*start)(struct request *request);    /* NULL: it is not persistent */
    void (*release)(struct request *request); /* give back what it owns; NULL: free() does */
};

struct request {
    struct object object;
    const struct request_ops *ops;
    struct comm *comm; /* referenced, or NULL */
    struct type *type; /* referenced, or NULL: held until completion */
    struct request *inner; /* its kind's, as state is */
    void *state;
    void *owned;             /* NULL: nothing is to be released */
    struct mpid_request dev; /* last: the channels' reserved space follows */
};

/* So that the device's part lies on cache lines as it is meant to. */
_Static_assert(offsetof(struct request, dev) == 56, "the device's part of a request has moved");

extern struct request request_done;
/* The last: of receives from any rank, whose communicator must be set. */
extern const struct request_ops request_send_ops, request_recv_ops, request_any_ops;

/* request_init() comes after mpid_init(), which tells the size of requests. */
void request_init(void);
void request_fini(void);

extern struct request_store {
    struct os_lock lock; /* guards the pool */
    struct os_pool pool;
} request_store;

/* A request of this kind; comm (NULL: none) is referenced. NULL: no memory. */
static inline struct request *request_create(const struct request_ops *ops, struct comm *comm)
{
    os_lock(&request_store.lock);
    struct request *request = os_pool_get(&request_store.pool);
    os_unlock(&request_store.lock);
    if (__builtin_expect(!request, 0))
        return 0;
    object_init(&request->object, OBJECT_REQUEST);
    request->ops = ops;
    request->comm = comm;
    request->type = 0;
    request->inner = 0;
    request->state = 0;
    request->owned = 0;
    if (comm)
        object_ref(&comm->object);
    return request;
}

/* A receive that is complete: what it receives from MPI_PROC_NULL. NULL: no memory. */
struct request *request_create_received(struct comm *comm);
/* A request that goes on until somebody in this process completes it with an error class. */
struct request *request_begin(struct comm *comm);
void request_complete(struct request *request, int error_class);

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
    left_freed(request);
    object_set_word(&request->object, 0);
    os_lock(&request_store.lock);
    os_pool_put(&request_store.pool, request);
    os_unlock(&request_store.lock);
    if (comm)
        comm_unref(comm);
}
/* Release it once it is complete: now, or when its communication is over. */
int request_abandon(struct request *request);
/* The same, once dev is. */
void request_let_go(struct request *request);
/* Returns MPI_ERR_REQUEST if it cannot be cancelled. */
int request_cancel(struct request *request);

static inline bool request_is_complete(struct request *request)
{
    if (__builtin_expect(!request->ops->is_complete, 1))
        return mpid_is_complete(&request->dev);
    return request->ops->is_complete(request);
}
/*
 * A receive from any rank may wait for one that has failed. Until the user has acknowledged that, it
 * counts as complete, with outcome MPIX_ERR_PROC_FAILED_PENDING, and its end leaves it as it is: a
 * message may still come. request_is_doubted() tells whether that is so; the other two are for ops.
 */
bool request_is_doubted(const struct request *request);
bool request_is_complete_or_doubted(struct request *request);
void request_tell_message(const struct request *request, struct mpid_wait_report *report);
/* Whether it is persistent and not started. */
bool request_is_inactive(const struct request *request);

void request_wait(struct request *request);
/* The caller does nothing any more but wait for it. */
void request_await(struct request *request);
/* Name to a sleeper the requests that complete it (struct mpid_condition). */
void request_watch(const struct request *request, struct sleeper *sleeper);
/* Say what it waits for, where mpiexec asks. */
void request_tell(const struct request *request, struct mpid_wait_report *report);
/* The tell of a request whose messages are told by others, or that has none. */
void request_tell_nothing(const struct request *request, struct mpid_wait_report *report);

/* Take the outcome of a complete request: fill status, return its error class. The request
 * stays. */
int request_outcome(const struct request *request, MPI_Status *status);
/* Then free it, or make it inactive. *handle becomes MPI_REQUEST_NULL if it was freed. Returns the
 * error. */
int request_end(struct request *request, int outcome, MPI_Request *handle);
/* Both. */
int request_finish(struct request *request, MPI_Status *status, MPI_Request *handle);

/* What went wrong with a message, as an error class. */
int request_class(const struct mpid_request *dev);
int request_class_of(enum mpid_error error);

/* Tell of a failed request through its communicator's error handler. */
int request_raise(struct comm *comm, int error_class, const char *function,
                  const MPI_Status *status);

static inline struct request *request_from(MPI_Request handle)
{
    if (handle_is_constant(handle))
        return 0;
    if (handle == (MPI_Request)&request_done)
        return &request_done;
    return handle_leads_to(handle, OBJECT_REQUEST) ? (struct request *)handle : 0;
}

/* Whose part in the device this is. */
static inline struct request *request_of(struct mpid_request *dev)
{
    return (struct request *)((char *)dev - offsetof(struct request, dev));
}

static inline MPI_Request request_handle(struct request *request)
{
    if (__builtin_expect(left_is_watched, 0) && request != &request_done)
        left_note(request, LEFT_REQUEST);
    return (MPI_Request)request;
}

#endif
