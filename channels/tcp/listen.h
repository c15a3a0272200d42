/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The listening port, and its strangers.
 *
 *   accepted --HELLO--> greeted --PROOF--> proven --asked()--> a link, or an answer
 *
 * A wrong word, or a long silence, ends a stranger's connection. Only few may be without a right
 * word: the oldest makes room for the next, once a look shows that it has sent nothing. A HELLO may
 * be overheard, and said again: few greeted strangers are kept for each process, and not many in
 * all, the newest ones.
 */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "channels/tcp/addr.h"
#include "channels/tcp/tcp.h"

/* Listen on a port of the system's choice, on every address, or on only, unless NULL. Returns 0 or
 * -errno. */
int listen_open(struct tcp *tcp, const union addr *only);
void listen_close(struct tcp *tcp);
/* In a forked child: close the descriptors. */
void listen_forked(struct tcp *tcp);

/* Accept the callers waiting at the port. */
void listen_accept(struct tcp *tcp);
/* An event at a stranger. Returns the number of upcalls. */
int listen_event(struct tcp *tcp, struct tcp_sock *sock);
/* Ask the device about proven strangers that have waited. Returns the number of upcalls. */
/* Whether a connection of this peer is under way. */
bool listen_is_greeted(const struct tcp *tcp, const struct chan_peer *peer);
int listen_judge(struct tcp *tcp);
/* Hang up on strangers whose time is over. Returns the number of upcalls. */
int listen_tick(struct tcp *tcp, uint64_t now_ns);
/* When listen_tick() is to be called next. */
uint64_t listen_next(const struct tcp *tcp, uint64_t now_ns);

#endif
