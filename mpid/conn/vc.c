/* SPDX-License-Identifier: BSD-3-Clause */

/* Virtual connections: the state table, the queue of control packets, closing;
 * see vc.h. */
#include "mpid/conn/vc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/foreign.h"
#include "mpid/conn/opening.h"
#include "mpid/ground/device.h"
#include "mpid/ground/ended.h"
#include "mpid/ground/life.h"
#include "mpid/wait/wake.h"
#include "os/log.h"

struct vc *vc_table;
const struct vc_above *vc_above;

static const char *const vc_names[VC_STATES] = {
    [VC_UNBOUND] = "unbound",         [VC_BINDING] = "binding",
    [VC_CONNECTING] = "connecting",   [VC_ACCEPTING] = "accepting",
    [VC_OPEN] = "open",               [VC_LEAVING] = "let go by us",
    [VC_LEFT] = "let go by the peer", [VC_LOCAL_CLOSE] = "closed by us",
    [VC_REMOTE_CLOSE] = "closed by the peer", [VC_CLOSE_ACKED] = "closed by both",
    [VC_CLOSED] = "closed",           [VC_FAILED] = "failed",
};

static const char *const vc_event_names[VC_EVENTS] = {
    [VC_NEED] = "need",     [VC_LINKED] = "linked",   [VC_ASKED] = "asked",
    [VC_OPENED] = "opened", [VC_REFUSED] = "refused", [VC_CLOSE] = "close",
    [VC_CLOSE_0] = "close(0)", [VC_CLOSE_1] = "close(1)", [VC_LOST] = "lost",
    [VC_REOPEN] = "reopen", [VC_FORGET] = "forget", [VC_LEAVE] = "leave",
    [VC_YIELD] = "yield",   [VC_STAY] = "stay",
};

enum { NONE = VC_STATES }; /* cannot happen */

/* From state by event to state. */
static const uint8_t vc_next[VC_STATES][VC_EVENTS] = {
    /*                    NEED           LINKED         ASKED         OPENED   REFUSED
     *                    CLOSE          CLOSE_0        CLOSE_1       LOST     REOPEN   FORGET
     *                    LEAVE          YIELD          STAY */
    [VC_UNBOUND] =       {VC_BINDING, NONE, VC_ACCEPTING, NONE, NONE,
                          VC_CLOSED, NONE, NONE, VC_FAILED, NONE, NONE,
                          NONE, NONE, NONE},
    [VC_BINDING] =       {VC_BINDING, VC_CONNECTING, VC_ACCEPTING, NONE, NONE,
                          NONE, NONE, NONE, VC_FAILED, NONE, NONE,
                          NONE, NONE, NONE},
    [VC_CONNECTING] =    {VC_CONNECTING, VC_CONNECTING, VC_ACCEPTING, VC_OPEN, VC_CONNECTING,
                          NONE, NONE, NONE, VC_FAILED, NONE, NONE,
                          NONE, NONE, NONE},
    [VC_ACCEPTING] =     {VC_ACCEPTING, NONE, NONE, VC_OPEN, NONE,
                          NONE, NONE, NONE, VC_FAILED, NONE, NONE,
                          NONE, NONE, NONE},
    [VC_OPEN] =          {VC_OPEN, NONE, NONE, VC_OPEN, VC_CONNECTING,
                          VC_LOCAL_CLOSE, VC_REMOTE_CLOSE, NONE, VC_FAILED, VC_OPEN, NONE,
                          VC_LEAVING, VC_LEFT, NONE},
    [VC_LEAVING] =       {VC_LEAVING, NONE, NONE, NONE, NONE,
                          NONE, VC_REMOTE_CLOSE, NONE, VC_FAILED, VC_LEAVING, VC_UNBOUND,
                          NONE, VC_LEFT, VC_OPEN},
    [VC_LEFT] =          {VC_LEFT, NONE, NONE, NONE, NONE,
                          NONE, NONE, NONE, VC_FAILED, VC_LEFT, VC_UNBOUND,
                          NONE, NONE, VC_OPEN},
    [VC_LOCAL_CLOSE] =   {VC_LOCAL_CLOSE, NONE, NONE, VC_LOCAL_CLOSE, VC_CONNECTING,
                          NONE, VC_CLOSE_ACKED, VC_CLOSED, VC_FAILED, VC_OPEN, NONE,
                          NONE, NONE, NONE},
    [VC_REMOTE_CLOSE] =  {VC_REMOTE_CLOSE, NONE, NONE, VC_REMOTE_CLOSE, NONE,
                          VC_CLOSE_ACKED, NONE, NONE, VC_FAILED, VC_OPEN, NONE,
                          NONE, NONE, NONE},
    [VC_CLOSE_ACKED] =   {VC_CLOSE_ACKED, NONE, NONE, NONE, NONE,
                          NONE, NONE, VC_CLOSED, VC_CLOSED, VC_OPEN, NONE,
                          NONE, NONE, NONE},
    [VC_CLOSED] =        {NONE, NONE, NONE, NONE, NONE,
                          VC_CLOSED, NONE, NONE, VC_CLOSED, VC_OPEN, VC_UNBOUND,
                          NONE, NONE, NONE},
    [VC_FAILED] =        {VC_FAILED, NONE, NONE, NONE, NONE,
                          VC_FAILED, NONE, NONE, VC_FAILED, NONE, NONE,
                          NONE, NONE, NONE},
};

