/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests of channels to the device. */
#include "mpid/start/env.h"

#include <errno.h>

#include "mpid/conn/foreign.h"
#include "mpid/conn/ports.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/ended.h"
#include "mpid/memory/region.h"

static int reserve(void *owner, size_t size, size_t align)
{
    (void)owner;
    int at = mpid_space_reserve(MPID_SPACE_REQUEST, size, align);
    return at < 0 ? -ENOSPC : at;
}

static int64_t neighbor(void *owner, int local_rank)
{
    const struct device *d = owner;
    int rank;
    return BNR_Get_member(d->group, d->node, local_rank, &rank) ? -EINVAL : rank;
}

static int memory(void *owner, const struct chan_gid *gid, uint32_t rank, int *fd,
                  uint64_t *offset, uint64_t *size)
{
    (void)owner;
    return region_channel_memory(gid, rank, fd, offset, size);
}

static bool ended_well(void *owner, const struct chan_peer *peer)
{
    (void)owner;
    return ended_has(&peer->gid, peer->rank) && !ended_has_failed(&peer->gid, peer->rank);
}

static const uint8_t *secret_with(void *owner, const struct chan_gid *gid, uint32_t rank)
{
    const struct vc *vc = vc_find(gid, rank);
    (void)owner;
    return vc && vc->foreign ? vc->foreign->secret : NULL;
}

void env_fill(void)
{
    const struct mpid_world *world = &device.world;
    device.env.version = CHAN_VERSION;
    device.env.size = sizeof(device.env);
    device.env.device = &device;
    device.env.sink = &device.sink;
    device.env.rank = (uint32_t)world->rank;
    device.env.ranks = world->size;
    device.env.local_ranks = world->local_ranks;
    device.env.cpus = world->cpus;
    device.env.reserve = reserve;
    device.env.endpoint_slot_register = ports_slot_register;
    device.env.grow_tail = ports_grow_tail;
    device.env.param = ports_param;
    device.env.neighbor = neighbor;
    device.env.memory = memory;
    device.env.card_changed = ports_publish;
    device.env.ended_well = ended_well;
    device.env.secret_with = secret_with;
}
