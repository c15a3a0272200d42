/* SPDX-License-Identifier: BSD-3-Clause */

/* Handles as numbers and back, as languages without pointers keep them. */

#include <mpi.h>
#include <stddef.h>

#include "mpi/errh.h"
#include "mpi/handle.h"

static int number_of(const void *handle, const char *function)
{
    int number = handle_number(handle);
    if (!number && handle)
        (void)errh_comm(NULL, MPI_ERR_NO_MEM, function, "out of memory");
    return number;
}

int PMPI_Comm_toint(MPI_Comm comm)
{
    return number_of(comm, __func__);
}

MPI_Comm PMPI_Comm_fromint(int comm)
{
    return (MPI_Comm)handle_of_number(comm);
}

int PMPI_Errhandler_toint(MPI_Errhandler errhandler)
{
    return number_of(errhandler, __func__);
}

MPI_Errhandler PMPI_Errhandler_fromint(int errhandler)
{
    return (MPI_Errhandler)handle_of_number(errhandler);
}

int PMPI_Group_toint(MPI_Group group)
{
    return number_of(group, __func__);
}

MPI_Group PMPI_Group_fromint(int group)
{
    return (MPI_Group)handle_of_number(group);
}

int PMPI_Info_toint(MPI_Info info)
{
    return number_of(info, __func__);
}

MPI_Info PMPI_Info_fromint(int info)
{
    return (MPI_Info)handle_of_number(info);
}

int PMPI_Message_toint(MPI_Message message)
{
    return number_of(message, __func__);
}

MPI_Message PMPI_Message_fromint(int message)
{
    return (MPI_Message)handle_of_number(message);
}

int PMPI_Op_toint(MPI_Op op)
{
    return number_of(op, __func__);
}

MPI_Op PMPI_Op_fromint(int op)
{
    return (MPI_Op)handle_of_number(op);
}

int PMPI_Request_toint(MPI_Request request)
{
    return number_of(request, __func__);
}

MPI_Request PMPI_Request_fromint(int request)
{
    return (MPI_Request)handle_of_number(request);
}

int PMPI_Type_toint(MPI_Datatype datatype)
{
    return number_of(datatype, __func__);
}

MPI_Datatype PMPI_Type_fromint(int datatype)
{
    return (MPI_Datatype)handle_of_number(datatype);
}

#include "handle.gen.h"
