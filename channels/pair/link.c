/* SPDX-License-Identifier: BSD-3-Clause */

/* Links of the pair channel; see pair.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/pair/pair.h"
#include "os/memory/segment.h"

enum { EAGER = 16 << 10 };

void pair_link_wake(struct pair_link *link)
{
    const uint8_t byte = 0;
    link->pair->base.rings++;
    (void)!send(link->sock.fd, &byte, sizeof(byte), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int pair_send(struct chan_link *base, const struct chan_head *head, const struct chan_data *data)
{
    struct pair_link *link = (struct pair_link *)base;
    if (link->state != PAIR_OPEN || link->gone || link->is_last || link->broken)
        return CHAN_AGAIN;
    link->starved = !pair_ring_put(&link->out, head, data);
    if (link->starved)
        return CHAN_AGAIN;
    atomic_thread_fence(memory_order_seq_cst); /* with that of fall_asleep() */
    if (__builtin_expect(atomic_load_explicit(&link->out.ring->asleep, memory_order_relaxed), 0) &&
        atomic_exchange_explicit(&link->out.ring->asleep, 0, memory_order_relaxed))
        pair_link_wake(link);
    return 0;
}

struct pair_link *pair_link_make(struct pairs *pair, struct chan_peer *peer)
{
    struct pair_link *link = calloc(1, sizeof(*link));
    if (!link)
        return NULL;
    link->base = (struct chan_link){
        .send = pair_send, .ops = pair->base.ops, .peer = peer, .eager_max = EAGER, .max_data = PAIR_DATA_MAX};
    link->pair = pair;
    link->sock = (struct pair_sock){PAIR_LINK, -1};
    link->next = pair->links;
    pair->links = link;
    pair->base.links++;
    pair->forming++;
    return link;
}

struct pair_link *pair_link_find(const struct pairs *pair, const struct chan_gid *gid, uint32_t rank)
{
    struct pair_link *link = pair->links;
    while (link && !(link->state != PAIR_DEAD && link->base.peer->rank == rank &&
                     !memcmp(&link->base.peer->gid, gid, sizeof(*gid))))
        link = link->next;
    return link;
}

void pair_link_drop(struct pair_link *link)
{
    if (link->sock.fd >= 0)
        close(link->sock.fd);
    link->sock.fd = -1;
    if (link->segment)
        os_segment_unmap(link->segment, PAIR_SEGMENT);
    link->segment = NULL;
}

void pair_link_up(struct pair_link *link, void *segment, bool first)
{
    struct pair_ring *rings = segment;
    link->segment = segment;
    link->out = (struct pair_ring_out){.ring = &rings[!first]};
    link->in = (struct pair_ring_in){.ring = &rings[first]};
    link->state = PAIR_OPEN;
    link->pair->forming--;
    link->pair->looks = true;
    link->pair->env->sink->opened(&link->base);
}
