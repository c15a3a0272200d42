/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Replaces MPICH's portability layer with the few helpers that ROMIO uses. ROMIO includes this
 * header after it has defined its access modes, and assumes that they equal MPI's, so this header
 * makes them equal.
 */
#ifndef ROMIO_MPL_H
#define ROMIO_MPL_H

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MPL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define MPL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define MPL_UNREFERENCED_ARG(a) ((void)(a))
#define MPL_snprintf snprintf
#define MPL_MEM_IO 0
#define MPL_malloc(size, kind) malloc(size)
#define MPL_calloc(count, size, kind) calloc((count), (size))
#define MPL_realloc(old, size, kind) realloc((old), (size))
#define MPL_free(old) free(old)
#define MPL_VG_MEM_INIT(at, size) ((void)0)
#define MPL_thread_yield() sched_yield()
int MPL_strnapp(char *dest, const char *src, size_t size);
void MPL_create_pathname(char *dest, const char *dir, const char *prefix, const int is_dir);

/* MPI functions that ROMIO does not call by their PMPI_ names itself. */
#define MPI_Pack_external PMPI_Pack_external
#define MPI_Pack_external_size PMPI_Pack_external_size
#define MPI_Unpack_external PMPI_Unpack_external
#define MPI_Type_create_resized PMPI_Type_create_resized
#define MPI_Type_free_keyval PMPI_Type_free_keyval

#undef ADIO_CREATE
#undef ADIO_RDONLY
#undef ADIO_WRONLY
#undef ADIO_RDWR
#undef ADIO_DELETE_ON_CLOSE
#undef ADIO_UNIQUE_OPEN
#undef ADIO_EXCL
#undef ADIO_APPEND
#undef ADIO_SEQUENTIAL
#define ADIO_CREATE MPI_MODE_CREATE
#define ADIO_RDONLY MPI_MODE_RDONLY
#define ADIO_WRONLY MPI_MODE_WRONLY
#define ADIO_RDWR MPI_MODE_RDWR
#define ADIO_DELETE_ON_CLOSE MPI_MODE_DELETE_ON_CLOSE
#define ADIO_UNIQUE_OPEN MPI_MODE_UNIQUE_OPEN
#define ADIO_EXCL MPI_MODE_EXCL
#define ADIO_APPEND MPI_MODE_APPEND
#define ADIO_SEQUENTIAL MPI_MODE_SEQUENTIAL

#endif
