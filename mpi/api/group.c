/* SPDX-License-Identifier: BSD-3-Clause */

/* Group functions (MPI-5.0 7.3). New groups are lists of ranks picked from an old one. */

#include <stdlib.h>

#include "mpi/errh.h"
#include "mpi/group.h"

static int bad_group(MPI_Group handle, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (handle == MPI_GROUP_NULL)
        return errh_comm(NULL, MPI_ERR_GROUP, function, "group MPI_GROUP_NULL");
    return errh_comm(NULL, MPI_ERR_GROUP, function, "group %p is none, or was freed",
                     (void *)handle);
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
    *newgroup = group_handle(group);
    return MPI_SUCCESS;
}

/*
 * Tell how many processes a group has.
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
 * rank: 0 to size - 1; MPI_UNDEFINED where this process is no member
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
    group_unref(g);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

/*
 * Compare two groups.
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
 * n: number of ranks, 0 or more
 * ranks1: ranks in group1, or MPI_PROC_NULL
 * ranks2: the same processes' ranks in group2; MPI_UNDEFINED where they are no members;
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

/* Ranks in a of its members that are (or are not) members of b, in order. Returns
 * how many, or -1 when memory is out. */
static int filter(const struct group *a, const struct group *b, bool members, int **ranks)
{
    *ranks = malloc((size_t)(a->size ? a->size : 1) * sizeof(**ranks));
    if (!*ranks)
        return -1;
    int n = 0;
    for (int i = 0; i < a->size; i++) {
        struct process process = group_process(a, i);
        if ((group_find(b, &process) != MPI_UNDEFINED) == members)
            (*ranks)[n++] = i;
    }
    return n;
}

/* The group of what filter() finds. */
static struct group *filtered(struct group *a, const struct group *b, bool members)
{
    int *ranks;
    int n = filter(a, b, members, &ranks);
    struct group *group = n < 0 ? NULL : group_pick(a, ranks, n);
    free(ranks);
    return group;
}

/* All of a, then those of b that are not in a. */
static struct group *united(struct group *a, struct group *b)
{
    struct group *group = NULL;
    int *ranks;
    int n = filter(b, a, false, &ranks);
    if (n == 0) {
        group_ref(a);
        group = a;
    } else if (n > 0 && n <= INT32_MAX - a->size) {
        struct process *list = malloc(((size_t)a->size + (size_t)n) * sizeof(*list));
        for (int i = 0; list && i < a->size; i++)
            list[i] = group_process(a, i);
        for (int i = 0; list && i < n; i++)
            list[a->size + i] = group_process(b, ranks[i]);
        if (list)
            group = group_create(list, a->size + n);
        free(list);
    }
    free(ranks);
    return group;
}

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
    return give(united(a, b), newgroup, __func__);
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
    return give(filtered(a, b, true), newgroup, __func__);
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
    return give(filtered(a, b, false), newgroup, __func__);
}

/* ---- lists of ranks ---- */

/*
 * A set of ranks. Where several of a list are out of range or twice in it, the
 * first is told.
 */
struct rank_set {
    uint64_t *bits;
    int size;
};

static bool set_init(struct rank_set *set, int size)
{
    set->size = size;
    set->bits = calloc((size_t)size / 64 + 1, sizeof(*set->bits));
    return set->bits != NULL;
}

static bool set_has(const struct rank_set *set, int rank)
{
    return set->bits[rank / 64] >> (rank % 64) & 1;
}

/* Add a rank. Returns NULL, or what is wrong with it. */
static const char *set_add(struct rank_set *set, int64_t rank)
{
    if (rank < 0 || rank >= set->size)
        return "is no rank of the group";
    if (set_has(set, (int)rank))
        return "is named twice";
    set->bits[rank / 64] |= UINT64_C(1) << (rank % 64);
    return NULL;
}

/* The ranks of a group that are not in the set. */
static struct group *without(struct group *group, const struct rank_set *set)
{
    int *ranks = malloc((size_t)(group->size ? group->size : 1) * sizeof(*ranks));
    if (!ranks)
        return NULL;
    int n = 0;
    for (int i = 0; i < group->size; i++)
        if (!set_has(set, i))
            ranks[n++] = i;
    struct group *made = group_pick(group, ranks, n);
    free(ranks);
    return made;
}

static int bad_rank(int64_t rank, const char *wrong, const struct group *group,
                    const char *function)
{
    return errh_comm(NULL, MPI_ERR_RANK, function, "rank %lld %s (of size %d)", (long long)rank,
                     wrong, group->size);
}

