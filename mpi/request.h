/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI requests over the device's. A request handle is a pointer to one, or
 * MPI_REQUEST_NULL, or request_done: the one shared request that is complete
 * from the start, which eager sends return, so that they cost no allocation.
 *
 * Kinds other than point-to-point complete through poll (a schedule, a generalized
 * request): their pending is 1 until then.
 */
#ifndef MPI_REQUEST_H
#define MPI_REQUEST_H

#include <mpi.h>

#include "include/mpid.h"
#include "mpi/handle.h"

struct comm;
struct type;

enum request_kind {
    REQUEST_SEND = 1,
    REQUEST_RECV,
    REQUEST_PERSISTENT, /* inactive or active: inner is what start made */
    REQUEST_BUFFER,     /* MPI_Buffer_iflush */
    REQUEST_SENDRECV,   /* MPI_Isendrecv: the receive, and inner the send */
    REQUEST_SCHEDULE    /* a nonblocking collective */
};

struct request {
    struct object object;
    uint8_t kind;
    bool freed;          /* MPI_Request_free came before completion: done() releases it */
    struct comm *comm;   /* referenced; for errors and the error handler */
    struct type *type;   /* referenced, or NULL: held until completion */
    struct request *inner;
    const struct request_start *start; /* persistent: what to do at MPI_Start */
    void *owned;         /* freed with the request */
    struct mpid_request dev; /* last: what channels have reserved follows */
};

extern struct request request_done;

int request_init(void);
void request_fini(void);
size_t request_dev_size(void); /* to give to mpid_init() */

/* A request with its object, kind and comm (referenced) set; NULL: no memory. */
struct request *request_create(enum request_kind kind, struct comm *comm);
/* Release a complete request, its references and what it owns. */
void request_free(struct request *request);

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
