/* SPDX-License-Identifier: BSD-3-Clause */

/* New communicators out of old ones. Each takes one small collective over the processes that will
 * be members. */
#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_attr.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/comm/topo.h"
#include "mpi/make/comm_from.h"
#include "mpi/make/comm_make.h"
#include "mpi/make/context_agree.h"

int comm_create_like(struct comm *parent, struct group *group, struct group *remote,
                     uint32_t context, struct comm **comm)
{
    int rc = remote ? comm_create_inter(group, remote, context, comm)
                    : comm_create(group, context, comm);
    if (rc)
        return rc;
    errh_start(&(*comm)->errhandler, errh_get(&parent->errhandler));
    return MPI_SUCCESS;
}

int comm_create_from(struct comm *parent, struct group *group, uint32_t context,
                     struct comm **comm)
{
    return comm_create_like(parent, group, NULL, context, comm);
}

const char *comm_other_error(void)
{
    return mpid_is_apart() ? "no channel leads to another member"
                           : "every context is in use: free communicators that are not needed";
}

/* Hints are not inherited: MPI-5.0 7.4.2. */
int comm_dup(struct comm *comm, const struct info *info, struct comm **new)
{
    uint32_t context;
    struct agree all = comm_everyone(comm);
    int rc = context_agree_among(&all, NULL, 0, &context);
    if (!rc)
        rc = comm_create_like(comm, comm->group, comm->remote, context, new);
    if (rc)
        return rc;
    (*new)->topo = topo_ref(comm->topo);
    rc = attr_copy(comm_attr_of(comm), comm_attr_of(*new));
    if (!rc && info)
        rc = comm_set_hints(*new, info);
    if (rc) {
        (void)attr_delete_all(comm_attr_of(*new)); /* the first error is the one to tell */
        comm_unref(*new);
    }
    return rc;
}

/* ---- create ---- */

static bool is_within(const struct group *group, const struct group *all)
{
    for (int i = 0; i < group->size && group != all; i++) {
        struct process process = group_process(group, i);
        if (group_find(all, &process) == MPI_UNDEFINED)
            return false;
    }
    return true;
}

/* The same processes in the same order share one table of VCs. */
static struct group *same_or(struct group *group, struct group *known)
{
    return group_compare(group, known) == MPI_IDENT ? known : group;
}

/* MPI_Comm_create of an intercommunicator. A process in no group takes part all the same. */
static int create_inter(struct comm *comm, struct group *group, struct comm **new)
{
    struct agree all = comm_everyone(comm);
    struct group *remote;
    uint32_t context = 0;
    int rc = comm_swap_groups(&all, group, &remote);
    if (rc)
        return rc;
    if (group->size && remote->size) {
        rc = context_agree_among(&all, NULL, 0, &context);
        if (!rc && group->rank != MPI_UNDEFINED)
            rc = comm_create_like(comm, same_or(group, comm->group), same_or(remote, comm->remote),
                                  context, new);
        else if (!rc)
            context_release(context);
    }
    group_unref(remote);
    return rc;
}

int comm_create_group(struct comm *comm, struct group *group, int tag, struct comm **new)
{
    uint32_t context;
    *new = NULL;
    if (!is_within(group, comm->group))
        return MPI_ERR_GROUP;
    if (comm->remote)
        return create_inter(comm, group, new);
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    int rc = tag < 0 ? context_agree(comm, group, &context)
                     : comm_from_members(comm, group, tag, &context);
    if (rc)
        return rc;
    return comm_create_from(comm, same_or(group, comm->group), context, new);
}
