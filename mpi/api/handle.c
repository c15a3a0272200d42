/* SPDX-License-Identifier: BSD-3-Clause */

/* Handles as numbers and back, as languages without pointers keep them. */

#include <mpi.h>
#include <stddef.h>

#include "mpi/comm/errh.h"
#include "mpi/handle.h"

static int number_of(const void *handle, const char *function)
{
    int number = handle_number(handle);
    if (!number && handle)
        (void)errh_comm(NULL, MPI_ERR_NO_MEM, function, "out of memory");
    return number;
}

/*
 * Give the number of a communicator's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * comm: a communicator
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Comm_toint(MPI_Comm comm)
{
    return number_of(comm, __func__);
}

/*
 * Give the communicator's handle of a number.
 *
 * The inverse of MPI_Comm_toint. May be called at any time.
 *
 * comm: a number of MPI_Comm_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Comm PMPI_Comm_fromint(int comm)
{
    return (MPI_Comm)handle_of_number(comm);
}

/*
 * Give the number of an error handler's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * errhandler: an error handler
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Errhandler_toint(MPI_Errhandler errhandler)
{
    return number_of(errhandler, __func__);
}

/*
 * Give the error handler's handle of a number.
 *
 * The inverse of MPI_Errhandler_toint. May be called at any time.
 *
 * errhandler: a number of MPI_Errhandler_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Errhandler PMPI_Errhandler_fromint(int errhandler)
{
    return (MPI_Errhandler)handle_of_number(errhandler);
}

/*
 * Give the number of a group's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * group: a group
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Group_toint(MPI_Group group)
{
    return number_of(group, __func__);
}

/*
 * Give the group's handle of a number.
 *
 * The inverse of MPI_Group_toint. May be called at any time.
 *
 * group: a number of MPI_Group_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Group PMPI_Group_fromint(int group)
{
    return (MPI_Group)handle_of_number(group);
}

/*
 * Give the number of an info object's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * info: an info object
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Info_toint(MPI_Info info)
{
    return number_of(info, __func__);
}

/*
 * Give the info object's handle of a number.
 *
 * The inverse of MPI_Info_toint. May be called at any time.
 *
 * info: a number of MPI_Info_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Info PMPI_Info_fromint(int info)
{
    return (MPI_Info)handle_of_number(info);
}

/*
 * Give the number of a message's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * message: a message of a matching probe
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Message_toint(MPI_Message message)
{
    return number_of(message, __func__);
}

/*
 * Give the message's handle of a number.
 *
 * The inverse of MPI_Message_toint. May be called at any time.
 *
 * message: a number of MPI_Message_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Message PMPI_Message_fromint(int message)
{
    return (MPI_Message)handle_of_number(message);
}

/*
 * Give the number of an operation's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * op: an operation
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Op_toint(MPI_Op op)
{
    return number_of(op, __func__);
}

/*
 * Give the operation's handle of a number.
 *
 * The inverse of MPI_Op_toint. May be called at any time.
 *
 * op: a number of MPI_Op_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Op PMPI_Op_fromint(int op)
{
    return (MPI_Op)handle_of_number(op);
}

/*
 * Give the number of a request's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * request: a request
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Request_toint(MPI_Request request)
{
    return number_of(request, __func__);
}

/*
 * Give the request's handle of a number.
 *
 * The inverse of MPI_Request_toint. May be called at any time.
 *
 * request: a number of MPI_Request_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Request PMPI_Request_fromint(int request)
{
    return (MPI_Request)handle_of_number(request);
}

/*
 * Give the number of a datatype's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * datatype: a datatype
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Type_toint(MPI_Datatype datatype)
{
    return number_of(datatype, __func__);
}

/*
 * Give the datatype's handle of a number.
 *
 * The inverse of MPI_Type_toint. May be called at any time.
 *
 * datatype: a number of MPI_Type_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Datatype PMPI_Type_fromint(int datatype)
{
    return (MPI_Datatype)handle_of_number(datatype);
}

/*
 * Give the number of a file's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * file: a file
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_File_toint(MPI_File file)
{
    return number_of(file, __func__);
}

/*
 * Give the file's handle of a number.
 *
 * The inverse of MPI_File_toint. May be called at any time.
 *
 * file: a number of MPI_File_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_File PMPI_File_fromint(int file)
{
    return (MPI_File)handle_of_number(file);
}

/*
 * Give the number of a session's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * session: a session
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Session_toint(MPI_Session session)
{
    return number_of(session, __func__);
}

/*
 * Give the session's handle of a number.
 *
 * The inverse of MPI_Session_toint. May be called at any time.
 *
 * session: a number of MPI_Session_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Session PMPI_Session_fromint(int session)
{
    return (MPI_Session)handle_of_number(session);
}

/*
 * Give the number of a window's handle.
 *
 * For languages that keep handles as numbers; predefined handles have those of the ABI. May be
 * called at any time. A null handle has a number too.
 *
 * win: a window
 *
 * Returns: the number; 0 where memory is out, which is reported to the error handler of
 *   MPI_COMM_SELF
 *
 * MPI-5.0 20.4
 */
int PMPI_Win_toint(MPI_Win win)
{
    return number_of(win, __func__);
}

/*
 * Give the window's handle of a number.
 *
 * The inverse of MPI_Win_toint. May be called at any time.
 *
 * win: a number of MPI_Win_toint
 *
 * Returns: the handle, which is not looked at; a null pointer for a number that was never given
 *
 * MPI-5.0 20.4
 */
MPI_Win PMPI_Win_fromint(int win)
{
    return (MPI_Win)handle_of_number(win);
}

#include "handle.gen.h"
