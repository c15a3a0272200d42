/* SPDX-License-Identifier: BSD-3-Clause */

/* What a status tells, and setting one by hand (MPI-5.0 3.2.5, 5.1.11, 13.3). */

#include <limits.h>

#include <mpi.h>

#include "mpi/comm/errh.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "mpi/type/type_tree.h"

/* Check a call about a status and a type, and find the type. */
static int begin(const char *function, const MPI_Status *status, const void *result,
                 MPI_Datatype datatype, struct type **type)
{
    *type = type_from(datatype);
    if (!*type)
        return errh_bad_type(NULL, datatype, "datatype", function);
    if (status == MPI_STATUS_IGNORE)
        return errh_comm(NULL, MPI_ERR_ARG, function, "status is MPI_STATUS_IGNORE");
    if (!result)
        return errh_comm(NULL, MPI_ERR_ARG, function, "the argument for the result is NULL");
    return MPI_SUCCESS;
}

static int narrow(MPI_Count count)
{
    return count > INT_MAX ? MPI_UNDEFINED : (int)count;
}

/* ---- how much came ---- */

/*
 * Tell how many elements of a datatype a message had.
 *
 * This call is local: no other process takes part. A message that ends within an element gives
 * MPI_UNDEFINED; MPI_Get_elements counts its basic parts then. Any datatype may be asked about that
 * the message could have been received with.
 *
 * status: of a receive or probe
 * datatype: as for the receive; it need not be committed
 * count: number of whole elements; MPI_UNDEFINED where the message ends within one; and, of
 *   MPI_Get_count, where an int cannot hold it
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE, or count NULL.
 *
 * MPI-5.0 3.2.5
 */
int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct type *type;
    int rc = begin(__func__, status, count, datatype, &type);

    if (rc)
        return rc;
    MPI_Count bytes = status_bytes(status);
    if (bytes == 0)
        *count = 0;
    else if (type->size == 0 || bytes % type->size)
        *count = MPI_UNDEFINED;
    else
        *count = bytes / type->size;
    return MPI_SUCCESS;
}

int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    MPI_Count wide = 0;
    int rc = PMPI_Get_count_c(status, datatype, count ? &wide : NULL);

    if (!rc)
        *count = narrow(wide);
    return rc;
}

/*
 * Tell how many predefined elements a message had.
 *
 * As MPI_Get_count, but what the datatype is made of is counted: of a pair of ints, 2 for each.
 *
 * status: of a receive or probe
 * datatype: as for the receive; it need not be committed
 * count: number of elements; MPI_UNDEFINED where the message ends within one; and, of
 *   MPI_Get_elements, where an int cannot hold it
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE, or count NULL.
 *
 * MPI-5.0 5.1.11
 */
int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct type *type;
    int rc = begin(__func__, status, count, datatype, &type);

    if (!rc)
        *count = type_tree_elements(type, status_bytes(status));
    return rc;
}

/*
 * Tell how many predefined elements a message had, as an MPI_Count.
 *
 * The same as MPI_Get_elements_c.
 *
 * status: of a receive or probe
 * datatype: as for the receive; it need not be committed
 * count: number of elements; MPI_UNDEFINED where the message ends within one
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE, or count NULL.
 *
 * MPI-5.0 5.1.11
 */
int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return PMPI_Get_elements_c(status, datatype, count);
}

int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    MPI_Count wide = 0;
    int rc = PMPI_Get_elements_c(status, datatype, count ? &wide : NULL);

    if (!rc)
        *count = narrow(wide);
    return rc;
}

/*
 * Set what MPI_Get_elements and MPI_Get_count tell of a status.
 *
 * For generalized requests, whose status the program makes.
 *
 * status (inout): all but its length stays as it was
 * datatype: any; it need not be committed
 * count: number of predefined elements
 *
 * MPI_ERR_COUNT: count is negative, or more than the datatype can hold.
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE.
 *
 * MPI-5.0 13.3
 */
int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    struct type *type;
    int rc = begin(__func__, status, status, datatype, &type);

    if (rc)
        return rc;
    MPI_Count bytes = count < 0 ? -1 : type_tree_bytes(type, count);
    if (bytes < 0)
        return errh_comm(NULL, MPI_ERR_COUNT, __func__,
                         "count %lld: negative, or more than the datatype can hold",
                         (long long)count);
    status_set_bytes(status, bytes);
    return MPI_SUCCESS;
}

