/* SPDX-License-Identifier: BSD-3-Clause */

/* fork(): its child takes no part in the job. */
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/memory/region.h"
#include "mpid/wait/sleep.h"
#include "os/clock.h"

enum { FORK_PATIENCE_MS = 100 };

/* Another thread may hold the lock for long only while it holds it for ever: this one, which
 * fork()s in the middle of MPI. */
void mpid_before_fork(void)
{
    uint64_t until_ns = os_now_ns() + FORK_PATIENCE_MS * 1000000ull;
    bool held;
    while (!(held = os_trylock_slow(&device.lock)) && os_now_ns() < until_ns)
        usleep(20);
    if (held)
        device.forker = pthread_self();
}

/* Whether this thread, or the one that it was in the parent, holds the lock across fork(). Others
 * may fork() at the same time, without it. */
static bool is_forker(void)
{
    return device.forker == pthread_self();
}

void mpid_after_fork(void)
{
    if (!is_forker())
        return;
    device.forker = 0;
    os_unlock_slow(&device.lock);
}

static void orphan(struct vc *vc, void *arg)
{
    (void)arg;
    vc_disown(vc);
}

/* Nothing shared with the parent is touched: no link, and no open file. */
void mpid_orphan(void)
{
    for (int i = 0; i < device.port_count && is_forker(); i++)
        if (device.ports[i].chan->ops->forked)
            device.ports[i].chan->ops->forked(device.ports[i].chan);
    region_orphan();
    device.orphan = true;
    device.group = BNR_GROUP_NULL;
    device.port_count = device.hot_count = device.binding = 0;
    device.crowd = NULL;
    device.countdown = INT_MAX;
    device.busy = NULL;
    sleep_forget();
    vc_each(orphan, NULL);
}