const char *vc_state_name(enum vc_state state)
{
    return state < VC_STATES ? vc_names[state] : "impossible";
}

enum vc_state vc_after(enum vc_state state, enum vc_event event)
{
    return (enum vc_state)vc_next[state][event];
}

/* See vc_each_engaged() and vc_each_standing(). */
static struct vc *engaged, *standing;

static void list_standing(struct vc *vc, bool stands)
{
    vc->standing = stands;
    vc->used = UINT64_MAX; /* idle_look() is to find it used */
    if (stands)
        DL_APPEND2(standing, vc, standing_prev, standing_next);
    else
        DL_DELETE2(standing, vc, standing_prev, standing_next);
}

static void enter(struct vc *vc, enum vc_state next)
{
    int old_state = vc->state;
    bool stands = next >= VC_BINDING && next < VC_CLOSED;
    bool was = vc->state >= VC_BINDING && vc->state <= VC_ACCEPTING;
    bool is = next >= VC_BINDING && next <= VC_ACCEPTING;
    device.binding += (int)is - (int)was;
    device.leaving -= vc_is_leaving(vc);
    vc->state = (uint8_t)next;
    device.leaving += vc_is_leaving(vc);
    if (stands != vc->standing)
        list_standing(vc, stands);
    if (next != (enum vc_state)old_state)
        stats_connection(&vc->peer, old_state, vc->state);
}

bool vc_event(struct vc *vc, enum vc_event event)
{
    enum vc_state next = vc_after((enum vc_state)vc->state, event);
    if (next == VC_STATES) {
        os_log(OS_LOG_DEBUG, "rank %u, %s: '%s' cannot happen", vc->peer.rank,
               vc_names[vc->state], vc_event_names[event]);
        return false;
    }
    enter(vc, next);
    return true;
}

/* ---- the stand-in ---- */

static int send_unbound(struct chan_link *link, const struct chan_head *head,
                        const struct chan_data *data)
{
    struct vc *vc = (struct vc *)link->peer;
    (void)head;
    (void)data;
    if (vc->state == VC_UNBOUND)
        connect_start(vc);
    return CHAN_AGAIN;
}

/* ---- the table of VCs ---- */

struct key {
    struct chan_gid gid;
    uint32_t rank;
};
_Static_assert(offsetof(struct vc, peer.rank) - offsetof(struct vc, peer.gid) ==
                   offsetof(struct key, rank),
               "the key lies in the peer as it is");

