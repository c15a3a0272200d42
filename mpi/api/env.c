/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting and ending; clocks, memory, names (MPI-5.0 chapters 9 and 11). */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "include/mpi-ext.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_attr.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/hardware.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/info.h"
#include "mpi/memory.h"
#include "mpi/start/init.h"
#include "mpi/world.h"
#include "os/clock.h"
#include "os/log.h"

/* ---- life ---- */

/* Refuse a function of the world model that is called outside its time. */
static int not_of_world(const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    return errh_comm(NULL, MPI_ERR_OTHER, function, "called %s: sessions do not count here",
                     init_world_state() == INIT_BEFORE   ? "before MPI_Init"
                     : init_world_state() == INIT_ENDING ? "while MPI_Finalize goes on"
                                                         : "after MPI_Finalize");
}

static int start(int *argc, char ***argv, int required, const char *function)
{
    char why[512] = "";
    if (mpi_state == MPI_STATE_FORKED)
        return errh_not_ready(function);
    if (init_world_state() >= INIT_ENDING)
        return errh_comm(NULL, MPI_ERR_OTHER, function,
                         "MPI was finalized already, and can be initialized but once: only "
                         "MPI_Session_init may follow MPI_Finalize");
    if (init_world_state() == INIT_READY)
        return errh_comm(NULL, MPI_ERR_OTHER, function, "MPI was initialized already");
    int rc = init_start(argc ? *argc : 0, argv ? *argv : NULL, required, why, sizeof(why));
    if (rc && !why[0] && errh_initial()->kind != ERRH_RETURN)
        errh_end(MPI_ERR_OTHER);
    if (rc)
        return errh_comm(NULL, MPI_ERR_OTHER, function, "%s",
                         why[0] ? why : "MPI cannot be started (a line above says why)");
    rc = dynamic_begin(why, sizeof(why));
    if (rc)
        return errh_comm(NULL, rc, function, "%s", why);
    return MPI_SUCCESS;
}

/*
 * Start MPI in this process, for one thread.
 *
 * To be called once, by every process of the job, before all but the few functions that may be
 * called at any time. A process that mpiexec has not started is a job of its own. Whether the
 * calling thread is the only one that calls MPI is left to the program; MPI_Init_thread is there
 * for more.
 *
 * argc, argv (in): what main() got, or NULL; they are not changed
 *
 * MPI_ERR_OTHER: MPI was initialized before, maybe finalized too, or cannot be started; the text
 *   says why.
 *
 * MPI-5.0 11.2
 */
int PMPI_Init(int *argc, char ***argv)
{
    return start(argc, argv, MPI_THREAD_SINGLE, __func__);
}

/*
 * Start MPI in this process, and say how its threads will call it.
 *
 * As MPI_Init. The levels are, in rising order: MPI_THREAD_SINGLE, there is one thread;
 * MPI_THREAD_FUNNELED, only the thread that calls this one calls MPI; MPI_THREAD_SERIALIZED, one
 * thread at a time does; MPI_THREAD_MULTIPLE, any thread at any time. A session has a level of its
 * own, and may be in use beside MPI_Init's calls: so locks are taken at the last two levels,
 * and at the others once there is a session.
 *
 * argc, argv (in): what main() got, or NULL; they are not changed
 * required: the level; one that is none of them is taken as the next higher one
 * provided: the level, which is always as required; may be NULL
 *
 * MPI_ERR_OTHER: MPI was initialized before, or cannot be started; the text says why.
 * MPI_ERR_ARG: never, as provided may be NULL
 *
 * MPI-5.0 11.2
 */
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    int i = 0;
    while (i < 3 && levels[i] < required)
        i++;
    int rc = start(argc, argv, levels[i], __func__);
    if (!rc && provided)
        *provided = init_thread_level();
    return rc;
}

/*
 * Tell whether MPI_Init was called.
 *
 * May be called at any time, by any thread. Sessions do not count.
 *
 * flag: 1 after MPI_Init or MPI_Init_thread, even after MPI_Finalize; 0 if not
 *
 * MPI-5.0 11.4
 */
int PMPI_Initialized(int *flag)
{
    if (!flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "flag is NULL");
    *flag = init_world_state() != INIT_BEFORE;
    return MPI_SUCCESS;
}

/*
 * Tell whether MPI_Finalize was called, and is done.
 *
 * May be called at any time, by any thread. Sessions do not count.
 *
 * flag: 1 after MPI_Finalize, 0 if not, also in its callbacks
 *
 * MPI-5.0 11.4
 */
int PMPI_Finalized(int *flag)
{
    if (!flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "flag is NULL");
    *flag = init_world_state() == INIT_OVER || mpi_state == MPI_STATE_FORKED;
    return MPI_SUCCESS;
}

