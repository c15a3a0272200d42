/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The representation external32 (MPI-5.0 14.5.2): big endian, with sizes that do not depend on the
 * host. type->external says how many bytes one element takes in it.
 */
#ifndef MPI_TYPE_EXTERNAL_H
#define MPI_TYPE_EXTERNAL_H

#include "mpi/type/type.h"

/* Convert count elements of a type, at a place made of them, to external32 or back. */
void type_external_pack(const struct type *type, MPI_Count count, const struct mpid_bytes *from,
                        void *to);
void type_external_unpack(const struct type *type, MPI_Count count, const struct mpid_bytes *to,
                          const void *from);

#endif
