/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Versions, and arithmetic on addresses: what may be called at any time, before MPI_Init and
 * after MPI_Finalize, and touches no object.
 */

#include <stdint.h>
#include <string.h>

#include <mpi.h>

#include "include/version.h"

int PMPI_Get_version(int *version, int *subversion)
{
    if (!version || !subversion)
        return MPI_ERR_ARG;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *version, int *resultlen)
{
    static const char text[] = "Vireo MPI " VIREO_VERSION;

    _Static_assert(sizeof(text) <= MPI_MAX_LIBRARY_VERSION_STRING, "the user's buffer is this long");
    if (!version || !resultlen)
        return MPI_ERR_ARG;
    memcpy(version, text, sizeof(text));
    *resultlen = (int)sizeof(text) - 1;
    return MPI_SUCCESS;
}

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    if (!abi_major || !abi_minor)
        return MPI_ERR_ARG;
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

/* Addresses wrap round: the sums are taken unsigned. */
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

#include "version.gen.h"
