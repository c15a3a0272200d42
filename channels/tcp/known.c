/* SPDX-License-Identifier: BSD-3-Clause */

/* Which HELLOs have been heard; see known.h. */
#include "channels/tcp/known.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/replay.h"

struct known_process {
    struct chan_gid gid;
    uint32_t rank;
    struct os_replay heard;
};

static int compare(const struct known_process *a, const struct wire_hello *b)
{
    int order = memcmp(&a->gid, &b->gid, sizeof(a->gid));
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Where the process of a HELLO stands, or would. */
static size_t position(const struct known *known, const struct wire_hello *hello)
{
    size_t low = 0, high = known->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&known->items[middle], hello) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_room(struct known *known)
{
    if (known->count < known->room)
        return true;
    size_t room = known->room ? 2 * known->room : 8;
    struct known_process *items = realloc(known->items, room * sizeof(*items));
    if (!items)
        return false;
    known->items = items;
    known->room = room;
    return true;
}

int known_take(struct known *known, const struct wire_hello *hello)
{
    size_t at = position(known, hello);
    if (at == known->count || compare(&known->items[at], hello)) {
        if (!has_room(known))
            return -ENOMEM;
        struct known_process *k = &known->items[at];
        memmove(k + 1, k, (known->count++ - at) * sizeof(*k));
        *k = (struct known_process){.gid = hello->gid, .rank = hello->rank};
    }
    return os_replay_take(&known->items[at].heard, hello->number);
}

void known_fini(struct known *known)
{
    free(known->items);
    *known = (struct known){0};
}
