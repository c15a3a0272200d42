/* SPDX-License-Identifier: BSD-3-Clause */

/* Group functions (MPI-5.0 7.3). New groups are lists of ranks picked from an old one. */

#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/world.h"

static int bad_group(MPI_Group handle, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    return errh_comm(NULL, MPI_ERR_GROUP, function, "group %s is no group, or was freed",
                     errh_name(handle).text);
}

static int no_memory(const char *function)
{
    return errh_comm(NULL, MPI_ERR_NO_MEM, function, "no memory for a group");
}

/* Give the user a group that was just made, or report that it was not. */
static int give(struct group *group, MPI_Group *newgroup, const char *function)
{
    if (!group)
        return no_memory(function);
    *newgroup = group_give(group);
    return MPI_SUCCESS;
}

/*
 * Tell how many processes a group has.
 *
 * This call is local: no other process takes part. MPI_GROUP_EMPTY has no member.
 *
 * size: number of processes
 *
 * MPI-5.0 7.3.1
 */
int PMPI_Group_size(MPI_Group group, int *size)
{
    struct group *g = group_from(group);
    if (!g)
        return bad_group(group, __func__);
    if (!size)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "size is NULL");
    *size = g->size;
    return MPI_SUCCESS;
}

/*
 * Tell the rank of this process in a group.
 *
 * This call is local: no other process takes part. A process that is not a member gets
 * MPI_UNDEFINED.
 *
 * rank: 0 to size - 1; MPI_UNDEFINED if this process is no member
 *
 * MPI_ERR_ARG: rank is NULL.
 *
 * MPI-5.0 7.3.1
 */
int PMPI_Group_rank(MPI_Group group, int *rank)
{
    struct group *g = group_from(group);
    if (!g)
        return bad_group(group, __func__);
    if (!rank)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "rank is NULL");
    *rank = g->rank;
    return MPI_SUCCESS;
}

/*
 * Free a group.
 *
 * Communicators that were made of it stay.
 *
 * group (inout): the group; then MPI_GROUP_NULL
 *
 * MPI_ERR_GROUP: not a group, or one that was freed; or group is NULL.
 *
 * MPI-5.0 7.3.3
 */
int PMPI_Group_free(MPI_Group *group)
{
    struct group *g = group ? group_from(*group) : NULL;
    if (!g)
        return bad_group(group ? *group : MPI_GROUP_NULL, __func__);
    group_take_back(g);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

/*
 * Compare two groups.
 *
 * This call is local: no other process takes part. Groups are identical where the same processes
 * have the same ranks, and similar where the order differs.
 *
 * result: MPI_IDENT: the same processes in the same order; MPI_SIMILAR: in another order;
 *   MPI_UNEQUAL: other processes
 *
 * MPI-5.0 7.3.1
 */
int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    struct group *a = group_from(group1), *b = group_from(group2);
    if (!a || !b)
        return bad_group(a ? group2 : group1, __func__);
    if (!result)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "result is NULL");
    *result = group_compare(a, b);
    return MPI_SUCCESS;
}

/*
 * Tell the ranks that members of one group have in another.
 *
 * This call is local: no other process takes part. A process that is not in the second group has
 * the rank MPI_UNDEFINED there; MPI_PROC_NULL stays as it is.
 *
 * n: number of ranks, 0 or more
 * ranks1: ranks in group1, or MPI_PROC_NULL
 * ranks2: the same processes' ranks in group2; MPI_UNDEFINED if they are no members;
 *   MPI_PROC_NULL for MPI_PROC_NULL
 *
 * MPI_ERR_RANK: one of ranks1 is no rank in group1.
 * MPI_ERR_ARG: n is negative, or an array is NULL.
 *
 * MPI-5.0 7.3.1
 */
int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
    int ranks2[])
{
    struct group *a = group_from(group1), *b = group_from(group2);
    if (!a || !b)
        return bad_group(a ? group2 : group1, __func__);
    if (n < 0 || (n > 0 && (!ranks1 || !ranks2)))
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "n is %d, or an array is NULL", n);
    for (int i = 0; i < n; i++) {
        if (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || ranks1[i] >= a->size))
            return errh_comm(NULL, MPI_ERR_RANK, __func__, "ranks1[%d] is %d: must be 0 to %d", i,
                             ranks1[i], a->size - 1);
    }
    for (int i = 0; i < n; i++) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
            continue;
        }
        struct process process = group_process(a, ranks1[i]);
        ranks2[i] = group_find(b, &process);
    }
    return MPI_SUCCESS;
}

/* ---- sets ---- */

