/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * At MPI_Init and MPI_Session_init: the C library is told of Fortran's types (MPI-5.0 20.5), unless C has done so. INTEGER,
 * LOGICAL and REAL have 4 bytes: mpifort refuses options that change that.
 */
#include "fortran/begin.h"

#include <stdio.h>
#include <stdlib.h>

#include "fortran/fortran.h"

/*
 * Blocks with the constants of other MPIs, which only a program has whose objects include their mpif.h
 * or modules: linkers let a program's own block be found through a weak name here.
 */
extern char mpipriv1_ __attribute__((weak));           /* MPICH and those made from it */
extern char mpi_fortran_bottom_ __attribute__((weak)); /* Open MPI */

void fortran_check_program(const char *procedure)
{
    const char *other = &mpipriv1_ ? "MPICH or Intel MPI" : &mpi_fortran_bottom_ ? "Open MPI" : NULL;
    if (!other)
        return;
    (void)fprintf(stderr,
                  "%s: object files of this program were compiled with the mpif.h or module mpi of %s. "
                  "Their MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE and handles are not those of this "
                  "MPI library: compile every file again by the mpifort that links the program.\n",
                  procedure, other);
    exit(EXIT_FAILURE); /* before MPI_Init: nothing is to be ended but this process */
}

static void say(MPI_Info info, const char *key, const char *value)
{
    (void)PMPI_Info_set(info, key, value);
}

static void tell_sizes(void)
{
    MPI_Info info = MPI_INFO_NULL;
    if (PMPI_Abi_get_fortran_info(&info) != MPI_SUCCESS || info != MPI_INFO_NULL) {
        if (info != MPI_INFO_NULL)
            (void)PMPI_Info_free(&info);
        return;
    }
    if (PMPI_Info_create(&info) != MPI_SUCCESS)
        return;
    say(info, "mpi_logical_size", "4");
    say(info, "mpi_integer_size", "4");
    say(info, "mpi_real_size", "4");
    say(info, "mpi_double_precision_size", "8");
    (void)PMPI_Abi_set_fortran_info(info);
    (void)PMPI_Info_free(&info);
}

/* The C library computes with 1 and 0. Others are true for a compiler whose .TRUE. has that bit. */
static void tell_logicals(void)
{
    int is_set = 1, truth = 0, falsehood = 0;
    if (mpi_fortran_logicals_[0] == 1 &&
        PMPI_Abi_get_fortran_booleans(sizeof(int), &truth, &falsehood, &is_set) == MPI_SUCCESS &&
        !is_set)
        (void)PMPI_Abi_set_fortran_booleans(sizeof(int), &mpi_fortran_logicals_[0],
                                            &mpi_fortran_logicals_[1]);
}

void fortran_begin_process(void)
{
    tell_sizes();
    tell_logicals();
}
