/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies straight between two processes' memories, by the kernel. Whether they
 * work is not judged by rules but tried once for each peer, by reading eight
 * random bytes that it has published: so the right process is read, too, where
 * process ids mean something else to the peer.
 */
#include <sys/uio.h>

#include "channels/shm/shm.h"

/* Linux moves no more than this in one call. */
enum {
    COPY_MAX = 0x7ffff000
};

typedef ssize_t (*copy_fn)(pid_t pid, const struct iovec *local, unsigned long local_count,
                           const struct iovec *remote, unsigned long remote_count,
                           unsigned long flags);

static int copy(pid_t pid, copy_fn call, uintptr_t mine, uint64_t theirs, size_t len)
{
    while (len) {
        size_t part = len < COPY_MAX ? len : COPY_MAX;
        struct iovec local = {(void *)mine, part};
        struct iovec remote = {(void *)(uintptr_t)theirs, part};
        ssize_t done = call(pid, &local, 1, &remote, 1, 0);
        if (done <= 0)
            return CHAN_UNABLE;
        mine += (size_t)done;
        theirs += (size_t)done;
        len -= (size_t)done;
    }
    return 0;
}

static int works(struct shm_link *link)
{
    const struct shm_header *theirs = link->theirs;
    uint64_t magic;
    link->pid = (pid_t)theirs->pid;
    if (!link->shm->may_copy ||
        atomic_load_explicit(&theirs->state, memory_order_acquire) != SHM_OPEN ||
        copy(link->pid, process_vm_readv, (uintptr_t)&magic, theirs->magic_at,
             sizeof(magic)))
        return 0;
    return magic == theirs->magic;
}

static int copy_direct(struct chan_link *base, copy_fn call, uintptr_t mine, uint64_t theirs,
                       size_t len)
{
    struct shm_link *link = (struct shm_link *)base;
    if (!link->probed) {
        link->probed = 1;
        link->unable = !works(link);
    }
    if (link->unable || copy(link->pid, call, mine, theirs, len)) {
        link->unable = 1;
        return CHAN_UNABLE;
    }
    return 0;
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

static int get(struct chan_link *link, void *to, const struct chan_remote *from, size_t len,
               void *cookie)
{
    (void)cookie;
    return copy_direct(link, process_vm_readv, (uintptr_t)to, from->address, len);
}

static int put(struct chan_link *link, const void *from, const struct chan_remote *to, size_t len,
               void *cookie)
{
    (void)cookie;
    return copy_direct(link, process_vm_writev, (uintptr_t)from, to->address, len);
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
