/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The connection of a process to the door of its job (bnr/streams/door.h): messages of the hub both
 * ways, and descriptors to the door.
 */
#ifndef BNR_DOOR_LINK_H
#define BNR_DOOR_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "bnr/host/door_address.h"
#include "bnr/wire/hub_frame.h"

struct door_link {
    int fd; /* -1: there is none */
    uint8_t *in;
    size_t in_len, in_at;
};

/* Connect to the door of process pid, which must be there in its own name, of our user or root's,
 * and send the request. Returns 0 or -errno. */
int door_link_open(struct door_link *link, enum door_kind kind, int pid, enum door_wish wish);
void door_link_close(struct door_link *link);

/* Send a message, with a descriptor (-1: none). Waits while the door reads slowly. Returns 0 or
 * -errno. */
int door_link_send(struct door_link *link, const struct hub_message *m, int fd);

/* The next message that has come; waits up to timeout_ms (-1: for ever). Its data is valid until
 * the next call. Returns 1, 0 if none has come, or -errno if the connection is lost. */
int door_link_next(struct door_link *link, struct hub_message *m, int timeout_ms);

#endif
