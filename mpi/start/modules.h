/* SPDX-License-Identifier: BSD-3-Clause */

/* The modules of the MPI layer, which stay from the first user of the library until the process ends. */
#ifndef MPI_MODULES_H
#define MPI_MODULES_H

#include <stddef.h>

/* Start them, once mpid_init() has told the facts of the process. Returns 0, or -1 with a sentence in why. */
int modules_start(char *why, size_t size);
void modules_end(void);

#endif
