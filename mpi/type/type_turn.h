/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Data whose numbers are turned: the bytes that a place gives, and takes, are those of memory with the bytes of each
 * number in the opposite order. Where this process turns (os/turn.h) type_place() describes all data so, but for types
 * of single bytes. What lies between two places, as in MPI_Pack's buffer, is then in network order.
 */
#ifndef MPI_TYPE_TURN_H
#define MPI_TYPE_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/type/type.h"

/* Describe len bytes of count elements of a committed type that has data, turned. */
struct mpid_bytes type_turn_place(const struct type *type, const void *buf, MPI_Count count, size_t len);
/* The same data as they lie in memory; of a place that is not turned itself. */
struct mpid_bytes type_turn_back(const struct mpid_bytes *bytes);

#endif
