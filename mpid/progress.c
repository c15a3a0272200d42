/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The one progress loop, and waiting.
 *
 * A wait spins while a core is ours, then yields, then sleeps: on the word of
 * the channel that has one, where no other channel has links, else on the
 * descriptors of all. A sleeper looks up at least every 100 ms, for what comes
 * by no channel (the end of a process). Where ranks outnumber cores it goes to
 * sleep almost at once.
 */
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpid/device.h"
#include "mpid/hang.h"
#include "mpid/wait.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/log.h"
#include "os/settings.h"

/* ---- one turn ---- */

/*
 * Hot ports are looked at in every turn: those whose look is a load from memory, and
 * those that have lately brought something. The rest, whose look may be a system
 * call that other channels' messages should not wait for, are looked at now and then.
 */
enum { CARE_PERIOD = 16, IDLE_PERIOD = 1024, MIXED_PERIOD = 32, BNR_PERIOD = 64, LOOKS_PERIOD = 4 };

/* How many turns a port that has brought nothing may be left alone; 0: it is hot. */
static uint32_t period_of(const struct port *port)
{
    const struct chan *chan = port->chan;
    if (port->in_memory)
        return 0;
    if (chan->fd < 0)
        return chan->links ? 0 : IDLE_PERIOD;
    for (int i = 0; i < device.port_count; i++)
        if (&device.ports[i] != port && device.ports[i].chan->links)
            return chan->links ? MIXED_PERIOD : IDLE_PERIOD;
    return 0;
}

static void choose_hot(void)
{
    device.hot_count = 0;
    for (int i = 0; i < device.port_count; i++)
        if (!device.ports[i].period)
            device.hot[device.hot_count++] = &device.ports[i];
}

void progress_look(void)
{
    for (int i = 0; i < device.port_count; i++)
        device.ports[i].period = device.ports[i].wait = 0;
    choose_hot();
}

static inline int poll_port(struct port *port)
{
    int n = port->progress(port->chan);
    port->brought += (uint32_t)n;
    return n;
}

/* What need not be done in every turn: the ports that are not hot, the process manager, VCs
 * that wait for a card. Returns how much happened. */
static __attribute__((noinline)) int care(void)
{
    int moved = 0;
    device.turns += CARE_PERIOD;
    device.countdown = CARE_PERIOD;
    for (int i = 0; i < device.port_count; i++) {
        struct port *port = &device.ports[i];
        if (port->period) {
            port->wait -= port->wait < CARE_PERIOD ? port->wait : CARE_PERIOD;
            if (port->wait)
                continue;
            moved += poll_port(port);
        }
        port->period = port->wait = port->brought ? 0 : period_of(port);
        port->brought = 0;
    }
    choose_hot();
    if (device.turns % BNR_PERIOD == 0) {
        (void)BNR_Progress(NULL);
        if (hang_is_asked())
            hang_poll();
    }
    if (device.binding)
        moved += connect_poll();
    return moved;
}

static __attribute__((noinline)) bool drain_busy(void)
{
    bool moved = false;
    struct vc *vc = device.busy;
    device.busy = NULL;
    while (vc) {
        struct vc *next = vc->busy_next;
        vc->busy = false;
        moved |= send_drain(vc);
        if (vc_is_up(vc) && (vc->control_head || vc->send_head || vc->bulk))
            vc_mark_busy(vc);
        vc = next;
    }
    return moved;
}

bool progress_turn(void)
{
    int moved = 0;
    for (int i = 0; i < device.hot_count; i++)
        moved += poll_port(device.hot[i]);
    if (__builtin_expect(device.busy != NULL, 0))
        moved += drain_busy();
    if (__builtin_expect(--device.countdown <= 0, 0))
        moved += care();
    return moved > 0;
}

bool (*_Atomic mpid_background)(void);

static inline bool background(void)
{
    bool (*work)(void) = atomic_load_explicit(&mpid_background, memory_order_relaxed);
    stats_deliver();
    return __builtin_expect(work != NULL, 0) && work();
}

