/* SPDX-License-Identifier: BSD-3-Clause */

/* How a wait passes its time; see wait.h. */
#include "mpid/wait.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/settings.h"

enum {
    SPIN_US = 200,     /* with a core of one's own */
    SHARED_YIELDS = 12, /* where ranks outnumber processors */
    OWN_YIELDS = 2000,
    CLOCK_TURNS = 64   /* spins between two looks at the clock */
};

static struct {
    uint64_t spin_ns;
    uint32_t yields;
    int self_fd;
} budget = {.self_fd = -1};

void wait_init(int ranks, int cpus, bool threads)
{
    int64_t spin = os_setting(OS_SETTING_SPIN_US), yields = os_setting(OS_SETTING_YIELDS);
    bool shared = ranks > cpus;
    budget.spin_ns = (uint64_t)(spin >= 0 ? spin : shared ? 0 : SPIN_US) * 1000u;
    budget.yields = (uint32_t)(yields >= 0 ? yields : shared ? SHARED_YIELDS : OWN_YIELDS);
    budget.self_fd = threads ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
}

void wait_fini(void)
{
    if (budget.self_fd >= 0)
        close(budget.self_fd);
    budget.self_fd = -1;
}

/* Turns are counted twice over: spins first, then, from the end of the spin
 * budget on (marked by began_ns == 1), yields. */
enum wait_step wait_step(struct wait *wait)
{
    enum { YIELDING = 1 };
    wait->turns++;
    if (wait->began_ns != YIELDING) {
        if (budget.spin_ns && wait->turns % CLOCK_TURNS)
            return WAIT_SPIN;
        uint64_t now = budget.spin_ns ? os_now_ns() : 0;
        if (budget.spin_ns && !wait->began_ns)
            wait->began_ns = now;
        if (budget.spin_ns && now - wait->began_ns < budget.spin_ns)
            return WAIT_SPIN;
        wait->began_ns = YIELDING;
        wait->turns = 0;
    }
    return wait->turns < budget.yields ? WAIT_YIELD : WAIT_SLEEP;
}

int wait_self_fd(void)
{
    return budget.self_fd;
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
