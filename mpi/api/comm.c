/* SPDX-License-Identifier: BSD-3-Clause */

/* Communicators (MPI-5.0 7.4). */

#include <string.h>

#include "mpi/attr.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/info.h"
#include "mpi/left.h"
#include "mpi/make/comm_from.h"
#include "mpi/make/comm_make.h"
#include "mpi/request/buffer.h"
#include "mpi/request/request.h"
#include "mpi/world.h"

static int null_argument(struct comm *comm, const char *function)
{
    return errh_comm(comm, MPI_ERR_ARG, function, "an argument is NULL");
}

/* ---- asking ---- */

/*
 * Tell how many processes a communicator has.
 *
 * This call is local: no other process takes part. Of an intercommunicator it is the size of the
 * local group.
 *
 * size: number of processes; of an intercommunicator, of the local group
 *
 * MPI-5.0 7.4.1
 */
int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!size)
        return null_argument(on, __func__);
    *size = on->size;
    return MPI_SUCCESS;
}

/*
 * Tell the rank of this process in a communicator.
 *
 * This call is local: no other process takes part. Ranks count from 0. In an intercommunicator it
 * is the rank in the local group.
 *
 * rank: 0 to size - 1; of an intercommunicator, in the local group
 *
 * MPI_ERR_ARG: rank is NULL.
 *
 * MPI-5.0 7.4.1
 */
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!rank)
        return null_argument(on, __func__);
    *rank = on->rank;
    return MPI_SUCCESS;
}

/*
 * Tell whether a communicator is an intercommunicator.
 *
 * This call is local: no other process takes part. A library that works within one group asks this
 * of communicators that it is given.
 *
 * flag: 1 or 0
 *
 * MPI-5.0 7.6.1
 */
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!flag)
        return null_argument(on, __func__);
    *flag = on->remote != NULL;
    return MPI_SUCCESS;
}

/*
 * Tell how many processes the other group of an intercommunicator has.
 *
 * This call is local: no other process takes part. A rank that a message over the intercommunicator
 * is sent to is below this size.
 *
 * size: number of processes
 *
 * MPI_ERR_COMM: not an intercommunicator.
 *
 * MPI-5.0 7.6.1
 */
int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!on->remote)
        return errh_comm(on, MPI_ERR_COMM, __func__, "not an intercommunicator");
    if (!size)
        return null_argument(on, __func__);
    *size = on->remote->size;
    return MPI_SUCCESS;
}

/*
 * Give the group of a communicator.
 *
 * This call is local: no other process takes part. The group is the caller's to free, and outlives
 * the communicator. Of an intercommunicator it is the local group.
 *
 * group: the group, of an intercommunicator the local one; to be freed with MPI_Group_free
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!group)
        return null_argument(on, __func__);
    group_ref(on->group);
    *group = group_give(on->group);
    return MPI_SUCCESS;
}

/*
 * Give the other group of an intercommunicator.
 *
 * This call is local: no other process takes part. The group is the caller's to free, and outlives
 * the communicator.
 *
 * group: the group; to be freed with MPI_Group_free
 *
 * MPI_ERR_COMM: not an intercommunicator.
 *
 * MPI-5.0 7.6.1
 */
int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!on->remote)
        return errh_comm(on, MPI_ERR_COMM, __func__, "not an intercommunicator");
    if (!group)
        return null_argument(on, __func__);
    group_ref(on->remote);
    *group = group_give(on->remote);
    return MPI_SUCCESS;
}

/*
 * Compare two communicators.
 *
 * No other process takes part.
 *
 * result: MPI_IDENT: the same; MPI_CONGRUENT: the same processes in the same order; MPI_SIMILAR:
 *   in another order; MPI_UNEQUAL: other processes
 *
 * MPI-5.0 7.4.1
 */
int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct comm *a = comm_any(comm1), *b = comm_any(comm2);
    if (!a || !b)
        return errh_bad_comm(a ? comm2 : comm1, __func__);
    if (!result)
        return null_argument(a, __func__);
    int outcome = MPI_UNEQUAL;
    if (a == b) {
        outcome = MPI_IDENT;
    } else if (!a->remote == !b->remote) {
        int local = group_compare(a->group, b->group);
        int remote = a->remote ? group_compare(a->remote, b->remote) : MPI_IDENT;
        outcome = local > remote ? local : remote; /* MPI's constants rise with the difference */
        if (outcome == MPI_IDENT)
            outcome = MPI_CONGRUENT;
    }
    *result = outcome;
    return MPI_SUCCESS;
}