static bool turn(void)
{
    os_lock(&device.lock);
    bool moved = progress_turn();
    os_unlock(&device.lock);
    return background() || moved;
}

/* The caller looks, and may do so seldom: without asking more often than in a wait, mpiexec's
 * question would not be heard in time. */
bool mpid_progress(void)
{
    static uint32_t looks; /* guarded by the device's lock */
    os_lock(&device.lock);
    bool moved = progress_turn();
    if (!(++looks % LOOKS_PERIOD))
        (void)BNR_Progress(NULL);
    if (hang_is_asked())
        hang_tell_poll();
    os_unlock(&device.lock);
    return background() || moved;
}

/* ---- sleeping ---- */

enum { LOOK_UP_NS = 100000000, LOOK_UP_BINDING_NS = 1000000 };

static struct chan *with_word(void)
{
    for (int i = 0; i < device.port_count; i++)
        if (device.ports[i].chan->word)
            return device.ports[i].chan;
    return NULL;
}

/* The word is enough where no channel with a descriptor has links. */
static enum chan_sleep choose_sleep(void)
{
    if (!with_word())
        return CHAN_SLEEP_FD;
    for (int i = 0; i < device.port_count; i++)
        if (device.ports[i].chan->fd >= 0 && !device.ports[i].chan->word &&
            device.ports[i].chan->links)
            return CHAN_SLEEP_FD;
    return CHAN_SLEEP_WORD;
}

/* A sleep on the word is no concern of a channel that has a descriptor instead. */
static bool arm_all(enum chan_sleep how)
{
    bool ready = true;
    for (int i = 0; i < device.port_count; i++) {
        struct chan *chan = device.ports[i].chan;
        bool deaf = how == CHAN_SLEEP_WORD && !chan->word && chan->fd >= 0;
        if (!deaf && chan->ops->arm(chan, how))
            ready = false;
    }
    return ready;
}

static void disarm_all(void)
{
    for (int i = 0; i < device.port_count; i++)
        device.ports[i].chan->ops->disarm(device.ports[i].chan);
    progress_look();
}

static void sleep_on_fds(const struct pollfd *fds, nfds_t count, uint64_t timeout_ns)
{
    struct timespec limit = {(time_t)(timeout_ns / 1000000000u),
                             (long)(timeout_ns % 1000000000u)};
    (void)ppoll((struct pollfd *)(uintptr_t)fds, count, &limit, NULL);
}

static nfds_t gather_fds(struct pollfd fds[BIND_CHANNELS + 1])
{
    nfds_t count = 0;
    for (int i = 0; i < device.port_count; i++)
        if (device.ports[i].chan->fd >= 0)
            fds[count++] = (struct pollfd){.fd = device.ports[i].chan->fd, .events = POLLIN};
    if (wait_self_fd() >= 0)
        fds[count++] = (struct pollfd){.fd = wait_self_fd(), .events = POLLIN};
    return count;
}

/* In FD sleep one thread polls, and alone drains the descriptor that rings for it; the
 * others sleep on this word, and are woken when it comes back. */
static _Atomic uint32_t bell;
static bool polled;

/* Ring for the threads of this process that sleep beside the one that polls. */
static void ring_bell(void)
{
    atomic_fetch_add(&bell, 1);
    os_futex_wake(&bell, INT_MAX);
}

static void poll_fds(uint64_t timeout_ns)
{
    struct pollfd fds[BIND_CHANNELS + 1];
    nfds_t count = gather_fds(fds);
    polled = true;
    os_unlock(&device.lock);
    sleep_on_fds(fds, count, timeout_ns);
    os_lock(&device.lock);
    polled = false;
    wait_self_drain();
    if (atomic_load(&device.sleepers) > 1) { /* the last one disarms in any case */
        disarm_all();
        ring_bell();
    }
}

static void sleep_on(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    os_unlock(&device.lock);
    os_futex_wait(word, seen, timeout_ns);
    os_lock(&device.lock);
}

