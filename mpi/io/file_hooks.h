/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions of mpi/ that the I/O library calls: see hooks.h. */
#ifndef MPI_IO_FILE_HOOKS_H
#define MPI_IO_FILE_HOOKS_H

#include "mpi/hooks.h"

extern const struct io_hooks file_hooks;

#endif
