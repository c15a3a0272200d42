/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups out of groups. Where the operands are ranges of one world and the result is one too, it is
 * computed without lists. Otherwise the time is proportional to the sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/group.h"

static bool same_world(const struct group *a, const struct group *b)
{
    return !a->ranks && !b->ranks && a->size && b->size && !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

static struct group *shared(struct group *group)
{
    group_ref(group);
    return group;
}

/* ---- runs: ranks first, first + step, ... of a group, step > 0 ---- */

struct rank_run {
    int64_t first, step, count;
};

/* The ranks of a group that a run has; a list stays a list. */
static struct group *only_run(struct group *group, const struct rank_run *run)
{
    if (run->count == group->size)
        return shared(group);
    struct group *made = group_create_range(&group->gid, group->first + run->first * group->stride,
                                            run->step * group->stride, (int)run->count);
    return group_inherit(made, group);
}

/* Whether a range without a run is known at once; then *made is it, or NULL: no memory. */
static bool without_run(struct group *group, const struct rank_run *run, struct group **made)
{
    struct rank_run rest = {0, 1, group->size - run->count};
    if (!run->count || !rest.count) {
        *made = run->count ? group_empty : shared(group);
        return true;
    }
    if (run->step != 1 && run->count > 1)
        return false;
    if (run->first == 0)
        rest.first = run->count;
    else if (run->first + run->count != group->size)
        return false;
    *made = only_run(group, &rest);
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b && (a < 0) != (b < 0));
}

/* The x with a * x = 1 modulo m, or 0 where m is 1; a and m have no common factor. */
static uint64_t inverse(uint64_t a, uint64_t m)
{
    int64_t old = 0, x = 1;
    for (uint64_t high = m, low = a % m; low;) {
        uint64_t times = high / low, left = high % low;
        int64_t next = old - (int64_t)times * x;
        old = x;
        x = next;
        high = low;
        low = left;
    }
    return m == 1 ? 0 : (uint64_t)(old < 0 ? old + (int64_t)m : old);
}

static uint64_t common_factor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t left = a % b;
        a = b;
        b = left;
    }
    return a;
}

/*
 * The run of a's ranks whose processes are in b, both ranges of one world. Rank i of a is process
 * a.first + i * a.stride: it must lie between b's ends, and its distance from b's lower end must
 * be a multiple of b's stride.
 */
static struct rank_run common_run(const struct group *a, const struct group *b)
{
    int64_t last = b->first + (b->size - 1) * b->stride;
    int64_t low = b->first < last ? b->first : last, high = b->first < last ? last : b->first;
    int64_t every = b->stride < 0 ? -b->stride : b->stride;
    int64_t step = a->stride < 0 ? -a->stride : a->stride;
    /* Between the ends: ranks from to to. */
    int64_t near = a->stride > 0 ? low - a->first : a->first - high;
    int64_t far = a->stride > 0 ? high - a->first : a->first - low;
    int64_t from = -floor_div(-near, step), to = floor_div(far, step);
    from = from < 0 ? 0 : from;
    to = to >= a->size ? a->size - 1 : to;
    /* A multiple: i * stride = low - first, modulo every. */
    int64_t factor = (int64_t)common_factor((uint64_t)step, (uint64_t)every);
    if ((low - a->first) % factor || from > to)
        return (struct rank_run){0, 1, 0};
    int64_t modulus = every / factor;
    int64_t distance = a->stride > 0 ? (low - a->first) / factor : (a->first - low) / factor;
    distance = (distance % modulus + modulus) % modulus;
    uint64_t back = inverse((uint64_t)(step / factor), (uint64_t)modulus);
    int64_t one = (int64_t)((uint64_t)distance * back % (uint64_t)modulus);
    int64_t first = from + ((one - from) % modulus + modulus) % modulus;
    if (first > to)
        return (struct rank_run){0, 1, 0};
    return (struct rank_run){first, modulus, (to - first) / modulus + 1};
}

