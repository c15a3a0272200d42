/* SPDX-License-Identifier: BSD-3-Clause */

/* What the I/O library may ask of mpi/: see hooks.h. */
#ifndef MPI_IO_FILE_HOOKS_H
#define MPI_IO_FILE_HOOKS_H

#include "mpi/hooks.h"

extern const struct io_hooks file_hooks;

#endif