/*
 * Make a group of the members of two groups.
 *
 * Those of group1 come first, in their order, then those that only group2 has.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    struct group *a = group_from(group1), *b = group_from(group2);
    if (!a || !b)
        return bad_group(a ? group2 : group1, __func__);
    if (!newgroup)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "newgroup is NULL");
    return give(group_union(a, b), newgroup, __func__);
}

/*
 * Make a group of the processes that are members of two groups.
 *
 * They stand in the order of group1.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    struct group *a = group_from(group1), *b = group_from(group2);
    if (!a || !b)
        return bad_group(a ? group2 : group1, __func__);
    if (!newgroup)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "newgroup is NULL");
    return give(group_intersection(a, b), newgroup, __func__);
}

/*
 * Make a group of the members of a group that are none of another.
 *
 * They stand in the order of group1.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    struct group *a = group_from(group1), *b = group_from(group2);
    if (!a || !b)
        return bad_group(a ? group2 : group1, __func__);
    if (!newgroup)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "newgroup is NULL");
    return give(group_difference(a, b), newgroup, __func__);
}

/* ---- lists of ranks ---- */

/* Give the user a group of chosen ranks, or say why there is none. */
static int give_chosen(struct group *made, const struct group *from,
                       const struct group_fault *fault, MPI_Group *newgroup, const char *function)
{
    if (!fault->wrong)
        return give(made, newgroup, function);
    return errh_comm(NULL, MPI_ERR_RANK, function, "rank %lld %s (of size %d)",
                     (long long)fault->rank, fault->wrong, from->size);
}

/* MPI_Group_incl, and with others MPI_Group_excl. */
static int choose(MPI_Group group, int n, const int ranks[], bool others, MPI_Group *newgroup,
                  const char *function)
{
    struct group_fault fault;
    struct group *from = group_from(group);
    if (!from)
        return bad_group(group, function);
    if (n < 0 || (n > 0 && !ranks) || !newgroup)
        return errh_comm(NULL, MPI_ERR_ARG, function, "n is %d, or an argument is NULL", n);
    struct group *made = group_choose(from, ranks, n, others, &fault);
    return give_chosen(made, from, &fault, newgroup, function);
}

/*
 * Make a group of some members of a group, in an order that is given.
 *
 * This call is local: no other process takes part. Rank i of the new group is rank ranks[i] of the
 * old one. Communicators are made of groups by MPI_Comm_create, MPI_Comm_create_group and
 * MPI_Comm_create_from_group.
 *
 * n: number of ranks, 0 or more
 * ranks: the members; ranks[i] becomes rank i
 *
 * MPI_ERR_RANK: one of ranks is no rank of the group, or stands twice.
 * MPI_ERR_ARG: n is negative, or an argument is NULL.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return choose(group, n, ranks, false, newgroup, __func__);
}

/*
 * Make a group of a group without some members.
 *
 * The others keep their order.
 *
 * n: number of ranks, 0 or more
 * ranks: those that are left out
 *
 * MPI_ERR_RANK: one of ranks is no rank of the group, or stands twice.
 * MPI_ERR_ARG: n is negative, or an argument is NULL.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return choose(group, n, ranks, true, newgroup, __func__);
}

/* MPI_Group_range_incl, and with others MPI_Group_range_excl. */
static int choose_ranges(MPI_Group group, int n, int ranges[][3], bool others,
                         MPI_Group *newgroup, const char *function)
{
    struct group_fault fault;
    struct group *from = group_from(group);
    if (!from)
        return bad_group(group, function);
    if (n < 0 || (n > 0 && !ranges) || !newgroup)
        return errh_comm(NULL, MPI_ERR_ARG, function, "n is %d, or an argument is NULL", n);
    for (int i = 0; i < n; i++) {
        if (!ranges[i][2])
            return errh_comm(NULL, MPI_ERR_ARG, function, "the stride of range %d is 0", i);
    }
    struct group *made = group_choose_ranges(from, ranges, n, others, &fault);
    return give_chosen(made, from, &fault, newgroup, function);
}

/*
 * Make a group of ranges of a group's ranks.
 *
 * This call is local: no other process takes part. A range is a triple of its first rank, its last,
 * and the stride, which may be negative. Ranges are taken one after the other, and must not
 * overlap.
 *
 * n: number of ranges, 0 or more
 * ranges (in): first rank, last rank and stride of each: the ranks first, first + stride, and so
 *   on, not beyond last; where last is before first the stride is negative
 *
 * MPI_ERR_RANK: a range leads to a number that is no rank of the group, or twice to one, or
 *   its stride leads away from its last rank.
 * MPI_ERR_ARG: a stride is 0, n is negative, or an argument is NULL.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return choose_ranges(group, n, ranges, false, newgroup, __func__);
}

/*
 * Make a group of a group without ranges of its ranks.
 *
 * The others keep their order.
 *
 * n: number of ranges, 0 or more
 * ranges (in): first rank, last rank and stride of each, as of MPI_Group_range_incl
 *
 * MPI_ERR_RANK: a range leads to a number that is no rank of the group, or twice to one, or
 *   its stride leads away from its last rank.
 * MPI_ERR_ARG: a stride is 0, n is negative, or an argument is NULL.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return choose_ranges(group, n, ranges, true, newgroup, __func__);
}

#include "group.gen.h"
