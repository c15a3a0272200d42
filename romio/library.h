/* SPDX-License-Identifier: BSD-3-Clause */

/* The I/O library as a whole: the functions that mpi/ does for it, and its one lock. */
#ifndef ROMIO_LIBRARY_H
#define ROMIO_LIBRARY_H

#include "mpi/hooks.h"

extern const struct io_hooks *library_hooks;

/* Guards the data that all files share: lists of types, data representations. */
void library_lock(void);
void library_unlock(void);

io_library_start vireo_io_start;

#endif
