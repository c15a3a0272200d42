/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting and ending; clocks, memory, names (MPI-5.0 chapters 9 and 11). */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/attr.h"
#include "mpi/comm.h"
#include "mpi/errh.h"
#include "mpi/info.h"
#include "mpi/init.h"
#include "os/clock.h"
#include "os/log.h"

/* ---- life ---- */

static int start(int *argc, char ***argv, int required, const char *function)
{
    char why[512] = "";
    if (mpi_state != MPI_STATE_BEFORE)
        return errh_comm(NULL, MPI_ERR_OTHER, function, "MPI was %s already",
                         mpi_state == MPI_STATE_READY ? "initialized" : "finalized");
    int rc = init_start(argc ? *argc : 0, argv ? *argv : NULL, required, why, sizeof(why));
    if (rc && !why[0])
        errh_end(MPI_ERR_OTHER);
    if (rc)
        return errh_comm(NULL, MPI_ERR_OTHER, function, "%s", why);
    return MPI_SUCCESS;
}

int PMPI_Init(int *argc, char ***argv)
{
    return start(argc, argv, MPI_THREAD_SINGLE, __func__);
}

/* A level that is none of MPI's is given the next higher one. */
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

int PMPI_Initialized(int *flag)
{
    if (!flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "flag is NULL");
    *flag = mpi_state != MPI_STATE_BEFORE;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
    if (!flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "flag is NULL");
    *flag = mpi_state == MPI_STATE_FINALIZED;
    return MPI_SUCCESS;
}

int PMPI_Finalize(void)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    int rc = attr_delete_comm(comm_constants[2]);
    if (!rc)
        rc = attr_delete_comm(comm_constants[1]);
    if (rc)
        rc = errh_comm(NULL, rc, __func__, "an attribute's callback returned error code %d", rc);
    int ended = init_end();
    return rc ? rc : ended;
}

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    char text[MPI_MAX_OBJECT_NAME + 128];
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    const struct comm *on = comm_from(comm);
    snprintf(text, sizeof(text), "MPI_Abort(%s, %d)", !on          ? "no communicator"
                                                      : on->name[0] ? on->name
                                                                    : "unnamed communicator",
             errorcode);
    fflush(NULL);
    mpid_abort(errorcode, text);
}

/* ---- threads ---- */

int PMPI_Query_thread(int *provided)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!provided)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "provided is NULL");
    *provided = init_thread_level();
    return MPI_SUCCESS;
}

int PMPI_Is_thread_main(int *flag)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "flag is NULL");
    *flag = init_is_main_thread();
    return MPI_SUCCESS;
}

/* ---- clocks ---- */

double PMPI_Wtime(void)
{
    return (double)os_now_ns() * 1e-9;
}

double PMPI_Wtick(void)
{
    struct timespec step;
    clock_getres(CLOCK_MONOTONIC, &step);
    return (double)step.tv_sec + (double)step.tv_nsec * 1e-9;
}

/* ---- names and memory ---- */

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
    const char *text = info ? info_get(info, "mpi_minimum_memory_alignment") : NULL;
    unsigned long long wanted = text ? strtoull(text, NULL, 10) : 64;
    if (wanted & (wanted - 1) || wanted > SIZE_MAX / 2)
        return 0;
    return wanted < 64 ? 64 : (size_t)wanted;
}

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    void *memory = NULL;
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (size < 0 || !baseptr)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "size is %lld, or baseptr is NULL",
                         (long long)size);
    const struct info *wishes = info_from(info);
    if (!wishes && info != MPI_INFO_NULL)
        return errh_comm(NULL, MPI_ERR_INFO, __func__, "%p is no info object", (void *)info);
    size_t alignment = wanted_alignment(wishes);
    if (!alignment)
        return errh_comm(NULL, MPI_ERR_INFO_VALUE, __func__,
                         "mpi_minimum_memory_alignment is no power of two");
    if (posix_memalign(&memory, alignment, size ? (size_t)size : 1))
        return errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "no memory for %lld bytes",
                         (long long)size);
    memcpy(baseptr, &memory, sizeof(memory));
    return MPI_SUCCESS;
}

int PMPI_Free_mem(void *base)
{
    free(base);
    return MPI_SUCCESS;
}

/* For tools that wrap it. */
int PMPI_Pcontrol(const int level, ...)
{
    return MPI_SUCCESS;
}

#include "env.gen.h"
