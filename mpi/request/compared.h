/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sends and receives of the program compared by type signature, for mpiexec --check: each message
 * begins with a note that says what its sender names, and the receive compares that when the program
 * gets its outcome. A mismatch ends the job with both ranks, calls and source lines. MPI_BYTE and
 * MPI_PACKED fit everything, since of such bytes nothing more is known. Partitioned communication is
 * left out.
 *
 * While nothing is compared, compared_on is false, and the program's calls have their fast paths.
 */
#ifndef MPI_COMPARED_H
#define MPI_COMPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/comm/comm.h"
#include "mpi/request/p2p.h"
#include "mpi/type/type.h"

extern bool compared_on;

/* Compare from now on: at the start, before there are messages. */
void compared_begin(void);

/* The data sent, and their type for the program: the same, unless they were packed meanwhile. */
struct compared_data {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Count named_count;
    MPI_Datatype named_type;
};

/* The program's sends and receives; as p2p_isend_mode() and p2p_irecv(). */
int compared_isend(const struct p2p_side *to, const struct compared_data *data, unsigned mode,
                   struct request **request);
int compared_irecv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
                   struct request **request);

int compared_recv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
                  MPI_Status *status);

/* Make a request that is not started yet a receive of what compared_isend() sends, which goes to bytes
 * as if they were count elements of type. Returns 0 or MPI_ERR_NO_MEM. */
int compared_expect(struct request *request, struct mpid_bytes *bytes, MPI_Count count,
                    MPI_Datatype type);
/* The outcome of such a receive, or of any other. */
int compared_outcome(const struct request *request, MPI_Status *status);
/* Have owned freed with a request. */
void compared_own(struct request *request, void *owned);
void compared_release(struct request *request);

/* Of a message's bytes, those of the program. */
int64_t compared_bytes(int64_t bytes);
/* The same, of a message that the program has seen by a probe. */
int64_t compared_probed(int64_t bytes);

/* The same where nothing is compared, too. */
static inline int compared_isend_any(const struct p2p_side *to, const struct compared_data *data,
                                     unsigned mode, struct request **request)
{
    if (type_may_be_misread(data->named_type) && comm_misreads(to->comm, to->peer, data->named_type))
        return MPI_ERR_TYPE;
    if (__builtin_expect(compared_on, 0))
        return compared_isend(to, data, mode, request);
    return p2p_isend_mode(to, data->buf, data->count, data->type, mode, request);
}

static inline int compared_irecv_any(const struct p2p_side *from, void *buf, MPI_Count count,
                                     MPI_Datatype type, struct request **request)
{
    if (__builtin_expect(compared_on, 0))
        return compared_irecv(from, buf, count, type, request);
    return p2p_irecv(from, buf, count, type, request);
}

#endif
