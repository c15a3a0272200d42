/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ends that a gone or unreachable process causes: of receives and probes that name it, of those
 * from any process when no sender is left, and all that goes on in a context that fails with it.
 */
#include "mpid/peers/lost.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/ended.h"
#include "mpid/ground/life.h"
#include "mpid/peers/notice.h"
#include "mpid/wait/car.h"
#include "mpid/wait/progress.h"
#include "mpid/wait/wake.h"
#include "os/clock.h"
#include "os/hash.h"
#include "os/log.h"

enum { CAUSE_MS = 1000, UNREACHED_MS = 300, UNREACHED_RANK_MS = 8 }; /* the last: for each rank of this host */

/* A context in which nothing goes on any more. */
struct failed_context {
    uint32_t context;
    enum mpid_error error; /* how it ends there */
    UT_hash_handle hh;
};

void (*lost_end_sends)(uint32_t context);

static struct failed_context *failed_contexts;
static bool any_parted; /* a process of another job has parted from this one, and has gone */

/* ---- known losses ---- */

bool mpid_failed(int index, struct mpid_gid *gid, uint32_t *rank)
{
    struct chan_gid failed;
    os_lock(&device.lock);
    bool there = (size_t)index < ended_failed_count();
    if (there) {
        ended_failed((size_t)index, &failed, rank);
        memcpy(gid, &failed, sizeof(*gid));
    }
    os_unlock(&device.lock);
    return there;
}

void mpid_tolerate(bool on)
{
    os_lock(&device.lock);
    device.tolerant = on;
    if (!device.orphan)
        (void)BNR_Tolerate(on); /* another launcher decides for itself */
    os_unlock(&device.lock);
}

static void find_unexplained(struct vc *vc, void *arg)
{
    bool broke = vc->state == VC_FAILED && vc->failure == MPID_LOST && vc->was_open;
    if (broke && !ended_has(&vc->peer.gid, vc->peer.rank))
        *(bool *)arg = true;
}

enum mpid_error mpid_why(const struct mpid_request *request)
{
    uint64_t most_ms = UNREACHED_MS + (uint64_t)device.env.local_ranks * UNREACHED_RANK_MS;
    uint64_t until_ns = os_now_ns() + most_ms * 1000000u;
    const struct vc *vc = request->vc;
    enum mpid_error error = (enum mpid_error)request->error;
    while (error == MPID_UNREACHABLE && vc && os_now_ns() < until_ns) {
        os_lock(&device.lock);
        if (!device.orphan)
            progress_hear();
        if (ended_has(&vc->peer.gid, vc->peer.rank))
            error = MPID_LOST;
        os_unlock(&device.lock);
        if (error == MPID_UNREACHABLE)
            usleep(100);
    }
    return error;
}

void mpid_wait_causes(void)
{
    uint64_t until_ns = os_now_ns() + CAUSE_MS * 1000000ull;
    bool waits = true;
    os_lock(&device.lock);
    if (!device.orphan)
        progress_hear(); /* a program that asks in a loop hears of it, too */
    os_unlock(&device.lock);
    while (waits) {
        waits = false;
        os_lock(&device.lock);
        if (device.has_lost && !device.orphan)
            vc_each(find_unexplained, &waits);
        if (waits)
            progress_hear();
        if (os_now_ns() > until_ns)
            device.has_lost = waits = false; /* it is not asked for again */
        os_unlock(&device.lock);
        if (waits)
            usleep(100);
    }
}

static struct failed_context *find_context(uint32_t context)
{
    struct failed_context *found;
    HASH_FIND(hh, failed_contexts, &context, sizeof(context), found);
    return found;
}

enum mpid_error lost_context(uint32_t context)
{
    const struct failed_context *found = find_context(context);
    return found ? found->error : MPID_OK;
}

/* ---- processes left ---- */

/* The search for a context's communicator: the nearest one, whose first context is not above. */
struct senders {
    uint32_t context, best; /* best: that of the nearest one so far, plus one */
    bool waits; /* nobody in MPI_Finalize counts */
    bool left;
};

static bool is_self(const struct chan_gid *gid, uint32_t rank)
{
    return rank == device.env.rank && device_is_own_group(gid);
}

/* Whether the peer sends nothing any more: it is lost, or in MPI_Finalize, and all that it has sent before has come. */
static bool is_silent(const struct vc *vc)
{
    return vc_is_lost(vc) || vc_is_shut(vc);
}

/* Whether a process can send, as far as is known. Of other groups only the ends are. */
static bool can_send(const struct chan_gid *gid, uint32_t rank, bool waits)
{
    if (device.alone && device_is_own_group(gid))
        return false;
    const struct vc *vc = vc_find(gid, rank);
    if (!vc)
        return !ended_has(gid, rank);
    return waits ? !is_silent(vc) : !vc_is_lost(vc);
}

