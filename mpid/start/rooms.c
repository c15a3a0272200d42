/* SPDX-License-Identifier: BSD-3-Clause */

/* The tables by which lower rooms of the device call higher ones, and channels the device. */
#include "mpid/start/rooms.h"

#include <stdio.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/idle.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/message/recv.h"
#include "mpid/message/rndv.h"
#include "mpid/message/send.h"
#include "mpid/peers/lost.h"
#include "mpid/peers/notice.h"
#include "mpid/peers/parted.h"
#include "mpid/tell/facts.h"
#include "mpid/tell/hang.h"
#include "mpid/wait/progress.h"

/* ---- channels ---- */

static void sent(struct chan_peer *peer, void *cookie)
{
    send_sent((struct vc *)peer, cookie);
}

static void broken(void *owner, const struct chan_ops *ops, const char *why)
{
    char text[200];
    (void)owner;
    snprintf(text, sizeof(text), "%s: %s", ops->name, why);
    device_abort(1, text);
}

static const struct chan_sink sink = {
    .size = sizeof(struct chan_sink),
    .arrived = recv_arrived,
    .place = packet_place,
    .landed = packet_landed,
    .sent = sent,
    .done = rndv_got,
    .asked = connect_asked,
    .opened = connect_opened,
    .refused = connect_refused,
    .returned = connect_returned,
    .lost = connect_lost,
    .broken = broken,
};
/* ---- rooms ---- */

static void vc_gone(struct vc *vc)
{
    facts_vc_gone(vc);
    lost_remove_vc(vc);
}

static void vc_starved(struct vc *vc)
{
    send_fail(vc, MPID_NO_MEMORY);
}

static void vc_end(struct vc *vc, enum mpid_error error)
{
    recv_fail(vc, error);
    rndv_fail(vc, error);
    send_fail(vc, error);
}

static void vc_failed(const struct vc *vc, bool has_failed)
{
    if (vc->foreign && vc->refs) /* nobody else tells of that */
        lost_process(&vc->peer.gid, vc->peer.rank, has_failed);
    else
        lost_vc();
}

static void tell_request(void *arg, struct mpid_wait_report *report)
{
    mpid_tell_request(report, arg);
}

void rooms_connect(void)
{
    static const struct progress_above of_progress = {
        .drain = send_drain_busy,
        .connect = connect_poll,
        .until_ns = connect_until_ns,
        .ended = lost_finish,
        .judge = lost_look,
        .part = parted_poll,
        .vanish = connect_end_vanished,
        .let_go = idle_look,
        .say = hang_poll,
        .say_looking = hang_tell_poll,
        .say_waiting = hang_tell,
        .say_request = tell_request,
    };
    static const struct vc_above of_vc = {
        .begun = lost_add_vc,
        .gone = vc_gone,
        .is_wanted = lost_is_wanted,
        .unwanted = send_unwanted,
        .finalizes = lost_finalizes,
        .starved = vc_starved,
        .lost = parted_note,
        .end = vc_end,
        .failed = vc_failed,
    };
    device.sink = sink;
    progress_above = &of_progress;
    vc_above = &of_vc;
    lost_end_sends = send_fail_context;
}