/*
 * End MPI in this process.
 *
 * Attributes of MPI_COMM_SELF are deleted first, with their callbacks, in reverse order of
 * setting; attached buffers are emptied, and what this process has still to send is sent. The
 * call waits for that, and for the processes that this one has exchanged messages with to call
 * it too, as long as they live. Requests must have been completed before. MPI_Init cannot be called
 * again; sessions go on, and may begin anew. Callbacks that run meanwhile, of attributes and of
 * tools, may use MPI, and may begin and end sessions; they may not call this function.
 *
 * MPI_ERR_OTHER: the library could not end in good order; what a callback returns is returned as
 *   it is.
 *
 * MPI-5.0 11.2.2
 */
int PMPI_Finalize(void)
{
    if (mpi_state == MPI_STATE_FORKED)
        return MPI_SUCCESS; /* as at the exit of a child: the parent owns MPI, and ends it */
    if (!init_begin_end())
        return not_of_world(__func__);
    int rc = attr_delete_all(comm_attr_of(comm_any(MPI_COMM_SELF)));
    if (!rc)
        rc = attr_delete_all(comm_attr_of(comm_any(MPI_COMM_WORLD)));
    if (rc)
        rc = errh_comm(NULL, rc, __func__, "an attribute's callback returned error code %d", rc);
    int ended = init_end();
    return rc ? rc : ended;
}

/*
 * End all processes of the job at once.
 *
 * Files that this process writes by stdio are flushed. mpiexec, if it has started the job,
 * prints a line that names this process and the communicator, ends the others, and exits with
 * errorcode, or with 1 if that would look like success. This call does not return.
 *
 * comm: only named in the line; the whole job is ended
 * errorcode: exit status; the system keeps 8 bits of it, and 1 replaces a 0 of these
 *
 * MPI_ERR_COMM: never, as any is taken
 *
 * MPI-5.0 11.4
 */
int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    char text[MPI_MAX_OBJECT_NAME + 128], name[MPI_MAX_OBJECT_NAME] = "no communicator";
    if (mpi_state != MPI_STATE_READY) {
        (void)errh_not_ready(__func__);
        errh_end(MPI_ERR_OTHER);
    }
    struct comm *on = comm_any(comm);
    if (on && !name_get(&on->name, name))
        snprintf(name, sizeof(name), "unnamed communicator");
    snprintf(text, sizeof(text), "MPI_Abort(%s, %d)", name, errorcode);
    fflush(NULL);
    mpid_abort(errorcode, text);
}

/* ---- threads ---- */

/*
 * Tell the level of thread support.
 *
 * Sessions have levels of their own: see MPI_Session_get_info.
 *
 * provided: the level that MPI_Init_thread has set, or MPI_THREAD_SINGLE
 *
 * MPI-5.0 11.2
 */
int PMPI_Query_thread(int *provided)
{
    if (init_world_state() != INIT_READY && init_world_state() != INIT_ENDING)
        return not_of_world(__func__);
    if (!provided)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "provided is NULL");
    *provided = init_thread_level();
    return MPI_SUCCESS;
}

/*
 * Tell whether this thread is the one that started MPI.
 *
 * This call is local: no other process takes part. That thread alone may call MPI where
 * MPI_THREAD_FUNNELED was provided.
 *
 * flag: 1 in the thread that called MPI_Init or MPI_Init_thread, 0 if not
 *
 * MPI-5.0 11.2
 */
int PMPI_Is_thread_main(int *flag)
{
    if (init_world_state() != INIT_READY && init_world_state() != INIT_ENDING)
        return not_of_world(__func__);
    if (!flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "flag is NULL");
    *flag = init_is_main_thread();
    return MPI_SUCCESS;
}

/* ---- clocks ---- */

/*
 * Tell the time in seconds, from some point in the past on.
 *
 * The clock is the system's monotonic one: it never goes back, and counts the same in all
 * processes of a host. May be called at any time.
 *
 * Returns: seconds
 *
 * MPI-5.0 9.6
 */
double PMPI_Wtime(void)
{
    return (double)os_now_ns() * 1e-9;
}

/*
 * Tell the resolution of MPI_Wtime in seconds.
 *
 * This call is local: no other process takes part. It is 1e-9 where the clock counts nanoseconds.
 *
 * Returns: seconds between two ticks
 *
 * MPI-5.0 9.6
 */
double PMPI_Wtick(void)
{
    struct timespec step;
    clock_getres(CLOCK_MONOTONIC, &step);
    return (double)step.tv_sec + (double)step.tv_nsec * 1e-9;
}

/* ---- names and memory ---- */

/*
 * Tell the name of the host.
 *
 * This call is local: no other process takes part. The name is what the system calls the host.
 * Processes of one host give the same name; those of different containers may differ.
 *
 * name: room for MPI_MAX_PROCESSOR_NAME characters; gets the name, with a 0 after it
 * resultlen: length of the name in characters
 *
 * MPI-5.0 9.1.2
 */
int PMPI_Get_processor_name(char *name, int *resultlen)
{
    if (!name || !resultlen)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "an argument is NULL");
    snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", os_host_name());
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

