/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finding programs that were built with another MPI library. Each of their processes would find no
 * launcher and run as rank 0 of 1, so mpiexec does not start several of them.
 */
#ifndef BNR_FOREIGN_H
#define BNR_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the program at path needs another MPI library; then library is that library's name, cut
 * to size. A file that is no program for this machine needs none. */
bool foreign_library(const char *path, char *library, size_t size);

#endif
