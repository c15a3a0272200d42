/* SPDX-License-Identifier: BSD-3-Clause */

/* A turn of progress; see progress.h. */
#include "mpid/wait/progress.h"

#include "mpid/ground/device.h"
#include "mpid/wait/look.h"
#include "mpid/wait/wake.h"

const struct progress_above *progress_above;

/* ---- one turn ---- */

/*
 * Hot ports are looked at in every turn: those whose look is a load from memory, and
 * those that have lately brought something. The rest, whose look may be a system
 * call that other channels' messages should not wait for, are looked at now and then.
 */
enum { CARE_PERIOD = 16, IDLE_PERIOD = 1024, MIXED_PERIOD = 32, BNR_PERIOD = 64 };

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

/* Looks are polled like a port, while there are any. */
static struct port looks = {.progress = look_poll};

static void choose_hot(void)
{
    device.hot_count = 0;
    for (int i = 0; i < device.port_count; i++)
        if (!device.ports[i].period)
            device.hot[device.hot_count++] = &device.ports[i];
    if (look_first)
        device.hot[device.hot_count++] = &looks;
}

void mpid_look(struct mpid_look *look)
{
    os_lock(&device.lock);
    look_add(look);
    choose_hot();
    if (wake_is_wanted())
        wake_on_channels();
    os_unlock(&device.lock);
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

void progress_hear(void)
{
    device.hearing = true;
    (void)BNR_Progress(NULL);
    device.hearing = false;
    if (__builtin_expect(device.ending, 0))
        progress_above->ended();
    if (device.unjudged)
        progress_above->judge();
    if (__builtin_expect(device.parting, 0))
        progress_above->part();
    if (__builtin_expect(device.vanish_ns != 0, 0))
        progress_above->vanish();
    if (device_is_crowded())
        progress_above->let_go();
}

/* The work that not every turn needs: the ports that are not hot, the process manager, VCs that
 * wait for a card. Returns how much happened. */
static __attribute__((noinline)) int care(void)
{
    int moved = 0;
    bool looked = false; /* after this turn has drained */
    device.turns += CARE_PERIOD;
    device.countdown = CARE_PERIOD;
    for (int i = 0; i < device.port_count; i++) {
        struct port *port = &device.ports[i];
        if (port->period) {
            port->wait -= port->wait < CARE_PERIOD ? port->wait : CARE_PERIOD;
            if (port->wait)
                continue;
            moved += poll_port(port);
            looked = true;
        }
        port->period = port->wait = port->brought ? 0 : period_of(port);
        port->brought = 0;
    }
    choose_hot();
    if (looked && device.busy)
        moved += progress_above->drain();
    if (device.turns % BNR_PERIOD == 0) {
        progress_hear();
        if (device_is_asked())
            progress_above->say();
    }
    if (device.binding)
        moved += progress_above->connect();
    if (__builtin_expect(wake_shared, 0))
        wake_look_shared();
    return moved;
}

bool progress_turn(void)
{
    int moved = 0;
    for (int i = 0; i < device.hot_count; i++)
        moved += poll_port(device.hot[i]);
    if (__builtin_expect(device.busy != NULL, 0))
        moved += progress_above->drain();
    if (__builtin_expect(--device.countdown <= 0, 0))
        moved += care();
    return moved > 0;
}

__attribute__((noinline, cold)) void progress_listen(void)
{
    progress_hear();
    if (device_is_asked())
        progress_above->say_looking();
}
