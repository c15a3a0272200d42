/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packing into and out of user buffers (MPI-5.0 5.2). Packed data are the data bytes as they are
 * in memory, or turned (mpi/type/type_turn.h), one after the other; or, packed as external32, the same on every host (5.3).
 */

#include <limits.h>
#include <string.h>

#include <mpi.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/type/type.h"
#include "mpi/type/type_external.h"

/* Where packed data go or come from. */
struct packed {
    MPI_Count size;
    MPI_Count *position;
    struct comm *comm; /* NULL: external32 needs none */
};

/* Check the packed side, and describe the other. */
static int describe(const char *function, const struct packed *packed, const void *buf,
                    MPI_Count count, MPI_Datatype datatype, struct mpid_bytes *bytes)
{
    struct comm *comm = packed->comm;
    struct type *used;

    int rc = type_place(datatype, buf, count, bytes, &used);
    if (rc == MPI_ERR_TYPE)
        return errh_bad_type(comm, datatype, "datatype", function);
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
    return MPI_SUCCESS;
}

/* Check that len bytes are left there, and that there is memory at all. */
static int check_room(const char *function, const struct packed *packed, MPI_Count len,
                      const void *memory)
{
    MPI_Count at = *packed->position;

    if (len > packed->size - at)
        return errh_comm(packed->comm, MPI_ERR_TRUNCATE, function,
                         "%lld bytes from position %lld on are more than the packed buffer's %lld",
                         (long long)len, (long long)at, (long long)packed->size);
    if (len && !memory)
        return errh_comm(packed->comm, MPI_ERR_BUFFER, function, "the packed buffer is NULL");
    return MPI_SUCCESS;
}

/*
 * Copy elements into a buffer, one after the other without gaps.
 *
 * Packed data may be sent as MPI_PACKED, or unpacked by MPI_Unpack. The bytes are as they are
 * in memory; in a job of network byte order, as one whose machines differ in theirs, numbers are in that.
 *
 * inbuf (in): the data to pack
 * incount: number of elements, 0 or more
 * outbuf: where to
 * outsize: bytes of outbuf
 * position (inout): byte in outbuf at which to begin; then the one behind the packed data
 * comm: over which it may be sent
 *
 * MPI_ERR_ARG: position is NULL, or not within outbuf.
 * MPI_ERR_TRUNCATE: outbuf has not that many bytes left.
 *
 * MPI-5.0 5.2
 */
int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    const struct packed packed = {outsize, position, comm_any(comm)};
    struct mpid_bytes bytes;
    if (!packed.comm)
        return errh_bad_comm(comm, __func__);
    int rc = describe(__func__, &packed, inbuf, incount, datatype, &bytes);

    if (!rc)
        rc = check_room(__func__, &packed, (MPI_Count)bytes.len, outbuf);
    if (rc)
        return rc;
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

/*
 * Copy elements out of a buffer that MPI_Pack has filled, or that was received as MPI_PACKED.
 *
 * This call is local: no other process takes part. Calls follow one another as those of MPI_Pack
 * did; each moves position on. A message that was sent with another datatype may be unpacked too.
 *
 * inbuf (in): the packed bytes
 * insize: bytes of inbuf
 * position (inout): byte in inbuf at which to begin; then the one behind the unpacked data
 * outbuf: where to
 * outcount: number of elements, 0 or more
 * comm: over which it was received, or for which it was packed
 *
 * MPI_ERR_ARG: position is NULL, or not within inbuf.
 * MPI_ERR_TRUNCATE: inbuf has not that many bytes left.
 *
 * MPI-5.0 5.2
 */
int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    const struct packed packed = {insize, position, comm_any(comm)};
    struct mpid_bytes bytes;
    if (!packed.comm)
        return errh_bad_comm(comm, __func__);
    int rc = describe(__func__, &packed, outbuf, outcount, datatype, &bytes);

    if (!rc)
        rc = check_room(__func__, &packed, (MPI_Count)bytes.len, inbuf);
    if (rc)
        return rc;
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

/*
 * Tell how many bytes elements take when they are packed.
 *
 * This call is local: no other process takes part. It is an upper bound, by which a buffer for
 * MPI_Pack may be made. For several calls of MPI_Pack the sizes add up.
 *
 * incount: number of elements, 0 or more
 * datatype: it need not be committed
 * comm: for which they would be packed; the size is the same for all
 * size: bytes; MPI_UNDEFINED where the type of size cannot hold it
 *
 * MPI_ERR_TYPE: not a datatype.
 *
 * MPI-5.0 5.2
 */
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    struct comm *on = comm_any(comm);
    struct type *type = type_from(datatype);

    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!type)
        return errh_bad_type(on, datatype, "datatype", __func__);
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

