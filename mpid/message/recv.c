/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The receiving side: packets in, receives matched, eager data to their place.
 */
#include "mpid/message/recv.h"

#include <stdlib.h>
#include <string.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/message/rndv.h"
#include "mpid/peers/lost.h"
#include "mpid/wait/car.h"
#include "mpid/wait/deliver.h"
#include "mpid/wait/polling.h"
#include "mpid/wait/progress.h"
#include "mpid/wait/wake.h"

/* ---- what has been received ---- */

/* Remember what a receive with a wildcard has got, for the hang report. */
static __attribute__((noinline)) void remember(const struct mpid_envelope *env)
{
    device.got[device.got_count++ % RECV_GOT] = *env;
}

/* Note who sent the message that a receive has got, and how much of it counts. */
static inline void note(struct mpid_request *request, const struct mpid_envelope *env,
                        uint64_t total)
{
    size_t room = request->bytes.len;
    if (__builtin_expect((request->place.env.rank | request->place.env.tag) < 0, 0))
        remember(env);
    request->place.env.context = env->context;
    memcpy(&request->place.env.rank, &env->rank, 2 * sizeof(env->rank)); /* as it is read at the end */
    request->count = total;
    if (__builtin_expect(total > room, 0)) {
        request->count = room;
        request->error = MPID_TRUNCATED;
    }
}

/* Give credit back to the sender, in large steps. */
static __attribute__((noinline)) void give_credit(struct vc *vc)
{
    uint64_t owed = device.credit_step - (uint64_t)vc->due;
    struct chan_head head = packet_head(PACKET_CREDIT, 0, owed);
    if (!vc_is_up(vc))
        return;
    stats_counts(vc)->credit_given += owed;
    vc->due = (int64_t)device.credit_step;
    vc_control(vc, &head, NULL, 0);
}

static inline void consumed(struct vc *vc, size_t len)
{
    vc->received++;
    vc->due -= (int64_t)(len + EAGER_OVERHEAD);
    if (__builtin_expect(vc->due < 0, 0))
        give_credit(vc);
}

/* ---- unexpected messages ---- */

static void *keep(struct unexpected *u, size_t len)
{
    u->data = len <= UNEXPECTED_INLINE ? u->inline_data : malloc(len);
    if (u->data) {
        device.stats.kept += len;
        if (device.stats.kept > device.stats.kept_most)
            device.stats.kept_most = device.stats.kept;
    }
    return u->data;
}

/* It came from there, and needs that until it is forgotten. */
static void keep_vc(struct unexpected *u, struct vc *vc)
{
    u->vc = vc;
    vc->refs++;
    vc->kept++;
}

/* A message for which there is no memory. u may be NULL. */
static void no_room(struct vc *vc, struct unexpected *u)
{
    if (u) {
        match_take(&device.match, u);
        recv_forget(u);
    }
    vc_fail(vc, MPID_NO_MEMORY, "no memory for an unexpected message");
}

void recv_forget(struct unexpected *u)
{
    if (u->data)
        device.stats.kept -= u->total;
    if (u->data != u->inline_data)
        free(u->data);
    if (u->vc) {
        u->vc->kept--;
        vc_put(u->vc);
    }
    match_forget(&device.match, u);
}

/* A receive has got an unexpected message. */
static void receive_unexpected(struct mpid_request *request, struct unexpected *u)
{
    struct vc *vc = u->vc;
    note(request, &u->exact.env, u->total);
    request->vc = vc;
    if (u->arriving) {
        u->claimed = request;
        request->state = CAR_ARRIVING;
        return;
    }
    if (u->lost) {
        request->error = MPID_LOST;
        car_complete(request);
    } else if (!u->peer_id || u->data) {
        packet_copy(request, 0, u->data, u->total);
        car_complete(request);
        if (u->peer_id) {
            stats_count_received(vc, u->total);
            rndv_send_done(vc, u->peer_id, MPID_OK);
        } else {
            consumed(vc, u->total);
        }
    } else if (!vc_is_up(vc)) {
        request->error = MPID_LOST;
        car_complete(request);
    } else {
        struct chan_remote from = {u->peer_addr, u->has_key ? u->inline_data : NULL};
        rndv_start(request, vc, u->total, &from, u->peer_id);
    }
    recv_forget(u);
}

