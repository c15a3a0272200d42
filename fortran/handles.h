/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Handles as Fortran has them: the numbers of MPI_X_toint(). Constants are their own numbers.
 * fortran_comm(number) gives an MPI_Comm, fortran_comm_int(comm) the number.
 */
#ifndef FORTRAN_HANDLES_H
#define FORTRAN_HANDLES_H

#include "fortran/fortran.h"

enum { FORTRAN_CONSTANT_MAX = 0x1000 }; /* below this: a constant of the ABI */

static inline bool fortran_is_constant(int number)
{
    return (unsigned)number < FORTRAN_CONSTANT_MAX;
}

static inline MPI_Comm fortran_comm(int number)
{
    return fortran_is_constant(number) ? (MPI_Comm)(uintptr_t)number : PMPI_Comm_fromint(number);
}

static inline int fortran_comm_int(MPI_Comm handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Comm_toint(handle);
}

static inline MPI_Datatype fortran_type(int number)
{
    return fortran_is_constant(number) ? (MPI_Datatype)(uintptr_t)number : PMPI_Type_fromint(number);
}

static inline int fortran_type_int(MPI_Datatype handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Type_toint(handle);
}

static inline MPI_Errhandler fortran_errhandler(int number)
{
    return fortran_is_constant(number) ? (MPI_Errhandler)(uintptr_t)number : PMPI_Errhandler_fromint(number);
}

static inline int fortran_errhandler_int(MPI_Errhandler handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Errhandler_toint(handle);
}

static inline MPI_File fortran_file(int number)
{
    return fortran_is_constant(number) ? (MPI_File)(uintptr_t)number : PMPI_File_fromint(number);
}

static inline int fortran_file_int(MPI_File handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_File_toint(handle);
}

static inline MPI_Group fortran_group(int number)
{
    return fortran_is_constant(number) ? (MPI_Group)(uintptr_t)number : PMPI_Group_fromint(number);
}

static inline int fortran_group_int(MPI_Group handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Group_toint(handle);
}

static inline MPI_Info fortran_info(int number)
{
    return fortran_is_constant(number) ? (MPI_Info)(uintptr_t)number : PMPI_Info_fromint(number);
}

static inline int fortran_info_int(MPI_Info handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Info_toint(handle);
}

static inline MPI_Message fortran_message(int number)
{
    return fortran_is_constant(number) ? (MPI_Message)(uintptr_t)number : PMPI_Message_fromint(number);
}

static inline int fortran_message_int(MPI_Message handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Message_toint(handle);
}

static inline MPI_Op fortran_op(int number)
{
    return fortran_is_constant(number) ? (MPI_Op)(uintptr_t)number : PMPI_Op_fromint(number);
}

static inline int fortran_op_int(MPI_Op handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Op_toint(handle);
}

static inline MPI_Request fortran_request(int number)
{
    return fortran_is_constant(number) ? (MPI_Request)(uintptr_t)number : PMPI_Request_fromint(number);
}

static inline int fortran_request_int(MPI_Request handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Request_toint(handle);
}

static inline MPI_Session fortran_session(int number)
{
    return fortran_is_constant(number) ? (MPI_Session)(uintptr_t)number : PMPI_Session_fromint(number);
}

static inline int fortran_session_int(MPI_Session handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Session_toint(handle);
}

static inline MPI_Win fortran_win(int number)
{
    return fortran_is_constant(number) ? (MPI_Win)(uintptr_t)number : PMPI_Win_fromint(number);
}

static inline int fortran_win_int(MPI_Win handle)
{
    return (uintptr_t)handle < FORTRAN_CONSTANT_MAX ? (int)(uintptr_t)handle
                                                    : PMPI_Win_toint(handle);
}

/* Arrays: a copy that lives as the memory does; an empty one that the call fills; and back: what has
 * changed and what was filled. */
MPI_Request *fortran_requests(struct fortran_memory *memory, const int *numbers, int count);
void fortran_requests_back(int *numbers, const MPI_Request *handles, int count);
MPI_Datatype *fortran_types(struct fortran_memory *memory, const int *numbers, int count);
MPI_Datatype *fortran_types_out(struct fortran_memory *memory, int count);
void fortran_types_back(int *numbers, const MPI_Datatype *handles, int count);

#endif