/* ---- making ---- */

/* Give the new communicator to the user, or raise the error. */
static int give(struct comm *comm, int rc, struct comm *new, MPI_Comm *newcomm,
                const char *function)
{
    switch (rc) {
    case MPI_SUCCESS: *newcomm = comm_handle(new); return MPI_SUCCESS;
    case MPI_ERR_NO_MEM: return errh_comm(comm, rc, function, "no memory for a communicator");
    case MPI_ERR_GROUP:
        return errh_comm(comm, rc, function, "the group has members that are not in the "
                                             "communicator");
    case MPI_ERR_OTHER:
        return errh_comm(comm, rc, function, "%s, or an attribute's callback failed",
                         comm_other_error());
    case MPI_ERR_INTERN: return errh_comm(comm, rc, function, "the members could not agree");
    default: return errh_comm(comm, rc, function, "making it failed with error code %d", rc);
    }
}

/* Whether new communicators can be made of it here: MPI_SUCCESS, or the error's code. */
static int check_parent(MPI_Comm handle, struct comm *comm, const MPI_Comm *newcomm,
                        const char *function)
{
    if (!comm)
        return errh_bad_comm(handle, function);
    return newcomm ? MPI_SUCCESS : null_argument(comm, function);
}

/*
 * Copy a communicator.
 *
 * The copy has the same processes in the same order, the topology, the error handler, and those
 * attributes that their callbacks copy, but no hints and no name; messages of the one are never
 * matched by receives of the other. Every process of comm must call this; the call waits for
 * them.
 *
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *   What an attribute's callback returns is returned as it is.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct comm *new, *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    if (rc)
        return rc;
    rc = comm_dup(on, NULL, &new);
    return give(on, rc, new, newcomm, __func__);
}

/*
 * Copy a communicator, and give the copy hints.
 *
 * As MPI_Comm_dup; the copy has the hints of info, see MPI_Comm_set_info.
 *
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *   What an attribute's callback returns is returned as it is.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    struct comm *new, *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    if (rc)
        return rc;
    const struct info *hints = info_from(info);
    if (!hints && info != MPI_INFO_NULL)
        return errh_comm(on, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                         errh_name(info).text);
    rc = comm_dup(on, hints, &new);
    return give(on, rc, new, newcomm, __func__);
}

static int start_copy(struct comm *on, const struct info *hints, MPI_Comm *newcomm,
                      MPI_Request *request, const char *function)
{
    struct comm *copy;
    struct request *made;
    if (!request)
        return null_argument(on, function);
    int rc = comm_idup(on, hints, &copy, &made);
    if (!rc)
        *request = request_handle(made);
    return give(on, rc, copy, newcomm, function);
}

/*
 * Copy a communicator without waiting.
 *
 * As MPI_Comm_dup, but the call waits for nobody. Attributes are copied before it returns;
 * newcomm must not be used before the request is complete. Several copies may be under way, also
 * of the same communicator, if all processes begin them in the same order.
 *
 * newcomm: set at once
 *
 * MPI_ERR_OTHER: all contexts are in use: told by the call that completes the request.
 *   What an attribute's callback returns is returned as it is.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct comm *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    return rc ? rc : start_copy(on, NULL, newcomm, request, __func__);
}

/*
 * Copy a communicator without waiting, and give the copy hints.
 *
 * As MPI_Comm_idup; the copy has the hints of info, see MPI_Comm_set_info.
 *
 * newcomm: set at once
 *
 * MPI_ERR_OTHER: all contexts are in use: told by the call that completes the request.
 *   What an attribute's callback returns is returned as it is.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                             MPI_Request *request)
{
    struct comm *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    if (rc)
        return rc;
    const struct info *hints = info_from(info);
    if (!hints && info != MPI_INFO_NULL)
        return errh_comm(on, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                         errh_name(info).text);
    return start_copy(on, hints, newcomm, request, __func__);
}

/*
 * Make a communicator of some of a communicator's processes.
 *
 * Every process of comm must call this; those that are members together must give the same
 * group, and groups that differ must have no process in common. Members of a group wait for each
 * other. Of an intercommunicator, the groups given on one side are parts of that side's group,
 * and an intercommunicator is made.
 *
 * group: a subset of comm's processes, of an intercommunicator of the local group; its order is
 *   that of newcomm
 * newcomm: the new communicator; MPI_COMM_NULL if this process is not in group
 *
 * MPI_ERR_GROUP: not a group, or not a subset of comm's processes.
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct comm *new, *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    if (rc)
        return rc;
    struct group *of = group_from(group);
    if (!of)
        return errh_comm(on, MPI_ERR_GROUP, __func__, "group %s is no group, or was freed",
                         errh_name(group).text);
    rc = comm_create_group(on, of, -1, &new);
    return give(on, rc, new, newcomm, __func__);
}

/*
 * Make a communicator of a group, whose members alone take part.
 *
 * As MPI_Comm_create, but only members of group call this, and wait for each other.
 *
 * comm: an intracommunicator
 * group: a subset of comm's processes, whose order is that of newcomm, the same in all
 * tag: 0 to MPI_TAG_UB, the same in all; tells calls of different threads apart, and has nothing
 *   to do with tags of messages
 *
 * MPI_ERR_COMM: not a communicator, or an intercommunicator.
 * MPI_ERR_GROUP: not a group, or not a subset of comm's processes.
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    struct comm *new, *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    if (rc)
        return rc;
    struct group *of = group_from(group);
    if (!of)
        return errh_comm(on, MPI_ERR_GROUP, __func__, "group %s is no group, or was freed",
                         errh_name(group).text);
    if (on->remote)
        return errh_comm(on, MPI_ERR_COMM, __func__, "an intercommunicator");
    if (tag < 0)
        return errh_comm(on, MPI_ERR_TAG, __func__, "tag %d: must be 0 to %d", tag, COMM_TAG_UB);
    rc = comm_create_group(on, of, tag, &new);
    return give(on, rc, new, newcomm, __func__);
}

/*
 * Part a communicator into several.
 *
 * Processes of the same color come together in a communicator, in the order of key, and where
 * that is equal, of their ranks in comm. Of an intercommunicator, those of the same color on
 * both sides come together in an intercommunicator. Every process of comm must call this; the
 * call waits for them.
 *
 * color: 0 or more; or MPI_UNDEFINED: this process is in none
 * key: any number
 * newcomm: the new communicator; MPI_COMM_NULL where color is MPI_UNDEFINED, or the other side
 *   of an intercommunicator has no such color
 *
 * MPI_ERR_ARG: color is negative and not MPI_UNDEFINED, or newcomm is NULL.
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct comm *new, *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    if (rc)
        return rc;
    if (color < 0 && color != MPI_UNDEFINED)
        return errh_comm(on, MPI_ERR_ARG, __func__,
                         "color %d: must be 0 or more, or MPI_UNDEFINED", color);
    struct comm_split how = {
        .member = color != MPI_UNDEFINED, .color = (uint32_t)color, .key = key};
    rc = comm_split(on, &how, &new);
    return give(on, rc, new, newcomm, __func__);
}

/* The resource that a guided split asks for. Returns MPI_SUCCESS or the error's code. */
static int find_resource(struct comm *comm, int split_type, const struct info *info,
                         struct comm_split *how, const char *function)
{
    bool sets = split_type == MPI_COMM_TYPE_RESOURCE_GUIDED;
    char hardware_name[MPI_MAX_INFO_VAL], pset_name[MPI_MAX_INFO_VAL];
    bool hardware = info && info_read(info, "mpi_hw_resource_type", hardware_name,
                                      sizeof(hardware_name)) >= 0;
    bool pset = info && sets && info_read(info, "mpi_pset_name", pset_name, sizeof(pset_name)) >= 0;
    how->member = false;
    if (hardware && pset)
        return errh_comm(comm, MPI_ERR_INFO, function,
                         "info has both mpi_hw_resource_type and mpi_pset_name");
    if (hardware)
        comm_split_resource(hardware_name, how);
    else if (pset)
        comm_split_pset(pset_name, how);
    return MPI_SUCCESS;
}

