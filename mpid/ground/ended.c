/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes of any group that have ended; see ended.h. */
#include "mpid/ground/ended.h"

#include <stdlib.h>
#include <string.h>

#include "mpid/ground/life.h"
#include "os/hash.h"

enum { ENDED = 1, FAILED = 2 };

/* Of one group. */
struct ended_group {
    struct chan_gid gid;
    uint8_t *ranks; /* what is known of each, of so many */
    size_t count;
    UT_hash_handle hh;
};

struct failed_process {
    struct chan_gid gid;
    uint32_t rank;
};

static struct ended_group *groups;
static struct failed_process *failed; /* in the order in which that was heard */
static size_t failed_count;

static struct ended_group *find(const struct chan_gid *gid)
{
    struct ended_group *group;
    HASH_FIND(hh, groups, gid, sizeof(*gid), group);
    return group;
}

static struct ended_group *get(const struct chan_gid *gid)
{
    struct ended_group *group = find(gid);
    if (group || !(group = calloc(1, sizeof(*group))))
        return group;
    group->gid = *gid;
    HASH_ADD(hh, groups, gid, sizeof(group->gid), group);
    if (os_hash_has(hh, group))
        return group;
    free(group);
    return NULL;
}

static bool has_room(struct ended_group *group, uint32_t rank)
{
    size_t count = (size_t)rank + 1;
    if (count <= group->count)
        return true;
    if (count < 2 * group->count)
        count = 2 * group->count;
    uint8_t *ranks = realloc(group->ranks, count);
    if (!ranks)
        return false;
    memset(ranks + group->count, 0, count - group->count);
    group->ranks = ranks;
    group->count = count;
    return true;
}

/* Returns whether it is news, and there is memory for it. */
static bool note(const struct chan_gid *gid, uint32_t rank, uint8_t what)
{
    struct ended_group *group = get(gid);
    if (!group || !has_room(group, rank) || group->ranks[rank] & what)
        return false;
    group->ranks[rank] |= what;
    return true;
}

void ended_note(const struct chan_gid *gid, uint32_t rank)
{
    (void)note(gid, rank, ENDED);
}

static bool is_known(const struct chan_gid *gid, uint32_t rank, uint8_t what)
{
    const struct ended_group *group = groups ? find(gid) : NULL;
    return group && rank < group->count && group->ranks[rank] & what;
}

bool ended_has(const struct chan_gid *gid, uint32_t rank)
{
    return is_known(gid, rank, ENDED);
}

bool ended_has_failed(const struct chan_gid *gid, uint32_t rank)
{
    return is_known(gid, rank, FAILED);
}

/* There is room for a power of two. */
bool ended_note_failed(const struct chan_gid *gid, uint32_t rank)
{
    if (!note(gid, rank, FAILED))
        return false;
    if (!(failed_count & (failed_count - 1))) {
        size_t room = failed_count ? 2 * failed_count : 1;
        struct failed_process *more = realloc(failed, room * sizeof(*failed));
        if (!more)
            return true;
        failed = more;
    }
    failed[failed_count++] = (struct failed_process){*gid, rank};
    return true;
}

size_t ended_failed_count(void)
{
    return failed_count;
}

void ended_failed(size_t index, struct chan_gid *gid, uint32_t *rank)
{
    *gid = failed[index].gid;
    *rank = failed[index].rank;
}

static void end(void)
{
    struct ended_group *group, *next;
    HASH_ITER(hh, groups, group, next) {
        HASH_DEL(groups, group);
        free(group->ranks);
        free(group);
    }
    free(failed);
    failed = NULL;
    failed_count = 0;
}

const struct life ended_life = {.end = end};
