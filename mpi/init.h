/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting and ending the library, and what it knows about this process then. */
#ifndef MPI_INIT_H
#define MPI_INIT_H

#include <stdbool.h>
#include <stddef.h>

#include "include/mpid.h"

/* What mpid_init() told; valid while MPI is initialized. */
extern struct mpid_world init_world;

/* Start every module. thread_level is one of MPI's, at least as asked for. Returns 0,
 * or -1 and a sentence in why. */
int init_start(int argc, char **argv, int thread_level, char *why, size_t size);
/* End every module, once the attributes of MPI_COMM_SELF and MPI_COMM_WORLD are deleted.
 * Returns MPI_SUCCESS or an error class. */
int init_end(void);

/* The thread level, and whether the calling thread is the one that started. */
int init_thread_level(void);
bool init_is_main_thread(void);

#endif