/* ---- sets ---- */

/* The group of a's members that are, or are not, members of b. */
static struct group *filter(struct group *a, const struct group *b, bool members)
{
    int *ranks = malloc((size_t)(a->size ? a->size : 1) * sizeof(*ranks));
    if (!ranks)
        return NULL;
    int n = 0;
    for (int i = 0; i < a->size; i++) {
        struct process process = group_process(a, i);
        if ((group_find(b, &process) != MPI_UNDEFINED) == members)
            ranks[n++] = i;
    }
    struct group *group = group_pick(a, ranks, n);
    free(ranks);
    return group;
}

struct group *group_intersection(struct group *a, struct group *b)
{
    if (!same_world(a, b))
        return filter(a, b, true);
    struct rank_run run = common_run(a, b);
    return only_run(a, &run);
}

struct group *group_difference(struct group *a, struct group *b)
{
    if (same_world(a, b)) {
        struct group *made;
        struct rank_run run = common_run(a, b);
        if (without_run(a, &run, &made))
            return made;
    }
    return filter(a, b, false);
}

bool group_overlap(const struct group *a, const struct group *b)
{
    if (same_world(a, b))
        return common_run(a, b).count > 0;
    for (int i = 0; i < a->size; i++) {
        struct process process = group_process(a, i);
        if (group_find(b, &process) != MPI_UNDEFINED)
            return true;
    }
    return false;
}

/* Two ranges of one world; the second continues where the first ends. */
static bool goes_on(const struct group *a, const struct group *b, int64_t *stride)
{
    if (!same_world(a, b))
        return false;
    *stride = a->size > 1 ? a->stride : b->size > 1 ? b->stride : b->first - a->first;
    return b->first == a->first + a->size * *stride && (b->size == 1 || b->stride == *stride);
}

/* All of a, then all of b. */
static struct group *joined(const struct group *a, const struct group *b)
{
    int64_t stride;
    if (b->size > INT32_MAX - a->size)
        return NULL;
    if (goes_on(a, b, &stride))
        return group_inherit(group_create_range(&a->gid, a->first, stride, a->size + b->size), a);
    struct process *list = malloc(((size_t)a->size + (size_t)b->size) * sizeof(*list));
    if (!list)
        return NULL;
    for (int i = 0; i < a->size; i++)
        list[i] = group_process(a, i);
    for (int i = 0; i < b->size; i++)
        list[a->size + i] = group_process(b, i);
    struct group *group = group_inherit(group_create(list, a->size + b->size), a);
    free(list);
    return group;
}

struct group *group_union(struct group *a, struct group *b)
{
    if (!a->size)
        return shared(b);
    struct group *rest = group_difference(b, a);
    if (!rest)
        return NULL;
    struct group *made = rest->size ? joined(a, rest) : shared(a);
    group_unref(rest);
    return made;
}

/* ---- lists of ranks ---- */

/* A set of ranks, and the least and the greatest. */
struct rank_set {
    uint64_t *bits;
    int size, count, low, high;
};

static bool set_init(struct rank_set *set, int size)
{
    *set = (struct rank_set){calloc((size_t)size / 64 + 1, sizeof(*set->bits)), size, 0, size, -1};
    return set->bits != NULL;
}

static bool set_has(const struct rank_set *set, int rank)
{
    return set->bits[rank / 64] >> (rank % 64) & 1;
}

/* Add a rank. Returns NULL, or the fault. */
static const char *set_add(struct rank_set *set, int64_t rank)
{
    if (rank < 0 || rank >= set->size)
        return "is no rank of the group";
    int r = (int)rank;
    if (set_has(set, r))
        return "is named twice";
    set->bits[r / 64] |= UINT64_C(1) << (r % 64);
    set->count++;
    set->low = r < set->low ? r : set->low;
    set->high = r > set->high ? r : set->high;
    return NULL;
}

