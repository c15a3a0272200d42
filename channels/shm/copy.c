/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies straight between two processes' memories, by the kernel. Whether they
 * work is not judged by rules but tried once for each peer, by reading eight
 * random bytes that it has published: so the right process is read, too, where
 * process ids mean something else to the peer.
 */
#include "channels/shm/shm.h"
#include "os/net/peer.h"

static int works(struct shm_link *link)
{
    const struct shm_header *theirs = link->theirs;
    uint64_t magic;
    link->pid = (pid_t)theirs->pid;
    if (!link->shm->may_copy ||
        atomic_load_explicit(&theirs->state, memory_order_acquire) != SHM_OPEN ||
        os_peer_read(link->pid, &magic, theirs->magic_at, sizeof(magic)))
        return 0;
    return magic == theirs->magic;
}

/* Whether the peer's memory can be reached, as far as it has been tried. */
static bool is_open(struct shm_link *link)
{
    if (!link->probed) {
        link->probed = 1;
        link->unable = !works(link);
    }
    return !link->unable;
}

/* The outcome of a copy. */
static int copied(struct shm_link *link, int rc)
{
    if (rc)
        link->unable = 1;
    return rc ? CHAN_UNABLE : 0;
}

/* The kernel asks nobody: whatever a process has may be copied. */
static int reg(struct chan *chan, void *base, size_t len, struct chan_region **region)
{
    static struct chan_region all = {&shm_onesided};
    (void)chan, (void)base, (void)len;
    *region = &all;
    return 0;
}

static void dereg(struct chan_region *region)
{
    (void)region;
}

static void key(const struct chan_region *region, void *to)
{
    (void)region, (void)to;
}

static int get(struct chan_link *base, void *to, const struct chan_remote *from, size_t len,
               void *cookie)
{
    (void)cookie;
    struct shm_link *link = (struct shm_link *)base;
    return is_open(link) ? copied(link, os_peer_read(link->pid, to, from->address, len))
                         : CHAN_UNABLE;
}

static int put(struct chan_link *base, const void *from, const struct chan_remote *to, size_t len,
               void *cookie)
{
    (void)cookie;
    struct shm_link *link = (struct shm_link *)base;
    return is_open(link) ? copied(link, os_peer_write(link->pid, from, to->address, len))
                         : CHAN_UNABLE;
}

static int flush(struct chan_link *link)
{
    (void)link;
    return 0;
}

/* Without atomic(): the kernel copies bytes alone. */
const struct chan_onesided shm_onesided = {.size = sizeof(struct chan_onesided),
                                           .at_once = true,
                                           .reg = reg,
                                           .dereg = dereg,
                                           .key = key,
                                           .get = get,
                                           .put = put,
                                           .flush = flush};