/*
 * Part a communicator by the hardware, or by a process set.
 *
 * Every process of comm must call this, with the same split_type or with MPI_UNDEFINED; the call
 * waits for them. The processes of a part are in the order of key, and if that is equal, of
 * their ranks in comm.
 *
 * - MPI_COMM_TYPE_SHARED: a part is the processes of one job on one host.
 * - MPI_COMM_TYPE_HW_GUIDED: a part is one instance of the hardware that info's key
 *   mpi_hw_resource_type names: hwloc://Machine, hwloc://Package, hwloc://Die, hwloc://Group,
 *   hwloc://NUMANode, hwloc://L5Cache to hwloc://L1Cache, hwloc://Core, hwloc://PU, or
 *   mpi_shared_memory, which is the same as MPI_COMM_TYPE_SHARED. Processes that may run in several instances are in no
 *   part, and none is where the host has no such hardware.
 * - MPI_COMM_TYPE_RESOURCE_GUIDED: the same; or a part is the process set that mpi_pset_name names.
 * - MPI_COMM_TYPE_HW_UNGUIDED: a part is one instance of the outermost hardware that tells the
 *   processes apart, and info gets its name under mpi_hw_resource_type.
 *
 * split_type: one of these; or MPI_UNDEFINED: this process is in no part
 * key: any number
 * info: keys as above, or MPI_INFO_NULL
 * newcomm: the new communicator; MPI_COMM_NULL if this process is in no part
 *
 * MPI_ERR_ARG: split_type is none of these, or newcomm is NULL.
 * MPI_ERR_INFO: info is no info object, or has both keys.
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
    MPI_Comm *newcomm)
{
    struct comm *new = NULL, *on = comm_from(comm);
    int rc = check_parent(comm, on, newcomm, __func__);
    if (rc)
        return rc;
    struct info *hints = info_from(info);
    if (!hints && info != MPI_INFO_NULL)
        return errh_comm(on, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                         errh_name(info).text);
    struct comm_split how = {.member = true, .key = key};
    switch (split_type) {
    case MPI_UNDEFINED: how.member = false; break;
    case MPI_COMM_TYPE_HW_UNGUIDED: break;
    case MPI_COMM_TYPE_SHARED: how.color = comm_memory_id(); break;
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        rc = find_resource(on, split_type, hints, &how, __func__);
        if (rc)
            return rc;
        break;
    default:
        return errh_comm(on, MPI_ERR_ARG, __func__, "split_type %d is none", split_type);
    }
    const char *name = NULL;
    rc = comm_split_hardware(on, &how, split_type == MPI_COMM_TYPE_HW_UNGUIDED, &name);
    if (!rc)
        rc = comm_split(on, &how, &new);
    if (!rc && new && name && hints && !info_is_fixed(hints)) {
        info_lock(hints);
        rc = info_set(hints, "mpi_hw_resource_type", name);
        info_unlock(hints);
    }
    return give(on, rc, new, newcomm, __func__);
}

/*
 * Make a communicator of a group, without another communicator.
 *
 * Every process of the group must call this, with the same processes in the same order and with
 * the same text; the call waits for them. Calls that go on at the same time in several threads
 * need different texts. Errors go to errhandler.
 *
 * group: any group that this process is in; for MPI_GROUP_EMPTY the call is local
 * stringtag: a text of MPI_MAX_STRINGTAG_LEN - 1 characters at most
 * info: hints for the new communicator, or MPI_INFO_NULL
 * errhandler: the error handler of the new communicator
 * newcomm: the new communicator; MPI_COMM_NULL for MPI_GROUP_EMPTY
 *
 * MPI_ERR_ARG: stringtag is NULL or too long, or newcomm is NULL.
 * MPI_ERR_ERRHANDLER: errhandler is none; told to that of MPI_COMM_SELF.
 * MPI_ERR_GROUP: not a group, or one without this process.
 * MPI_ERR_OTHER: all contexts are in use: communicators that are not needed must be freed first.
 *
 * MPI-5.0 7.4.2
 */
