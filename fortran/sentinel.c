/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Constants that are addresses in Fortran, and the truth values of the program's compiler.
 *
 * The block is read-only: a call that took one of the constants for a buffer would fault. Its size is
 * that of the COMMON block, and its alignment that of the largest vectors, which compilers may give
 * a COMMON block.
 */
#include "fortran/fortran.h"

FORTRAN_PUBLIC _Alignas(64) const char
    mpi_fortran_sentinels_[FORTRAN_SENTINELS * FORTRAN_SENTINEL] = {0x5a};

/* In the order of the COMMON block: fortran/mpif.h.in. */
void *const fortran_meaning[FORTRAN_SENTINELS] = {
    MPI_BOTTOM,
    MPI_IN_PLACE,
    MPI_BUFFER_AUTOMATIC,
    MPI_UNWEIGHTED,
    MPI_WEIGHTS_EMPTY,
    MPI_ERRCODES_IGNORE,
    MPI_STATUS_IGNORE,
    MPI_STATUSES_IGNORE,
    MPI_ARGV_NULL,
    MPI_ARGVS_NULL,
};

enum { STATUS_PLACE = 6 }; /* of MPI_STATUS_IGNORE */
const char *const fortran_ignored = mpi_fortran_sentinels_ + STATUS_PLACE * FORTRAN_SENTINEL;

FORTRAN_PUBLIC __attribute__((weak)) int mpi_fortran_logicals_[2] = {1, 0};

void fortran_logicals(int *logicals, int count)
{
    for (int i = 0; i < count; i++) {
        if (logicals[i] == 1) /* others are the caller's, and were not written */
            logicals[i] = fortran_logical(1);
    }
}
