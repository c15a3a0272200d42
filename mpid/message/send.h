/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sending side: eager at once if possible, otherwise a queue on the VC. Locked.
 */
#ifndef MPID_SEND_H
#define MPID_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"

struct vc;

/* Hand over the waiting packets of a VC. Returns whether anything moved. */
bool send_drain(struct vc *vc);
/* The same of all that are busy; those that nobody needs are freed. */
bool send_drain_busy(void);
/* The channel has read the bytes of a pending packet. */
void send_sent(struct vc *vc, struct mpid_request *request);
/* End every send of a VC in error. */
void send_fail(struct vc *vc, enum mpid_error error);
/* The peer receives nothing any more: end in error what it has not matched. */
void send_unwanted(struct vc *vc);
/* Ask the peer to forget a message that it has not matched. */
void send_ask_cancel(struct mpid_request *request);
/* End what in this context waits to be sent, and take back what the peer has not matched. */
void send_fail_context(uint32_t context);
/* Take a waiting send out of its queue. */
void send_unqueue(struct mpid_request *request);

#endif
