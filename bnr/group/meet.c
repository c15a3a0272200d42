/* SPDX-License-Identifier: BSD-3-Clause */

/* What the roots of two groups tell each other; see meet.h. */
#include "bnr/group/meet.h"

#include <stdlib.h>
#include <string.h>

#include "os/be.h"

static const uint8_t magic[8] = "VireoGr1";

enum { GID = 16, FIXED = 16 + 3 * GID, PART = GID + 4 };

size_t meet_len(const struct meet *m)
{
    return FIXED + strlen(m->door) + (size_t)m->part_count * PART;
}

void meet_put(const struct meet *m, uint8_t *at)
{
    size_t door = strlen(m->door);
    memcpy(at, magic, sizeof(magic));
    os_be32_put(at + 8, (uint32_t)m->why << 24 | (uint32_t)m->relation << 16 | (uint32_t)door);
    os_be32_put(at + 12, (uint32_t)m->part_count);
    memcpy(at + 16, m->gid.b, GID);
    memcpy(at + 16 + GID, m->wanted.b, GID);
    memcpy(at + 16 + 2 * GID, m->proposal.b, GID);
    memcpy(at + FIXED, m->door, door);
    at += FIXED + door;
    for (int i = 0; i < m->part_count; i++, at += PART) {
        memcpy(at, m->part[i].gid.b, GID);
        os_be32_put(at + GID, (uint32_t)m->part[i].size);
    }
}

static bool read_parts(struct meet *m, const uint8_t *at)
{
    for (int i = 0; i < m->part_count; i++, at += PART) {
        uint32_t size = os_be32_get(at + GID);
        if (!size || size > MEET_SIZE_MAX || m->size + (int)size > MEET_SIZE_MAX)
            return false;
        memcpy(m->part[i].gid.b, at, GID);
        m->part[i].size = (int)size;
        m->size += (int)size;
    }
    return true;
}

int meet_get(struct meet *m, const uint8_t *at, size_t len)
{
    *m = (struct meet){0};
    if (len < FIXED || memcmp(at, magic, sizeof(magic)) != 0)
        return BNR_ERR_PROTO;
    uint32_t kinds = os_be32_get(at + 8), parts = os_be32_get(at + 12), door = kinds & 0xffff;
    m->why = (enum meet_why)(kinds >> 24);
    m->relation = (enum meet_relation)(kinds >> 16 & 0xff);
    if (m->why < MEET_MERGE || m->why > MEET_CONNECT || m->relation > MEET_SPAWNED || door > MEET_DOOR_MAX || !parts ||
        parts > MEET_PARTS_MAX || len != FIXED + door + (size_t)parts * PART || memchr(at + FIXED, 0, door))
        return BNR_ERR_PROTO;
    memcpy(m->gid.b, at + 16, GID);
    memcpy(m->wanted.b, at + 16 + GID, GID);
    memcpy(m->proposal.b, at + 16 + 2 * GID, GID);
    memcpy(m->door, at + FIXED, door);
    m->part = calloc(parts, sizeof(*m->part));
    if (!m->part)
        return BNR_ERR_NOMEM;
    m->part_count = (int)parts;
    if (read_parts(m, at + FIXED + door))
        return BNR_SUCCESS;
    meet_fini(m);
    return BNR_ERR_PROTO;
}

void meet_fini(struct meet *m)
{
    free(m->part);
    m->part = NULL;
    m->part_count = 0;
}

static int compare(const BNR_Gid *a, const BNR_Gid *b)
{
    return memcmp(a->b, b->b, GID);
}

static bool wants(const struct meet *m, const struct meet *other)
{
    static const BNR_Gid any;
    return m->why == MEET_CONNECT ? !compare(&m->wanted, &any) : !compare(&m->wanted, &other->gid);
}

static int by_gid(const void *a, const void *b)
{
    return compare(&((const struct meet_part *)a)->gid, &((const struct meet_part *)b)->gid);
}

/* Whether some processes are in both, or memory is out. */
static bool overlaps(const struct meet *own, const struct meet *other)
{
    size_t count = (size_t)own->part_count;
    struct meet_part *sorted = malloc(count * sizeof(*sorted));
    bool found = !sorted;
    if (sorted) {
        memcpy(sorted, own->part, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), by_gid);
    }
    for (int i = 0; !found && i < other->part_count; i++)
        found = bsearch(&other->part[i], sorted, count, sizeof(*sorted), by_gid) != NULL;
    free(sorted);
    return found;
}

int meet_join(const struct meet *own, const struct meet *other, BNR_Gid *gid, bool *other_first)
{
    static const enum meet_relation match[] = {MEET_STRANGER, MEET_SPAWNED, MEET_SPAWNER};
    if (own->why != other->why || other->relation != match[own->relation] || !wants(own, other) || !wants(other, own))
        return BNR_ERR_MISMATCH;
    if (!compare(&own->gid, &other->gid) || own->size > MEET_SIZE_MAX - other->size ||
        own->part_count > MEET_PARTS_MAX - other->part_count || overlaps(own, other))
        return BNR_ERR_ARG;
    *other_first = own->relation == MEET_STRANGER ? compare(&other->gid, &own->gid) < 0 : own->relation == MEET_SPAWNED;
    *gid = *other_first ? other->proposal : own->proposal;
    return BNR_SUCCESS;
}