/* The ranks of a group that are not in the set. */
static struct group *without(struct group *group, const struct rank_set *set)
{
    struct group *made;
    struct rank_run run = {set->low, 1, set->count};
    bool in_a_row = set->count == set->high - set->low + 1;
    if ((!set->count || (in_a_row && !group->ranks)) && without_run(group, &run, &made))
        return made;
    int *ranks = malloc((size_t)(group->size - set->count + 1) * sizeof(*ranks));
    if (!ranks)
        return NULL;
    int n = 0;
    for (int i = 0; i < group->size; i++)
        if (!set_has(set, i))
            ranks[n++] = i;
    made = group_pick(group, ranks, n);
    free(ranks);
    return made;
}

struct group *group_choose(struct group *from, const int *ranks, int n, bool others,
                           struct group_fault *fault)
{
    struct rank_set set;
    *fault = (struct group_fault){0, NULL};
    if (!set_init(&set, from->size))
        return NULL;
    for (int i = 0; i < n && !fault->wrong; i++) {
        fault->rank = ranks[i];
        fault->wrong = set_add(&set, ranks[i]);
    }
    struct group *made = NULL;
    if (!fault->wrong)
        made = others ? without(from, &set) : group_pick(from, ranks, n);
    free(set.bits);
    return made;
}

/* ---- ranges of ranks ---- */

/* How many ranks a range (first, last, stride) has. 0 where the stride leads away from the last:
 * MPI's rule for the ranks has no meaning there. */
static int64_t range_len(const int range[3])
{
    int64_t distance = (int64_t)range[1] - range[0];
    return distance && (distance < 0) != (range[2] < 0) ? 0 : distance / range[2] + 1;
}

/* Whether the result of choosing one range out of a range, or all others, is known at once; then
 * *made is it, or NULL: no memory. */
static bool chosen_at_once(struct group *from, const int range[3], bool others,
                           struct group **made)
{
    int64_t len = range_len(range), step = range[2];
    int64_t first = range[0], last = first + (len - 1) * step;
    bool inside = first >= 0 && first < from->size && last >= 0 && last < from->size;
    if (from->ranks || !len || !inside)
        return false;
    struct rank_run run = {step > 0 ? first : last, step > 0 ? step : -step, len};
    if (others)
        return without_run(from, &run, made);
    *made = group_inherit(group_create_range(&from->gid, from->first + first * from->stride,
                                             step * from->stride, (int)len),
                          from);
    return true;
}

/* List the ranks of the ranges, and put them into the set. The list has room for all ranks. */
static int expand(int ranges[][3], int n, struct rank_set *set, int *ranks,
                  struct group_fault *fault)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int64_t len = range_len(ranges[i]);
        if (!len) {
            *fault = (struct group_fault){ranges[i][0], "begins a range whose stride leads away "
                                                        "from its last rank"};
            return 0;
        }
        for (int64_t k = 0; k < len; k++) {
            fault->rank = ranges[i][0] + k * ranges[i][2];
            fault->wrong = set_add(set, fault->rank);
            if (fault->wrong)
                return 0;
            ranks[count++] = (int)fault->rank;
        }
    }
    return count;
}

struct group *group_choose_ranges(struct group *from, int ranges[][3], int n, bool others,
                                  struct group_fault *fault)
{
    struct rank_set set = {0};
    struct group *made = NULL;
    *fault = (struct group_fault){0, NULL};
    if (n == 1 && chosen_at_once(from, ranges[0], others, &made))
        return made;
    int *ranks = malloc((size_t)(from->size ? from->size : 1) * sizeof(*ranks));
    if (ranks && set_init(&set, from->size)) {
        int count = expand(ranges, n, &set, ranks, fault);
        if (!fault->wrong)
            made = others ? without(from, &set) : group_pick(from, ranks, count);
    }
    free(ranks);
    free(set.bits);
    return made;
}
