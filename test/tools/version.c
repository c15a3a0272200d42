/* SPDX-License-Identifier: BSD-3-Clause */

/* What the wrapper tests compile, as C and as C++: header and library agree, PMPI too. */

#include <stdio.h>
#include <string.h>

#include <mpi.h>

int main(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int version = 0, subversion = 0, len = 0;

    if (MPI_Get_version(&version, &subversion) != MPI_SUCCESS)
        return 1;
    if (PMPI_Get_library_version(text, &len) != MPI_SUCCESS || (size_t)len != strlen(text))
        return 1;
    printf("%d.%d %s\n", version, subversion, text);
    return version != MPI_VERSION || subversion != MPI_SUBVERSION;
}