int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    struct comm *new;
    struct comm_from from = {group_from(group), stringtag, info_from(info), errh_from(errhandler)};
    int rc = comm_from_check(&from, group, "group", info, __func__);
    if (rc)
        return rc;
    if (!newcomm)
        return comm_from_error(&from, MPI_ERR_ARG, __func__, "newcomm is NULL");
    if (from.group == group_empty) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    rc = comm_from_group(from.group, stringtag, &new);
    return comm_from_give(&from, rc, new, newcomm, __func__);
}

/*
 * Free a communicator.
 *
 * Communication that is under way over it is completed. Attributes are deleted first, with their
 * callbacks; if one fails, the call fails with its code and the communicator stays. An
 * attached buffer is detached, once its messages are out. To be called by every process of the
 * communicator, which do not wait for each other.
 *
 * comm (inout): the communicator; then MPI_COMM_NULL
 *
 * MPI_ERR_COMM: not a communicator, or a predefined one; or comm is NULL.
 *
 * MPI-5.0 7.4.3
 */
int PMPI_Comm_free(MPI_Comm *comm)
{
    return comm_end(comm, NULL, __func__);
}

/* ---- names and hints ---- */

/*
 * Give a communicator a name.
 *
 * Error messages and tools show it. No other process takes part.
 *
 * comm_name: at most MPI_MAX_OBJECT_NAME - 1 characters are kept
 *
 * MPI_ERR_ARG: comm_name is NULL.
 *
 * MPI-5.0 7.8
 */