/* MPI_Group_incl, and with exclude MPI_Group_excl. */
static int choose(MPI_Group group, int n, const int ranks[], bool exclude, MPI_Group *newgroup,
                  const char *function)
{
    struct rank_set set;
    struct group *g = group_from(group);
    if (!g)
        return bad_group(group, function);
    if (n < 0 || (n > 0 && !ranks) || !newgroup)
        return errh_comm(NULL, MPI_ERR_ARG, function, "n is %d, or an argument is NULL", n);
    if (!set_init(&set, g->size))
        return no_memory(function);
    const char *wrong = NULL;
    int i = 0;
    while (i < n && !wrong)
        wrong = set_add(&set, ranks[i++]);
    if (wrong) {
        free(set.bits);
        return bad_rank(ranks[i - 1], wrong, g, function);
    }
    struct group *made = exclude ? without(g, &set) : group_pick(g, ranks, n);
    free(set.bits);
    return give(made, newgroup, function);
}

/*
 * Make a group of some members of a group, in an order that is given.
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

/* ---- ranges ---- */

/* How many ranks a range (first, last, stride) has; 0 where the stride points the wrong
 * way; -1 where it is 0. */
static int64_t range_len(const int range[3])
{
    int64_t distance = (int64_t)range[1] - range[0];
    if (!range[2])
        return -1;
    return distance && (distance < 0) != (range[2] < 0) ? 0 : distance / range[2] + 1;
}

/* List the ranks of the ranges, which the set then has. Returns how many, or -1 - i
 * where rank *bad of range i is wrong. The list has room for all ranks. */
static int expand(int n, int ranges[][3], struct rank_set *set, int *ranks, int64_t *bad,
                  const char **wrong)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int64_t len = range_len(ranges[i]);
        for (int64_t k = 0; k < len; k++) {
            *bad = ranges[i][0] + k * ranges[i][2];
            *wrong = set_add(set, *bad);
            if (*wrong)
                return -1 - i;
            ranks[count++] = (int)*bad;
        }
    }
    return count;
}

/* MPI_Group_range_incl, and with exclude MPI_Group_range_excl. */
static int choose_ranges(struct group *g, int n, int ranges[][3], bool exclude,
                         MPI_Group *newgroup, const char *function)
{
    struct rank_set set = {0};
    const char *wrong = NULL;
    int64_t bad = 0;
    int *ranks = malloc((size_t)(g->size ? g->size : 1) * sizeof(*ranks));
    if (!ranks || !set_init(&set, g->size)) {
        free(ranks);
        return no_memory(function);
    }
    int count = expand(n, ranges, &set, ranks, &bad, &wrong);
    struct group *made = NULL;
    if (count >= 0)
        made = exclude ? without(g, &set) : group_pick(g, ranks, count);
    free(ranks);
    free(set.bits);
    return count < 0 ? bad_rank(bad, wrong, g, function) : give(made, newgroup, function);
}

static int ranges_wrong(MPI_Group group, int n, int ranges[][3], const MPI_Group *newgroup,
                        const char *function)
{
    if (!group_from(group))
        return bad_group(group, function);
    if (n < 0 || (n > 0 && !ranges) || !newgroup)
        return errh_comm(NULL, MPI_ERR_ARG, function, "n is %d, or an argument is NULL", n);
    for (int i = 0; i < n; i++) {
        if (range_len(ranges[i]) < 0)
            return errh_comm(NULL, MPI_ERR_ARG, function, "the stride of range %d is 0", i);
    }
    return MPI_SUCCESS;
}

/*
 * Make a group of ranges of a group's ranks.
 *
 * n: number of ranges, 0 or more
 * ranges (in): first rank, last rank and stride of each: the ranks first, first + stride, and so
 *   on, not beyond last; the stride may be negative; a range may be empty
 *
 * MPI_ERR_RANK: a range leads to what is no rank of the group, or to one for the second time.
 * MPI_ERR_ARG: a stride is 0, n is negative, or an argument is NULL.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    int rc = ranges_wrong(group, n, ranges, newgroup, __func__);
    if (rc)
        return rc;
    struct group *g = group_from(group);
    int64_t len = n == 1 ? range_len(ranges[0]) : 0;
    int64_t last = len ? ranges[0][0] + (len - 1) * ranges[0][2] : 0;
    /* One range of a range is a range: nothing is listed. */
    if (len && !g->list && ranges[0][0] >= 0 && ranges[0][0] < g->size && last >= 0 &&
        last < g->size)
        return give(group_create_range(&g->gid, g->first + ranges[0][0] * g->stride,
                                       ranges[0][2] * g->stride, (int)len),
                    newgroup, __func__);
    return choose_ranges(g, n, ranges, false, newgroup, __func__);
}

/*
 * Make a group of a group without ranges of its ranks.
 *
 * The others keep their order.
 *
 * n: number of ranges, 0 or more
 * ranges (in): first rank, last rank and stride of each, as of MPI_Group_range_incl
 *
 * MPI_ERR_RANK: a range leads to what is no rank of the group, or to one for the second time.
 * MPI_ERR_ARG: a stride is 0, n is negative, or an argument is NULL.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    int rc = ranges_wrong(group, n, ranges, newgroup, __func__);
    return rc ? rc
              : choose_ranges(group_from(group), n, ranges, true, newgroup, __func__);
}

#include "group.gen.h"
