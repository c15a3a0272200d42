/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A number that one process of a communicator keeps for all of them. The others ask it by messages
 * in a context of the communicator's own; it answers in any call that makes progress, so the others
 * wait while it computes outside MPI.
 */
#ifndef MPI_FILE_COUNTER_H
#define MPI_FILE_COUNTER_H

#include <mpi.h>
#include <stdint.h>

struct io_counter;

/* Local. The number begins as 0; owner is the rank that keeps it. NULL: no memory. */
struct io_counter *file_counter_open(MPI_Comm comm, int owner);
/* Destroy, once no process asks any more; local. Accepts NULL. */
void file_counter_close(struct io_counter *counter);

/* Add to the number, and get its former value. Returns MPI_SUCCESS or an error class. */
int file_counter_add(struct io_counter *counter, int64_t by, int64_t *was);
/* At its owner only. */
void file_counter_set(struct io_counter *counter, int64_t to);

#endif