int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!comm_name)
        return null_argument(on, __func__);
    name_set(&on->name, comm_name);
    return MPI_SUCCESS;
}

/*
 * Tell the name of a communicator.
 *
 * This call is local: no other process takes part. MPI_COMM_WORLD and MPI_COMM_SELF have names from
 * the beginning; another has an empty one until MPI_Comm_set_name gives it one.
 *
 * comm: maybe MPI_COMM_NULL, which has its own name
 * comm_name: room for MPI_MAX_OBJECT_NAME characters; gets the name, empty if it has none,
 *   with a 0 after it
 * resultlen: length of the name in characters
 *
 * MPI-5.0 7.8
 */
int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    struct comm *on = comm_any(comm);
    if (!on && (comm != MPI_COMM_NULL || mpi_state != MPI_STATE_READY))
        return errh_bad_comm(comm, __func__);
    if (!comm_name || !resultlen)
        return null_argument(on, __func__);
    *resultlen = on ? name_get(&on->name, comm_name)
                    : (int)strlen(strcpy(comm_name, "MPI_COMM_NULL"));
    return MPI_SUCCESS;
}

/*
 * Give a communicator hints.
 *
 * To be called by every process of the communicator. Known are mpi_assert_no_any_tag,
 * mpi_assert_no_any_source, mpi_assert_exact_length, mpi_assert_allow_overtaking and
 * mpi_assert_strict_persistent_collective_ordering, each true or false. Other keys are
 * ignored; MPI_Comm_get_info tells which are in use.
 *
 * info: the hints; those that it has not stay as they are; or MPI_INFO_NULL
 *
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.4.4
 */
int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    const struct info *hints = info_from(info);
    if (!hints && info != MPI_INFO_NULL)
        return errh_comm(on, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                         errh_name(info).text);
    int rc = hints ? comm_set_hints(on, hints) : MPI_SUCCESS;
    return rc ? errh_comm(on, rc, __func__, "no memory for hints") : MPI_SUCCESS;
}

/*
 * Tell the hints of a communicator that are in use.
 *
 * This call is local: no other process takes part. The object is new, and the caller's to free. It
 * has the hints that the library knows, with the values that are in force, not those that were
 * given and not used.
 *
 * info_used: a new info object, to be freed with MPI_Info_free
 *
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.4.4
 */
int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!info_used)
        return null_argument(on, __func__);
    struct info *info = comm_hints(on);
    if (!info)
        return errh_comm(on, MPI_ERR_NO_MEM, __func__, "no memory for an info object");
    *info_used = info_handle(info);
    return MPI_SUCCESS;
}

#include "comm.gen.h"
