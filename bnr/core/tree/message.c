/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of effects and of nodes; see message.h. */
#include "bnr/core/tree/message.h"

#include <errno.h>
#include <stdlib.h>

void effects_add(struct effects *e, enum effect_kind kind, uint32_t node,
                 const struct core_message *message)
{
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 16;
        struct effect *items = realloc(e->items, room * sizeof(*items));
        if (!items) {
            e->failed = true;
            return;
        }
        e->items = items;
        e->room = room;
    }
    struct effect *effect = &e->items[e->count++];
    *effect = (struct effect){.kind = kind, .node = node};
    if (message) {
        effect->message = *message;
        bytes_ref(message->data);
    }
}

void effects_clear(struct effects *e)
{
    for (size_t i = 0; i < e->count; i++)
        bytes_unref(e->items[i].message.data);
    e->count = 0;
}

void effects_fini(struct effects *e)
{
    effects_clear(e);
    free(e->items);
    *e = (struct effects){0};
}

int node_list_add(struct node_list *list, uint32_t node)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 8;
        uint32_t *items = realloc(list->items, room * sizeof(*items));
        if (!items)
            return -ENOMEM;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = node;
    return 0;
}

void node_list_fini(struct node_list *list)
{
    free(list->items);
    *list = (struct node_list){0};
}