enum { KEY_LEN = sizeof(struct chan_gid) + sizeof(uint32_t) };

struct vc *vc_find(const struct chan_gid *gid, uint32_t rank)
{
    struct key key = {*gid, rank};
    struct vc *vc = NULL;
    HASH_FIND(hh, vc_table, &key, KEY_LEN, vc);
    return vc;
}

struct vc *vc_get(const struct chan_gid *gid, uint32_t rank)
{
    struct vc *vc = vc_find(gid, rank);
    if (vc)
        return vc;
    size_t size = mpid_space_seal(MPID_SPACE_VC);
    if (posix_memalign((void **)&vc, VC_LINE, size))
        return NULL;
    memset(vc, 0, size);
    vc->peer.gid = *gid;
    vc->peer.rank = rank;
    vc->credit = (int64_t)device.eager_credit;
    vc->due = (int64_t)device.credit_step;
    vc->stand_in = (struct chan_link){
        .send = send_unbound, .peer = &vc->peer, .eager_max = SIZE_MAX, .max_data = SIZE_MAX};
    vc->link = &vc->stand_in;
    HASH_ADD(hh, vc_table, peer.gid, KEY_LEN, vc);
    if (!os_hash_has(hh, vc)) {
        free(vc);
        return NULL;
    }
    vc->judged = true;
    vc_above->begun(vc);
    return vc;
}

void vc_each(void (*visit)(struct vc *vc, void *arg), void *arg)
{
    struct vc *vc, *next;
    HASH_ITER(hh, vc_table, vc, next)
        visit(vc, arg);
}

void vc_engage_slow(struct vc *vc)
{
    vc->engaged = true;
    DL_APPEND2(engaged, vc, engaged_prev, engaged_next);
}

static void unlist_engaged(struct vc *vc)
{
    if (vc->engaged)
        DL_DELETE2(engaged, vc, engaged_prev, engaged_next);
    vc->engaged = false;
}

/* Those that have nothing any more leave the list here. */
void vc_each_engaged(void (*visit)(struct vc *vc, void *arg), void *arg)
{
    struct vc *vc, *next;
    DL_FOREACH_SAFE2(engaged, vc, next, engaged_next) {
        if (vc_has_work(vc))
            visit(vc, arg);
        else
            unlist_engaged(vc);
    }
}

void vc_each_standing(void (*visit)(struct vc *vc, void *arg), void *arg)
{
    struct vc *vc, *next;
    DL_FOREACH_SAFE2(standing, vc, next, standing_next)
        visit(vc, arg);
}

struct vc *vc_standing(void)
{
    return standing;
}

void vc_stands_last(struct vc *vc)
{
    DL_DELETE2(standing, vc, standing_prev, standing_next);
    DL_APPEND2(standing, vc, standing_prev, standing_next);
}

static void unlink_vc(struct vc *vc)
{
    struct chan_link *link = vc->bound;
    vc->bound = NULL;
    if (link) {
        vc->last_ops = link->ops;
        link->ops->unlink(link);
    }
}

void vc_drop_link(struct vc *vc)
{
    unlink_vc(vc);
    while (vc->control_head) {
        struct control *control = vc->control_head;
        vc->control_head = control->next;
        vc_control_free(control);
    }
}

static void free_vc(struct vc *vc, void *arg)
{
    (void)arg;
    vc_above->gone(vc);
    vc_drop_link(vc);
    packet_drop_landing(vc);
    opening_free(vc);
    unlist_engaged(vc);
    if (vc->standing)
        list_standing(vc, false);
    foreign_forget(vc);
    free(vc->peer.tail);
    HASH_DEL(vc_table, vc);
    free(vc->rates);
    free(vc);
}

void vc_put(struct vc *vc)
{
    vc->refs--;
    if (vc->foreign)
        vc_retire(vc);
    vc_check(vc);
}

