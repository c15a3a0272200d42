/* SPDX-License-Identifier: BSD-3-Clause */

/* Idle connections are let go; see idle.h. */
#include "mpid/conn/idle.h"

#include <stdint.h>
#include <sys/resource.h>

#include "mpid/conn/leave.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "os/clock.h"
#include "os/settings.h"

enum {
    LOOKS = 4
}; /* in the time after which a connection is idle */

static struct {
    uint64_t idle_ns, next_ns; /* next_ns: of the next look */
    int pressing;              /* links: with more, any time without a message will do */
} idle;

/* ---- the two sides ---- */

static bool is_idle(const struct vc *vc)
{
    return !device.finalizing && !vc_has_work(vc) && !vc->arriving && !vc->landing &&
           !vc->unfinished && !vc->kept;
}

static bool outranks(const struct vc *vc)
{
    return device.env.rank > vc->peer.rank;
}

/* Returns 0, or CHAN_AGAIN: the link takes no packet now. */
static int say_now(struct vc *vc, enum leave_step step)
{
    struct chan_head head = packet_head(PACKET_LEAVE, step, 0);
    struct chan_data none = {.len = 0};
    return vc->control_head ? CHAN_AGAIN : vc->bound->send(vc->bound, &head, &none);
}

bool idle_leave(struct vc *vc)
{
    if (vc->state != VC_OPEN || !is_idle(vc) || say_now(vc, LEAVE_ASK))
        return false;
    vc_event(vc, VC_LEAVE);
    vc->link = &vc->stand_in;
    return true;
}

static void follow(struct vc *vc, enum vc_event event)
{
    switch (event) {
    case VC_YIELD:
        vc_event(vc, event);
        vc->link = &vc->stand_in;
        break;
    case VC_STAY:
        vc_event(vc, event);
        vc->used = UINT64_MAX; /* it counts as used */
        vc_mark_busy(vc);      /* messages may have waited */
        break;
    case VC_FORGET:
        device.stats.left++;
        vc_forget_link(vc);
        break;
    default: break;
    }
}

static void leave_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct leave_turn turn;
    enum leave_step step = (enum leave_step)packet_id(head);
    (void)data, (void)len;
    if (vc->foreign || !device_is_own_group(&vc->peer.gid) ||
        !leave_heard((enum vc_state)vc->state, step, is_idle(vc), outranks(vc), &turn)) {
        vc_fail(vc, MPID_LOST, "it let the connection go at the wrong time");
        return;
    }
    if (turn.say != LEAVE_NONE && turn.say != LEAVE_NO && say_now(vc, turn.say))
        leave_put_off((enum vc_state)vc->state, &turn);
    if (turn.say == LEAVE_NO) {
        struct chan_head no = packet_head(PACKET_LEAVE, LEAVE_NO, 0);
        vc_control(vc, &no, NULL, 0);
    }
    follow(vc, turn.event);
}

/* ---- choosing ---- */

static uint64_t messages_of(const struct vc *vc)
{
    const struct stats_counts *counts = stats_counts(vc);
    return vc->sent + vc->received + counts->rndv_sent + counts->rndv_received;
}

/* Whether it may be let go at some time. */
static bool is_scarce(const struct vc *vc)
{
    return vc->state == VC_OPEN && vc->bound->ops == device.crowd->ops && !vc->foreign &&
           device_is_own_group(&vc->peer.gid);
}

/* Look at the one that was used longest ago, as far as is known. Returns whether to go on. */
static bool look_at(struct vc *vc, uint64_t now_ns, int *excess)
{
    uint64_t messages = messages_of(vc);
    uint64_t rest_ns = device.crowd->links > idle.pressing ? 0 : idle.idle_ns;
    if (is_scarce(vc) && vc->used == messages && is_idle(vc)) {
        if (now_ns - vc->used_ns < rest_ns)
            return false;
        *excess -= idle_leave(vc);
    }
    vc->used = messages;
    vc->used_ns = now_ns;
    vc_stands_last(vc);
    return *excess > 0;
}

void idle_look(void)
{
    uint64_t now_ns = os_now_ns();
    int excess = device.crowd->links - device.crowd_most - device.leaving;
    if (device.finalizing || excess <= 0 || now_ns < idle.next_ns)
        return;
    idle.next_ns = now_ns + (device.crowd->links > idle.pressing ? 0 : idle.idle_ns / LOOKS);
    struct vc *vc;
    while ((vc = vc_standing()) != NULL && vc->used_ns != now_ns && look_at(vc, now_ns, &excess))
        ;
}

/* ---- life ---- */

static void watch_links(void)
{
    unsigned long long caps = 0;
    struct rlimit files;
    int most = (int)os_setting(OS_SETTING_CONNECTIONS_MOST);
    idle.idle_ns = (uint64_t)os_setting(OS_SETTING_CONNECTIONS_IDLE_MS) * 1000000u;
    idle.next_ns = 0;
    idle.pressing = INT32_MAX;
    if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_max < INT32_MAX) {
        idle.pressing = (int)(files.rlim_max - files.rlim_max / 4);
        most = most < idle.pressing / 3 * 2 ? most : idle.pressing / 3 * 2;
    }
    if (!most || BNR_Query_caps(&caps) || !(caps & BNR_CAP_EVENTS))
        return;
    device.crowd_most = most;
    for (int i = 0; i < device.port_count && !device.crowd; i++)
        if (device.ports[i].chan->ops->scarce)
            device.crowd = device.ports[i].chan;
}

static int start(void)
{
    static const struct packet_kind leave = {.name = "LEAVE", .arrived = leave_arrived};
    return packet_add(PACKET_LEAVE, &leave);
}

const struct life idle_life = {.start = start, .open = watch_links};
