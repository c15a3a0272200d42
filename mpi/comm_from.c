/* SPDX-License-Identifier: BSD-3-Clause */

#include "mpi/comm_from.h"

#include <string.h>

#include "mpi/comm.h"
#include "mpi/errh.h"
#include "mpi/group.h"

/* A handler is invoked with an object: one that is no communicator to any call. */
int comm_from_error(const struct comm_from *from, int error_class, const char *function,
                    const char *what)
{
    struct comm none = {.errhandler = from->errhandler, .rank = (int)group_me().rank};
    return errh_comm(from->errhandler ? &none : NULL, error_class, function, "%s", what);
}

int comm_from_check(const struct comm_from *from, MPI_Group group, MPI_Info info,
                    const char *function)
{
    const struct errhandler *errhandler = from->errhandler;
    if (!errhandler && mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (!errhandler || (errhandler->kind == ERRH_USER && errhandler->on != ERRH_COMM))
        return errh_comm(NULL, MPI_ERR_ERRHANDLER, function,
                         "the error handler is none of communicators, or was freed");
    if (!from->group)
        return comm_from_error(from, MPI_ERR_GROUP, function,
                               group == MPI_GROUP_NULL ? "group MPI_GROUP_NULL"
                                                       : "the group is none, or was freed");
    if (!from->info && info != MPI_INFO_NULL)
        return comm_from_error(from, MPI_ERR_INFO, function,
                               "the info object is none, or was freed");
    if (!from->text || strlen(from->text) >= MPI_MAX_STRINGTAG_LEN)
        return comm_from_error(from, MPI_ERR_ARG, function,
                               "stringtag is NULL or has MPI_MAX_STRINGTAG_LEN characters or more");
    if (from->group != group_empty && from->group->rank == MPI_UNDEFINED)
        return comm_from_error(from, MPI_ERR_GROUP, function,
                               "this process is no member of the group");
    return MPI_SUCCESS;
}

int comm_from_give(const struct comm_from *from, int rc, struct comm *made, MPI_Comm *newcomm,
                   const char *function)
{
    if (!rc && from->info) {
        rc = comm_set_hints(made, from->info);
        if (rc)
            comm_unref(made);
    }
    switch (rc) {
    case MPI_SUCCESS: break;
    case MPI_ERR_NO_MEM:
        return comm_from_error(from, rc, function, "no memory for a communicator");
    case MPI_ERR_GROUP:
        return comm_from_error(from, rc, function, "the two groups have a process in common");
    case MPI_ERR_OTHER:
        return comm_from_error(from, rc, function,
                               "every context is in use: free communicators that are not needed");
    case MPI_ERR_PROC_ABORTED:
        return comm_from_error(from, rc, function, "a member has ended, and did not take part");
    default: return comm_from_error(from, rc, function, "the members could not agree");
    }
    errh_set(&made->errhandler, from->errhandler);
    *newcomm = comm_handle(made);
    return MPI_SUCCESS;
}