/* ---- external32 ---- */

/* Check the name of the representation: MPI-5.0 5.3 has only one. */
static int check_representation(const char *function, const char *datarep)
{
    if (datarep && !strcmp(datarep, "external32"))
        return MPI_SUCCESS;
    return errh_comm(NULL, MPI_ERR_ARG, function, "datarep %s: must be \"external32\"",
                     datarep ? datarep : "NULL");
}

/*
 * Copy elements into a buffer in the representation that is the same on every host.
 *
 * As MPI_Pack; in external32, numbers are big endian, and of sizes that do not depend on the
 * host.
 *
 * datarep: "external32"
 * inbuf (in): the data to pack
 * incount: number of elements, 0 or more
 * outbuf: where to
 * outsize: bytes of outbuf
 * position (inout): byte in outbuf at which to begin; then the one behind the packed data
 *
 * MPI_ERR_ARG: datarep is none; or position is NULL, or not within outbuf.
 * MPI_ERR_TRUNCATE: outbuf has not that many bytes left.
 *
 * MPI-5.0 5.3
 */
int PMPI_Pack_external_c(const char datarep[], const void *inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                         MPI_Count *position)
{
    const struct packed packed = {outsize, position, NULL};
    struct mpid_bytes bytes;
    int rc = check_representation(__func__, datarep);

    if (!rc)
        rc = describe(__func__, &packed, inbuf, incount, datatype, &bytes);
    if (rc)
        return rc;
    const struct type *type = type_from(datatype);
    MPI_Count len = type->external * incount; /* no more than in memory: fits */
    rc = check_room(__func__, &packed, len, outbuf);
    if (rc)
        return rc;
    type_external_pack(type, incount, &bytes, (char *)outbuf + *position);
    *position += len;
    return MPI_SUCCESS;
}

int PMPI_Pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype,
                       void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
    return PMPI_Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

/*
 * Copy elements out of a buffer that MPI_Pack_external has filled, on whatever host.
 *
 * This call is local: no other process takes part. Calls follow one another as those of
 * MPI_Pack_external did; each moves position on.
 *
 * datarep: "external32"
 * inbuf (in): the packed bytes
 * insize: bytes of inbuf
 * position (inout): byte in inbuf at which to begin; then the one behind the unpacked data
 * outbuf: where to
 * outcount: number of elements, 0 or more
 *
 * MPI_ERR_ARG: datarep is none; or position is NULL, or not within inbuf.
 * MPI_ERR_TRUNCATE: inbuf has not that many bytes left.
 *
 * MPI-5.0 5.3
 */
int PMPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize,
                           MPI_Count *position, void *outbuf, MPI_Count outcount,
                           MPI_Datatype datatype)
{
    const struct packed packed = {insize, position, NULL};
    struct mpid_bytes bytes;
    int rc = check_representation(__func__, datarep);

    if (!rc)
        rc = describe(__func__, &packed, outbuf, outcount, datatype, &bytes);
    if (rc)
        return rc;
    const struct type *type = type_from(datatype);
    MPI_Count len = type->external * outcount;
    rc = check_room(__func__, &packed, len, inbuf);
    if (rc)
        return rc;
    type_external_unpack(type, outcount, &bytes, (const char *)inbuf + *position);
    *position += len;
    return MPI_SUCCESS;
}

int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize,
                         MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{
    return PMPI_Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

/*
 * Tell how many bytes elements take when they are packed by MPI_Pack_external.
 *
 * This call is local: no other process takes part. The size is exact: the format is the same on
 * every machine.
 *
 * datarep: "external32"
 * incount: number of elements, 0 or more
 * datatype: it need not be committed
 * size: bytes; MPI_UNDEFINED where the type of size cannot hold it
 *
 * MPI_ERR_ARG: datarep is none, or size is NULL.
 * MPI_ERR_TYPE: not a datatype.
 *
 * MPI-5.0 5.3
 */
int PMPI_Pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype,
                              MPI_Count *size)
{
    struct type *type = type_from(datatype);
    int rc = check_representation(__func__, datarep);

    if (rc)
        return rc;
    if (!type)
        return errh_bad_type(NULL, datatype, "datatype", __func__);
    if (incount < 0)
        return errh_comm(NULL, MPI_ERR_COUNT, __func__, "incount %lld: must not be negative",
                         (long long)incount);
    if (!size)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "size is NULL");
    if (__builtin_mul_overflow(type->external, incount, size))
        *size = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int PMPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype,
                            MPI_Aint *size)
{
    return PMPI_Pack_external_size_c(datarep, incount, datatype, size);
}

#include "pack.gen.h"
