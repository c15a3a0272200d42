/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups never change once they are made, except for tables that are made on demand and then
 * stay. A thread that makes a table second throws its own away.
 */
#include "mpi/comm/group.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/store.h"
#include "os/memory/zeroes.h"

static struct store store = {.lock = OS_LOCK_INIT};
static struct process me;
static struct group empty = {.object = {OBJECT_GROUP, 1}, .rank = MPI_UNDEFINED, .stride = 1};
struct group *group_empty = &empty;

void group_init(const struct process *self)
{
    me = *self;
}

struct process group_me(void)
{
    return me;
}

struct group *group_from(MPI_Group handle)
{
    if (handle_is_constant(handle))
        return handle == MPI_GROUP_EMPTY ? group_empty : NULL;
    struct group *group = (struct group *)handle;
    bool good = handle_leads_to(handle, OBJECT_GROUP) &&
                atomic_load_explicit(&group->given, memory_order_relaxed) > 0;
    return good ? group : NULL;
}

MPI_Group group_give(struct group *group)
{
    if (group == group_empty)
        return MPI_GROUP_EMPTY;
    handle_given(&group->given);
    return (MPI_Group)group;
}

void group_take_back(struct group *group)
{
    if (group != group_empty && handle_taken_back(&group->given))
        group_unref(group);
}

void group_ref(struct group *group)
{
    if (group != group_empty)
        object_ref(&group->object);
}

static size_t vcs_size(const struct group *group)
{
    return (size_t)group->size * sizeof(struct vc *);
}

void group_unref(struct group *group)
{
    if (!group || group == group_empty || !object_unref(&group->object))
        return;
    free(group->ranks);
    free(group->gids);
    free(atomic_load(&group->index));
    free(atomic_load(&group->hosts));
    struct vc **vcs = atomic_load(&group->vcs);
    for (int i = 0; i < group->used_count; i++)
        mpid_vc_put(vcs[group->used[i]]);
    free(group->used);
    os_zeroes_put(vcs, vcs_size(group));
    store_free(&store, group);
}

static bool same_gid(const struct mpid_gid *a, const struct mpid_gid *b)
{
    return !memcmp(a, b, sizeof(*a));
}

static bool same_process(const struct process *a, const struct process *b)
{
    return a->rank == b->rank && same_gid(&a->gid, &b->gid);
}

struct group *group_create_range(const struct mpid_gid *gid, int64_t first, int64_t stride,
                                 int size)
{
    if (size == 0)
        return group_empty;
    struct group *group = store_make(&store, sizeof(*group), OBJECT_GROUP);
    if (!group)
        return NULL;
    group->size = size;
    group->gid = *gid;
    group->first = first;
    group->stride = size > 1 ? stride : 1;
    group->rank = group_find(group, &me);
    return group;
}

static struct group *create_list(const struct process *list, int size)
{
    bool several = false;
    for (int i = 1; !several && i < size; i++)
        several = !same_gid(&list[i].gid, &list[0].gid);
    uint32_t *ranks = malloc((size_t)size * sizeof(*ranks));
    struct mpid_gid *gids = several ? malloc((size_t)size * sizeof(*gids)) : NULL;
    struct group *group = ranks && (gids || !several) ? store_make(&store, sizeof(*group), OBJECT_GROUP) : NULL;
    if (!group) {
        free(ranks);
        free(gids);
        return NULL;
    }
    group->size = size;
    group->gid = list[0].gid;
    group->ranks = ranks;
    group->gids = gids;
    group->rank = MPI_UNDEFINED;
    for (int i = size - 1; i >= 0; i--) {
        ranks[i] = list[i].rank;
        if (several)
            gids[i] = list[i].gid;
        if (same_process(&list[i], &me))
            group->rank = i;
    }
    return group;
}

struct group *group_create(const struct process *list, int size)
{
    if (size == 0)
        return group_empty;
    int64_t first = list[0].rank;
    int64_t stride = size > 1 ? (int64_t)list[1].rank - first : 1;
    bool range = stride != 0;
    for (int i = 1; range && i < size; i++)
        range = list[i].rank == first + i * stride && same_gid(&list[i].gid, &list[0].gid);
    if (range)
        return group_create_range(&list[0].gid, first, stride, size);
    return create_list(list, size);
}

