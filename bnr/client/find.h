/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finding the memory of the job that this process is a rank of. mpiexec hands it on as
 * descriptors, and names them in the environment. Programs between mpiexec and the rank may have
 * closed the descriptors (Python's subprocess does) or cleared the environment (env -i).
 */
#ifndef BNR_FIND_H
#define BNR_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "bnr/host/table.h"

/* Attach to the memory that BNR_FD names: to the descriptors or, if they are closed, to those of
 * mpiexec. Returns 0 with t, *rank, and *bell, which rings for the daemon (-1: there is none), or
 * -EPROTO with a sentence in why. */
int find_by_environment(struct table *t, int *rank, int *bell, char *why, size_t size);

/* Attach to the memory of a job whose descriptors this process holds and of one of whose ranks it
 * is in the process group. Returns whether there is one. */
bool find_by_descriptors(struct table *t, int *rank, int *bell);

/* The process that has started this one as a rank: mpiexec or a daemon; -1 where the environment
 * does not tell. */
int find_launcher(void);

#endif
