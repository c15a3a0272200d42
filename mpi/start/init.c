/* SPDX-License-Identifier: BSD-3-Clause */

/* The world model and sessions; see init.h. */
#include "mpi/start/init.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/context.h"
#include "mpi/info.h"
#include "mpi/left.h"
#include "mpi/request/buffer.h"
#include "mpi/request/unreceived.h"
#include "mpi/start/library.h"
#include "os/settings.h"

/* world_lock guards these. */
static _Atomic enum init_state world_state;
static _Atomic int level = MPI_THREAD_SINGLE;
static pthread_t main_thread;

enum init_state init_world_state(void)
{
    return world_state;
}

int init_thread_level(void)
{
    return level;
}

bool init_is_main_thread(void)
{
    return pthread_equal(pthread_self(), main_thread);
}

/* ---- the world model ---- */

/* MPI_INFO_ENV. */
static int start_info(int argc, char **argv)
{
    char text[16];
    struct info *env = info_create();
    snprintf(text, sizeof(text), "%d", world_facts.size);
    if (!env || info_describe(env, argc, argv) || info_set(env, "maxprocs", text) ||
        info_set(env, "thread_level", world_level_name(level))) {
        info_destroy(env);
        return MPI_ERR_NO_MEM;
    }
    info_init(env);
    return MPI_SUCCESS;
}

/* Have C's streams buffer as the user says. */
static void set_buffering(void)
{
    static const int modes[] = {-1, _IONBF, _IOLBF, _IOFBF}; /* in the order of the setting's words */
    int mode = modes[os_setting(OS_SETTING_STREAM_BUFFERING)];
    if (mode < 0)
        return;
    fflush(stdout);
    fflush(stderr);
    (void)setvbuf(stdout, NULL, mode, BUFSIZ);
    (void)setvbuf(stderr, NULL, mode, BUFSIZ);
}

int init_start(int argc, char **argv, int thread_level, char *why, size_t size)
{
    os_lock_slow(&world_lock);
    level = thread_level;
    main_thread = pthread_self();
    if (thread_level == MPI_THREAD_MULTIPLE)
        context_several();
    int rc = library_enter(MPID_WORLD, thread_level >= MPI_THREAD_SERIALIZED, why, size);
    if (!rc && (start_info(argc, argv) || comm_init(&world_facts))) {
        snprintf(why, size, "no memory");
        rc = -1;
    }
    if (!rc) {
        world_state = INIT_READY;
        mpi_state = MPI_STATE_READY;
        set_buffering();
    }
    os_unlock_slow(&world_lock);
    return rc;
}

bool init_begin_end(void)
{
    enum init_state ready = INIT_READY;
    return atomic_compare_exchange_strong(&world_state, &ready, INIT_ENDING);
}

int init_end(void)
{
    os_lock_slow(&world_lock);
    bool alone = library_has_one_user();
    os_unlock_slow(&world_lock);
    buffer_end(&comm_any(MPI_COMM_WORLD)->buffer);
    buffer_end(&comm_any(MPI_COMM_SELF)->buffer);
    if (alone)
        buffer_end(&buffer_process);
    /* Unlocked: a peer that this process waits for may wait for a session of this process. */
    comm_list_finalize();
    mpid_end_world(alone);
    left_tell();
    unreceived_tell();
    library_lock_to_leave();
    comm_fini();
    info_fini();
    world_state = INIT_OVER;
    int rc = library_leave();
    os_unlock_slow(&world_lock);
    return rc;
}

/* ---- sessions ---- */

/* Locked. Whether the calling thread may begin a session: see above. */
static bool may_begin(void)
{
    bool world = world_state == INIT_READY || world_state == INIT_ENDING;
    return os_lock_enabled || !world || init_is_main_thread();
}

int init_start_session(char *why, size_t size)
{
    if (mpi_state == MPI_STATE_FORKED) {
        snprintf(why, size, "this is a child process of the one that initialized MPI");
        return -1;
    }
    os_lock_slow(&world_lock);
    int rc = -1;
    if (!may_begin()) {
        snprintf(why, size,
                 "MPI runs at %s, and this is not the thread that initialized it: call "
                 "MPI_Init_thread with MPI_THREAD_SERIALIZED or more, or begin the first "
                 "session there",
                 world_level_name(level));
    } else {
        context_several();
        rc = library_enter(MPID_SESSIONS, true, why, size);
    }
    if (!rc)
        mpi_state = MPI_STATE_READY;
    os_unlock_slow(&world_lock);
    return rc;
}

int init_end_session(void)
{
    library_lock_to_leave();
    int rc = library_leave();
    os_unlock_slow(&world_lock);
    return rc;
}
