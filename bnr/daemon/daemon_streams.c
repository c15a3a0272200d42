/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes at a daemon's door, and the streams of its ranks; see daemon_streams.h. */
#include "bnr/daemon/daemon_streams.h"

#include <errno.h>
#include <stdlib.h>

#include "bnr/daemon/daemon_state.h"
#include "bnr/streams/door.h"
#include "bnr/streams/exchange.h"
#include "bnr/streams/pipes.h"
#include "bnr/wide/party_link.h"

static void party_says(void *arg, uint64_t party, const struct hub_message *m)
{
    struct daemon *d = arg;
    party_link_say(d->parties, (uint32_t)party, m);
}

static void party_gone(void *arg, uint64_t party)
{
    party_says(arg, party, NULL);
}

static void hear_party(void *arg, uint32_t node, uint32_t party, const struct hub_message *m)
{
    struct daemon *d = arg;
    (void)node;
    if (party == EXCHANGE_RANKS && m)
        pipes_hear(d->pipes, m);
    else if (d->door && m)
        door_hear(d->door, party, m);
    else if (d->door)
        door_cut(d->door, party);
}

void daemon_pipes_say(void *arg, const struct hub_message *m)
{
    party_says(arg, EXCHANGE_RANKS, m);
}

void daemon_open_door(struct daemon *d)
{
    const struct door_hooks hooks = {NULL, party_says, party_gone, d};
    d->door = door_open(&d->loop, DOOR_OF_DAEMON, &hooks);
}

int daemon_streams_begin(struct daemon *d)
{
    d->pipes = calloc(1, sizeof(*d->pipes));
    d->parties = calloc(1, sizeof(*d->parties));
    if (!d->pipes || !d->parties)
        return -ENOMEM;
    party_link_init(d->parties, d->mesh, NODE_ROOT, hear_party, d);
    return 0;
}