static bool find_senders(void *arg, const struct mpid_comm_view *view)
{
    struct senders *senders = arg;
    struct mpid_process (*member)(const void *, int) = view->peer ? view->peer : view->member;
    int count = view->peer ? view->peers : view->size;
    bool any = false;
    if (view->context > senders->context || view->context < senders->best)
        return false;
    senders->best = view->context + 1;
    senders->left = false;
    for (int i = 0; i < count && !senders->left; i++) {
        struct mpid_process process = member(view->object, i);
        struct chan_gid gid;
        memcpy(&gid, &process.gid, sizeof(gid));
        if (is_self(&gid, process.rank))
            continue;
        any = true;
        senders->left = can_send(&gid, process.rank, senders->waits);
    }
    senders->left |= !any; /* then it is this process that sends */
    return false;
}

/* Whether a message of this process to itself is on its way, or another one was not received. */
static bool sends_to_self(void)
{
    const struct vc *self = vc_find(&device.env.gid, device.env.rank);
    return self && (vc_has_work(self) || self->sent != self->received);
}

/* Whether a message may still come to a receive from any process. If all others have ended
 * properly, this process may still send to itself, unless its only thread waits for that message. */
static bool may_come(uint32_t context, bool waits)
{
    struct senders senders = {.context = context, .left = true};
    senders.waits = waits && !os_lock_enabled && !sends_to_self();
    bool counts = ended_failed_count() || device.alone || any_parted || senders.waits;
    if (counts && device.each_comm)
        device.each_comm(find_senders, &senders);
    return senders.left;
}

/* Whether the peer has left MPI in order, or is about to. Of those of other jobs nobody tells. */
static bool has_left(const struct vc *vc)
{
    return vc->state != VC_FAILED && !vc->foreign && !ended_has_failed(&vc->peer.gid, vc->peer.rank);
}

/* A program may give up a receive or a probe of its own whose sender has left in order, and that need not be an error. A
 * collective with a peer in MPI_Finalize is one too many: mpiexec can tell which. */
static bool may_be_given_up(const struct vc *from, uint32_t context, bool waits)
{
    return !waits && has_left(from) && (vc_is_shut(from) || context % MPID_CONTEXT_STEP == 0);
}

enum mpid_error lost_why(const struct vc *from, const struct mpid_envelope *want, bool waits)
{
    enum mpid_error error = lost_context(want->context);
    if (error)
        return error;
    if (from && is_silent(from) && !may_be_given_up(from, want->context, waits))
        return vc_error(from);
    if (from || may_come(want->context, waits))
        return MPID_OK;
    return device.alone ? MPID_UNREACHABLE : MPID_LOST;
}

/* ---- receives ---- */

static enum mpid_error why_lost(const struct mpid_request *request)
{
    return lost_why(request->vc, &request->place.env, request->state == CAR_AWAITED);
}

void lost_check_posted(struct mpid_request *request)
{
    enum mpid_error error = why_lost(request);
    if (!error || !match_unpost(&device.match, request))
        return;
    request->error = (uint8_t)error;
    car_complete(request);
}

static bool is_lost(const struct mpid_request *request, void *arg)
{
    (void)arg;
    return why_lost(request) != MPID_OK;
}

/* End the posted receives that nothing can come to any more. A process is lost once, so all are
 * looked at. */
static void end_receives(void)
{
    device.any_lost = true;
    if (device.ending)
        return;
    struct mpid_request *list = match_unpost_all(&device.match, is_lost, NULL);
    while (list) {
        struct mpid_request *request = list;
        list = request->next;
        request->error = (uint8_t)why_lost(request);
        car_complete(request);
    }
    wake_all(); /* probes wait, too */
}

void mpid_await(struct mpid_request *request)
{
    if (request->kind != MPID_RECV)
        return;
    os_lock(&device.lock);
    if (request->state == CAR_POSTED) {
        request->state = CAR_AWAITED;
        if (device.any_lost)
            lost_check_posted(request);
    }
    os_unlock(&device.lock);
}

void lost_vc(void)
{
    end_receives();
}

void lost_finalizes(void)
{
    end_receives();
    notice_look();
}

struct wanted {
    const struct vc *vc;
    bool is_there;
};

static void look_for_wanted(const struct mpid_request *request, void *arg)
{
    struct wanted *wanted = arg;
    wanted->is_there |= request->vc == wanted->vc;
}

bool lost_is_wanted(const struct vc *vc)
{
    struct wanted wanted = {vc, vc_has_work(vc) || vc->arriving || vc->landing};
    if (!wanted.is_there)
        match_each_posted(&device.match, look_for_wanted, &wanted);
    return wanted.is_there;
}

