/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicators without a parent. The two constructors of the API share the checks of their
 * arguments, and raise errors with an error handler that no object has so far.
 */
#ifndef MPI_COMM_FROM_H
#define MPI_COMM_FROM_H

#include <mpi.h>

struct comm;
struct errhandler;
struct group;
struct info;

/* The members meet by the text. The caller sets the communicator's error handler and hints. */
int comm_from_group(struct group *group, const char *text, struct comm **new);
/* Some members of a communicator agree on a context, by their group and a tag. */
int comm_from_members(const struct comm *comm, struct group *group, int tag, uint32_t *context);
struct comm_meeting {
    struct group *local, *remote; /* remote counts for the leader alone; NULL: it is none */
    int leader, remote_leader;    /* as they were given */
    const char *text;
};
/* Returns MPI_SUCCESS, an error class or one of the numbers below: the same at all members that
 * take part, as far as they can be found. */
int comm_from_groups(const struct comm_meeting *meeting, struct comm **new);

/* Errors in the arguments of two groups' members, besides error classes. */
enum {
    COMM_FROM_LOCAL_LEADER = 1000, /* some member's is no rank */
    COMM_FROM_TWO_LEADERS,         /* members of a group name different ones */
    COMM_FROM_NO_REMOTE,           /* the leader's remote group is none */
    COMM_FROM_REMOTE_LEADER,       /* the leader's rank is no rank of that group */
    COMM_FROM_OVERLAP,
    COMM_FROM_STRANGERS, /* the leaders do not name each other */
    COMM_FROM_ELSEWHERE  /* one of these, in the other group */
};

/* Each NULL where the handle is none. */
struct comm_from {
    struct group *group; /* the local one */
    const char *text;
    const struct info *info;
    struct errhandler *errhandler;
};

/* MPI_SUCCESS, or the code of an error that was raised. what: the group argument's name. */
int comm_from_check(const struct comm_from *from, MPI_Group group, const char *what, MPI_Info info,
                    const char *function);
/* Raise an error. Returns its code. */
int comm_from_error(const struct comm_from *from, int error_class, const char *function,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));
/* Give the user the new communicator, with handler and hints, or raise rc. */
int comm_from_give(const struct comm_from *from, int rc, struct comm *made, MPI_Comm *newcomm,
                   const char *function);

#endif
