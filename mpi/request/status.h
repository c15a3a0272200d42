/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the library keeps in an MPI_Status: MPI_internal[0] and [1] together hold the number
 * of data bytes (a 64-bit integer at int alignment), [2] whether it was cancelled.
 *
 * MPI_ERROR is left alone: only calls that complete several requests, and return
 * MPI_ERR_IN_STATUS, may set it (MPI-5.0 3.2.5).
 */
#ifndef MPI_STATUS_H
#define MPI_STATUS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void status_set_bytes(MPI_Status *status, int64_t bytes)
{
    memcpy(&status->MPI_internal[0], &bytes, sizeof(bytes));
}

static inline int64_t status_bytes(const MPI_Status *status)
{
    int64_t bytes;

    memcpy(&bytes, &status->MPI_internal[0], sizeof(bytes));
    return bytes;
}

static inline bool status_cancelled(const MPI_Status *status)
{
    return status->MPI_internal[2] != 0;
}

/* Fill all but MPI_ERROR; nothing where status is MPI_STATUS_IGNORE. */
static inline void status_set(MPI_Status *status, int source, int tag, int64_t bytes,
                              bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status_set_bytes(status, bytes);
    status->MPI_internal[2] = cancelled;
}

/* The empty status: of an inactive request, or of a send that has nothing to tell. */
static inline void status_set_empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    status->MPI_ERROR = MPI_SUCCESS;
}

#endif
