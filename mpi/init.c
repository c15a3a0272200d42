/* SPDX-License-Identifier: BSD-3-Clause */

/* The order of modules: each is started after those that it needs, and ended before. */
#include "mpi/init.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "mpi/attr.h"
#include "mpi/buffer.h"
#include "mpi/comm.h"
#include "mpi/errh.h"
#include "mpi/info.h"
#include "mpi/request.h"
#include "mpi/type.h"
#include "os/lock.h"
#include "os/settings.h"

struct mpid_world init_world;
static int level = MPI_THREAD_SINGLE;
static pthread_t main_thread;

int init_thread_level(void)
{
    return level;
}

bool init_is_main_thread(void)
{
    return pthread_equal(pthread_self(), main_thread);
}

static const char *level_name(void)
{
    switch (level) {
    case MPI_THREAD_MULTIPLE: return "MPI_THREAD_MULTIPLE";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    default: return "MPI_THREAD_SINGLE";
    }
}

/* MPI_INFO_ENV. */
static int start_info(int argc, char **argv)
{
    char text[16];
    int rc = info_init(argc, argv);
    struct info *env = info_from(MPI_INFO_ENV);
    snprintf(text, sizeof(text), "%d", init_world.size);
    if (!rc)
        rc = info_set(env, "maxprocs", text);
    return rc ? rc : info_set(env, "thread_level", level_name());
}

/* A forked child has its parent's objects, but no part in the job. No thread of the parent's
 * that may hold a lock is here. */
static void leave_to_parent(void)
{
    if (mpi_state != MPI_STATE_READY)
        return;
    mpi_state = MPI_STATE_FORKED;
    os_lock_enabled = false;
    comm_constants[1] = comm_constants[2] = NULL;
    mpid_orphan();
}

int init_start(int argc, char **argv, int thread_level, char *why, size_t size)
{
    if (os_settings_load(why, size))
        return -1;
    level = thread_level;
    main_thread = pthread_self();
    os_lock_enabled = level == MPI_THREAD_MULTIPLE;
    size_t request_size = sizeof(struct request) - offsetof(struct request, dev);
    if (mpid_init(os_lock_enabled, request_size, &init_world, why, size))
        return -1;
    request_init();
    if (type_init() || start_info(argc, argv) || comm_init(&init_world)) {
        snprintf(why, size, "no memory");
        return -1;
    }
    if (pthread_atfork(NULL, NULL, leave_to_parent)) {
        snprintf(why, size, "no memory");
        return -1;
    }
    attr_init(&init_world);
    mpi_state = MPI_STATE_READY;
    return 0;
}

/* Take a buffer of the user's away, once what is in it is sent. */
static void detach(struct buffer **slot)
{
    void *memory;
    MPI_Count size;
    (void)buffer_detach(slot, &memory, &size); /* there may be none */
}

int init_end(void)
{
    detach(&comm_constants[1]->buffer);
    detach(&comm_constants[2]->buffer);
    detach(&buffer_process);
    int rc = mpid_finalize();
    mpi_state = MPI_STATE_FINALIZED;
    comm_fini();
    attr_fini();
    info_fini();
    type_fini();
    request_fini();
    errh_fini();
    return rc ? MPI_ERR_OTHER : MPI_SUCCESS;
}
