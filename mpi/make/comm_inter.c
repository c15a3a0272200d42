/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators.
 *
 * Two groups that form an intercommunicator agree by halves (mpi/coll/agree.h): each within its own
 * communicator, and one leader of each with the other. Inside an intercommunicator the leaders are
 * the ranks 0, and the halves the local communicators.
 */
#include <stdlib.h>

#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/make/comm_make.h"
#include "mpi/make/context_agree.h"
#include "mpi/make/introduce.h"

struct agree comm_everyone(struct comm *comm)
{
    if (!comm->remote)
        return (struct agree){
            .comm = comm, .context = comm->context + CONTEXT_COLL, .tag = COMM_AGREE_TAG};
    return (struct agree){
        .comm = comm->local,
        .context = comm->local->context + CONTEXT_COLL,
        .tag = COMM_AGREE_TAG,
        .bridged = true,
        .other = {comm, comm->context + CONTEXT_COLL, 0, COMM_AGREE_TAG},
    };
}

int comm_swap_groups(const struct agree *who, const struct group *mine, struct group **theirs)
{
    size_t len = 0, their_len = 0;
    void *bytes, *packed = group_pack(mine, &len);
    if (!packed)
        return MPI_ERR_NO_MEM;
    int rc = agree_swap(who, AGREE_BYTES, packed, len, &bytes, &their_len);
    free(packed);
    if (rc)
        return rc;
    *theirs = group_unpack(bytes, &their_len);
    free(bytes);
    if (*theirs)
        return MPI_SUCCESS;
    return their_len ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
}

/* ---- making ---- */

int comm_bind_halves(const struct agree *halves, struct comm **new)
{
    struct group *remote, *local = halves->comm->group;
    uint32_t context;
    int rc = comm_swap_groups(halves, local, &remote);
    if (rc)
        return rc;
    struct introduced introduced = {0};
    if (group_overlap(local, remote))
        rc = MPI_ERR_GROUP;
    if (!rc)
        rc = introduce(halves, remote, &introduced);
    uint64_t wrong = (uint64_t)introduced.rc;
    if (!rc)
        rc = context_agree_among(halves, &wrong, introduced.was_needed, &context);
    if (!rc && wrong) {
        context_release(context);
        rc = (int)wrong;
    }
    if (!rc)
        rc = comm_create_like(halves->comm, local, remote, context, new);
    introduce_end(&introduced);
    group_unref(remote);
    return rc;
}

int comm_intercreate(struct comm *local, const struct comm_bridge *bridge, struct comm **new)
{
    struct agree halves = {
        .comm = local,
        .context = local->context + CONTEXT_COLL,
        .tag = COMM_AGREE_TAG,
        .bridged = true,
        .leader = bridge->leader,
    };
    if (bridge->peer)
        halves.other = (struct p2p_side){bridge->peer, bridge->peer->context + CONTEXT_LEADER,
                                         bridge->peer_rank, bridge->tag};
    return comm_bind_halves(&halves, new);
}

/* ---- merging ---- */

/* All members agree on this besides the context: which side wants to be last, the group whose first
 * process is the lesser one or the other. */
enum { LESSER, GREATER, WISHES };

int comm_merge(struct comm *comm, bool high, struct comm **new)
{
    struct process mine = group_process(comm->group, 0), theirs = group_process(comm->remote, 0);
    int me = group_order(&mine, &theirs) < 0 ? LESSER : GREATER;
    uint64_t wishes[WISHES] = {0};
    uint32_t context;
    wishes[me] = high;
    struct agree all = comm_everyone(comm);
    int rc = context_agree_among(&all, wishes, WISHES, &context);
    if (rc)
        return rc;
    /* If both want the same, the lesser group comes first. */
    bool behind = wishes[LESSER] == wishes[GREATER] ? me == GREATER : wishes[me] != 0;
    struct group *group = behind ? group_union(comm->remote, comm->group)
                                 : group_union(comm->group, comm->remote);
    if (!group) {
        context_release(context);
        return MPI_ERR_NO_MEM;
    }
    rc = comm_create_from(comm, group, context, new);
    group_unref(group);
    return rc;
}
