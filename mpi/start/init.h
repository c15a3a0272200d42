/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starting and ending the library; mpi/world.h has the facts that the start finds. The first
 * user starts the library, MPI_Init or a session; when the last user is gone it rests. Sessions may
 * wake it again until the process ends; MPI_Init comes once.
 */
#ifndef MPI_INIT_H
#define MPI_INIT_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/world.h"

/* Of the world model alone; mpi_state is about both models. ENDING: in MPI_Finalize. */
enum init_state { INIT_BEFORE, INIT_READY, INIT_ENDING, INIT_OVER };
enum init_state init_world_state(void);

/* MPI_Init and MPI_Finalize. thread_level is one of MPI's. Returns 0, or -1 and a sentence in
 * why. */
int init_start(int argc, char **argv, int thread_level, char *why, size_t size);
/* Note that MPI_Finalize has been called: INIT_ENDING. Returns false if that is not allowed now.
 */
bool init_begin_end(void);
/* Finish, once the attributes of MPI_COMM_SELF and MPI_COMM_WORLD are deleted. Returns MPI_SUCCESS
 * or an error class. */
int init_end(void);

/* The same for a session, in any thread at any time. Where MPI_Init was told that there is one
 * thread, the first session must begin in that one. */
int init_start_session(char *why, size_t size);
int init_end_session(void);

/* Of the world model: the thread level, and whether the calling thread is the one that started MPI.
 */
int init_thread_level(void);
bool init_is_main_thread(void);

#endif
