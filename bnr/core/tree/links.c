/* SPDX-License-Identifier: BSD-3-Clause */

/* Links to neighbours; see links.h. */
#include "bnr/core/tree/links.h"

#include <errno.h>
#include <stdlib.h>

struct links_transition {
    enum links_state to;
    enum link_action action;
};

static const struct links_transition transitions[][LINK_EVENT_END] = {
    [LINK_WANTED] = {[LINK_MADE] = {LINK_UP, LINK_GREET},
                     [LINK_BROKEN] = {LINK_WANTED, LINK_NOTHING},
                     [LINK_REFUSED] = {LINK_WANTED, LINK_LOSE},
                     [LINK_SILENT] = {LINK_WANTED, LINK_LOSE}},
    [LINK_UP] = {[LINK_MADE] = {LINK_UP, LINK_GREET},
                 [LINK_BROKEN] = {LINK_WANTED, LINK_CONNECT},
                 [LINK_REFUSED] = {LINK_UP, LINK_NOTHING}, /* of the way not taken */
                 [LINK_SILENT] = {LINK_WANTED, LINK_LOSE}},
};

void links_fini(struct links *l)
{
    free(l->items);
    *l = (struct links){0};
}

static struct link_entry *find(const struct links *l, uint32_t node)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].node == node)
            return &l->items[i];
    return NULL;
}

static bool has_node(const struct node_list *list, uint32_t node)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == node)
            return true;
    return false;
}

int links_replace(struct links *l, const struct node_list *neighbours, struct node_list *come,
                  struct node_list *gone)
{
    struct link_entry *items = calloc(neighbours->count + 1, sizeof(*items));
    int rc = items ? 0 : -ENOMEM;
    for (size_t i = 0; !rc && i < l->count; i++)
        if (!has_node(neighbours, l->items[i].node))
            rc = node_list_add(gone, l->items[i].node);
    for (size_t i = 0; !rc && i < neighbours->count; i++) {
        const struct link_entry *known = find(l, neighbours->items[i]);
        items[i] = known ? *known : (struct link_entry){neighbours->items[i], LINK_WANTED};
        if (!known)
            rc = node_list_add(come, neighbours->items[i]);
    }
    if (rc) {
        free(items);
        return rc;
    }
    free(l->items);
    l->items = items;
    l->count = neighbours->count;
    return 0;
}

bool links_has(const struct links *l, uint32_t node)
{
    return find(l, node) != NULL;
}

bool links_is_up(const struct links *l, uint32_t node)
{
    const struct link_entry *entry = find(l, node);
    return entry && entry->state == LINK_UP;
}

enum link_action links_event(struct links *l, uint32_t node, enum link_event event)
{
    struct link_entry *entry = find(l, node);
    if (!entry)
        return LINK_NOTHING;
    const struct links_transition *t = &transitions[entry->state][event];
    entry->state = t->to;
    return t->action;
}
