/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Partitioned communication (MPI-5.0 4.2): one message whose parts are ready, and arrive, one by
 * one.
 *
 * The sender cuts its partitions into chunks (part_cut.h): each partition is one, unless there are
 * many small ones: then several go together. A chunk is sent when the last of its partitions is
 * ready; it is a message of its own, and the receiver, whose partitions may be others, knows by the
 * bytes that it holds which of them have arrived.
 *
 * How the bytes are cut, and the tags of the chunks, the sender says once, in a setup message from
 * MPI_Psend_init, for which MPI_Precv_init posts a receive: so matching by order of
 * initialization is the device's. Nothing else is agreed on. In the communicator's context for
 * this, setups carry the user's tag and the sender's rank, chunks the sender's tags and its rank
 * above PART_RANK.
 *
 * A receive may be started before its setup is there: then the setup's arrival posts the chunks,
 * in any thread that makes progress.
 *
 * Any thread may call part_ready() and part_arrived(), at the same time as others.
 */
#ifndef MPI_PART_H
#define MPI_PART_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct comm;
struct part;
struct request;

enum { PART_RANK = 1 << 30 }; /* added to ranks */

struct part_what {
    bool send;
    struct comm *comm;
    void *buf;
    int partitions;
    MPI_Count count; /* elements of each */
    MPI_Datatype type;
    int peer, tag; /* peer may be MPI_PROC_NULL */
};

/* Make an inactive request. Returns MPI_SUCCESS or an error class. */
int part_create(const struct part_what *what, struct request **request);
/* The part of such a request; NULL: it is none. */
struct part *part_of(const struct request *request);

bool part_is_active(const struct part *part);

bool part_is_send(const struct part *part);
int part_partitions(const struct part *part);
/* A partition of an active send is ready. Returns whether it was not so before. */
bool part_ready(struct part *part, int partition);
/* Whether a partition of a receive is there; so is all of an inactive one. */
bool part_arrived(struct part *part, int partition);

#endif
