/* SPDX-License-Identifier: BSD-3-Clause */

/* Facts about this process, and whether there are locks; see world.h. */
#include "mpi/world.h"

#include <mpi.h>
#include <stdatomic.h>
#include <string.h>

struct mpid_world world_facts;
_Atomic int mpi_state = MPI_STATE_BEFORE;
struct os_lock world_lock = OS_LOCK_INIT;

/* ---- locks ---- */

/* Whether there are locks. Until the library starts, a tool may want them, in any thread; the start
 * decides it. UNLOCKED: MPI_Init has been promised that one thread calls. Only a session that
 * begins in that thread can still bring locks, as no other thread can be inside a call then. */
enum locking {
    UNDECIDED,
    WANTED,
    LOCKED,
    UNLOCKED
};
static _Atomic int locking = UNDECIDED;
static _Atomic bool threaded; /* whoever decided it wanted that, not the library */

int world_tool_threads(bool wants)
{
    int undecided = UNDECIDED;
    if (wants)
        (void)atomic_compare_exchange_strong(&locking, &undecided, WANTED);
    return locking == UNLOCKED ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
}

void world_tool_gone(void)
{
    int wanted = WANTED;
    (void)atomic_compare_exchange_strong(&locking, &wanted, UNDECIDED);
}

bool world_decide(bool threads)
{
    int undecided = UNDECIDED;
    if (!threads && !os_lock_enabled &&
        atomic_compare_exchange_strong(&locking, &undecided, UNLOCKED))
        return false;
    if (!threads && undecided == UNLOCKED)
        return os_lock_enabled;
    locking = LOCKED;
    threaded = true;
    return true;
}

bool world_is_threaded(void)
{
    return threaded;
}

void world_use_threads(void)
{
    if (os_lock_enabled)
        return;
    os_lock_slow(&world_lock);
    if (!os_lock_enabled) {
        locking = LOCKED;
        os_lock_enabled = true;
        mpid_use_threads();
    }
    os_unlock_slow(&world_lock);
}

/* ---- thread levels ---- */

static const struct {
    int level;
    const char *name;
} levels[] = {
    {MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
    {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
    {MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
    {MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"},
};

const char *world_level_name(int of)
{
    int i = 0;
    while (i < 3 && levels[i].level != of)
        i++;
    return levels[i].name;
}

int world_level_of(const char *name)
{
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, levels[i].name))
            return levels[i].level;
    return -1;
}
