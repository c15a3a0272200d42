/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Versions, and arithmetic on addresses: what may be called at any time, before MPI_Init and
 * after MPI_Finalize, and touches no object.
 */

#include <stdint.h>
#include <string.h>

#include <mpi.h>

#include "include/version.h"

/*
 * Tell the version of the MPI standard.
 *
 * May be called at any time.
 *
 * version, subversion: MPI_VERSION and MPI_SUBVERSION of the library, which a program may hold
 *   against those of the mpi.h that it was compiled with
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.1.1
 */
int PMPI_Get_version(int *version, int *subversion)
{
    if (!version || !subversion)
        return MPI_ERR_ARG;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

/*
 * Tell the name and version of this library.
 *
 * May be called at any time.
 *
 * version: room for MPI_MAX_LIBRARY_VERSION_STRING characters; gets the text, with a 0 after it
 * resultlen: length of the text in characters
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.1.1
 */
int PMPI_Get_library_version(char *version, int *resultlen)
{
    static const char text[] = "Vireo MPI " VIREO_VERSION;

    _Static_assert(sizeof(text) <= MPI_MAX_LIBRARY_VERSION_STRING,
                   "the user's buffer is this long");
    if (!version || !resultlen)
        return MPI_ERR_ARG;
    memcpy(version, text, sizeof(text));
    *resultlen = (int)sizeof(text) - 1;
    return MPI_SUCCESS;
}

/*
 * Tell the version of the standard ABI.
 *
 * May be called at any time.
 *
 * abi_major, abi_minor: MPI_ABI_VERSION and MPI_ABI_SUBVERSION of the library
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 chapter 20
 */
int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    if (!abi_major || !abi_minor)
        return MPI_ERR_ARG;
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

/*
 * Add a displacement to an address.
 *
 * The sum wraps round, as addresses of MPI_Get_address may be negative. May be called at any
 * time.
 *
 * base: address, of MPI_Get_address
 * disp: bytes, maybe negative
 *
 * Returns: the address disp bytes after base
 *
 * MPI-5.0 5.1.5
 */
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

/*
 * Subtract two addresses.
 *
 * The difference wraps round, as addresses of MPI_Get_address may be negative. May be called at
 * any time.
 *
 * addr1, addr2: addresses, of MPI_Get_address
 *
 * Returns: bytes from addr2 to addr1
 *
 * MPI-5.0 5.1.5
 */
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

#include "version.gen.h"