static bool is_unused(const struct vc *vc)
{
    bool rests = !vc->bound && !vc->accepted && (vc->state == VC_UNBOUND || vc->state >= VC_CLOSED);
    return !vc->refs && rests && !vc->send_head && !vc->pending && !vc->asked && !vc->bulk &&
           !vc->arriving && !vc->landing;
}

void vc_check(struct vc *vc)
{
    if (is_unused(vc))
        vc_mark_busy(vc);
}

bool vc_free_unused(struct vc *vc)
{
    bool unused = is_unused(vc) && !vc->busy; /* otherwise it is looked at again */
    if (unused)
        free_vc(vc, NULL);
    return unused;
}

void vc_stay_busy(struct vc *vc)
{
    if (vc->busy)
        return;
    vc->busy = true;
    vc->busy_next = device.busy;
    device.busy = vc;
}

void vc_mark_busy(struct vc *vc)
{
    device.drains = true;
    vc_stay_busy(vc);
}

/* ---- control packets ---- */

void vc_control_free(struct control *control)
{
    free(control->large);
    os_pool_put(&device.controls, control);
}

/* NULL: no memory. */
static struct control *make_control(const struct chan_head *head, const void *data, size_t len)
{
    struct control *control = os_pool_get(&device.controls);
    if (!control)
        return NULL;
    *control = (struct control){.head = *head, .len = (uint32_t)len};
    if (len > sizeof(control->payload) && !(control->large = malloc(len))) {
        vc_control_free(control);
        return NULL;
    }
    if (len)
        memcpy(control->large ? control->large : control->payload, data, len);
    return control;
}

void vc_control(struct vc *vc, const struct chan_head *head, const void *payload, uint32_t len)
{
    if (vc->state >= VC_CLOSED && !vc->bound)
        return; /* there is nobody to tell any more */
    if (!vc->control_head && vc_is_up(vc) && vc->state != VC_LEFT) {
        struct chan_data data = {.base = payload, .len = len};
        if (vc->bound->send(vc->bound, head, &data) == 0) {
            if (vc->peer.rank == device.env.rank)
                wake_news();
            return;
        }
    }
    struct control *control = make_control(head, payload, len);
    if (!control) {
        vc_fail(vc, MPID_NO_MEMORY, "no memory for a control packet");
        return;
    }
    if (vc->control_head)
        vc->control_tail->next = control;
    else
        vc->control_head = control;
    vc->control_tail = control;
    vc_engage(vc);
    if (vc->state == VC_UNBOUND)
        connect_start(vc);
    vc_mark_busy(vc);
    wake_news();
}

void vc_take_back(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct control *control = make_control(head, data, len);
    if (!control) {
        vc_fail(vc, MPID_NO_MEMORY, "no memory for the packets that a link gives back");
        return;
    }
    control->next = vc->control_head;
    if (!vc->control_head)
        vc->control_tail = control;
    vc->control_head = control;
    vc_engage(vc);
}

/* Forget a waiting CLOSE: it is said again once there is a link. */
void vc_refused(struct vc *vc)
{
    struct control **at = &vc->control_head;
    vc->link = &vc->stand_in;
    vc_event(vc, VC_REFUSED);
    vc->control_tail = NULL;
    while (*at) {
        struct control *control = *at;
        if (packet_type(&control->head) == PACKET_CLOSE) {
            *at = control->next;
            vc_control_free(control);
        } else {
            vc->control_tail = control;
            at = &control->next;
        }
    }
}

bool vc_is_ended(const struct vc *vc)
{
    return ended_has(&vc->peer.gid, vc->peer.rank);
}

bool vc_is_lost(const struct vc *vc)
{
    return vc_is_over(vc) || (vc->state == VC_UNBOUND && vc_is_ended(vc));
}

/* ---- closing ---- */

static void send_close(struct vc *vc, uint64_t acked)
{
    struct chan_head head = packet_head(PACKET_CLOSE, 0, acked);
    vc_control(vc, &head, NULL, 0);
}

