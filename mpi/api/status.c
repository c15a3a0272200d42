/* SPDX-License-Identifier: BSD-3-Clause */

/* What a status tells, and setting one by hand (MPI-5.0 3.2.5, 5.1.11, 13.3). */

#include <limits.h>

#include <mpi.h>

#include "mpi/errh.h"
#include "mpi/status.h"
#include "mpi/type.h"
#include "mpi/type_tree.h"

/* Check a call about a status and a type, and find the type. */
static int begin(const char *function, const MPI_Status *status, const void *result,
                 MPI_Datatype datatype, struct type **type)
{
    *type = type_from(datatype);
    if (!*type)
        return errh_comm(NULL, MPI_ERR_TYPE, function, "datatype: no such datatype");
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

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    struct type *type;
    int rc = begin(__func__, status, count, datatype, &type);

    if (!rc)
        *count = type_tree_elements(type, status_bytes(status));
    return rc;
}

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

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return PMPI_Status_set_elements_c(status, datatype, count);
}

/* ---- its other fields ---- */

static int no_status(const char *function)
{
    return errh_comm(NULL, MPI_ERR_ARG, function, "status is MPI_STATUS_IGNORE, or result NULL");
}

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    if (status == MPI_STATUS_IGNORE || !flag)
        return no_status(__func__);
    *flag = status_cancelled(status);
    return MPI_SUCCESS;
}

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_internal[2] = flag != 0;
    return MPI_SUCCESS;
}

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    if (status == MPI_STATUS_IGNORE || !source)
        return no_status(__func__);
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}

int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    if (status == MPI_STATUS_IGNORE || !tag)
        return no_status(__func__);
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}

int PMPI_Status_get_error(const MPI_Status *status, int *error)
{
    if (status == MPI_STATUS_IGNORE || !error)
        return no_status(__func__);
    *error = status->MPI_ERROR;
    return MPI_SUCCESS;
}

int PMPI_Status_set_source(MPI_Status *status, int source)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}

int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}

int PMPI_Status_set_error(MPI_Status *status, int error)
{
    if (status == MPI_STATUS_IGNORE)
        return no_status(__func__);
    status->MPI_ERROR = error;
    return MPI_SUCCESS;
}

#include "status.gen.h"
