/* SPDX-License-Identifier: BSD-3-Clause */

/* The device's state, and what its files ask of it and of the process manager; see device.h. */
#include "mpid/ground/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpid/ground/ended.h"
#include "os/clock.h"

enum { ABORT_PATIENCE_MS = 500 };

struct device device;
_Atomic bool device_asked, device_delivers;

struct chan *device_chan_of(const struct chan_ops *ops)
{
    for (int i = 0; i < device.port_count; i++)
        if (device.ops[i] == ops)
            return device.ports[i].chan;
    return NULL;
}

/* ---- the process manager ---- */

bool device_is_own_group(const struct chan_gid *gid)
{
    return !memcmp(gid, &device.env.gid, sizeof(*gid));
}

BNR_Group device_group_of(const struct chan_gid *gid, uint32_t rank)
{
    BNR_Group group;
    BNR_Gid id;
    int size;
    memcpy(&id, gid, sizeof(id));
    if (BNR_Find_group(&id, &group) || BNR_Get_size(group, &size) || rank >= (uint32_t)size)
        return BNR_GROUP_NULL;
    return group;
}

/* Whether the process manager says that a process has ended; the channels may still hold what it has
 * sent. */
static bool has_ended(const struct chan_gid *gid, uint32_t rank)
{
    int size;
    BNR_Group group = device_group_of(gid, rank);
    if (!group || BNR_Get_size(group, &size))
        return false;
    size_t bytes = ((size_t)size + 7) / 8;
    unsigned char *alive = malloc(bytes);
    bool ended = alive && !BNR_Get_alive(group, alive, bytes) && !(alive[rank / 8] >> rank % 8 & 1);
    free(alive);
    return ended;
}

bool device_is_ended_rank(uint32_t rank)
{
    return ended_has(&device.env.gid, rank);
}

bool device_shows_keys(void)
{
    unsigned long long caps = 0;
    return device.world.size == 1 || (!BNR_Query_caps(&caps) && (caps & BNR_CAP_LAZYGET));
}

/* Where a connection broke because its peer's process ended, the process manager hears of it
 * too, and ends the job with the better reason: give it the time. */
static void explain(char *text, size_t size, const char *message)
{
    /* By the clock: on a busy machine each nap takes as long as it pleases. */
    uint64_t until_ns = os_now_ns() + ABORT_PATIENCE_MS * 1000000ull;
    while (device.has_lost && !has_ended(&device.lost_gid, device.lost_rank) &&
           os_now_ns() < until_ns)
        usleep(1000);
    const char *why = device.unreachable;
    snprintf(text, size, "%.500s%s%s", message, *why ? "; " : "", why);
}

void device_abort(int code, const char *message)
{
    char text[1024];
    explain(text, sizeof(text), message);
    BNR_Abort(device.group, code, text);
}

/* The end of a job waits for no thread that keeps the lock. */
void mpid_abort(int code, const char *message)
{
    char text[1024];
    bool held = false;
    for (int i = 0; i < ABORT_PATIENCE_MS && !(held = os_trylock(&device.lock)); i++)
        usleep(1000);
    explain(text, sizeof(text), message);
    if (held)
        os_unlock(&device.lock);
    BNR_Abort(device.group, code, text);
}

bool mpid_is_apart(void)
{
    os_lock(&device.lock);
    bool apart = *device.unreachable;
    os_unlock(&device.lock);
    return apart;
}

bool mpid_app(int app, int *first, int *size)
{
    os_lock(&device.lock);
    bool found = !BNR_Get_app(device.group, app, first, size);
    os_unlock(&device.lock);
    return found;
}

int mpid_node(uint32_t rank)
{
    int node;
    os_lock(&device.lock);
    bool found = !BNR_Get_locality(device.group, (int)rank, &node, NULL, NULL);
    os_unlock(&device.lock);
    return found ? node : -1;
}

bool mpid_has_manager(void)
{
    return device.group != BNR_GROUP_NULL;
}