struct group *group_pick(struct group *from, const int *ranks, int size)
{
    int64_t step = size > 1 ? (int64_t)ranks[1] - ranks[0] : 1;
    bool regular = step != 0;
    for (int i = 1; regular && i < size; i++)
        regular = ranks[i] == ranks[0] + i * step;
    if (size && size == from->size && ranks[0] == 0 && regular && step == 1) {
        group_ref(from);
        return from;
    }
    if (!from->ranks && regular && size)
        return group_inherit(group_create_range(&from->gid, from->first + ranks[0] * from->stride,
                                                step * from->stride, size),
                             from);
    struct process *list = malloc((size_t)(size ? size : 1) * sizeof(*list));
    if (!list)
        return NULL;
    for (int i = 0; i < size; i++)
        list[i] = group_process(from, ranks[i]);
    struct group *group = group_inherit(group_create(list, size), from);
    free(list);
    return group;
}

struct vc **group_vcs(struct group *group)
{
    struct vc **vcs = atomic_load_explicit(&group->vcs, memory_order_acquire);
    if (vcs)
        return vcs;
    size_t size = vcs_size(group);
    vcs = os_zeroes_get(size);
    if (!vcs)
        return NULL;
    struct vc **before = NULL;
    if (atomic_compare_exchange_strong(&group->vcs, &before, vcs))
        return vcs;
    os_zeroes_put(vcs, size);
    return before;
}

/* Note that a member's entry is filled. Returns whether there is memory for that. */
static bool note_used(struct group *group, int rank)
{
    if (group->used_count == group->used_room) {
        int room = group->used_room ? 2 * group->used_room : 4;
        int *used = realloc(group->used, (size_t)room * sizeof(*used));
        if (!used)
            return false;
        group->used = used;
        group->used_room = room;
    }
    group->used[group->used_count++] = rank;
    return true;
}

struct vc *group_vc(struct group *group, int rank)
{
    struct vc **entry = &group_vcs(group)[rank], *spare = NULL;
    struct process process = group_process(group, rank);
    struct vc *vc = mpid_vc_get(&process.gid, process.rank);
    if (!vc)
        return NULL;
    os_lock_slow(&group->vcs_lock);
    if (*entry || !note_used(group, rank))
        spare = vc; /* another thread was first, or there is no memory */
    else
        __atomic_store_n(entry, vc, __ATOMIC_RELEASE);
    vc = *entry;
    os_unlock_slow(&group->vcs_lock);
    if (spare)
        mpid_vc_put(spare);
    return vc;
}

int group_keep_others(struct group *group)
{
    if (!mpid_knows_others() || (!group->gids && same_gid(&group->gid, &me.gid)))
        return 0;
    for (int i = 0; i < group->size; i++) {
        struct process process = group_process(group, i);
        if (!same_gid(&process.gid, &me.gid) && (!group_vcs(group) || !group_vc(group, i)))
            return -1;
    }
    return 0;
}

int group_order(const struct process *a, const struct process *b)
{
    int gids = memcmp(&a->gid, &b->gid, sizeof(a->gid));
    return gids ? gids : (a->rank > b->rank) - (a->rank < b->rank);
}

/* ---- finding a process ---- */

/*
 * The index of a list: a hash table with a power of two of places, twice the group's size at
 * least, each with a rank + 1 or 0. A process is at its own place or the next ones.
 */
static size_t index_places(const struct group *group)
{
    size_t places = 2;
    while (places < 2 * (size_t)group->size)
        places *= 2;
    return places;
}

static size_t place_of(const struct process *process, size_t places)
{
    uint64_t gid;
    memcpy(&gid, process->gid.b, sizeof(gid));
    uint64_t mixed = (gid ^ process->rank) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed ^ mixed >> 32) & (places - 1);
}

/* NULL: no memory. */
static const int *index_of(const struct group *group, size_t places)
{
    int *index = atomic_load_explicit(&group->index, memory_order_acquire);
    if (index)
        return index;
    index = calloc(places, sizeof(*index));
    if (!index)
        return NULL;
    for (int i = 0; i < group->size; i++) {
        struct process process = group_process(group, i);
        size_t at = place_of(&process, places);
        while (index[at])
            at = (at + 1) & (places - 1);
        index[at] = i + 1;
    }
    int *before = NULL;
    if (atomic_compare_exchange_strong(&((struct group *)(uintptr_t)group)->index, &before, index))
        return index;
    free(index);
    return before;
}

static bool has_at(const struct group *group, int i, const struct process *process)
{
    struct process member = group_process(group, i);
    return same_process(&member, process);
}

