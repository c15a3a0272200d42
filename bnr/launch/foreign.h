/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs that were built with another MPI library. Each of their processes would find nobody
 * to tell it of the others, and go on as rank 0 of 1: so mpiexec does not start several of them.
 */
#ifndef BNR_FOREIGN_H
#define BNR_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the program at path names another MPI library among those that it needs; then library
 * is the name of that, cut to size. What is no program for this machine needs none. */
bool foreign_library(const char *path, char *library, size_t size);

#endif
