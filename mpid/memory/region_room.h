/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Room: which parts of a stretch of memory are taken. A part begins at a multiple of REGION_GRAIN.
 * It knows numbers alone, and touches no memory of the stretch. The caller's lock guards it.
 */
#ifndef MPID_REGION_ROOM_H
#define MPID_REGION_ROOM_H

#include <stddef.h>
#include <stdint.h>

enum { REGION_GRAIN = 4096 };

struct region_part {
    uint64_t at, size;
};

/* All zero but size: nothing is taken. */
struct region_room {
    uint64_t size;           /* of the stretch */
    struct region_part *parts; /* that are taken, in order */
    int count, space;
};

/* Take the first part that is free and large enough. Returns 0 and its offset, -ENOSPC or
 * -ENOMEM. */
int region_room_take(struct region_room *room, uint64_t size, uint64_t *at);
/* Give a part back that begins here. */
void region_room_give(struct region_room *room, uint64_t at);
void region_room_fini(struct region_room *room);

#endif
