/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The links of a node to its neighbours in the routing tree: the parent and the children.
 *
 *     WANTED --made--> UP --broken--> WANTED
 *        |              |
 *        +--refused-----+--silent--> the neighbour is lost
 *
 * Both ends make a link, since a firewall may stand in the way of one; the first is kept. So no
 * address that does not answer is a loss, but silence is, and that nobody is there.
 */
#ifndef BNR_LINKS_H
#define BNR_LINKS_H

#include "bnr/core/tree/message.h"

enum links_state {
    LINK_WANTED,
    LINK_UP
};

enum link_event {
    LINK_MADE,    /* it can carry messages; also a new one in place of the present one */
    LINK_BROKEN,  /* it carries none any more; what it carried last may be lost */
    LINK_REFUSED, /* nobody listens there, and for a second none has come from there */
    LINK_SILENT,  /* nothing has been heard for the time of liveness.h */
    LINK_EVENT_END
};

enum link_action {
    LINK_NOTHING,
    LINK_GREET,   /* send the first messages of a link */
    LINK_CONNECT, /* make it */
    LINK_LOSE,    /* the neighbour is lost */
};

struct link_entry {
    uint32_t node;
    enum links_state state;
};

struct links {
    struct link_entry *items; /* the parent, if any, and the children */
    size_t count;
};

void links_fini(struct links *l);

/* Replace the neighbours; those that stay keep their state. Appends the new ones to come, and the
 * removed ones to gone. Returns 0 or -ENOMEM. */
int links_replace(struct links *l, const struct node_list *neighbours, struct node_list *come,
                  struct node_list *gone);

bool links_has(const struct links *l, uint32_t node);
bool links_is_up(const struct links *l, uint32_t node);

/* Move on. Events of nodes that are no neighbours change nothing. */
enum link_action links_event(struct links *l, uint32_t node, enum link_event event);

#endif
