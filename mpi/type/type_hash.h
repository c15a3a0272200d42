/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Type signatures as numbers: equal where two sequences of basic elements are equal, however they lie
 * in memory, and almost never otherwise. Basic types of one form and size count as equal.
 */
#ifndef MPI_TYPE_HASH_H
#define MPI_TYPE_HASH_H

#include <stdint.h>

#include "mpi/type/type.h"

struct type_hash {
    uint64_t value;
    uint64_t elements;
};

/* Of count elements of a type. */
struct type_hash type_hash(const struct type *type, MPI_Count count);
/* Of the first basic elements of them, all of which there must be. */
struct type_hash type_hash_first(const struct type *type, uint64_t elements);

/* Whether a type is of MPI_BYTE or MPI_PACKED alone, or empty: of what the bytes mean nothing is
 * known. */
bool type_is_untyped(const struct type *type);

#endif
