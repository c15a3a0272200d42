/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators, and communicators without a parent.
 *
 * Two groups that are to know each other agree by halves (mpi/agree.h): each within its own
 * communicator, and one leader of each with the other. Inside an intercommunicator the
 * leaders are the ranks 0, and the halves the local communicators.
 *
 * Processes without a common communicator meet in a context of context_meeting's, whose lower
 * bits, and the tag, are a hash of the user's text and of the groups: 59 bits, so that two
 * meetings of the same processes at the same time will not be confused. A communicator in that
 * context lives as long as the meeting takes.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/agree.h"
#include "mpi/comm.h"
#include "mpi/context.h"
#include "mpi/errh.h"
#include "mpi/group.h"

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
    int rc = agree_swap(who, packed, len, &bytes, &their_len);
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

/* Make an intercommunicator of two halves. */
static int bind_halves(const struct agree *halves, struct comm **new)
{
    struct group *remote, *local = halves->comm->group;
    uint32_t context;
    int rc = comm_swap_groups(halves, local, &remote);
    if (rc)
        return rc;
    if (group_overlap(local, remote))
        rc = MPI_ERR_GROUP;
    if (!rc)
        rc = context_agree_among(halves, NULL, 0, &context);
    if (!rc)
        rc = comm_create_like(halves->comm, local, remote, context, new);
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
    return bind_halves(&halves, new);
}

/* ---- merging ---- */

/* What all members agree on besides the context: who wants to be behind, of the group whose first
 * process is the lesser one and of the other. */
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
    /* Where both want the same, the lesser one comes first. */
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

/* ---- meeting ---- */

static uint64_t hash(uint64_t seed, const void *bytes, size_t len)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < len; i++)
        seed = (seed ^ byte[i]) * UINT64_C(0x100000001b3);
    return seed;
}

static uint64_t hash_group(const struct group *group)
{
    uint64_t seed = UINT64_C(0xcbf29ce484222325);
    if (group->list)
        return hash(seed, group->list, (size_t)group->size * sizeof(*group->list));
    int64_t range[] = {group->first, group->stride, group->size};
    return hash(hash(seed, &group->gid, sizeof(group->gid)), range, sizeof(range));
}

/* Where those meet who have the same text and the same key. */
struct place {
    uint32_t context;
    int tag;
};

static struct place find_place(const char *text, uint64_t key)
{
    uint64_t h = hash(key ^ UINT64_C(0x9e3779b97f4a7c15), text, strlen(text) + 1);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    uint32_t low = (uint32_t)h & (context_meeting - 1);
    return (struct place){context_meeting | (low & -(uint32_t)CONTEXT_STEP),
                          (int)(h >> 33 & INT32_MAX)};
}

/* A communicator for the time of a meeting, and all its members. */
static int meet(struct group *group, const char *text, struct comm **there, struct agree *all)
{
    struct place place = find_place(text, hash_group(group));
    int rc = comm_create(group, place.context, there);
    if (!rc)
        *all = (struct agree){.comm = *there,
                              .context = place.context + CONTEXT_COLL,
                              .tag = place.tag};
    return rc;
}

int comm_from_group(struct group *group, const char *text, struct comm **new)
{
    struct comm *there;
    struct agree all;
    uint32_t context;
    int rc = meet(group, text, &there, &all);
    if (rc)
        return rc;
    rc = context_agree_among(&all, NULL, 0, &context);
    comm_unref(there);
    return rc ? rc : comm_create(group, context, new);
}

int comm_from_groups(const struct comm_meeting *meeting, struct comm **new)
{
    struct comm *there, *bridge = NULL;
    struct agree halves;
    struct group *local = meeting->local, *remote = meeting->remote;
    int rc = meet(local, meeting->text, &there, &halves);
    if (rc)
        return rc;
    halves.bridged = true;
    halves.leader = meeting->leader;
    if (local->rank == meeting->leader) {
        /* The leaders' place is the same for both, whichever way round they name the groups. */
        struct place place = find_place(meeting->text, hash_group(local) + hash_group(remote));
        rc = comm_create_inter(local, remote, place.context, &bridge);
        halves.other = (struct p2p_side){bridge, place.context + CONTEXT_LEADER,
                                         meeting->remote_leader, place.tag};
    }
    if (!rc)
        rc = bind_halves(&halves, new);
    comm_unref(bridge);
    comm_unref(there);
    return rc;
}
