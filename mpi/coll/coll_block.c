/* SPDX-License-Identifier: BSD-3-Clause */

/* The block of one process in the data of a collective; see coll.h. */
#include "mpi/coll/coll.h"

struct coll_block coll_block(const struct coll_data *data, int rank)
{
    struct coll_block block = {data->buf, data->count, data->type};
    if (data->types)
        block.type = data->types[rank] == MPI_DATATYPE_NULL ? MPI_BYTE : data->types[rank]; /* of no elements */
    if (data->counts)
        block.count = data->counts[rank];
    if (data->types)
        block.buf = (void *)((uintptr_t)data->buf + (uintptr_t)data->displs[rank]);
    else
        block.buf = coll_at(data->buf, data->displs ? data->displs[rank] : data->count * rank,
                            data->type);
    return block;
}
