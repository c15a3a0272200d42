/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Point-to-point as the rest of the MPI layer uses it: arguments are taken as
 * checked, any context may be named, MPI_PROC_NULL is understood, and errors are
 * returned as error classes (MPI_SUCCESS, MPI_ERR_TRUNCATE, MPI_ERR_PROC_ABORTED ...)
 * without calling an error handler.
 */
#ifndef MPI_P2P_H
#define MPI_P2P_H

#include <mpi.h>
#include <stdint.h>

#include "include/mpid.h"

struct comm;
struct request;
struct type;

/* One side of a message. */
struct p2p_side {
    struct comm *comm;
    uint32_t context; /* comm->context, or comm->context + 1 in a collective */
    int peer;         /* rank, MPI_PROC_NULL, or (receive) MPI_ANY_SOURCE */
    int tag;          /* or (receive) MPI_ANY_TAG */
};

/* Start; *request is always set on success, maybe to &request_done. */
int p2p_isend(const struct p2p_side *to, const void *buf, MPI_Count count, MPI_Datatype type,
              struct request **request);
int p2p_irecv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
              struct request **request);
/* The same send in another mode (enum mpid_mode). */
int p2p_isend_mode(const struct p2p_side *to, const void *buf, MPI_Count count,
                   MPI_Datatype type, unsigned mode, struct request **request);
/* Wait, release the request, and return its error class; status may be
 * MPI_STATUS_IGNORE. */
int p2p_finish(struct request *request, MPI_Status *status);

/* The same for a complete one without a status. */
int p2p_end(struct request *request);

/* Both and wait. */
int p2p_send_mode(const struct p2p_side *to, const void *buf, MPI_Count count,
                  MPI_Datatype type, unsigned mode);
int p2p_recv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
             MPI_Status *status);

/* What a receive asks of the device. */
static inline struct mpid_envelope p2p_want(const struct p2p_side *from)
{
    return (struct mpid_envelope){from->context,
                                  from->peer == MPI_ANY_SOURCE ? MPID_ANY : from->peer,
                                  from->tag == MPI_ANY_TAG ? MPID_ANY : from->tag};
}

#endif
