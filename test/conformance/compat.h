/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names that MPI had once and that the MPI-5.0 ABI's mpi.h has not, for programs of the
 * suite that still use them. Included by force before each program; it does nothing with
 * an mpi.h that is not the ABI's.
 *
 *   - MPI-1 functions removed in MPI-3.0: each is its MPI-2 successor.
 *   - MPI_LB and MPI_UB, removed in MPI-3.0: marks that the MPI_Type_struct here turns
 *     into MPI_Type_create_resized. No other function takes them.
 *   - Functions that joined the standard under another name than the suite's MPIX_.
 *   - Handle conversions for Fortran, which the ABI calls toint and fromint.
 *   - ROMIO's requests, which are MPI's.
 *   - Errors of calls that have no communicator: MPI_COMM_WORLD's handler served them up to
 *     MPI-3.1, that of MPI_COMM_SELF does now (MPI-5.0 9.3). A program that sets
 *     MPI_ERRORS_RETURN on the one gets it on both.
 */
#ifndef COMPAT_H_INCLUDED
#define COMPAT_H_INCLUDED

#include <mpi.h>

#ifdef MPI_ABI_VERSION

#include <stdlib.h>

#define MPI_Address MPI_Get_address
#define MPI_Type_hvector MPI_Type_create_hvector
#define MPI_Type_hindexed MPI_Type_create_hindexed
#define MPI_Type_struct compat_type_struct
#define MPI_Type_extent compat_type_extent
#define MPI_Type_lb compat_type_lb
#define MPI_Type_ub compat_type_ub
#define MPI_Errhandler_create MPI_Comm_create_errhandler
#define MPI_Errhandler_get MPI_Comm_get_errhandler
#define MPI_Errhandler_set MPI_Comm_set_errhandler
#define MPI_Handler_function MPI_Comm_errhandler_function

/* Values that the ABI gives to no handle. */
#define MPI_LB ((MPI_Datatype) 0x1)
#define MPI_UB ((MPI_Datatype) 0x2)

#define MPIX_Delete_error_class MPI_Remove_error_class
#define MPIX_Delete_error_code MPI_Remove_error_code
#define MPIX_Delete_error_string MPI_Remove_error_string

#define MPIO_USES_MPI_REQUEST
#define MPIO_Request MPI_Request
#define MPIO_Wait MPI_Wait
#define MPIO_Test MPI_Test

typedef int MPI_Fint;
#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Comm_f2c MPI_Comm_fromint
#define MPI_Errhandler_c2f MPI_Errhandler_toint
#define MPI_Errhandler_f2c MPI_Errhandler_fromint
#define MPI_File_c2f MPI_File_toint
#define MPI_File_f2c MPI_File_fromint
#define MPI_Group_c2f MPI_Group_toint
#define MPI_Group_f2c MPI_Group_fromint
#define MPI_Info_c2f MPI_Info_toint
#define MPI_Info_f2c MPI_Info_fromint
#define MPI_Message_c2f MPI_Message_toint
#define MPI_Message_f2c MPI_Message_fromint
#define MPI_Op_c2f MPI_Op_toint
#define MPI_Op_f2c MPI_Op_fromint
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Session_c2f MPI_Session_toint
#define MPI_Session_f2c MPI_Session_fromint
#define MPI_Type_c2f MPI_Type_toint
#define MPI_Type_f2c MPI_Type_fromint
#define MPI_Win_c2f MPI_Win_toint
#define MPI_Win_f2c MPI_Win_fromint
#define PMPI_Message_c2f PMPI_Message_toint
#define PMPI_Message_f2c PMPI_Message_fromint

static inline int compat_comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    if (comm == MPI_COMM_WORLD && errhandler == MPI_ERRORS_RETURN)
        MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    return MPI_Comm_set_errhandler(comm, errhandler);
}

static inline int compat_type_extent(MPI_Datatype type, MPI_Aint *extent)
{
    MPI_Aint lb;

    return MPI_Type_get_extent(type, &lb, extent);
}

static inline int compat_type_lb(MPI_Datatype type, MPI_Aint *lb)
{
    MPI_Aint extent;

    return MPI_Type_get_extent(type, lb, &extent);
}

static inline int compat_type_ub(MPI_Datatype type, MPI_Aint *ub)
{
    MPI_Aint lb, extent;
    int err = MPI_Type_get_extent(type, &lb, ub ? &extent : NULL);

    if (err == MPI_SUCCESS)
        *ub = lb + extent;
    return err;
}

/* Give type the bounds that marks ask for; a bound without a mark stays. */
static inline int compat_resize(MPI_Datatype *type, const MPI_Aint *lb_mark,
                                const MPI_Aint *ub_mark)
{
    MPI_Datatype bare = *type;
    MPI_Aint lb, extent, ub;
    int err = MPI_Type_get_extent(bare, &lb, &extent);

    if (err != MPI_SUCCESS)
        return err;
    ub = ub_mark ? *ub_mark : lb + extent;
    lb = lb_mark ? *lb_mark : lb;
    err = MPI_Type_create_resized(bare, lb, ub - lb, type);
    MPI_Type_free(&bare);
    return err;
}

/* MPI_Type_struct of MPI-1: the entries that are no marks, resized by the marks. Of
 * several marks of a kind the outermost counts. */
static inline int compat_type_struct(int count, const int lens[], const MPI_Aint displs[],
                                     const MPI_Datatype types[], MPI_Datatype *newtype)
{
    int *len = malloc((count + 1) * sizeof *len);
    MPI_Aint *displ = malloc((count + 1) * sizeof *displ);
    MPI_Datatype *type = malloc((count + 1) * sizeof *type);
    const MPI_Aint *lb = NULL, *ub = NULL;
    int kept = 0, err;

    for (int i = 0; i < count; i++) {
        if (types[i] == MPI_LB) {
            lb = lb && *lb < displs[i] ? lb : &displs[i];
        } else if (types[i] == MPI_UB) {
            ub = ub && *ub > displs[i] ? ub : &displs[i];
        } else {
            len[kept] = lens[i];
            displ[kept] = displs[i];
            type[kept++] = types[i];
        }
    }
    err = MPI_Type_create_struct(kept, len, displ, type, newtype);
    if (err == MPI_SUCCESS && (lb || ub))
        err = compat_resize(newtype, lb, ub);
    free(len);
    free(displ);
    free(type);
    return err;
}

#define MPI_Comm_set_errhandler compat_comm_set_errhandler

#endif /* MPI_ABI_VERSION */

#endif /* COMPAT_H_INCLUDED */