void vc_close(struct vc *vc)
{
    enum vc_state before = (enum vc_state)vc->state;
    if (!vc_event(vc, VC_CLOSE))
        return;
    if (vc->foreign) /* nothing follows CLOSE: later messages wait for another link */
        vc->link = &vc->stand_in;
    if (before == VC_OPEN)
        send_close(vc, 0);
    else if (before == VC_REMOTE_CLOSE)
        send_close(vc, 1);
}

bool vc_is_shut(const struct vc *vc)
{
    return vc->state == VC_REMOTE_CLOSE && !vc->foreign && !(device.used & MPID_SESSIONS);
}

/* Nothing that was sent before counts any more, on either side. */
static void begin_anew(struct vc *vc)
{
    opening_free(vc);
    vc->link = &vc->stand_in;
    stats_counts(vc)->credit_back += device.eager_credit - (uint64_t)vc->credit;
    vc->credit = (int64_t)device.eager_credit;
    stats_counts(vc)->credit_given += device.credit_step - (uint64_t)vc->due;
    vc->due = (int64_t)device.credit_step;
}

void vc_forget_link(struct vc *vc)
{
    vc_event(vc, VC_FORGET);
    unlink_vc(vc);
    begin_anew(vc);
    if (vc->send_head || vc->control_head)
        connect_start(vc);
    vc_check(vc);
}

void vc_reopen(struct vc *vc)
{
    if (vc->foreign && vc->state == VC_CLOSED)
        vc_drop_link(vc);
    if (vc_is_up(vc) && !vc->foreign) {
        vc_event(vc, VC_REOPEN);
        if (!vc->send_head && !vc->control_head)
            vc_let_go(vc);
    } else if (!vc->bound && vc->state == VC_CLOSED) {
        vc_event(vc, VC_FORGET);
        begin_anew(vc);
        if (vc->send_head)
            connect_start(vc);
        else if (vc->foreign && vc->refs)
            vc_above->begun(vc); /* or nothing tells of its end */
        vc_check(vc);
    }
}

/* Within the group CLOSE means nothing where nobody is of the world model (any more). */
static void close_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    uint64_t acked = head->word[1];
    (void)data, (void)len;
    if (!vc->foreign && !(device.used & MPID_WORLD))
        return;
    enum vc_state before = (enum vc_state)vc->state;
    if (!vc_event(vc, acked ? VC_CLOSE_1 : VC_CLOSE_0))
        vc_fail(vc, MPID_LOST, "it closed twice");
    else if (before == VC_LOCAL_CLOSE)
        send_close(vc, 1);
    else if (vc_is_shut(vc))
        vc_above->unwanted(vc);
    else if (before == VC_LEAVING)
        vc_mark_busy(vc); /* messages have waited */
    if (!vc->foreign && vc->state == VC_REMOTE_CLOSE)
        vc_above->finalizes();
    if (vc->foreign && vc->state == VC_REMOTE_CLOSE)
        vc_close(vc); /* the peer needs the link no more; this process may need another one */
    if (vc->foreign && vc->state == VC_CLOSED)
        vc_reopen(vc);
}

void vc_give_up_for_now(struct vc *vc)
{
    if ((vc->state != VC_BINDING && vc->state != VC_CONNECTING) || vc->bound || vc->control_head) {
        vc_fail(vc, MPID_NO_MEMORY, "no memory to connect");
        return;
    }
    enter(vc, VC_UNBOUND);
    opening_free(vc);
    vc_above->starved(vc);
    vc_check(vc);
}

void vc_abandon(struct vc *vc)
{
    vc_drop_link(vc);
    enter(vc, VC_UNBOUND);
    opening_free(vc);
    vc->link = &vc->stand_in;
    vc_check(vc);
}

void vc_retire(struct vc *vc)
{
    if (vc->refs || device.finalizing || device.orphan)
        return;
    if (vc->state == VC_OPEN)
        vc_close(vc);
    else if ((vc->state == VC_BINDING || vc->state == VC_CONNECTING) && !vc->bound)
        vc_abandon(vc);
}

