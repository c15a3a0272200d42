/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Our side of making a link: a race of connects to every address of a card, a
 * little staggered. The first whose peer proves that it is the one we mean
 * wins, and the others are hung up.
 *
 * A network may let connections through in one direction alone. The link's stage tells the device
 * how far the race has come, so that it asks the peer to dial too; until our proof is sent the
 * peer's connection takes the link, whoever it is that would win otherwise.
 */
#ifndef TCP_DIAL_H
#define TCP_DIAL_H

#include "channels/tcp/addr.h"
#include "channels/tcp/tcp.h"

struct tcp_link;

/* Begin for link; same_host: the peer is on ours. Returns 0 or -errno. */
int dial_start(struct tcp *tcp, struct tcp_link *link, const struct addr_list *addresses,
               bool same_host);
/* How far it has come. */
enum chan_stage dial_stage(const struct dial *dial);
/* Forget about it: the link has got its connection another way, or ends. */
void dial_stop(struct dial *dial);
/* In a forked child: close the descriptors of all. */
void dial_forked(struct tcp *tcp);

/* Each returns the number of upcalls. */
int dial_event(struct tcp *tcp, struct tcp_sock *sock);
int dial_tick(struct tcp *tcp, uint64_t now_ns);
/* When dial_tick() is to be called next. */
uint64_t dial_next(const struct tcp *tcp);

#endif