static _Noreturn void end_orphan(void)
{
    os_fail(0, "a child process of the one that called MPI_Init waits in MPI, where it has no part");
    _exit(1);
}

/*
 * Sleep until something may have happened. Whoever completes a request, or brings
 * anything else that a thread may wait for, does so locked and looks at device.sleepers;
 * so what is_done() does not see, told unlocked, will change the words read before.
 */
static void sleep_once(bool (*is_done)(void *arg), void *arg)
{
    if (device.orphan)
        end_orphan();
    os_lock(&device.lock);
    uint64_t timeout_ns = device.binding ? LOOK_UP_BINDING_NS : LOOK_UP_NS;
    enum chan_sleep how = choose_sleep();
    struct chan *chan = with_word();
    uint32_t seen = chan ? atomic_load(chan->word) : 0, heard = atomic_load(&bell);
    atomic_fetch_add(&device.sleepers, 1);
    bool ready = arm_all(how) && !device.busy;
    os_unlock(&device.lock);
    ready = ready && !is_done(arg);
    os_lock(&device.lock);
    if (ready) {
        uint64_t began_ns = os_now_ns();
        if (how == CHAN_SLEEP_WORD)
            sleep_on(chan->word, seen, timeout_ns);
        else if (polled)
            sleep_on(&bell, heard, timeout_ns);
        else if (atomic_load(&bell) == heard)
            poll_fds(timeout_ns);
        atomic_fetch_add(&stats_waits.sleeps, 1);
        atomic_fetch_add(&stats_waits.sleep_ns, os_now_ns() - began_ns);
        (void)BNR_Progress(NULL);
    }
    if (atomic_fetch_sub(&device.sleepers, 1) == 1)
        disarm_all();
    os_unlock(&device.lock);
}

/* In every way at once: a sleeper may be in any. */
void progress_wake(void)
{
    struct chan *chan = with_word();
    device.stats.wakes++;
    if (chan) {
        atomic_fetch_add(chan->word, 1);
        os_futex_wake(chan->word, INT_MAX);
    }
    if (wait_self_fd() >= 0) {
        ring_bell();
        if (polled)
            wait_self_ring();
    }
}

void mpid_wake(void)
{
    os_lock(&device.lock);
    progress_news();
    os_unlock(&device.lock);
}

/* ---- waiting ---- */

/* Nothing happened: spend the time until the next turn. */
static void idle(struct wait *wait, bool (*is_done)(void *arg), void *arg, mpid_tell_fn tell)
{
    if (hang_is_asked())
        hang_tell(wait, tell, arg);
    switch (wait_step(wait)) {
    case WAIT_SPIN: os_pause(); break;
    case WAIT_YIELD: wait_yield(wait); break;
    case WAIT_SLEEP:
        wait_sleeps(wait);
        sleep_once(is_done, arg);
        break;
    }
}

void mpid_wait_telling(bool (*is_done)(void *arg), void *arg, mpid_tell_fn tell)
{
    struct wait wait;
    wait_begin(&wait);
    while (!is_done(arg)) {
        if (turn())
            wait_again(&wait);
        else
            idle(&wait, is_done, arg, tell);
    }
    wait_end(&wait);
}

void mpid_wait_until(bool (*is_done)(void *arg), void *arg)
{
    mpid_wait_telling(is_done, arg, NULL);
}

static bool request_is_done(void *arg)
{
    return mpid_is_complete(arg);
}

static void tell_request(void *arg, struct mpid_tale *tale)
{
    mpid_tell_request(tale, arg);
}

void mpid_wait(struct mpid_request *request)
{
    struct wait wait;
    wait_begin(&wait);
    while (!mpid_is_complete(request)) {
        os_lock(&device.lock);
        bool moved = progress_turn();
        os_unlock(&device.lock);
        if (__builtin_expect(background() || moved, 0))
            wait_again(&wait);
        else
            idle(&wait, request_is_done, request, tell_request);
    }
    wait_end(&wait);
}
