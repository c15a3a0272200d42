/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What Fortran has as procedures and C does not: the predefined callbacks, which are called like the
 * user's, comparison of handles, and what is needed once a process.
 */
#include "fortran/fortran.h"

/* Two names of the procedure name_of_, for mpif.h with mpi and for mpi_f08, where one is needed. */
#define COPY(name)                                                                               \
    FORTRAN_PUBLIC void name(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *);    \
    void name(int *object, int *keyval, MPI_Aint *extra_state, MPI_Aint *in, MPI_Aint *out,      \
              int *flag, int *ierror)

COPY(mpi_comm_null_copy_fn_)
{
    *flag = fortran_logical(0);
    *ierror = MPI_SUCCESS;
}

COPY(mpi_comm_dup_fn_)
{
    *out = *in;
    *flag = fortran_logical(1);
    *ierror = MPI_SUCCESS;
}

#define SAME_COPY(of, name)                                                                      \
    FORTRAN_PUBLIC void name(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *)     \
        __attribute__((alias(of)));
SAME_COPY("mpi_comm_null_copy_fn_", mpi_type_null_copy_fn_)
SAME_COPY("mpi_comm_null_copy_fn_", mpi_win_null_copy_fn_)
SAME_COPY("mpi_comm_dup_fn_", mpi_type_dup_fn_)
SAME_COPY("mpi_comm_dup_fn_", mpi_win_dup_fn_)
SAME_COPY("mpi_comm_null_copy_fn_", mpi_null_copy_fn_)

/* Those of MPI-1 have INTEGERs as values. */
FORTRAN_PUBLIC void mpi_dup_fn_(int *, int *, int *, int *, int *, int *, int *);
void mpi_dup_fn_(int *object, int *keyval, int *extra_state, int *in, int *out, int *flag,
                 int *ierror)
{
    *out = *in;
    *flag = fortran_logical(1);
    *ierror = MPI_SUCCESS;
}

FORTRAN_PUBLIC void mpi_comm_null_delete_fn_(int *, int *, void *, void *, int *);
void mpi_comm_null_delete_fn_(int *object, int *keyval, void *value, void *extra_state, int *ierror)
{
    *ierror = MPI_SUCCESS;
}

#define SAME_DELETE(name)                                            \
    FORTRAN_PUBLIC void name(int *, int *, void *, void *, int *)    \
        __attribute__((alias("mpi_comm_null_delete_fn_")));
SAME_DELETE(mpi_type_null_delete_fn_)
SAME_DELETE(mpi_win_null_delete_fn_)
SAME_DELETE(mpi_null_delete_fn_)

/* A representation without this conversion: it is known by its address, and does nothing. */
FORTRAN_PUBLIC void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_(void)
{
}
FORTRAN_PUBLIC void mpi_conversion_fn_null_c_(void) __attribute__((alias("mpi_conversion_fn_null_")));

/* ---- operators of mpi_f08 ---- */

FORTRAN_PUBLIC int mpi_comm_eq_(const int *, const int *);
int mpi_comm_eq_(const int *a, const int *b)
{
    return fortran_logical(*a == *b);
}

FORTRAN_PUBLIC int mpi_comm_ne_(const int *, const int *);
int mpi_comm_ne_(const int *a, const int *b)
{
    return fortran_logical(*a != *b);
}

#define SAME_OPERATORS(handle)                                              \
    FORTRAN_PUBLIC int mpi_##handle##_eq_(const int *, const int *)         \
        __attribute__((alias("mpi_comm_eq_")));                             \
    FORTRAN_PUBLIC int mpi_##handle##_ne_(const int *, const int *)         \
        __attribute__((alias("mpi_comm_ne_")));
SAME_OPERATORS(datatype)
SAME_OPERATORS(errhandler)
SAME_OPERATORS(file)
SAME_OPERATORS(group)
SAME_OPERATORS(info)
SAME_OPERATORS(message)
SAME_OPERATORS(op)
SAME_OPERATORS(request)
SAME_OPERATORS(session)
SAME_OPERATORS(win)
