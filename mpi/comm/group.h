/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups: ordered sets of processes. A process is (group id, rank) of the
 * process group that it was started in. Ranks that form a regular range are
 * kept as (first, stride); others as a list. Nothing of size O(ranks) is made
 * for a range until a communicator over it is used. Communicators that are made of each other share
 * a group, and with it the VCs and hosts of its members.
 */
#ifndef MPI_GROUP_H
#define MPI_GROUP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/handle.h"
#include "os/lock.h"

struct process {
    struct mpid_gid gid;
    uint32_t rank;
};

struct comm_hosts;

struct group {
    struct object object;
    _Atomic int32_t given; /* handles that the user has */
    int size;
    int rank; /* of this process; MPI_UNDEFINED: no member */
    struct mpid_gid gid; /* of all members while gids is NULL */
    int64_t first, stride; /* member i is (gid, first + i * stride) */
    uint32_t *ranks;       /* [size] of a list, or NULL: a range */
    struct mpid_gid *gids; /* [size] of a list whose members are of several jobs; otherwise NULL */
    _Atomic(int *) index;  /* of a list: a hash table, made when a process is first looked up */
    _Atomic(struct vc **) vcs; /* [size], made when a communicator needs it, and shared */
    struct os_lock vcs_lock;   /* guards the ranks whose entry has been filled: [used_count] of */
    int *used, used_count, used_room;
    _Atomic(struct comm_hosts *) hosts; /* comm_hosts.c's, one block of memory; NULL: not made, or not needed */
    uint64_t session; /* number of the session that it comes from; 0: none */
};

/* Tell which process this is; call it first. */
void group_init(const struct process *me);
struct process group_me(void);

extern struct group *group_empty; /* MPI_GROUP_EMPTY */

struct group *group_from(MPI_Group handle); /* NULL: not a group */
/* Give the user a handle, and the caller's reference with it; take both back. */
MPI_Group group_give(struct group *group);
void group_take_back(struct group *group);

static inline struct process group_process(const struct group *group, int i)
{
    if (group->ranks)
        return (struct process){group->gids ? group->gids[i] : group->gid, group->ranks[i]};
    return (struct process){group->gid, (uint32_t)(group->first + i * group->stride)};
}

/* Make a group that was made out of another belong to the same session. Either may be NULL. */
static inline struct group *group_inherit(struct group *made, const struct group *from)
{
    if (made && made != group_empty && from)
        made->session = from->session;
    return made;
}

/* Make a group of these processes (copied; found to be a range if it is one). Returns NULL when
 * memory is out. */
struct group *group_create(const struct process *list, int size);
/* The range (gid, first), (gid, first + stride), ... */
struct group *group_create_range(const struct mpid_gid *gid, int64_t first, int64_t stride,
                                 int size);
/* The members ranks[0..size) of a group, in that order. May be the group itself. */
struct group *group_pick(struct group *from, const int *ranks, int size);
void group_ref(struct group *group);
void group_unref(struct group *group); /* accepts NULL */

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int group_compare(const struct group *a, const struct group *b);

/* The group's table of VCs, made if need be; NULL: no memory. */
struct vc **group_vcs(struct group *group);
/* Fill the table's entry of a member, if it is not; NULL: no memory. The VC is the group's as long as
 * that is there. */
struct vc *group_vc(struct group *group, int rank);

/* Fill the entries of all members that are of other jobs: what is known of them stays as long as the group. Returns
 * 0, or -1: no memory. */
int group_keep_others(struct group *group);

/* Rank of a process in the group, or MPI_UNDEFINED. O(1), except for the first call on a list. */
int group_find(const struct group *group, const struct process *process);

/* The order of processes on which all agree: negative, 0 or positive. */
int group_order(const struct process *a, const struct process *b);

/* A group as bytes for another process, from malloc(); and back. NULL where memory is out or, with
 * *len 0, where the bytes are no group. */
void *group_pack(const struct group *group, size_t *len);
struct group *group_unpack(const void *bytes, size_t *len);

/* ---- sets, in group_set.c: NULL where memory is out ---- */

/* All of a, then those of b that are not in a. */
struct group *group_union(struct group *a, struct group *b);
/* Those of a that are in b, or are not, in the order of a. */
struct group *group_intersection(struct group *a, struct group *b);
struct group *group_difference(struct group *a, struct group *b);
bool group_overlap(const struct group *a, const struct group *b);

/* The first invalid rank of a list. */
struct group_fault {
    int64_t rank;
    const char *wrong; /* NULL: memory is out */
};

/* The members that are named, in that order, or all others. NULL where *fault says the reason. */
struct group *group_choose(struct group *from, const int *ranks, int n, bool others,
                           struct group_fault *fault);
/* The same for ranges (first, last, stride), whose strides are not 0. */
struct group *group_choose_ranges(struct group *from, int ranges[][3], int n, bool others,
                                  struct group_fault *fault);

#endif
