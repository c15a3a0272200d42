/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A process with many connections lets idle ones go: after talking to thousands of peers it holds
 * the connections in use.
 *
 * Links of one channel count, those that are scarce (include/channel.h). While there are more than
 * the setting connections_most says, idle_look() goes through the VCs whose links stand, from those
 * that were used longest ago, and asks the peer to let one go that has carried no message for
 * connections_idle_ms; leave.h has the rules. Only counts that are there anyway are compared, so
 * sending and receiving pay nothing.
 *
 * Not so where the process manager tells of no deaths: there a link that breaks is how a death is
 * found. The device's lock guards everything.
 */
#ifndef MPID_IDLE_H
#define MPID_IDLE_H

#include <stdbool.h>

struct vc;

/* Let go what may go; called now and then while there are too many. */
void idle_look(void);
/* Ask the peer to let the link go, if that is idle. Returns whether it was asked. */
bool idle_leave(struct vc *vc);

#endif
