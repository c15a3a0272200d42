/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starting and ending the library, and what it knows about this process then.
 *
 * It is started by the first who uses it, MPI_Init or a session, and rests when the last one is
 * gone. Until the process ends it may be woken again, by sessions; MPI_Init comes once.
 */
#ifndef MPI_INIT_H
#define MPI_INIT_H

#include <stdbool.h>
#include <stddef.h>

#include "include/mpid.h"

/* What mpid_init() told; valid while MPI is initialized. */
extern struct mpid_world init_world;

/* Of the world model alone; mpi_state is about both. ENDING: in MPI_Finalize. */
enum init_state { INIT_BEFORE, INIT_READY, INIT_ENDING, INIT_OVER };
enum init_state init_world_state(void);

/* MPI_Init and MPI_Finalize. thread_level is one of MPI's. Returns 0, or -1 and a sentence in
 * why. */
int init_start(int argc, char **argv, int thread_level, char *why, size_t size);
/* MPI_Finalize has been called: INIT_ENDING. Returns false where that may not be now. */
bool init_begin_end(void);
/* Once the attributes of MPI_COMM_SELF and MPI_COMM_WORLD are deleted. Returns MPI_SUCCESS or an
 * error class. */
int init_end(void);

/* The same for a session: any thread, any time; but where MPI_Init was told that there is one thread
 * the first session begins in that one, or not at all. */
int init_start_session(char *why, size_t size);
int init_end_session(void);

/* Threads of the library call MPI from now on, beside the one that calls this: it must be one that
 * may. */
void init_use_threads(void);

/* Of the world model: the thread level, and whether the calling thread is the one that started. */
int init_thread_level(void);
bool init_is_main_thread(void);

/* A tool comes, at any time; it may want to call from several threads at once. Returns the highest
 * level that it may: MPI_THREAD_MULTIPLE, or MPI_THREAD_SINGLE where MPI runs without locks. */
int init_tool_threads(bool wants);
/* The last tool is gone. */
void init_tool_gone(void);

/* The name of a thread level, and the level of a name, or -1. */
const char *init_level_name(int level);
int init_level_of(const char *name);

#endif
