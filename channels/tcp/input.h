/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The way in, without I/O: where the next bytes of a link shall go, and what
 * to do once they are there. The bytes are a peer's, and hostile.
 */
#ifndef TCP_INPUT_H
#define TCP_INPUT_H

#include <stddef.h>
#include <sys/uio.h>

struct tcp_link;

/* Name the places for the next bytes: a part of a long body; or the rest of it, then the read-ahead
 * buffer.
 * Returns their count, 1 or 2; each has room. 0: no memory. */
int input_offer(struct tcp_link *link, struct iovec iov[2]);
/* Give the read-ahead buffer back, with its bytes. */
void input_release(struct tcp_link *link);

/* Account for got bytes that input_offer()'s places have taken, and hand over each packet
 * that is complete. Returns the number of upcalls; any of them may have ended the link. */
int input_take(struct tcp_link *link, size_t got);

#endif
