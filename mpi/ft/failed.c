/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Members of a communicator that have failed; see failed.h. The device has one list of all processes
 * that have failed; what is acknowledged is a beginning of it.
 */
#include "mpi/ft/failed.h"

#include <limits.h>
#include <stdlib.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/group.h"

static bool is_member(const struct comm *comm, const struct process *process)
{
    return group_find(comm->group, process) != MPI_UNDEFINED ||
           (comm->remote && group_find(comm->remote, process) != MPI_UNDEFINED);
}

/* The members among the processes of the device's list below end. */
static struct group *pick(const struct comm *comm, uint32_t end)
{
    struct process process, *list = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < end && mpid_failed((int)i, &process.gid, &process.rank); i++) {
        if (!is_member(comm, &process))
            continue;
        if (!(count & (count - 1))) { /* there is room for a power of two */
            struct process *more = realloc(list, (count ? 2 * count : 1) * sizeof(*more));
            if (!more) {
                free(list);
                return NULL;
            }
            list = more;
        }
        list[count++] = process;
    }
    struct group *group = group_create(list, (int)count);
    free(list);
    return group;
}

struct group *failed_all(const struct comm *comm)
{
    mpid_wait_causes();
    return pick(comm, INT_MAX);
}

struct group *failed_acknowledged(const struct comm *comm)
{
    return pick(comm, atomic_load_explicit(&comm->acked, memory_order_relaxed));
}

int failed_acknowledge(struct comm *comm, int count)
{
    struct process process;
    uint32_t end = 0, acked = atomic_load_explicit(&comm->acked, memory_order_relaxed);
    int members = 0;
    mpid_wait_causes();
    for (uint32_t i = 0; mpid_failed((int)i, &process.gid, &process.rank); i++) {
        bool counts = is_member(comm, &process);
        if (i >= acked && counts && members >= count)
            break;
        members += counts;
        end = i + 1;
    }
    comm_list_acknowledge(comm, end);
    return members;
}
