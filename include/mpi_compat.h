/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mpi_compat.h: names of MPI that are no functions of the ABI, for C programs that use them all
 * the same. mpi.h includes it; everything here is inline, so it adds no symbol to a program.
 *
 * - Handles as Fortran INTEGERs (MPI-5.0 19.3.4): a Fortran handle is the number that
 *   MPI_X_toint() gives. A Fortran status is the eight words of a C one.
 * - Names that MPI-3.0 removed (MPI-5.0 16.1). Each is the function that succeeded it, with a
 *   warning that names that one. Define MPI_NO_REMOVED before including mpi.h to have none of them.
 */

#ifndef VIREO_MPI_COMPAT_H
#define VIREO_MPI_COMPAT_H

#include <mpi.h>

#if defined(__GNUC__)
#define VIREO_MPI_INLINE static __inline__ __attribute__((unused))
#else
#define VIREO_MPI_INLINE static inline
#endif
#if defined(__GNUC__) && !defined(VIREO_MPI_NO_DEPRECATED)
#define VIREO_MPI_REMOVED(successor) \
    VIREO_MPI_INLINE __attribute__((deprecated("removed by MPI-3.0; use " successor)))
#else
#define VIREO_MPI_REMOVED(successor) VIREO_MPI_INLINE
#endif

/* ---- handles as Fortran INTEGERs ---- */

typedef int MPI_Fint;

VIREO_MPI_INLINE MPI_Fint MPI_Comm_c2f(MPI_Comm handle)
{
    return MPI_Comm_toint(handle);
}

VIREO_MPI_INLINE MPI_Comm MPI_Comm_f2c(MPI_Fint handle)
{
    return MPI_Comm_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Errhandler_c2f(MPI_Errhandler handle)
{
    return MPI_Errhandler_toint(handle);
}

VIREO_MPI_INLINE MPI_Errhandler MPI_Errhandler_f2c(MPI_Fint handle)
{
    return MPI_Errhandler_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_File_c2f(MPI_File handle)
{
    return MPI_File_toint(handle);
}

VIREO_MPI_INLINE MPI_File MPI_File_f2c(MPI_Fint handle)
{
    return MPI_File_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Group_c2f(MPI_Group handle)
{
    return MPI_Group_toint(handle);
}

VIREO_MPI_INLINE MPI_Group MPI_Group_f2c(MPI_Fint handle)
{
    return MPI_Group_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Info_c2f(MPI_Info handle)
{
    return MPI_Info_toint(handle);
}

VIREO_MPI_INLINE MPI_Info MPI_Info_f2c(MPI_Fint handle)
{
    return MPI_Info_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Message_c2f(MPI_Message handle)
{
    return MPI_Message_toint(handle);
}

VIREO_MPI_INLINE MPI_Message MPI_Message_f2c(MPI_Fint handle)
{
    return MPI_Message_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Op_c2f(MPI_Op handle)
{
    return MPI_Op_toint(handle);
}

VIREO_MPI_INLINE MPI_Op MPI_Op_f2c(MPI_Fint handle)
{
    return MPI_Op_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Request_c2f(MPI_Request handle)
{
    return MPI_Request_toint(handle);
}

VIREO_MPI_INLINE MPI_Request MPI_Request_f2c(MPI_Fint handle)
{
    return MPI_Request_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Session_c2f(MPI_Session handle)
{
    return MPI_Session_toint(handle);
}

VIREO_MPI_INLINE MPI_Session MPI_Session_f2c(MPI_Fint handle)
{
    return MPI_Session_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Type_c2f(MPI_Datatype handle)
{
    return MPI_Type_toint(handle);
}

VIREO_MPI_INLINE MPI_Datatype MPI_Type_f2c(MPI_Fint handle)
{
    return MPI_Type_fromint(handle);
}

VIREO_MPI_INLINE MPI_Fint MPI_Win_c2f(MPI_Win handle)
{
    return MPI_Win_toint(handle);
}

VIREO_MPI_INLINE MPI_Win MPI_Win_f2c(MPI_Fint handle)
{
    return MPI_Win_fromint(handle);
}

#define MPI_F_STATUS_SIZE     8 /* INTEGERs */
#define MPI_F_SOURCE          0 /* their place in the array, from 0, as C counts */
#define MPI_F_TAG             1
#define MPI_F_ERROR           2
#define MPI_F_STATUS_IGNORE   VIREO_MPI_CAST(MPI_Fint *, 0)
#define MPI_F_STATUSES_IGNORE VIREO_MPI_CAST(MPI_Fint *, 0)

/* Copy a status to or from its MPI_F_STATUS_SIZE INTEGERs. MPI_ERR_ARG: one of them is ignored. */
VIREO_MPI_INLINE int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    int i;
    if (!c_status || !f_status)
        return MPI_ERR_ARG;
    f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
    f_status[MPI_F_TAG] = c_status->MPI_TAG;
    f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
    for (i = MPI_F_ERROR + 1; i < MPI_F_STATUS_SIZE; i++)
        f_status[i] = c_status->MPI_internal[i - MPI_F_ERROR - 1];
    return MPI_SUCCESS;
}

VIREO_MPI_INLINE int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    int i;
    if (!c_status || !f_status)
        return MPI_ERR_ARG;
    c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
    c_status->MPI_TAG = f_status[MPI_F_TAG];
    c_status->MPI_ERROR = f_status[MPI_F_ERROR];
    for (i = MPI_F_ERROR + 1; i < MPI_F_STATUS_SIZE; i++)
        c_status->MPI_internal[i - MPI_F_ERROR - 1] = f_status[i];
    return MPI_SUCCESS;
}

/* ---- removed names ---- */

#ifndef MPI_NO_REMOVED

typedef MPI_Comm_errhandler_function MPI_Handler_function;

VIREO_MPI_REMOVED("MPI_Get_address")
int MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}

VIREO_MPI_REMOVED("MPI_Comm_create_errhandler")
int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return MPI_Comm_create_errhandler(function, errhandler);
}

VIREO_MPI_REMOVED("MPI_Comm_get_errhandler")
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return MPI_Comm_get_errhandler(comm, errhandler);
}

VIREO_MPI_REMOVED("MPI_Comm_set_errhandler")
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return MPI_Comm_set_errhandler(comm, errhandler);
}

VIREO_MPI_REMOVED("MPI_Type_get_extent")
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

VIREO_MPI_REMOVED("MPI_Type_get_extent")
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, displacement, &extent);
}

VIREO_MPI_REMOVED("MPI_Type_get_extent")
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb, extent;
    int rc = MPI_Type_get_extent(datatype, &lb, &extent);
    if (rc == MPI_SUCCESS)
        *displacement = lb + extent;
    return rc;
}

VIREO_MPI_REMOVED("MPI_Type_create_hindexed")
int MPI_Type_hindexed(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}

VIREO_MPI_REMOVED("MPI_Type_create_hvector")
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

VIREO_MPI_REMOVED("MPI_Type_create_struct")
int MPI_Type_struct(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype *types,
                    MPI_Datatype *newtype)
{
    return MPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}

#endif /* MPI_NO_REMOVED */

#undef VIREO_MPI_REMOVED
#undef VIREO_MPI_INLINE

#endif
