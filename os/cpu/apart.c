/* SPDX-License-Identifier: BSD-3-Clause */

/* Moving apart; see apart.h. */
#include "os/cpu/apart.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "os/clock.h"

enum {
    MS = 1000000,
    WINDOW_NS = 10 * MS,     /* so often within this time is again and again: ... */
    OFTEN = 8,               /* ... at least, and at most twice, as two that move at once only swap */
    PAUSE_NS = 2 * MS,       /* after a move; doubled while moves are in vain, to at most ... */
    LONG_PAUSE_NS = 500 * MS,
    GOOD_NS = 1000 * MS      /* so long without sharing, and the last move was not in vain */
};

/* So often is often enough for this process; 0: it does not move. */
static _Atomic uint32_t enough;
static atomic_bool spare; /* there are more processors than processes */

void os_apart_allow(int ranks, int cpus)
{
    uint32_t own = (uint32_t)getpid() * 2654435761u;
    bool allow = ranks > 1 && ranks <= cpus;
    atomic_store_explicit(&enough, allow ? OFTEN + (own >> 16) % OFTEN : 0, memory_order_relaxed);
    atomic_store_explicit(&spare, ranks < cpus, memory_order_relaxed);
}

/* To any other processor that the thread may use. */
static void move(void)
{
    cpu_set_t may, others;
    int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof(may), &may))
        return;
    others = may;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof(others), &others))
        (void)sched_setaffinity(0, sizeof(may), &may);
}

void os_apart_shared(void)
{
    static _Thread_local struct {
        uint64_t began_ns, moved_ns, pause_ns;
        uint32_t count;
    } seen;
    uint32_t often = atomic_load_explicit(&enough, memory_order_relaxed);
    if (!often)
        return;
    uint64_t now = os_now_ns();
    if (now - seen.began_ns > WINDOW_NS) {
        seen.began_ns = now;
        seen.count = 0;
    }
    if (++seen.count < often || now - seen.moved_ns < seen.pause_ns)
        return;
    bool in_vain = now - seen.moved_ns < GOOD_NS && seen.pause_ns;
    uint64_t pause = in_vain ? 2 * seen.pause_ns : PAUSE_NS;
    seen.pause_ns = pause < LONG_PAUSE_NS ? pause : LONG_PAUSE_NS;
    move();
    seen.moved_ns = now;
    seen.count = 0;
}

void os_apart_leave(int cpu)
{
    if (atomic_load_explicit(&spare, memory_order_relaxed) && sched_getcpu() == cpu)
        move();
}
