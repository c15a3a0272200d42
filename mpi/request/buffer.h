/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Buffered sends (MPI-5.0 3.6): the user's buffer, cut into segments that are
 * in use while their message is under way; or, with MPI_BUFFER_AUTOMATIC, memory
 * that the library takes as it needs. A message goes to the first buffer that exists: its
 * communicator's, that of the communicator's session, the process's.
 */
#ifndef MPI_BUFFER_H
#define MPI_BUFFER_H

#include <mpi.h>
#include <stdbool.h>

struct buffer;
struct comm;
struct p2p_side;
struct request;

/* Where the buffer of all communicators without their own hangs. */
extern struct buffer *buffer_process;

/* Attach memory (or MPI_BUFFER_AUTOMATIC) to *slot. Returns MPI_SUCCESS, MPI_ERR_BUFFER if one is
 * attached already, or MPI_ERR_NO_MEM. */
int buffer_attach(struct buffer **slot, void *memory, MPI_Count size);
/* Wait until every message in it is out, then take it away: the memory is the user's again. */
int buffer_detach(struct buffer **slot, void **memory, MPI_Count *size);
/* The same, without giving back the memory. Accepts a slot without a buffer. */
void buffer_end(struct buffer **slot);
/* Wait until every message in it is out. Accepts NULL. */
void buffer_flush(struct buffer *buffer);
/* A request that is complete once the buffer (NULL: there is none) is empty. NULL: no memory. */
struct request *buffer_iflush(struct buffer *buffer, struct comm *comm);

/* Send from a buffer: MPI_SUCCESS, or MPI_ERR_BUFFER without a buffer or room. */
int buffer_send(const struct p2p_side *to, const void *buf, MPI_Count count, MPI_Datatype type);

#endif
