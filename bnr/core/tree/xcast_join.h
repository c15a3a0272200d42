/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Long xcasts come in parts, which are numbered and passed on as messages of their own: so a relay
 * passes on the first while the last is still on its way. The parts of one origin come in order.
 * All but the last are flagged MESSAGE_MORE, and kept here until that comes.
 */
#ifndef BNR_XCAST_JOIN_H
#define BNR_XCAST_JOIN_H

#include "bnr/core/tree/message.h"

enum {
    XCAST_DATA_MAX = 256 << 20, /* of a whole message, with its addresses */
    XCAST_PARTS_MAX = 256       /* of one: far fewer than the messages that may be under way */
};

struct xcast_join; /* the parts of one origin */

/* Take the next part of its origin's message; len bytes at its end are payload, the others
 * addresses. *whole: the message's addresses and payload, with a reference; NULL where more is to
 * come. Returns 0, -EPROTO (longer than any message) or -ENOMEM. */
int xcast_join_take(struct xcast_join **all, const struct core_message *part, size_t len,
                    struct bytes **whole);

/* The origin is lost: the rest will not come. */
void xcast_join_forget(struct xcast_join **all, uint32_t origin);

void xcast_join_fini(struct xcast_join **all);

#endif
