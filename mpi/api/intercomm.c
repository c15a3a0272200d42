/* SPDX-License-Identifier: BSD-3-Clause */

/* Intercommunicators (MPI-5.0 7.6). What they share with others is in comm.c. */

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/info.h"
#include "mpi/make/comm_from.h"
#include "mpi/make/comm_make.h"

static int give(struct comm *comm, int rc, struct comm *new, MPI_Comm *newcomm,
                const char *function)
{
    switch (rc) {
    case MPI_SUCCESS: *newcomm = comm_handle(new); return MPI_SUCCESS;
    case MPI_ERR_NO_MEM: return errh_comm(comm, rc, function, "no memory for a communicator");
    case MPI_ERR_GROUP:
        return errh_comm(comm, MPI_ERR_COMM, function,
                         "the two groups have a process in common");
    case MPI_ERR_OTHER:
        return errh_comm(comm, rc, function, "%s", comm_other_error());
    default: return errh_comm(comm, rc, function, "the members could not agree");
    }
}

/* What only the leader's arguments say. Returns MPI_SUCCESS or the error's code. */
static int check_peer(struct comm *local, MPI_Comm handle, const struct comm_bridge *bridge,
                      const char *function)
{
    if (!bridge->peer)
        return errh_comm(local, MPI_ERR_COMM, function,
                         "peer_comm %s is no communicator, or was freed", errh_name(handle).text);
    if (bridge->peer_rank < 0 || bridge->peer_rank >= bridge->peer->peers)
        return errh_comm(local, MPI_ERR_RANK, function, "remote_leader %d: must be 0 to %d",
                         bridge->peer_rank, bridge->peer->peers - 1);
    return MPI_SUCCESS;
}

/*
 * Make an intercommunicator of two communicators.
 *
 * Every process of local_comm must call this, and likewise every process of the other
 * communicator, over there; the call waits for them. No process may be in both. The two leaders meet in
 * peer_comm, which may be an intercommunicator; messages of the user's there are apart.
 * The error handler is that of local_comm.
 *
 * local_comm: an intracommunicator
 * local_leader: a rank in it
 * peer_comm, remote_leader: where the local leader finds the other, and its rank there; only the
 *   leader's count
 * tag: 0 or more; for several calls that go on at the same time
 * newintercomm: the new communicator
 *
 * MPI_ERR_ARG: newintercomm is NULL.
 * MPI_ERR_COMM: local_comm is no intracommunicator, peer_comm is no communicator, or the two have a
 *   process in common.
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.6.2
 */
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
    int remote_leader, int tag, MPI_Comm *newintercomm)
{
    struct comm *new, *local = comm_from(local_comm);
    if (!local)
        return errh_bad_comm(local_comm, __func__);
    if (local->remote)
        return errh_comm(local, MPI_ERR_COMM, __func__, "local_comm is an intercommunicator");
    if (!newintercomm)
        return errh_comm(local, MPI_ERR_ARG, __func__, "newintercomm is NULL");
    if (local_leader < 0 || local_leader >= local->size)
        return errh_comm(local, MPI_ERR_RANK, __func__, "local_leader %d: must be 0 to %d",
                         local_leader, local->size - 1);
    if (tag < 0)
        return errh_comm(local, MPI_ERR_TAG, __func__, "tag %d: must be 0 to %d", tag,
                         COMM_TAG_UB);
    struct comm_bridge bridge = {local_leader, NULL, remote_leader, tag};
    if (local->rank == local_leader) {
        bridge.peer = comm_from(peer_comm);
        int wrong = check_peer(local, peer_comm, &bridge, __func__);
        if (wrong)
            return wrong;
    }
    int rc = comm_intercreate(local, &bridge, &new);
    return give(local, rc, new, newintercomm, __func__);
}

/*
 * Make an intercommunicator of two groups, without another communicator.
 *
 * Every process of both groups must call this with the same text; the call waits for them. No
 * process may be in both. Calls that go on at the same time in several threads need different
 * texts. Errors go to errhandler. What is wrong with groups and leaders is told to all who call;
 * only where the leader's remote_group is no group, or neither leader names the other, the other
 * group is not found, and waits. After an error the text should be another one.
 *
 * local_group: the group that this process is in; where one of the two is MPI_GROUP_EMPTY, the call
 *   is local
 * local_leader: a rank in it
 * remote_group, remote_leader: the other group, and a rank in it; only the local leader's count
 * stringtag: a text of MPI_MAX_STRINGTAG_LEN - 1 characters at most
 * info: hints for the new communicator, or MPI_INFO_NULL
 * errhandler: the error handler of the new communicator
 * newintercomm: the new communicator; MPI_COMM_NULL for MPI_GROUP_EMPTY
 *
 * MPI_ERR_ARG: stringtag is NULL or too long, or newintercomm is NULL.
 * MPI_ERR_ERRHANDLER: errhandler is none; told to that of MPI_COMM_SELF.
 * MPI_ERR_GROUP: not a group, one without this process, or the two have a process in common.
 * MPI_ERR_RANK: a leader is no rank of its group, or not all mean the same.
 * MPI_ERR_OTHER: in the other group an argument is wrong; or all contexts are in use:
 *   communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.6.2
 */
int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
    MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    struct comm *new;
    struct comm_from from = {group_from(local_group), stringtag, info_from(info),
                             errh_from(errhandler)};
    int rc = comm_from_check(&from, local_group, "local_group", info, __func__);
    if (rc)
        return rc;
    if (!newintercomm)
        return comm_from_error(&from, MPI_ERR_ARG, __func__, "newintercomm is NULL");
    if (from.group == group_empty && !group_from(remote_group))
        return comm_from_error(&from, MPI_ERR_GROUP, __func__,
                               "the remote group is none, or was freed");
    if (from.group == group_empty || remote_group == MPI_GROUP_EMPTY) {
        *newintercomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    bool leads = from.group->rank == local_leader;
    struct comm_meeting meeting = {from.group, leads ? group_from(remote_group) : NULL,
                                   local_leader, remote_leader, stringtag};
    rc = comm_from_groups(&meeting, &new);
    if (rc == COMM_FROM_LOCAL_LEADER && (local_leader < 0 || local_leader >= from.group->size))
        return comm_from_error(&from, MPI_ERR_RANK, __func__, "local_leader %d: must be 0 to %d",
                               local_leader, from.group->size - 1);
    if (rc == COMM_FROM_REMOTE_LEADER && leads)
        return comm_from_error(&from, MPI_ERR_RANK, __func__, "remote_leader %d: must be 0 to %d",
                               remote_leader, meeting.remote->size - 1);
    return comm_from_give(&from, rc, new, newintercomm, __func__);
}

/*
 * Make one communicator of the two groups of an intercommunicator.
 *
 * Every process of both groups must call this; the call waits for them. The error handler is
 * that of intercomm.
 *
 * intercomm: an intercommunicator
 * high: where the groups differ in it, the one with 0 comes first; else the library chooses
 * newintracomm: the new communicator
 *
 * MPI_ERR_ARG: newintracomm is NULL.
 * MPI_ERR_COMM: not an intercommunicator.
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.6.2
 */
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    struct comm *new, *on = comm_from(intercomm);
    if (!on)
        return errh_bad_comm(intercomm, __func__);
    if (!on->remote)
        return errh_comm(on, MPI_ERR_COMM, __func__, "not an intercommunicator");
    if (!newintracomm)
        return errh_comm(on, MPI_ERR_ARG, __func__, "newintracomm is NULL");
    int rc = comm_merge(on, high != 0, &new);
    return give(on, rc, new, newintracomm, __func__);
}

#include "intercomm.gen.h"