static int find_in_list(const struct group *group, const struct process *process)
{
    size_t places = index_places(group);
    const int *index = index_of(group, places);
    if (!index) { /* no memory: slowly, then */
        for (int i = 0; i < group->size; i++)
            if (has_at(group, i, process))
                return i;
        return MPI_UNDEFINED;
    }
    for (size_t at = place_of(process, places); index[at]; at = (at + 1) & (places - 1))
        if (has_at(group, index[at] - 1, process))
            return index[at] - 1;
    return MPI_UNDEFINED;
}

int group_find(const struct group *group, const struct process *process)
{
    if (group->ranks)
        return find_in_list(group, process);
    if (!group->size || !same_gid(&group->gid, &process->gid))
        return MPI_UNDEFINED;
    int64_t distance = (int64_t)process->rank - group->first;
    if (distance % group->stride)
        return MPI_UNDEFINED;
    int64_t i = distance / group->stride;
    return i >= 0 && i < group->size ? (int)i : MPI_UNDEFINED;
}

/* Two ranges of one size and world. Where the strides differ only in sign, one is the other
 * reversed if it starts where the other ends. */
static int compare_ranges(const struct group *a, const struct group *b)
{
    if (a->first == b->first && a->stride == b->stride)
        return MPI_IDENT;
    bool turned = a->stride == -b->stride && b->first == a->first + (a->size - 1) * a->stride;
    return turned ? MPI_SIMILAR : MPI_UNEQUAL;
}

int group_compare(const struct group *a, const struct group *b)
{
    if (a == b)
        return MPI_IDENT;
    if (a->size != b->size)
        return MPI_UNEQUAL;
    if (!a->size)
        return MPI_IDENT;
    if (!a->ranks && !b->ranks && same_gid(&a->gid, &b->gid))
        return compare_ranges(a, b);
    int result = MPI_IDENT;
    for (int i = 0; i < a->size; i++) {
        struct process process = group_process(a, i), other = group_process(b, i);
        if (same_process(&process, &other))
            continue;
        result = MPI_SIMILAR;
        if (group_find(b, &process) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
    }
    return result;
}

/* ---- as bytes ---- */

struct image {
    struct mpid_gid gid;
    int64_t first, stride;
    int32_t size;
    uint32_t listed; /* struct process [size] follow */
};

void *group_pack(const struct group *group, size_t *len)
{
    size_t list_len = group->ranks ? (size_t)group->size * sizeof(struct process) : 0;
    char *bytes = malloc(sizeof(struct image) + list_len);
    if (!bytes)
        return NULL;
    struct image image = {group->gid, (int64_t)htobe64((uint64_t)group->first), (int64_t)htobe64((uint64_t)group->stride),
                          (int32_t)htobe32((uint32_t)group->size), htobe32(group->ranks != NULL)};
    memcpy(bytes, &image, sizeof(image));
    for (int i = 0; list_len && i < group->size; i++) {
        struct process process = group_process(group, i);
        process.rank = htobe32(process.rank);
        memcpy(bytes + sizeof(image) + (size_t)i * sizeof(process), &process, sizeof(process));
    }
    *len = sizeof(image) + list_len;
    return bytes;
}

static bool is_rank(int64_t rank)
{
    return rank >= 0 && rank <= UINT32_MAX;
}

struct group *group_unpack(const void *bytes, size_t *len)
{
    struct image image;
    size_t rest = *len - sizeof(image);
    bool good = *len >= sizeof(image);
    if (good) {
        memcpy(&image, bytes, sizeof(image));
        image = (struct image){image.gid, (int64_t)be64toh((uint64_t)image.first), (int64_t)be64toh((uint64_t)image.stride),
                               (int32_t)be32toh((uint32_t)image.size), be32toh(image.listed)};
        int64_t span = 0;
        if (image.listed)
            good = image.size > 0 && rest == (size_t)image.size * sizeof(struct process);
        else
            good = image.size >= 0 && !rest && is_rank(image.first) &&
                   (image.size < 2 || image.stride != 0) &&
                   !__builtin_mul_overflow((int64_t)image.size - 1, image.stride, &span) &&
                   span <= UINT32_MAX && span >= -(int64_t)UINT32_MAX &&
                   (!image.size || is_rank(image.first + span));
    }
    if (!good) {
        *len = 0;
        return NULL;
    }
    if (!image.listed)
        return group_create_range(&image.gid, image.first, image.stride, image.size);
    struct process *list = malloc(rest);
    if (!list)
        return NULL;
    memcpy(list, (const char *)bytes + sizeof(image), rest);
    for (int i = 0; i < image.size; i++)
        list[i].rank = be32toh(list[i].rank);
    struct group *group = group_create(list, image.size);
    free(list);
    return group;
}
