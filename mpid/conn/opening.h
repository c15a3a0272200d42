/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What it takes to open a connection: there while that is binding or connecting, and longer where
 * --report wants to hear of it. Kept apart from the connection, which most of the time is open.
 * Guarded by the device's lock.
 */
#ifndef MPID_OPENING_H
#define MPID_OPENING_H

#include <stdbool.h>
#include <stdint.h>

#include "include/channel.h"
#include "mpid/ground/bind.h"

struct vc;

struct opening {
    struct vc *vc;
    struct opening *next, *prev; /* of all that are under way */
    bool listed;
    uint64_t began_ns;
    uint8_t tried;      /* candidates that were refused */
    uint32_t crossings; /* refusals in a row because the peer dials, too */
    uint64_t wait_ns;   /* connecting, without a link: when to dial again, or to give up; 0: neither */
    uint64_t ask_ns, ask_step_ns; /* when to ask the peer to dial, and how long after that again */
    bool looked;     /* connecting: whether the peer is gone; news of it will come */
    bool lacks_memory; /* a channel could not connect for want of memory: the next send may */
    bool is_unknown; /* the peer is of another job, lives, and does not know this process */
    bool is_stuck;   /* the peer has said that it cannot dial us */
    bool was_asked;  /* the peer has asked us to dial */
    char *card;         /* the peer's, once fetched */
    char *refusals;     /* why each channel that was tried could not connect; or NULL */
    struct bind_choice choice;
};

/* Get a process's card if it is there. Returns 0, 1 if not yet, -ENOMEM, or -1. Of a process that
 * has ended without one we are about to hear. That of a process on another host comes at a later
 * call. */
int opening_get_card(const struct chan_gid *gid, uint32_t rank, char **card);
/* The state of this VC's opening, made if need be; NULL: no memory, and the requests waiting there
 * have failed. */
struct opening *opening_get(struct vc *vc);
/* Note why a channel does not do. */
void opening_add_reason(struct opening *opening, const char *channel, const char *why);
/* The connection is open, or has failed: only --report may want to know more. */
void opening_end(struct vc *vc);
void opening_free(struct vc *vc);

/* Go through all that are under way, of which any may end meanwhile: begin, and the next one; NULL: that was all. */
void opening_walk(void);
struct opening *opening_walk_next(void);

#endif
