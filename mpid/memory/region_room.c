/* SPDX-License-Identifier: BSD-3-Clause */

/* Which parts of a stretch of memory are taken; see region_room.h. */
#include "mpid/memory/region_room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_space(struct region_room *room)
{
    if (room->count < room->space)
        return 0;
    int space = room->space ? 2 * room->space : 8;
    struct region_part *parts = realloc(room->parts, (size_t)space * sizeof(*parts));
    if (!parts)
        return -ENOMEM;
    room->parts = parts;
    room->space = space;
    return 0;
}

int region_room_take(struct region_room *room, uint64_t size, uint64_t *at)
{
    uint64_t begin = 0;
    int i = 0;
    if (!size || size > room->size)
        return -ENOSPC;
    size = (size + REGION_GRAIN - 1) / REGION_GRAIN * REGION_GRAIN;
    while (i < room->count && room->parts[i].at - begin < size) {
        begin = room->parts[i].at + room->parts[i].size;
        i++;
    }
    if (room->size < begin || room->size - begin < size)
        return -ENOSPC;
    int rc = make_space(room);
    if (rc)
        return rc;
    memmove(&room->parts[i + 1], &room->parts[i],
            (size_t)(room->count - i) * sizeof(*room->parts));
    room->parts[i] = (struct region_part){begin, size};
    room->count++;
    *at = begin;
    return 0;
}

void region_room_give(struct region_room *room, uint64_t at)
{
    for (int i = 0; i < room->count; i++) {
        if (room->parts[i].at != at)
            continue;
        room->count--;
        memmove(&room->parts[i], &room->parts[i + 1],
                (size_t)(room->count - i) * sizeof(*room->parts));
        return;
    }
}

void region_room_fini(struct region_room *room)
{
    free(room->parts);
    *room = (struct region_room){.size = room->size};
}