/* The alignment that an info object asks for, at least a cache line; 0: not a power of two. */
static size_t wanted_alignment(const struct info *info)
{
    char text[MPI_MAX_INFO_VAL], *end = NULL;
    bool asks = info && info_read(info, "mpi_minimum_memory_alignment", text, sizeof(text)) >= 0;
    unsigned long long wanted = asks ? strtoull(text, &end, 10) : 64;
    bool number = !end || (end != text && !*end);
    if (!number || wanted & (wanted - 1) || wanted > SIZE_MAX / 2)
        return 0;
    return wanted < 64 ? 64 : (size_t)wanted;
}

/*
 * Allocate memory.
 *
 * It is aligned to 64 bytes at least, and not cleared. MPI_Free_mem frees it. Processes of the same
 * host can map it, so that windows over it need no messages between them.
 *
 * size: bytes, 0 or more
 * info: MPI_INFO_NULL, or hints; mpi_minimum_memory_alignment is a power of two, in bytes
 * baseptr (out): address of a pointer, which is set to the memory
 *
 * MPI_ERR_ARG: size is negative, or baseptr NULL.
 * MPI_ERR_INFO_VALUE: mpi_minimum_memory_alignment is no power of two.
 * MPI_ERR_NO_MEM: there is no such memory.
 *
 * MPI-5.0 9.2
 */
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (size < 0 || !baseptr)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "size is %lld, or baseptr is NULL",
                         (long long)size);
    const struct info *wishes = info_from(info);
    if (!wishes && info != MPI_INFO_NULL)
        return errh_comm(NULL, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                         errh_name(info).text);
    size_t alignment = wanted_alignment(wishes);
    if (!alignment)
        return errh_comm(NULL, MPI_ERR_INFO_VALUE, __func__,
                         "mpi_minimum_memory_alignment is no power of two");
    void *memory = memory_get((size_t)size, alignment);
    if (!memory)
        return errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "no memory for %lld bytes",
                         (long long)size);
    memcpy(baseptr, &memory, sizeof(memory));
    return MPI_SUCCESS;
}

/*
 * Free memory of MPI_Alloc_mem.
 *
 * This call is local: no other process takes part. The memory must not be freed by free(), nor be
 * in use by a communication.
 *
 * base (in): what MPI_Alloc_mem gave, or NULL
 *
 * MPI_ERR_ARG: never
 *
 * MPI-5.0 9.2
 */
int PMPI_Free_mem(void *base)
{
    memory_put(base);
    return MPI_SUCCESS;
}

/*
 * Tell the kinds of hardware that the host has.
 *
 * The keys of the new info object are those that MPI_Comm_split_type takes for
 * mpi_hw_resource_type, such as hwloc://NUMANode. A value is true if this process may now run in
 * one instance of the kind alone, and false if not. Without libhwloc only hwloc://Machine is known.
 *
 * hw_info: a new info object, which the caller frees
 *
 * MPI_ERR_ARG: hw_info is NULL.
 *
 * MPI-5.0 9.1.2
 */
int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    struct hardware_place here;
    if (!hw_info)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "hw_info is NULL");
    struct info *info = info_create();
    int rc = info ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    hardware_look(&here);
    for (int level = HARDWARE_HOST; level < HARDWARE_LEVELS && !rc; level++) {
        if (hardware_has(level))
            rc = info_set(info, hardware_level_name(level),
                          here.id[level] != HARDWARE_UNKNOWN ? "true" : "false");
    }
    if (rc) {
        info_destroy(info);
        return errh_comm(NULL, rc, __func__, "no memory for an info object");
    }
    *hw_info = info_handle(info);
    return MPI_SUCCESS;
}

/*
 * Do nothing: for tools that wrap it.
 *
 * A profiling library gives this function a meaning by a definition of its own.
 *
 * level: as the tool says
 *
 * MPI-5.0 15.2.4
 */
int PMPI_Pcontrol(const int level, ...)
{
    return MPI_SUCCESS;
}

/* ---- accelerators ---- */

/*
 * Tell whether buffers may lie in the memory of a CUDA device: 1 if so, and 0 if not.
 *
 * The answer is 0. Any thread may call it at any time.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Query_cuda_support(void)
{
    return MPIX_CUDA_AWARE_SUPPORT;
}

/*
 * Tell whether buffers may lie in the memory of a ROCm device: 1 if so, and 0 if not.
 *
 * The answer is 0. Any thread may call it at any time.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Query_rocm_support(void)
{
    return MPIX_ROCM_AWARE_SUPPORT;
}

/*
 * Tell whether buffers may lie in the memory of a Level Zero device: 1 if so, and 0 if not.
 *
 * The answer is 0. Any thread may call it at any time.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Query_ze_support(void)
{
    return MPIX_ZE_AWARE_SUPPORT;
}

#include "env.gen.h"
