/* SPDX-License-Identifier: BSD-3-Clause */

/* Which messages of which senders have been heard; see heard.h. */
#include "os/heard.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/replay.h"

struct os_heard_item {
    struct os_heard_sender sender;
    struct os_replay numbers;
};

struct os_heard_sender os_heard_sender(const uint8_t group[16], uint32_t number)
{
    struct os_heard_sender sender;
    memcpy(sender.bytes, group, 16);
    memcpy(sender.bytes + 16, &number, sizeof(number));
    return sender;
}

static int compare(const struct os_heard_item *item, const struct os_heard_sender *sender)
{
    return memcmp(item->sender.bytes, sender->bytes, OS_HEARD_LEN);
}

/* Where a sender stands, or would. */
static size_t position(const struct os_heard *heard, const struct os_heard_sender *sender)
{
    size_t low = 0, high = heard->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&heard->items[middle], sender) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_room(struct os_heard *heard)
{
    if (heard->count < heard->room)
        return true;
    size_t room = heard->room ? 2 * heard->room : 8;
    struct os_heard_item *items = realloc(heard->items, room * sizeof(*items));
    if (!items)
        return false;
    heard->items = items;
    heard->room = room;
    return true;
}

int os_heard_take(struct os_heard *heard, const struct os_heard_sender *sender, uint64_t number)
{
    size_t at = position(heard, sender);
    if (at == heard->count || compare(&heard->items[at], sender)) {
        if (!has_room(heard))
            return -ENOMEM;
        struct os_heard_item *item = &heard->items[at];
        memmove(item + 1, item, (heard->count++ - at) * sizeof(*item));
        *item = (struct os_heard_item){.sender = *sender};
    }
    return os_replay_take(&heard->items[at].numbers, number);
}

void os_heard_fini(struct os_heard *heard)
{
    free(heard->items);
    *heard = (struct os_heard){0};
}
