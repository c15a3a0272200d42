/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The listening port, and the strangers who have come to it.
 *
 *   accepted --HELLO--> greeted --PROOF--> proven --asked()--> a link, or an answer
 *
 * A stranger who says anything wrong, or nothing for long, is hung up on. Those
 * who have said nothing right yet are few: the oldest makes room for the next, once it is
 * seen that nothing of it has come. A HELLO may be overheard, and said again: of those who are
 * greeted few are kept for each process, and not many in all, the newest ones.
 */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "channels/tcp/addr.h"
#include "channels/tcp/tcp.h"

/* Listen on a port of the system's choice, on every address, or on only where it is not
 * NULL. Returns 0 or -errno. */
int listen_open(struct tcp *tcp, const union addr *only);
void listen_close(struct tcp *tcp);
/* In a forked child: close the descriptors. */
void listen_forked(struct tcp *tcp);

/* Take who waits at the port. */
void listen_accept(struct tcp *tcp);
/* An event at a stranger. Returns the number of upcalls. */
int listen_event(struct tcp *tcp, struct tcp_sock *sock);
/* Ask the device about those who are proven and have waited. Returns the number of upcalls. */
/* Whether a connection of this peer is under way. */
bool listen_is_greeted(const struct tcp *tcp, const struct chan_peer *peer);
int listen_judge(struct tcp *tcp);
/* Hang up on who has had enough time. Returns the number of upcalls. */
int listen_tick(struct tcp *tcp, uint64_t now_ns);
/* When listen_tick() is to be called next. */
uint64_t listen_next(const struct tcp *tcp, uint64_t now_ns);

#endif