/* ---- processes that cannot be reached ---- */

/*
 * A process that only receives from another would not notice that no channel leads between them:
 * it has no reason to connect. So, while it waits or asks, it looks once at the card of each peer
 * that it has named, and goes through the group until it finds a process that can be reached;
 * if there is none, nothing can come to a receive from any process.
 */

static struct vc *to_judge;
static uint32_t news_seen;
static bool look_again = true; /* though there is no news of cards */

void lost_add_vc(struct vc *vc)
{
    if (!vc->judged)
        return;
    vc->judged = false;
    DL_APPEND2(to_judge, vc, judge_prev, judge_next);
    look_again = true;
    device.unjudged++;
}

void lost_remove_vc(struct vc *vc)
{
    if (vc->judged)
        return;
    vc->judged = true;
    DL_DELETE2(to_judge, vc, judge_prev, judge_next);
    device.unjudged--;
}

static bool is_other(uint32_t rank)
{
    return rank != device.env.rank && !device_is_ended_rank(rank);
}

static void look_for_others(void)
{
    enum connect_way way = CONNECT_NO_WAY;
    uint32_t size = (uint32_t)device.world.size;
    while (device.apart < size && way == CONNECT_NO_WAY) {
        bool other = is_other(device.apart);
        way = other ? connect_way_to(device.apart) : CONNECT_NO_WAY;
        if (other && way == CONNECT_NO_WAY && device.first_apart == size)
            device.first_apart = device.apart;
        device.apart += way == CONNECT_NO_WAY;
    }
    if (way == CONNECT_UNKNOWN)
        return;
    device.judged_group = true;
    device.unjudged--;
    device.alone = way == CONNECT_NO_WAY && device.first_apart < size;
    if (!device.alone)
        return;
    struct vc *vc = vc_get(&device.env.gid, device.first_apart); /* to say why */
    if (vc)
        connect_start(vc);
    end_receives();
}

void lost_look(void)
{
    if (device.finalizing || device.orphan || !(device_take_news(&news_seen) || look_again))
        return;
    struct vc *vc, *next;
    look_again = false;
    DL_FOREACH_SAFE2(to_judge, vc, next, judge_next)
        if (connect_is_judged(vc))
            lost_remove_vc(vc);
    if (!device.judged_group && device.world.size > 1)
        look_for_others();
}

/* ---- contexts ---- */

/* End requests that are posted, or wait for the peer, in the contexts that have failed. */
static void end_context(uint32_t context, enum mpid_error error)
{
    struct failed_context *failed = find_context(context);
    if (failed) {
        if (error == MPID_REVOKED)
            failed->error = error;
        return;
    }
    failed = malloc(sizeof(*failed));
    if (failed) {
        failed->context = context;
        failed->error = error;
        HASH_ADD(hh, failed_contexts, context, sizeof(context), failed);
    }
    if (!failed || !os_hash_has(hh, failed)) {
        os_log(OS_LOG_INFO, "no memory to end what goes on in context %u", context);
        free(failed);
        return;
    }
    lost_end_sends(context);
}

static void fail_context(uint32_t context)
{
    end_context(context, MPID_LOST);
}

void mpid_fail_context(uint32_t context, enum mpid_error error)
{
    os_lock(&device.lock);
    end_context(context, error);
    end_receives();
    os_unlock(&device.lock);
}

void mpid_forget_context(uint32_t context)
{
    os_lock(&device.lock);
    struct failed_context *failed = find_context(context);
    if (failed) {
        HASH_DEL(failed_contexts, failed);
        free(failed);
    }
    os_unlock(&device.lock);
}

void mpid_set_failed(void (*contexts_of)(const struct mpid_gid *gid, uint32_t rank,
                                         void (*fail)(uint32_t context)))
{
    device.contexts_of = contexts_of;
}

void lost_process(const struct chan_gid *gid, uint32_t rank, bool failed)
{
    struct mpid_gid id;
    memcpy(&id, gid, sizeof(id));
    if (failed && ended_note_failed(gid, rank) && device.contexts_of)
        device.contexts_of(&id, rank, fail_context);
    any_parted |= !failed && !device_is_own_group(gid);
    look_again = true;
    end_receives();
    if (!device.ending)
        notice_look();
}

void lost_begin(void)
{
    device.ending = true;
}

void lost_finish(void)
{
    device.ending = false;
    end_receives();
    notice_look();
}

static void end(void)
{
    look_again = true;
    any_parted = false;
    struct failed_context *failed, *next;
    HASH_ITER(hh, failed_contexts, failed, next) {
        HASH_DEL(failed_contexts, failed);
        free(failed);
    }
}

const struct life lost_life = {.end = end};