/* ---- packets ---- */

/* memcpy(), which for a double or a pointer need not be called. */
static inline void copy_bytes(void *to, const void *from, size_t len)
{
    if (len == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else
        memcpy(to, from, len);
}

/* Whether the message is what a caller of mpid_recv_now() waits for: then it is his, unless
 * the same turn has brought another before it, which may be his as well. */
static inline bool take_wanted(struct vc *vc, const struct chan_head *head, const void *data,
                               size_t len)
{
    struct mpid_wanted *wanted = device.wanted;
    if (!wanted || packet_id(head) != wanted->context ||
        ((head->word[1] ^ wanted->sender) & wanted->mask) || len > wanted->len ||
        device.match.arrived_total)
        return false;
    device.wanted = NULL;
    if (__builtin_expect(wanted->mask != UINT64_MAX, 0)) {
        struct mpid_envelope env = packet_envelope(head);
        remember(&env);
    }
    copy_bytes(wanted->base, data, len);
    wanted->from = head->word[1];
    wanted->count = len;
    consumed(vc, len);
    return true;
}

/* Whether an envelope is valid: a message cannot have a receive's wildcards. */
static bool is_good(struct vc *vc, const struct mpid_envelope *env)
{
    if ((env->rank | env->tag) >= 0)
        return true;
    vc_fail(vc, MPID_LOST, "it sent a message of an impossible rank or tag");
    return false;
}

static __attribute__((noinline)) void eager_arrived(struct vc *vc, const struct chan_head *head,
                                                    const void *data, size_t len)
{
    struct mpid_envelope env = packet_envelope(head);
    struct unexpected *u;
    if (__builtin_expect(!is_good(vc, &env), 0))
        return;
    struct mpid_request *request = match_wire_foa(&device.match, &env, &u);
    if (__builtin_expect(request != NULL, 1)) {
        note(request, &env, len);
        request->vc = vc;
        packet_copy(request, 0, data, len);
        car_complete(request);
        consumed(vc, len);
        return;
    }
    if (!u || !keep(u, len)) {
        no_room(vc, u);
        return;
    }
    keep_vc(u, vc);
    u->total = len;
    if (len)
        memcpy(u->data, data, len);
    stats_unexpected(&vc->peer, &env, len, false);
    wake_news();
}

/* Whether the part behind an RTS is as long as its flags say. */
static bool is_good_rts(const struct vc *vc, const struct packet_rts *rts, size_t with)
{
    const struct chan_onesided *onesided = vc->bound ? vc->bound->ops->onesided : NULL;
    if (!rts->id)
        return false;
    switch (rts->flags & (RTS_HAS_DATA | RTS_HAS_KEY)) {
    case RTS_HAS_DATA: return rts->total == with;
    case RTS_HAS_KEY: return onesided && with == onesided->key_len;
    case 0: return true;
    default: return false;
    }
}
_Static_assert((int)CHAN_KEY_MAX <= (int)UNEXPECTED_INLINE, "a key finds room");

static void rts_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct packet_rts rts;
    memcpy(&rts, data, sizeof(rts));
    packet_turn(PACKET_RTS, &rts);
    const char *with = (const char *)data + sizeof(rts);
    bool has_data = rts.flags & RTS_HAS_DATA, has_key = rts.flags & RTS_HAS_KEY;
    if (!is_good_rts(vc, &rts, len - sizeof(rts))) {
        vc_fail(vc, MPID_LOST, "it sent a malformed RTS packet");
        return;
    }
    struct mpid_envelope env = packet_envelope(head);
    struct unexpected *u = NULL;
    if (!is_good(vc, &env))
        return;
    struct mpid_request *request = match_wire_foa(&device.match, &env, &u);
    if (request) {
        note(request, &env, rts.total);
        request->vc = vc;
        if (has_data) {
            packet_copy(request, 0, with, rts.total);
            stats_count_received(vc, rts.total);
            car_complete(request);
            rndv_send_done(vc, rts.id, MPID_OK);
        } else {
            struct chan_remote from = {rts.addr, has_key ? with : NULL};
            rndv_start(request, vc, rts.total, &from, rts.id);
        }
        return;
    }
    if (!u || (has_data && !keep(u, rts.total))) {
        no_room(vc, u);
        return;
    }
    keep_vc(u, vc);
    u->total = rts.total;
    u->peer_id = rts.id;
    u->peer_addr = rts.addr;
    u->has_key = has_key;
    if (has_data)
        memcpy(u->data, with, rts.total);
    else if (has_key)
        memcpy(u->inline_data, with, len - sizeof(rts));
    stats_unexpected(&vc->peer, &env, rts.total, true);
    wake_news();
}