void vc_disown(struct vc *vc)
{
    if (vc->standing)
        list_standing(vc, false);
    unlist_engaged(vc);
    vc->state = VC_FAILED;
    vc->failure = MPID_LOST;
    vc->link = &vc->stand_in;
}

void vc_describe(const struct vc *vc, char *text, size_t size)
{
    BNR_Host host;
    BNR_Group group = device_group_of(&vc->peer.gid, vc->peer.rank);
    if (vc->foreign)
        host.name = vc->foreign->host;
    else if (!group || BNR_Get_host(group, (int)vc->peer.rank, &host))
        host.name = "a host that is not known";
    snprintf(text, size, "rank %u %son %s", vc->peer.rank, vc->foreign ? "of another job " : "",
             host.name);
}

void vc_note_lost(const struct vc *vc)
{
    device.lost_gid = vc->peer.gid;
    device.lost_rank = vc->peer.rank;
    device.has_lost = true;
}

void vc_fail(struct vc *vc, enum mpid_error error, const char *why)
{
    enum vc_state before = (enum vc_state)vc->state;
    if (before == VC_FAILED || before == VC_CLOSED)
        return;
    if (vc->foreign && before == VC_CLOSE_ACKED) { /* it has gone after its last word */
        vc_event(vc, VC_LOST);
        vc_reopen(vc);
        return;
    }
    char name[128];
    vc_describe(vc, name, sizeof(name));
    vc_event(vc, VC_LOST);
    if (vc->state == VC_FAILED && !device.finalizing)
        os_log(OS_LOG_INFO, "lost %s (%s): %s", name, vc_state_name(before), why);
    if (vc->state == VC_FAILED && error == MPID_UNREACHABLE)
        snprintf(device.unreachable, sizeof(device.unreachable), "%s cannot be reached: %s", name,
                 why);
    vc->failure = (uint8_t)error;
    vc->was_open = before >= VC_OPEN;
    /* One whose settings differ lives: its job and this one go on apart, and others of this job may never hear of it. */
    bool has_failed = vc->was_open || (vc->foreign && error != MPID_UNREACHABLE && vc_above->is_wanted(vc));
    if (vc->state == VC_FAILED && (error == MPID_LOST || error == MPID_UNREACHABLE)) {
        vc_note_lost(vc);
        vc_above->lost(vc);
    }
    vc->link = &vc->stand_in;
    vc_drop_link(vc);
    vc_above->end(vc, error);
    opening_end(vc);
    vc_above->failed(vc, has_failed);
    vc_check(vc);
}

/* ---- for the layer above ---- */

struct vc *mpid_vc_get(const struct mpid_gid *gid, uint32_t rank)
{
    struct chan_gid id;
    memcpy(&id, gid, sizeof(id));
    os_lock(&device.lock);
    struct vc *vc = vc_get(&id, rank);
    if (vc)
        vc->refs++;
    os_unlock(&device.lock);
    return vc;
}

void mpid_vc_put(struct vc *vc)
{
    os_lock(&device.lock);
    vc_put(vc);
    os_unlock(&device.lock);
}

/* ---- life ---- */

static int start(void)
{
    static const struct packet_kind kind = {.name = "CLOSE", .arrived = close_arrived};
    vc_table = engaged = standing = NULL;
    os_pool_init(&device.controls, sizeof(struct control), 16);
    os_pool_init(&device.landings, sizeof(struct landing), 16);
    mpid_space_open(MPID_SPACE_VC, sizeof(struct vc));
    return packet_add(PACKET_CLOSE, &kind);
}

static void free_all(void)
{
    vc_each(free_vc, NULL);
}

static void end(void)
{
    os_pool_fini(&device.controls);
    os_pool_fini(&device.landings);
}

const struct life vc_life = {.start = start, .close = free_all, .end = end};