/*
 * Set what MPI_Get_elements_x tells of a status.
 *
 * The same as MPI_Status_set_elements_c.
 *
 * status (inout): all but its length stays as it was
 * datatype: any; it need not be committed
 * count: number of predefined elements
 *
 * MPI_ERR_COUNT: count is negative, or more than the datatype can hold.
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE.
 *
 * MPI-5.0 13.3
 */
int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return PMPI_Status_set_elements_c(status, datatype, count);
}

/* ---- its other fields ---- */

static int no_status(const char *function)
{
    return errh_comm(NULL, MPI_ERR_ARG, function, "status is MPI_STATUS_IGNORE, or result NULL");
}

/*
 * Tell whether a request was cancelled.
 *
 * This call is local: no other process takes part. A message that was cancelled was not sent, or
 * not received: the other fields of its status say nothing.
 *
 * status: of a completed request
 * flag: 1 where MPI_Cancel came in time, 0 if not: then it was completed as if nothing had been
 *   asked
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE, or flag NULL.
 *
 * MPI-5.0 3.8.4
 */
int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    if (status == MPI_STATUS_IGNORE || !flag)
        return no_status(__func__);
    *flag = status_cancelled(status);
    return MPI_SUCCESS;
}

/*
 * Set what MPI_Test_cancelled tells of a status.
 *
 * This call is local: no other process takes part. It is for the query function of a generalized
 * request.
 *
 * status (inout): nothing else of it is changed
 * flag: 0 or not 0
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE.
 *
 * MPI-5.0 13.3
 */
int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_internal[2] = flag != 0;
    return MPI_SUCCESS;
}

/*
 * Read the source of a status.
 *
 * This call is local: no other process takes part. It is the field MPI_SOURCE, for languages that
 * cannot read fields.
 *
 * status: any
 * source: its MPI_SOURCE
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE, or source NULL.
 *
 * MPI-5.0 3.2.5
 */
int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    if (status == MPI_STATUS_IGNORE || !source)
        return no_status(__func__);
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}

/*
 * Read the tag of a status.
 *
 * This call is local: no other process takes part. It is the field MPI_TAG, for languages that
 * cannot read fields.
 *
 * status: any
 * tag: its MPI_TAG
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE, or tag NULL.
 *
 * MPI-5.0 3.2.5
 */
int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    if (status == MPI_STATUS_IGNORE || !tag)
        return no_status(__func__);
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}

/*
 * Read the error of a status.
 *
 * It is only set by calls that complete several requests, and return MPI_ERR_IN_STATUS.
 *
 * status: any
 * error: its MPI_ERROR
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE, or error NULL.
 *
 * MPI-5.0 3.2.5
 */
int PMPI_Status_get_error(const MPI_Status *status, int *error)
{
    if (status == MPI_STATUS_IGNORE || !error)
        return no_status(__func__);
    *error = status->MPI_ERROR;
    return MPI_SUCCESS;
}

/*
 * Set the source of a status.
 *
 * This call is local: no other process takes part. It is the field MPI_SOURCE, for languages that
 * cannot write fields.
 *
 * status (inout): nothing else of it is changed
 * source: any number
 *
 * MPI_ERR_RANK: never, as any is taken
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE.
 *
 * MPI-5.0 13.3
 */
int PMPI_Status_set_source(MPI_Status *status, int source)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}

/*
 * Set the tag of a status.
 *
 * This call is local: no other process takes part. It is the field MPI_TAG, for languages that
 * cannot write fields.
 *
 * status (inout): nothing else of it is changed
 * tag: any number
 *
 * MPI_ERR_TAG: never, as any is taken
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE.
 *
 * MPI-5.0 13.3
 */
int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}

/*
 * Set the error of a status.
 *
 * This call is local: no other process takes part. It is the field MPI_ERROR, for languages that
 * cannot write fields.
 *
 * status (inout): nothing else of it is changed
 * error: any number
 *
 * MPI_ERR_ARG: status is MPI_STATUS_IGNORE.
 *
 * MPI-5.0 13.3
 */
int PMPI_Status_set_error(MPI_Status *status, int error)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_ERROR = error;
    return MPI_SUCCESS;
}

#include "status.gen.h"
