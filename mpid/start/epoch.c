/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From one use of the device to the next.
 *
 * A process may end MPI and begin again as often as it likes. Expensive things stay between: the
 * card, the channels, the connections. A peer whose next epoch has begun sends over the link that
 * it has, and finds us when we come back; so neither side need know in which epoch the other one
 * is, and a process may leave while others go on.
 *
 * Only the world model ends together, as MPI_Finalize is collective: each process says CLOSE to
 * those that it is connected to, and waits for theirs, so that it answers what they still ask.
 * It waits neither for processes that are not of the world model nor for those that have
 * gone beyond its end, and tells by two words in its key-value space what it is:
 *
 *   sessions  it has used sessions: its connections outlive MPI_Finalize
 *   world     beside them, MPI_Init
 *   finished  MPI_Finalize has been called
 *   over      it is done: this process says no CLOSE any more, and heeds none
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/vc.h"
#include "mpid/conn/words.h"
#include "mpid/ground/device.h"
#include "mpid/tell/hang.h"
#include "mpid/tell/report.h"
#include "mpid/wait/deliver.h"
#include "mpid/wait/progress.h"
#include "mpid/wait/wait.h"
#include "mpid/wait/wake.h"
#include "os/clock.h"
#include "os/settings.h"

enum { CLOSE_PATIENCE_NS = 1000000000 };

static int say(const char *key)
{
    int rc = BNR_Put(device.group, key, "1", 1, 0);
    return rc && rc != BNR_ERR_EXISTS ? -ENOMEM : 0;
}

/* ---- beginning ---- */

static void let_go(struct vc *vc, void *arg)
{
    (void)arg;
    if (vc->state == VC_REMOTE_CLOSE && vc_is_up(vc) && !vc->send_head && !vc->control_head)
        vc_let_go(vc);
}

int mpid_use(enum mpid_model model)
{
    int rc = 0;
    os_lock(&device.lock);
    device.used |= (unsigned)model;
    if (device.used == (MPID_WORLD | MPID_SESSIONS))
        rc = say("world");
    if (!rc && model == MPID_SESSIONS)
        rc = say("sessions");
    vc_each(let_go, NULL);
    os_unlock(&device.lock);
    return rc;
}

void mpid_use_threads(void)
{
    wait_share();
}

/* ---- the end of the world model ---- */

static void look_quiet(struct vc *vc, void *quiet)
{
    bool wanted = vc->state != VC_FAILED && vc->state != VC_CLOSED;
    bool opens = vc->control_head && !vc_is_up(vc); /* for a notice */
    if (wanted && (opens || vc->send_head || vc->bulk || (vc->unfinished && vc->state != VC_REMOTE_CLOSE)))
        *(bool *)quiet = false;
}

static bool is_quiet(void *arg)
{
    (void)arg;
    os_lock(&device.lock);
    bool quiet = true;
    vc_each_engaged(look_quiet, &quiet);
    os_unlock(&device.lock);
    return quiet;
}

/* Whether the peer answers no CLOSE: it is not of the world model, or is done with that. Some process managers bring
 * no word after MPI_Init. There the peers of a process that uses sessions, too, have so long to answer; its connections
 * outlive MPI_Finalize in any case. */
static bool is_beyond(const struct vc *vc)
{
    if (!device_shows_keys())
        return (device.used & MPID_SESSIONS) && os_now_ns() - device.final_ns > CLOSE_PATIENCE_NS;
    return words_has(vc, "over") ||
           (words_has(vc, "sessions") && words_lacks(vc, "world"));
}

/* Whether peers are beyond is looked at when there is news of them, or of the connections. */
struct closing {
    uint32_t news;
    int count, last; /* connections that are not closed: now, and the time before */
    bool looks, again, closed;
};

static void look_at(struct closing *closing, const struct vc *vc)
{
    closing->count++;
    closing->closed &= closing->looks && is_beyond(vc);
}

static void close_one(struct vc *vc, void *arg)
{
    struct closing *closing = arg;
    bool sends = vc->send_head && !vc->foreign; /* CLOSE follows what waits for the link */
    if ((vc->state == VC_OPEN && !sends) || vc->state == VC_REMOTE_CLOSE) {
        vc_close(vc);
        closing->again = true;
    } else if (connect_may_be_abandoned(vc)) {
        vc_abandon(vc); /* the other job may compute, or not know this one any more */
    }
    bool has_parted = vc->foreign && vc->state == VC_CLOSE_ACKED; /* it has nothing to say, and may compute */
    if ((vc->standing && !has_parted) || vc->control_head)
        look_at(closing, vc);
}

/* It is closed, but what it has said last is still here. */
static void look_closed(struct vc *vc, void *arg)
{
    struct closing *closing = arg;
    if (!vc->standing && vc->control_head)
        look_at(closing, vc);
}

static bool is_closed(void *arg)
{
    struct closing *closing = arg;
    os_lock(&device.lock);
    closing->closed = true;
    closing->looks = device_take_news(&closing->news) || closing->again;
    closing->count = 0;
    closing->again = false;
    vc_each_standing(close_one, closing);
    vc_each_engaged(look_closed, closing);
    closing->again |= closing->count != closing->last;
    closing->last = closing->count;
    os_unlock(&device.lock);
    return closing->closed;
}

static void reopen(struct vc *vc, void *arg)
{
    (void)arg;
    vc_reopen(vc);
}

void mpid_end_world(bool alone)
{
    static const struct mpid_condition quiet = {.is_done = is_quiet, .tell = mpid_tell_sends};
    static const struct mpid_condition closed = {.is_done = is_closed, .tell = hang_tell_closes};
    struct closing closing = {.again = true};
    if (alone)
        mpid_wait_condition(&quiet, NULL);
    os_lock(&device.lock);
    device.finalizing = true;
    device.final_ns = os_now_ns();
    if (wake_is_wanted())
        wake_on_channels(); /* a thread that uses a session: now it is to hear of keys */
    (void)say("finished");
    os_unlock(&device.lock);
    mpid_wait_condition(&closed, &closing);
    os_lock(&device.lock);
    device.used &= ~(unsigned)MPID_WORLD;
    (void)say("over");
    vc_each(reopen, NULL);
    os_unlock(&device.lock);
    stats_deliver();
    (void)deliver_completions();
}

/* ---- rest ---- */

static void look_out(struct vc *vc, void *out)
{
    look_quiet(vc, out);
    if (vc_is_up(vc) && (vc->control_head || vc->pending))
        *(bool *)out = false;
}

/* Whether all sent packets are out of this process's memory. */
static bool is_out(void *arg)
{
    (void)arg;
    bool out = true;
    os_lock(&device.lock);
    vc_each_engaged(look_out, &out);
    for (int i = 0; i < device.port_count && out; i++) {
        struct chan *chan = device.ports[i].chan;
        out = !chan->ops->is_out || chan->ops->is_out(chan);
    }
    if (!out)
        progress_look();
    os_unlock(&device.lock);
    return out;
}

bool mpid_is_out(void)
{
    return is_out(NULL);
}

void mpid_drain(void)
{
    static const struct mpid_condition out = {.is_done = is_out, .tell = mpid_tell_sends};
    mpid_wait_condition(&out, NULL);
}

int mpid_rest(void)
{
    (void)deliver_completions();
    if (os_setting(OS_SETTING_REPORT))
        report_put();
    device.at_rest = true;
    return BNR_Finalize() ? -EIO : 0;
}
