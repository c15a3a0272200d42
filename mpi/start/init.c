/* SPDX-License-Identifier: BSD-3-Clause */

/* The order of modules: each is started after those that it needs, and ended before. */
#include "mpi/start/init.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mpi/attr.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/tuning.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/info.h"
#include "mpi/io/file.h"
#include "mpi/known.h"
#include "mpi/left.h"
#include "mpi/region/region.h"
#include "mpi/request/buffer.h"
#include "mpi/request/persist.h"
#include "mpi/request/request.h"
#include "mpi/request/unreceived.h"
#include "mpi/type/type.h"
#include "mpi/win/win_helper.h"
#include "mpi/world.h"
#include "os/lock.h"
#include "os/settings.h"

/* world_lock guards these. */
static int users;     /* sessions, and the world model */
static bool is_there; /* modules that stay until the process ends */
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

/* ---- the modules ---- */

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

/* Locked. Start the modules that stay; once. */
static int start_modules(char *why, size_t size)
{
    struct process me = {world_facts.gid, (uint32_t)world_facts.rank};
    if (is_there)
        return 0;
    request_init();
    persist_init();
    comm_open_space();
    if (region_reserve()) {
        snprintf(why, size, "no space in communicators and regions");
        return -1;
    }
    group_init(&me);
    attr_init(&world_facts);
    if (type_init()) {
        snprintf(why, size, "no memory");
        return -1;
    }
    if (os_setting(OS_SETTING_CHECK))
        known_begin(world_facts.rank);
    if (tuning_load(why, size))
        return -1;
    is_there = true;
    return 0;
}

/* Locked. Count one more user; the first one starts or wakes the library. Once threads have been
 * asked for they stay: some may be inside MPI. */
static int enter(enum mpid_model model, bool threads, char *why, size_t size)
{
    size_t request_size = sizeof(struct request) - offsetof(struct request, dev);
    if (os_settings_load(why, size))
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
    int rc = start_modules(why, size);
    if (!rc && (rc = mpid_use(model)))
        snprintf(why, size, "what this process is could not be published");
    if (!rc)
        users++;
    else if (!users)
        (void)mpid_rest();
    return rc ? -1 : 0;
}

/* Take the lock. The last user takes it only when nothing has to be waited for any more. Waiting is
 * done unlocked, since it runs callbacks of tools, which may begin a session and end it. */
static void lock_to_leave(void)
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

/* Locked by lock_to_leave(). */
static int leave(void)
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
    attr_fini();
    type_fini();
    request_fini();
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
    int rc = enter(MPID_WORLD, thread_level >= MPI_THREAD_SERIALIZED, why, size);
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
    bool alone = users == 1;
    os_unlock_slow(&world_lock);
    buffer_end(&comm_any(MPI_COMM_WORLD)->buffer);
    buffer_end(&comm_any(MPI_COMM_SELF)->buffer);
    if (alone)
        buffer_end(&buffer_process);
    /* Unlocked: a peer that this process waits for may wait for a session of this process. */
    mpid_end_world(alone);
    left_tell();
    unreceived_tell();
    lock_to_leave();
    comm_fini();
    info_fini();
    world_state = INIT_OVER;
    int rc = leave();
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
        rc = enter(MPID_SESSIONS, true, why, size);
    }
    if (!rc)
        mpi_state = MPI_STATE_READY;
    os_unlock_slow(&world_lock);
    return rc;
}

int init_end_session(void)
{
    lock_to_leave();
    int rc = leave();
    os_unlock_slow(&world_lock);
    return rc;
}
