/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rendezvous: a long message asks first, and its bytes travel once the receive is known. Locked.
 */
#ifndef MPID_RNDV_H
#define MPID_RNDV_H

#include <stdint.h>

#include "include/channel.h"
#include "include/mpid.h"

struct vc;

/* A receive and an RTS have met. from: where the sender's bytes lie; key NULL if no key came. */
void rndv_start(struct mpid_request *request, struct vc *vc, uint64_t total,
                const struct chan_remote *from, uint32_t id);
/* A one-sided operation is over. */
void rndv_got(struct chan_peer *peer, void *cookie, int rc);
/* Let the peer no longer reach the memory of a send that is over. */
void rndv_release(struct mpid_request *request);
/* A sending CAR, which is in no list any more, has brought its bytes to the peer. */
void rndv_finish_send(struct mpid_request *car);
/* Tell the peer that its CAR is over. */
void rndv_send_done(struct vc *vc, uint32_t id, enum mpid_error error);
/* End every receive in rendezvous with this peer in error. */
void rndv_fail(struct vc *vc, enum mpid_error error);

#endif
