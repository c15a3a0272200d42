/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Facts about this process that the start of the library finds, whether calls are allowed, and whether
 * there are locks, which its first user decides, or a tool.
 */
#ifndef MPI_WORLD_H
#define MPI_WORLD_H

#include <stdbool.h>

#include "include/mpid.h"
#include "os/lock.h"

/* The result of mpid_init(); valid while MPI is initialized. */
extern struct mpid_world world_facts;

/* Whether calls are allowed: between MPI_Init and MPI_Finalize. */
extern _Atomic int mpi_state; /* enum mpi_state */
enum mpi_state { MPI_STATE_BEFORE, MPI_STATE_READY, MPI_STATE_FINALIZED,
    MPI_STATE_FORKED /* a child that was forked when MPI was ready */
};

/* Guards the start and the end of the library. It is always taken, since sessions may begin in any
 * thread at any time. */
extern struct os_lock world_lock;

/* Return whether to have locks, as the user of the library or a tool wants; locked. */
bool world_decide(bool threads);

/* Whether several threads of the program, or of a tool, may call at once. */
bool world_is_threaded(void);
/* Threads of the library call MPI from now on, besides the calling thread, which must be allowed to
 * call. */
void world_use_threads(void);

/* A tool starts, at any time; it may want to call from several threads at once. Returns the highest
 * level that it may use: MPI_THREAD_MULTIPLE, or MPI_THREAD_SINGLE where MPI runs without locks. */
int world_tool_threads(bool wants);
/* The last tool is gone. */
void world_tool_gone(void);

/* The name of a thread level, and the level of a name, or -1. */
const char *world_level_name(int level);
int world_level_of(const char *name);

#endif