/* At most what the peer has got of us: what it says beyond that is forgotten. */
static void credit_arrived(struct vc *vc, const struct chan_head *head, const void *data,
                           size_t len)
{
    uint64_t bytes = head->word[1], room = device.eager_credit - (uint64_t)vc->credit;
    (void)data, (void)len;
    if (bytes > room)
        bytes = room;
    vc->credit += (int64_t)bytes;
    stats_counts(vc)->credit_back += bytes;
}

void recv_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                  size_t len)
{
    struct vc *vc = (struct vc *)peer;
    if (__builtin_expect(packet_type(head) != PACKET_EAGER, 0))
        packet_arrived(vc, head, data, len);
    else if (!take_wanted(vc, head, data, len))
        eager_arrived(vc, head, data, len);
}

/* ---- large packets, in place ---- */

static void *eager_place(struct vc *vc, const struct chan_head *head, struct landing *landing)
{
    struct mpid_envelope env = packet_envelope(head);
    size_t len = landing->len;
    struct unexpected *u;
    if (!is_good(vc, &env))
        return NULL;
    struct mpid_request *request = match_wire_foa(&device.match, &env, &u);
    if (request) {
        note(request, &env, len);
        request->vc = vc;
        request->state = CAR_ARRIVING;
        landing->eager = true;
        void *place = packet_land_at(landing, request);
        if (!place)
            vc_fail(vc, MPID_NO_MEMORY, "no memory for a message");
        return place;
    }
    if (!u || !keep(u, len)) {
        no_room(vc, u);
        return NULL;
    }
    keep_vc(u, vc);
    u->total = len;
    u->arriving = true;
    landing->eager = true;
    landing->unexpected = u;
    stats_unexpected(&vc->peer, &env, len, false);
    wake_news();
    return u->data;
}

static void eager_landed(struct vc *vc, struct landing *landing)
{
    struct unexpected *u = landing->unexpected;
    if (landing->request) {
        car_complete(landing->request);
        consumed(vc, landing->len);
    } else if (u) {
        u->arriving = false;
        if (u->claimed)
            receive_unexpected(u->claimed, u);
    }
}

void recv_fail(struct vc *vc, enum mpid_error error)
{
    struct landing *landing = vc->landing;
    if (!landing)
        return;
    struct unexpected *u = landing->unexpected;
    struct mpid_request *request = landing->request;
    if (u) {
        request = u->claimed;
        u->arriving = false;
        u->lost = true;
        if (!u->taken)
            match_take(&device.match, u);
        else if (!request)
            u = NULL; /* its taker will ask for it */
    }
    if (u)
        recv_forget(u);
    if (request && landing->eager) {
        request->error = (uint8_t)error;
        car_complete(request);
    }
    packet_drop_landing(vc);
}

