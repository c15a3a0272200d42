/* SPDX-License-Identifier: BSD-3-Clause */

/* Bytes by offset; see byte_ring.h. */
#include "bnr/core/stream/byte_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROOM_MIN = 1 << 10
};

void byte_ring_fini(struct byte_ring *r)
{
    free(r->at);
    *r = (struct byte_ring){0};
}

static int grow(struct byte_ring *r, size_t need)
{
    size_t room = r->room ? r->room : ROOM_MIN;
    while (room < need)
        room *= 2;
    if (room == r->room)
        return 0;
    uint8_t *at = malloc(room);
    if (!at)
        return -ENOMEM;
    for (uint64_t from = r->tail; from < r->head;) {
        size_t first = room - (size_t)(from & (room - 1)), left = (size_t)(r->head - from);
        size_t n = first < left ? first : left;
        byte_ring_copy(r, from, at + (from & (room - 1)), n);
        from += n;
    }
    free(r->at);
    r->at = at;
    r->room = room;
    return 0;
}

int byte_ring_put(struct byte_ring *r, const void *data, size_t len)
{
    if (!len)
        return 0;
    if (grow(r, (size_t)(r->head - r->tail) + len))
        return -ENOMEM;
    size_t at = (size_t)(r->head & (r->room - 1));
    size_t first = r->room - at < len ? r->room - at : len;
    memcpy(r->at + at, data, first);
    memcpy(r->at, (const uint8_t *)data + first, len - first);
    r->head += len;
    return 0;
}

void byte_ring_drop(struct byte_ring *r, uint64_t below)
{
    if (below > r->tail)
        r->tail = below;
    if (r->tail < r->head || r->room <= ROOM_MIN)
        return;
    free(r->at);
    r->at = NULL;
    r->room = 0;
}

void byte_ring_copy(const struct byte_ring *r, uint64_t from, uint8_t *to, size_t len)
{
    if (!len)
        return;
    size_t at = (size_t)(from & (r->room - 1));
    size_t first = r->room - at < len ? r->room - at : len;
    memcpy(to, r->at + at, first);
    memcpy(to + first, r->at, len - first);
}
