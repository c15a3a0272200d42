/* SPDX-License-Identifier: BSD-3-Clause */

/* A datatype as an object that carries attributes. */
#ifndef MPI_TYPE_ATTR_H
#define MPI_TYPE_ATTR_H

#include "mpi/attr.h"
#include "mpi/type/type.h"

static inline struct attr_owner type_attr_of(struct type *type)
{
    return (struct attr_owner){ATTR_TYPE, type->handle, &type->attrs, &type->lock};
}

#endif
