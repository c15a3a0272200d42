/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The receiving side: packets in, receives matched, eager data to their place. Locked.
 */
#ifndef MPID_RECV_H
#define MPID_RECV_H

#include <stddef.h>

#include "include/channel.h"
#include "include/mpid.h"

struct unexpected;
struct vc;

void recv_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                  size_t len);
/* The bytes of a landing will never be complete. */
void recv_fail(struct vc *vc, enum mpid_error error);
/* Free an unexpected message that is in no queue. */
void recv_forget(struct unexpected *unexpected);

#endif
