/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From unbound to open: the beginning of a connection, and the upcalls of channels about links.
 * Guarded by the device's lock.
 */
#ifndef MPID_CONNECT_H
#define MPID_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/bnr.h"
#include "include/channel.h"

struct vc;

/* Begin to bind (or go on). */
void connect_start(struct vc *vc);
/* Where no channel can lead to an unbound VC's peer, fail it, without that anything is sent to it.
 * Returns false while that is not known, as the peer has no card yet. */
bool connect_is_judged(struct vc *vc);
/* The peer, of another job, is about to know this process, if it did not: do not wait long until the next try. */
void connect_introduced(struct vc *vc);
/* Whether a channel leads to a rank of our group; not known while that has no card. */
enum connect_way { CONNECT_NO_WAY, CONNECT_WAY, CONNECT_UNKNOWN };
enum connect_way connect_way_to(uint32_t rank);
/* Whether a link to a process of another job, which is being made here, can be given up: nothing waits for it, and the
 * peer does not hold it for open. */
bool connect_may_be_abandoned(const struct vc *vc);
/* The process of the VC has ended: read what it has left, and then fail. */
void connect_ended(struct vc *vc);
/* The same, and its host is lost, too: what comes no more is not waited for for long. */
void connect_vanished(struct vc *vc);
/* To be called while device.vanish_ns is set. */
void connect_end_vanished(void);
/* Look again at VCs that wait for a card. Returns whether anything happened. */
bool connect_poll(void);
/* When it has something to do by the clock, or is to look for cards, or in MPI_Finalize for peers' words,
 * where nothing hears of them; at most next_ns. */
uint64_t connect_until_ns(uint64_t now_ns, bool hears, uint64_t next_ns);
enum chan_answer connect_asked(void *owner, const struct chan_ops *ops,
                               const struct chan_gid *gid, uint32_t rank,
                               struct chan_peer **peer);
void connect_opened(struct chan_link *link);
void connect_refused(struct chan_link *link, enum chan_answer answer, const char *why);
void connect_returned(struct chan_link *link, const struct chan_head *head, const void *data,
                      size_t len);
void connect_lost(struct chan_link *link, int rc);

#endif
