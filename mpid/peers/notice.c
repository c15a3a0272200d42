/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Notices: short messages of the layer above that no receive is posted for; and the news that a
 * process has ended, or is about to. Both go through the queue of completions, so they come in order, one at a time,
 * and with no lock held.
 */
#include "mpid/peers/notice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/ended.h"
#include "mpid/ground/life.h"
#include "mpid/peers/lost.h"
#include "mpid/wait/deliver.h"
#include "mpid/wait/wake.h"

struct notice {
    struct mpid_request request; /* what the queue of completions knows it by; no message */
    struct mpid_notice told;
    char bytes[];
};

static struct {
    void (*arrived)(const struct mpid_notice *notice);
    void (*look)(void);
} above;

static void tell(struct mpid_request *request)
{
    struct notice *notice = (struct notice *)request;
    above.arrived(&notice->told);
    free(notice);
}

static void tell_look(struct mpid_request *request)
{
    free(request);
    above.look();
}

static void deliver(struct mpid_request *request, void (*done)(struct mpid_request *))
{
    request->done = done;
    atomic_store_explicit(&request->pending, 1, memory_order_relaxed);
    deliver_later(request);
    wake_news();
}

static struct notice *make(struct vc *vc, const struct chan_head *head, size_t len)
{
    struct notice *notice = len <= MPID_NOTICE_MAX ? calloc(1, sizeof(*notice) + len) : NULL;
    if (!notice) {
        vc_fail(vc, len > MPID_NOTICE_MAX ? MPID_LOST : MPID_NO_MEMORY,
                "there is no room for a notice of this length");
        return NULL;
    }
    notice->told = (struct mpid_notice){.from.rank = vc->peer.rank,
                                        .context = packet_id(head),
                                        .word = head->word[1],
                                        .data = notice->bytes,
                                        .len = len};
    memcpy(&notice->told.from.gid, &vc->peer.gid, sizeof(notice->told.from.gid));
    return notice;
}

static void arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct notice *notice = above.arrived ? make(vc, head, len) : NULL;
    if (!notice)
        return;
    if (len)
        memcpy(notice->bytes, data, len);
    deliver(&notice->request, tell);
}

static void *place(struct vc *vc, const struct chan_head *head, struct landing *landing)
{
    struct notice *notice = make(vc, head, landing->len);
    if (!notice)
        return NULL; /* the connection has failed, and the landing is gone */
    landing->temp = notice;
    return notice->bytes;
}

static void landed(struct vc *vc, struct landing *landing)
{
    struct notice *notice = landing->temp;
    (void)vc;
    if (!above.arrived)
        return;
    landing->temp = NULL;
    deliver(&notice->request, tell);
}

void notice_look(void)
{
    struct mpid_request *request = above.look ? calloc(1, sizeof(*request)) : NULL;
    if (request)
        deliver(request, tell_look);
}

void mpid_set_notice(void (*took)(const struct mpid_notice *notice), void (*look)(void))
{
    os_lock(&device.lock);
    above.arrived = took;
    above.look = look;
    os_unlock(&device.lock);
}

int mpid_notify(struct vc *vc, uint32_t context, uint64_t word, const void *data, size_t len)
{
    struct chan_head head = packet_head(PACKET_NOTICE, context, word);
    if (len > MPID_NOTICE_MAX)
        return -EMSGSIZE;
    os_lock(&device.lock);
    /* In MPI_Finalize none is needed by peers that are there too, and no connection is made any more. */
    bool is_late = vc->state == VC_CLOSE_ACKED || vc->state == VC_CLOSED || (device.finalizing && !vc_is_up(vc));
    if (!is_late)
        vc_control(vc, &head, data, (uint32_t)len);
    os_unlock(&device.lock);
    return 0;
}

bool mpid_is_gone(const struct mpid_gid *gid, uint32_t rank)
{
    struct chan_gid id;
    memcpy(&id, gid, sizeof(id));
    os_lock(&device.lock);
    bool gone = ended_has(&id, rank);
    if (!gone && !device_is_own_group(&id)) { /* nobody else tells of those of other jobs */
        const struct vc *vc = vc_find(&id, rank);
        gone = vc && vc->state == VC_FAILED;
        if (gone)
            lost_process(&id, rank, true);
    }
    os_unlock(&device.lock);
    return gone;
}

bool mpid_is_finalizing(const struct mpid_gid *gid, uint32_t rank)
{
    struct chan_gid id;
    memcpy(&id, gid, sizeof(id));
    os_lock(&device.lock);
    const struct vc *vc = vc_find(&id, rank);
    bool finalizing = vc && vc->state == VC_REMOTE_CLOSE;
    os_unlock(&device.lock);
    return finalizing;
}

static int start(void)
{
    static const struct packet_kind kind = {
        .name = "NOTICE", .arrived = arrived, .place = place, .landed = landed};
    return packet_add(PACKET_NOTICE, &kind);
}

const struct life notice_life = {.start = start};
