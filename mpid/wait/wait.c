/* SPDX-License-Identifier: BSD-3-Clause */

/* How a wait passes its time; see wait.h. */
#include "mpid/wait/wait.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "mpid/ground/stats.h"
#include "os/cpu/apart.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/settings.h"

enum {
    SPIN_US = 50,        /* with a core of one's own */
    LEAST_SPIN_NS = 400,
    LEAST_YIELDS = 12,   /* where others run meanwhile */
    SHARED_YIELDS = 48,  /* where ranks outnumber processors */
    OWN_YIELDS = 1000,
    SOON = 8,            /* yields: news within them came because of them */
    ENOUGH_YIELDS = 10,  /* of one wait, to judge by */
    SPARE_YIELDS = 4,    /* of a thread whose waking was for another */
    CLOCK_TURNS = 16     /* spins between two looks at the clock */
};

struct stats_waits stats_waits;

/* Any thread may read and write these: a lost update costs nothing. */
static struct {
    uint64_t most_ns;         /* to spin */
    _Atomic uint64_t spin_ns; /* as learnt */
    uint32_t most_yields, least_yields; /* the same where the user has set them */
    _Atomic uint32_t yields; /* as learnt */
    int self_fd;
    _Atomic bool deaf; /* there should be a self_fd, and is none */
} budget = {.self_fd = -1};

void wait_init(int ranks, int cpus)
{
    int64_t spin = os_setting(OS_SETTING_SPIN_US), yields = os_setting(OS_SETTING_YIELDS);
    bool shared = ranks > cpus;
    budget.most_ns = (uint64_t)(spin >= 0 ? spin : shared ? 0 : SPIN_US) * 1000u;
    atomic_store_explicit(&budget.spin_ns, budget.most_ns, memory_order_relaxed);
    if (yields > UINT32_MAX)
        yields = UINT32_MAX;
    budget.most_yields = (uint32_t)(yields >= 0 ? yields : shared ? SHARED_YIELDS : OWN_YIELDS);
    budget.least_yields = yields >= 0 ? budget.most_yields : LEAST_YIELDS;
    atomic_store_explicit(&budget.yields, budget.most_yields, memory_order_relaxed);
    os_apart_allow(ranks, cpus);
}

void wait_share(void)
{
    if (budget.self_fd >= 0)
        return;
    budget.self_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (budget.self_fd < 0 && !budget.deaf)
        os_log(OS_LOG_WARN, "there is no eventfd for threads to wake each other: %s; who waits looks "
               "every millisecond instead", strerror(errno));
    atomic_store_explicit(&budget.deaf, budget.self_fd < 0, memory_order_relaxed);
}

void wait_fini(void)
{
    if (budget.self_fd >= 0)
        close(budget.self_fd);
    budget.self_fd = -1;
    budget.deaf = false;
}

/* began_ns while yields are counted in turns. */
enum { YIELDING = 1 };

/* Threads that wait at once share the yields, but for a few each: in so many, what many wait for
 * comes together. */
static uint32_t share_of(const struct wait *wait)
{
    uint32_t yields = atomic_load_explicit(&budget.yields, memory_order_relaxed);
    uint32_t share = wait->awake > 1 ? yields / wait->awake : yields;
    uint32_t least = yields < LEAST_YIELDS ? yields : LEAST_YIELDS;
    return share > least ? share : least;
}

enum wait_step wait_step(struct wait *wait)
{
    if (__builtin_expect(wait->aside, 0))
        return WAIT_SLEEP;
    if (!wait->turns++)
        wait->idle_ns = atomic_load_explicit(&stats_waits.timed, memory_order_relaxed)
                            ? os_now_ns()
                            : 0;
    if (wait->began_ns != YIELDING) {
        uint64_t limit = atomic_load_explicit(&budget.spin_ns, memory_order_relaxed);
        if (limit && wait->turns % CLOCK_TURNS)
            return WAIT_SPIN;
        uint64_t now = limit ? os_now_ns() : 0;
        if (limit)
            wait_date(wait, now);
        if (!wait->began_ns)
            wait->began_ns = now;
        if (now - wait->began_ns < limit)
            return WAIT_SPIN;
        wait->began_ns = YIELDING;
        wait->turns = 1;
        wait->yields = share_of(wait);
    }
    return wait->turns <= wait->yields ? WAIT_YIELD : WAIT_SLEEP;
}

void wait_yield(struct wait *wait)
{
    uint64_t began = os_now_ns();
    wait_date(wait, began);
    sched_yield();
    atomic_fetch_add_explicit(&stats_waits.yields, 1, memory_order_relaxed);
    wait->handed += os_now_ns() - began > WAIT_HANDED_NS;
}

static uint32_t yields_of(const struct wait *wait)
{
    return wait->turns < wait->yields ? wait->turns : wait->yields;
}

static bool mostly_handed(const struct wait *wait)
{
    return wait->handed > yields_of(wait) / 2;
}

/* Where most of many yields let others run, the next waits yield less; where few did, more. */
static void learn_yields(const struct wait *wait)
{
    if (yields_of(wait) < ENOUGH_YIELDS || budget.most_yields == budget.least_yields)
        return;
    uint32_t yields = atomic_load_explicit(&budget.yields, memory_order_relaxed);
    if (mostly_handed(wait))
        yields = yields / 2 > budget.least_yields ? yields / 2 : budget.least_yields;
    else
        yields = yields < budget.most_yields / 2 ? yields * 2 : budget.most_yields;
    atomic_store_explicit(&budget.yields, yields, memory_order_relaxed);
}

void wait_learn(const struct wait *wait)
{
    if (wait->idle_ns)
        atomic_fetch_add_explicit(&stats_waits.idle_ns, os_now_ns() - wait->idle_ns,
                                  memory_order_relaxed);
    if (wait->began_ns == YIELDING)
        learn_yields(wait);
    uint64_t spin = atomic_load_explicit(&budget.spin_ns, memory_order_relaxed);
    if (wait->began_ns == YIELDING && wait->handed) {
        if (wait->turns > SOON && !mostly_handed(wait))
            return;
        if (wait->turns <= SOON)
            os_apart_shared();
        if (spin <= LEAST_SPIN_NS)
            return;
        spin /= 2;
    } else {
        if (spin >= budget.most_ns || wait->turns > SOON * SOON)
            return;
        spin = spin * 2 < budget.most_ns ? spin * 2 : budget.most_ns;
    }
    atomic_store_explicit(&budget.spin_ns, spin, memory_order_relaxed);
}

void wait_renew(struct wait *wait)
{
    if (wait->awake > 1 && !wait->slept)
        return;
    wait_learn(wait);
    wait->turns = wait->handed = 0;
    wait->began_ns = 0;
    if (wait->spare) {
        wait->began_ns = YIELDING;
        wait->yields = budget.most_yields < SPARE_YIELDS ? budget.most_yields : SPARE_YIELDS;
    }
}

int wait_self_fd(void)
{
    return budget.self_fd;
}

bool wait_is_deaf(void)
{
    return atomic_load_explicit(&budget.deaf, memory_order_relaxed);
}

void wait_self_ring(void)
{
    if (budget.self_fd >= 0)
        (void)!eventfd_write(budget.self_fd, 1);
}

void wait_self_drain(void)
{
    eventfd_t value;
    if (budget.self_fd >= 0)
        (void)!eventfd_read(budget.self_fd, &value);
}