/* ---- receives ---- */

static inline void prepare(struct mpid_request *request)
{
    atomic_store_explicit(&request->pending, 1, memory_order_relaxed);
    request->kind = MPID_RECV;
    request->error = MPID_OK;
    request->cancelled = false;
    request->state = CAR_POSTED;
    request->done = NULL;
    request->place.next = NULL;
    request->count = 0;
}

static inline bool recv_now(struct mpid_wanted *wanted)
{
    if (__builtin_expect(device.match.posted_total | device.match.arrived_total, 0))
        return false;
    device.wanted = wanted;
    progress_turn();
    bool got = !device.wanted;
    device.wanted = NULL;
    return got;
}

bool mpid_recv_now(struct mpid_wanted *wanted)
{
    if (__builtin_expect(!os_lock_enabled, 1))
        return recv_now(wanted);
    os_lock(&device.lock);
    bool got = recv_now(wanted);
    os_unlock(&device.lock);
    return got;
}

/* Take the message that a prepared receive is for, or post it. */
static inline void find_or_post(struct mpid_request *request)
{
    struct unexpected *u = match_recv_foa(&device.match, request);
    if (u)
        receive_unexpected(request, u);
    else if (__builtin_expect(device.any_lost, 0))
        lost_check_posted(request);
}

void mpid_start_recv(struct mpid_request *request)
{
    os_lock(&device.lock);
    prepare(request);
    find_or_post(request);
    os_unlock(&device.lock);
    stats_deliver();
}

static inline int look(struct mpid_probe *probe, bool once)
{
    int outcome = 0;
    bool is_step = false;
    os_lock(&device.lock);
    struct unexpected *u = match_peek(&device.match, &probe->want);
    if (!u) {
        device.peek = once ? &probe->want : NULL;
        bool moved = progress_turn();
        if (once) {
            progress_looked();
            is_step = polling_looked(moved);
        }
        device.peek = NULL;
        u = match_peek(&device.match, &probe->want);
    }
    if (u) {
        outcome = MPID_FOUND;
        probe->found = u->exact.env;
        probe->len = u->total;
        if (probe->take) {
            match_take(&device.match, u);
            probe->message = (struct mpid_message *)u;
        }
    } else if (__builtin_expect(device.any_lost, 0) &&
               (probe->error = lost_why(probe->from, &probe->want, !once))) {
        outcome = MPID_NONE_CAN_COME;
    }
    os_unlock(&device.lock);
    stats_deliver();
    if (once && !deliver_completions() && __builtin_expect(is_step && !outcome, 0))
        polling_step();
    return outcome;
}

int mpid_probe(struct mpid_probe *probe)
{
    return look(probe, false);
}

int mpid_iprobe(struct mpid_probe *probe)
{
    return look(probe, true);
}

void mpid_recv_message(struct mpid_request *request, struct mpid_message *message,
                       const struct mpid_bytes *bytes)
{
    struct unexpected *u = (struct unexpected *)message;
    os_lock(&device.lock);
    request->bytes = *bytes;
    prepare(request);
    receive_unexpected(request, u);
    os_unlock(&device.lock);
}

static int start(void)
{
    static const struct packet_kind eager = {
        .name = "EAGER", .arrived = eager_arrived, .place = eager_place, .landed = eager_landed};
    static const struct packet_kind rts = {
        .name = "RTS", .least = sizeof(struct packet_rts), .arrived = rts_arrived};
    static const struct packet_kind credit = {.name = "CREDIT", .arrived = credit_arrived};
    int rc = packet_add(PACKET_EAGER, &eager);
    rc = rc ? rc : packet_add(PACKET_RTS, &rts);
    return rc ? rc : packet_add(PACKET_CREDIT, &credit);
}

const struct life recv_life = {.start = start};
