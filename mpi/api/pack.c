/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packing into and out of user buffers (MPI-5.0 5.2). Packed data are the data bytes as they are
 * in memory, one after the other.
 */

#include <limits.h>

#include <mpi.h>

#include "mpi/comm.h"
#include "mpi/errh.h"
#include "mpi/type.h"

/* Where packed data go or come from. */
struct packed {
    MPI_Count size;
    MPI_Count *position;
    struct comm *comm;
};

/* Check the packed side, and describe the other. */
static int begin(const char *function, const struct packed *packed, const void *buf,
                 MPI_Count count, MPI_Datatype datatype, struct mpid_bytes *bytes)
{
    struct comm *comm = packed->comm;
    struct type *used;

    if (!comm)
        return errh_comm(NULL, MPI_ERR_COMM, function, "comm: no such communicator");
    int rc = type_place(datatype, buf, count, bytes, &used);
    if (rc == MPI_ERR_TYPE)
        return errh_comm(comm, rc, function, "datatype: not a committed datatype");
    if (rc == MPI_ERR_COUNT)
        return errh_comm(comm, rc, function, "count %lld: negative or too large", (long long)count);
    if (rc)
        return errh_comm(comm, rc, function, "the data buffer is NULL");
    if (!packed->position)
        return errh_comm(comm, MPI_ERR_ARG, function, "position is NULL");
    MPI_Count at = *packed->position;
    if (at < 0 || at > packed->size)
        return errh_comm(comm, MPI_ERR_ARG, function, "position %lld: must be 0 to %lld",
                         (long long)at, (long long)packed->size);
    if (bytes->len > (size_t)(packed->size - at))
        return errh_comm(comm, MPI_ERR_TRUNCATE, function,
                         "%zu bytes from position %lld on are more than the packed buffer's %lld",
                         bytes->len, (long long)at, (long long)packed->size);
    return MPI_SUCCESS;
}

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    const struct packed packed = {outsize, position, comm_from(comm)};
    struct mpid_bytes bytes;
    int rc = begin(__func__, &packed, inbuf, incount, datatype, &bytes);

    if (rc)
        return rc;
    if (bytes.len && !outbuf)
        return errh_comm(packed.comm, MPI_ERR_BUFFER, __func__, "outbuf is NULL");
    type_pack(&bytes, 0, (char *)outbuf + *position, bytes.len);
    *position += (MPI_Count)bytes.len;
    return MPI_SUCCESS;
}

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
              int *position, MPI_Comm comm)
{
    MPI_Count at = position ? *position : 0;
    int rc = PMPI_Pack_c(inbuf, incount, datatype, outbuf, outsize, position ? &at : NULL, comm);

    if (!rc)
        *position = (int)at;
    return rc;
}

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    const struct packed packed = {insize, position, comm_from(comm)};
    struct mpid_bytes bytes;
    int rc = begin(__func__, &packed, outbuf, outcount, datatype, &bytes);

    if (rc)
        return rc;
    if (bytes.len && !inbuf)
        return errh_comm(packed.comm, MPI_ERR_BUFFER, __func__, "inbuf is NULL");
    type_unpack(&bytes, 0, (const char *)inbuf + *position, bytes.len);
    *position += (MPI_Count)bytes.len;
    return MPI_SUCCESS;
}

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    MPI_Count at = position ? *position : 0;
    int rc = PMPI_Unpack_c(inbuf, insize, position ? &at : NULL, outbuf, outcount, datatype, comm);

    if (!rc)
        *position = (int)at;
    return rc;
}

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    struct comm *on = comm_from(comm);
    struct type *type = type_from(datatype);

    if (!on)
        return errh_comm(NULL, MPI_ERR_COMM, __func__, "comm: no such communicator");
    if (!type)
        return errh_comm(on, MPI_ERR_TYPE, __func__, "datatype: no such datatype");
    if (incount < 0)
        return errh_comm(on, MPI_ERR_COUNT, __func__, "incount %lld: must not be negative",
                         (long long)incount);
    if (!size)
        return errh_comm(on, MPI_ERR_ARG, __func__, "size is NULL");
    if (__builtin_mul_overflow(type->size, incount, size))
        *size = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    MPI_Count wide = 0;
    int rc = PMPI_Pack_size_c(incount, datatype, comm, size ? &wide : NULL);

    if (!rc)
        *size = wide > INT_MAX ? MPI_UNDEFINED : (int)wide;
    return rc;
}

#include "pack.gen.h"
