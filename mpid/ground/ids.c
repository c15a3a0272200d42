/* SPDX-License-Identifier: BSD-3-Clause */

/* Names for requests; see ids.h. */
#include "mpid/ground/ids.h"

#include <stdlib.h>

enum { INDEX_BITS = 24 };

static int grow(struct ids *ids)
{
    uint32_t count = ids->count ? ids->count * 2 : 64;
    if (ids->count >= IDS_MAX)
        return -1;
    if (count > IDS_MAX)
        count = IDS_MAX;
    struct id_slot *slots = realloc(ids->slots, count * sizeof(*slots));
    if (!slots)
        return -1;
    for (uint32_t i = ids->count; i < count; i++)
        slots[i] = (struct id_slot){.next = i + 1};
    ids->slots = slots;
    ids->free = ids->count;
    ids->count = count;
    return 0;
}

uint32_t ids_new(struct ids *ids, struct mpid_request *request)
{
    if (ids->free == ids->count && grow(ids))
        return 0;
    uint32_t index = ids->free;
    struct id_slot *slot = &ids->slots[index];
    ids->free = slot->next;
    slot->request = request;
    return (uint32_t)slot->generation << INDEX_BITS | (index + 1);
}

struct mpid_request *ids_find(const struct ids *ids, uint32_t id)
{
    uint32_t index = (id & ((1u << INDEX_BITS) - 1)) - 1;
    if (index >= ids->count || ids->slots[index].generation != id >> INDEX_BITS)
        return NULL;
    return ids->slots[index].request;
}

void ids_drop(struct ids *ids, uint32_t id)
{
    if (!ids_find(ids, id))
        return;
    uint32_t index = (id & ((1u << INDEX_BITS) - 1)) - 1;
    struct id_slot *slot = &ids->slots[index];
    slot->request = NULL;
    slot->generation++;
    slot->next = ids->free;
    ids->free = index;
}

void ids_fini(struct ids *ids)
{
    free(ids->slots);
    *ids = (struct ids){0};
}
