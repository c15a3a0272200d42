/* SPDX-License-Identifier: BSD-3-Clause */

/* The library from its first user to its last; see library.h. */
#include "mpi/start/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_list.h"
#include "mpi/errh_handler.h"
#include "mpi/io/file.h"
#include "mpi/request/buffer.h"
#include "mpi/request/request.h"
#include "mpi/start/modules.h"
#include "mpi/win/win_helper.h"
#include "mpi/world.h"
#include "os/lock.h"
#include "os/settings.h"
#include "os/turn.h"

static int users;     /* sessions, and the world model */
static bool is_there; /* modules that stay until the process ends */

/* ---- fork() ---- */

/* A forked child has its parent's objects, but takes no part in the job. */
static void mark_forked(void)
{
    if (!is_there)
        return;
    if (mpi_state == MPI_STATE_READY) {
        mpi_state = MPI_STATE_FORKED;
        comm_constants[1] = comm_constants[2] = comm_revoked[1] = comm_revoked[2] = NULL;
        comm_list_end();
    }
    os_lock_enabled = false;
    mpid_orphan();
}

static void before_fork(void)
{
    if (is_there)
        mpid_before_fork();
}

/* Registered before the program registers any handlers. So at fork() the program's handlers take
 * its locks first, which its threads may hold while they wait for ours. */
static __attribute__((constructor)) void watch_forks(void)
{
    (void)pthread_atfork(before_fork, mpid_after_fork, mark_forked);
}

/* ---- users ---- */

/* Whether the loader has left out the library that mpiexec --trace and --summary name in LD_PRELOAD, as it does with
 * one of another machine. Ranks that have it meet by collectives, and would wait for this one for ever. */
static bool lacks_profile(char *why, size_t size)
{
    const char *list = getenv("LD_PRELOAD"), *name = list ? strstr(list, "libvireo-profile.so") : NULL;
    char path[PATH_MAX];
    if (!name)
        return false;
    int len = (int)strcspn(name, ": ");
    for (; name > list && !strchr(": ", name[-1]); name--)
        len++;
    snprintf(path, sizeof(path), "%.*s", len, name);
    void *there = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (there)
        dlclose(there);
    else
        snprintf(why, size, "--trace and --summary need %s in all processes, and the loader could not load it here: "
                 "install it there for this machine, too", path);
    return !there;
}

int library_enter(enum mpid_model model, bool threads, char *why, size_t size)
{
    size_t request_size = sizeof(struct request) - offsetof(struct request, dev);
    if (os_settings_load(why, size) || (!users && (os_turn_begin(why, size) || lacks_profile(why, size))))
        return -1;
    threads = world_decide(threads);
    if (threads && !os_lock_enabled)
        os_lock_enabled = true;
    if (!users)
        comm_list_begin(coll_noted);
    if (!users && mpid_init(threads, request_size, &world_facts, why, size))
        return -1;
    if (users && threads)
        mpid_use_threads();
    int rc = is_there ? 0 : modules_start(why, size);
    is_there = !rc;
    if (!rc && (rc = mpid_use(model)))
        snprintf(why, size, "what this process is could not be published");
    if (!rc)
        users++;
    else if (!users)
        (void)mpid_rest();
    return rc ? -1 : 0;
}

bool library_has_one_user(void)
{
    return users == 1;
}

/* Waiting is done unlocked, since it runs callbacks of tools, which may begin a session and end it. */
void library_lock_to_leave(void)
{
    os_lock_slow(&world_lock);
    while (users == 1 &&
           (file_has_threads() || win_helper_runs() || buffer_process || !mpid_is_out())) {
        os_unlock_slow(&world_lock);
        file_end_threads();
        win_helper_stop();
        buffer_end(&buffer_process);
        mpid_drain();
        os_lock_slow(&world_lock);
    }
}

int library_leave(void)
{
    if (--users)
        return MPI_SUCCESS;
    mpi_state = MPI_STATE_FINALIZED;
    comm_list_end();
    comm_list_rest();
    errh_fini();
    return mpid_rest() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* When the process ends. Modules that are not at rest are left as they are: the program was ended
 * in the middle of it. */
static __attribute__((destructor)) void give_back(void)
{
    if (!is_there || users || mpi_state == MPI_STATE_FORKED)
        return;
    mpid_close();
    modules_end();
}
