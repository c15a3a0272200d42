/* SPDX-License-Identifier: BSD-3-Clause */

#include "mpi/comm/comm_from.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/errh.h"

/* A handler is invoked with an object: one that is no communicator to any call. */
int comm_from_error(const struct comm_from *from, int error_class, const char *function,
                    const char *fmt, ...)
{
    char what[320];
    va_list args;
    struct comm none = {.errhandler.has = from->errhandler, .rank = (int)group_me().rank};
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return errh_comm(from->errhandler ? &none : NULL, error_class, function, "%s", what);
}

int comm_from_check(const struct comm_from *from, MPI_Group group, const char *what, MPI_Info info,
                    const char *function)
{
    const struct errhandler *errhandler = from->errhandler;
    if (!errhandler && mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (!errhandler || (errhandler->kind == ERRH_USER && errhandler->on != ERRH_COMM))
        return errh_comm(NULL, MPI_ERR_ERRHANDLER, function,
                         "the error handler is none of communicators, or was freed");
    if (!from->group)
        return comm_from_error(from, MPI_ERR_GROUP, function, "%s %s", what,
                               group == MPI_GROUP_NULL ? "MPI_GROUP_NULL" : "is none, or was freed");
    if (!from->info && info != MPI_INFO_NULL)
        return comm_from_error(from, MPI_ERR_INFO, function,
                               "the info object is none, or was freed");
    if (!from->text || strlen(from->text) >= MPI_MAX_STRINGTAG_LEN)
        return comm_from_error(from, MPI_ERR_ARG, function,
                               "stringtag is NULL or has MPI_MAX_STRINGTAG_LEN characters or more");
    if (from->group != group_empty && from->group->rank == MPI_UNDEFINED)
        return comm_from_error(from, MPI_ERR_GROUP, function,
                               "%s: this process is no member of it: only its members may call",
                               what);
    return MPI_SUCCESS;
}

/* As any member says them. */
enum { FIRST = COMM_FROM_LOCAL_LEADER };
static const struct {
    int error_class;
    const char *text;
} wrongs[] = {
    [COMM_FROM_LOCAL_LEADER - FIRST] =
        {MPI_ERR_RANK, "local_leader of a member is no rank of local_group"},
    [COMM_FROM_TWO_LEADERS - FIRST] =
        {MPI_ERR_RANK, "members of local_group name different local_leaders: all must name one"},
    [COMM_FROM_NO_REMOTE - FIRST] =
        {MPI_ERR_GROUP, "remote_group of the local leader is none, or was freed"},
    [COMM_FROM_REMOTE_LEADER - FIRST] =
        {MPI_ERR_RANK, "remote_leader of the local leader is no rank of its remote_group"},
    [COMM_FROM_OVERLAP - FIRST] =
        {MPI_ERR_GROUP, "local_group and remote_group have a process in common: every process may "
                        "be in one of them only"},
    [COMM_FROM_STRANGERS - FIRST] =
        {MPI_ERR_RANK, "remote_leader is not whom the remote group names as its local_leader: each "
                       "leader must name the other"},
    [COMM_FROM_ELSEWHERE - FIRST] =
        {MPI_ERR_OTHER, "an argument is wrong in the remote group, whose processes tell which"},
};

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
    case MPI_ERR_OTHER:
        return comm_from_error(from, rc, function,
                               "every context is in use: free communicators that are not needed");
    case MPI_ERR_PROC_ABORTED:
        return comm_from_error(from, rc, function, "a member has ended, and did not take part");
    default:
        if (rc >= FIRST && rc <= COMM_FROM_ELSEWHERE)
            return comm_from_error(from, wrongs[rc - FIRST].error_class, function, "%s",
                                   wrongs[rc - FIRST].text);
        return comm_from_error(from, rc, function, "the members could not agree");
    }
    errh_set(&made->errhandler, from->errhandler);
    *newcomm = comm_handle(made);
    return MPI_SUCCESS;
}
