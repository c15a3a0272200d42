/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sending side: eager at once if possible, otherwise a queue on the VC.
 *
 * Messages leave a VC in the order of their sends. Once one has to wait, the
 * VC's link is its stand-in, so that later ones wait behind it; send_drain()
 * puts the real link back when the queue is empty.
 */
#include "mpid/message/send.h"

#include <string.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/message/rndv.h"
#include "mpid/peers/lost.h"
#include "mpid/wait/car.h"
#include "mpid/wait/wake.h"

static void read_place(const struct chan_data *data, size_t offset, void *to, size_t len)
{
    const struct mpid_bytes *bytes = data->source;
    bytes->layout->pack(bytes, data->start + offset, to, len);
}

/* The data [start, start + len) of a place as a payload. */
static inline struct chan_data payload_of(const struct mpid_bytes *bytes, size_t start, size_t len)
{
    struct chan_data data = {.base = NULL, .len = len};
    if (__builtin_expect(!bytes->layout, 1)) {
        data.base = (const char *)bytes->base + start;
    } else {
        data.read = read_place;
        data.source = bytes;
        data.start = start;
    }
    return data;
}

/* Spend the credit for an eager message. Returns whether it can be one. */
static inline bool spend(struct vc *vc, size_t len, unsigned mode, size_t eager_max)
{
    if (__builtin_expect(len > eager_max || (mode & MPID_SYNC), 0))
        return false;
    vc->credit -= (int64_t)(len + EAGER_OVERHEAD);
    if (__builtin_expect(vc->credit >= 0, 1))
        return true;
    vc->credit += (int64_t)(len + EAGER_OVERHEAD);
    return false;
}

/* It was not sent after all. */
static inline void refund(struct vc *vc, size_t len)
{
    vc->credit += (int64_t)(len + EAGER_OVERHEAD);
}

/* ---- one message ---- */

/* The channel still reads its bytes. */
static void list_pending(struct vc *vc, struct mpid_request *request)
{
    request_list(&vc->pending, request);
    vc_engage(vc);
}

static int offer_eager(struct vc *vc, struct chan_link *link, struct mpid_request *request)
{
    struct chan_head head = packet_message(PACKET_EAGER, &request->place.env);
    struct chan_data data = payload_of(&request->bytes, 0, request->total);
    data.cookie = request;
    int rc = link->send(link, &head, &data);
    if (rc == CHAN_AGAIN) {
        refund(vc, request->total);
        return rc;
    }
    vc->sent++;
    request->state = CAR_SENDING;
    if (rc == 0)
        car_complete(request);
    else
        list_pending(vc, request);
    return 0;
}

/* Bytes that go with an RTS: of a synchronous send, and of any that has no credit, which then cost
 * the receiver nothing that it does not spend on the RTS alone. */
enum { RTS_SYNC_MAX = 512, RTS_DATA_MAX = UNEXPECTED_INLINE };

/* Let the peer read the bytes of a send, where its channel can do that with a key. Returns the length
 * of the key. */
static size_t lend(struct vc *vc, struct mpid_request *request, uint8_t *key)
{
    const struct chan_onesided *onesided = vc->bound->ops->onesided;
    const struct mpid_bytes *bytes = &request->bytes;
    if (!onesided || !onesided->key_len || bytes->layout || vc->no_direct ||
        request->total < RNDV_DIRECT_MIN)
        return 0;
    if (request->region && request->region->ops != onesided) /* lent over a link that was refused */
        rndv_release(request);
    if (!request->region && onesided->reg(device_chan_of(vc->bound->ops), (void *)bytes->base,
                                          bytes->len, &request->region)) {
        request->region = NULL;
        return 0;
    }
    onesided->key(request->region, key);
    return onesided->key_len;
}

static int offer_rts(struct vc *vc, struct chan_link *link, struct mpid_request *request)
{
    uint8_t payload[sizeof(struct packet_rts) + RTS_SYNC_MAX];
    const struct mpid_bytes *bytes = &request->bytes;
    if (!request->id)
        request->id = ids_new(&device.ids, request);
    if (!request->id) {
        request->error = MPID_NO_MEMORY;
        car_complete(request);
        return 0;
    }
    request->end = request->left = request->total;
    struct packet_rts rts = {.total = request->total,
                             .addr = bytes->layout ? 0 : (uint64_t)(uintptr_t)bytes->base,
                             .id = request->id};
    size_t with = 0;
    if (request->total <= (request->mode & MPID_SYNC ? RTS_SYNC_MAX : RTS_DATA_MAX)) {
        rts.flags = RTS_HAS_DATA;
        with = request->total;
        if (bytes->layout)
            bytes->layout->pack(bytes, 0, payload + sizeof(rts), with);
        else if (with)
            memcpy(payload + sizeof(rts), bytes->base, with);
    } else {
        with = lend(vc, request, payload + sizeof(rts));
        rts.flags = with ? RTS_HAS_KEY : 0;
    }
    packet_turn(PACKET_RTS, &rts);
    memcpy(payload, &rts, sizeof(rts));
    struct chan_head head = packet_message(PACKET_RTS, &request->place.env);
    struct chan_data data = {.base = payload, .len = sizeof(rts) + with};
    int rc = link->send(link, &head, &data);
    if (rc == 0) {
        request->state = CAR_ASKED;
        request_list(&vc->asked, request);
        vc_engage(vc);
        vc->unfinished++;
    }
    return rc;
}

/* Hand over a message. Returns 0 or CHAN_AGAIN. */
static int offer(struct vc *vc, struct mpid_request *request)
{
    struct chan_link *link = vc->bound;
    if (spend(vc, request->total, request->mode, link->eager_max)) {
        rndv_release(request); /* lent memory, from before there was credit */
        return offer_eager(vc, link, request);
    }
    return offer_rts(vc, link, request);
}

/* ---- the queue ---- */

static void enqueue(struct vc *vc, struct mpid_request *request)
{
    request->state = CAR_WAITING;
    request->next = NULL;
    request->prev = vc->send_tail;
    if (vc->send_tail)
        vc->send_tail->next = request;
    else
        vc->send_head = request;
    vc->send_tail = request;
    vc_engage(vc);
    vc->link = &vc->stand_in;
    if (vc->state == VC_UNBOUND)
        connect_start(vc);
    vc_mark_busy(vc);
}

void send_unqueue(struct mpid_request *request)
{
    struct vc *vc = request->vc;
    if (request->prev)
        request->prev->next = request->next;
    else
        vc->send_head = request->next;
    if (request->next)
        request->next->prev = request->prev;
    else
        vc->send_tail = request->prev;
}

static __attribute__((noinline)) int send_slow(struct vc *vc, const struct mpid_envelope *env,
                                               const struct mpid_bytes *bytes, unsigned mode,
                                               struct mpid_request *request)
{
    if (!request)
        return MPID_NEED_REQUEST;
    atomic_store_explicit(&request->pending, 1, memory_order_relaxed);
    request->kind = MPID_SEND;
    request->error = MPID_OK;
    request->cancelled = false;
    request->place.env = *env;
    request->count = 0;
    request->done = NULL;
    request->bytes = *bytes;
    request->vc = vc;
    request->moved = request->from = 0;
    request->total = bytes->len;
    request->id = 0;
    request->region = NULL;
    request->mode = mode;
    enum mpid_error error = device.any_lost ? lost_context(env->context) : MPID_OK;
    if (error || vc_is_over(vc) || vc_is_shut(vc)) {
        request->error = (uint8_t)(error ? error : vc_error(vc));
        car_complete(request);
    } else if (vc->link != vc->bound || offer(vc, request)) {
        enqueue(vc, request);
    }
    return MPID_STARTED;
}

static inline bool send_now(struct vc *vc, uint32_t context, uint64_t sender, const void *base,
                            size_t len, unsigned mode)
{
    struct chan_link *link = vc->link;
    if (__builtin_expect(!spend(vc, len, mode, link->eager_max), 0))
        return false;
    struct chan_head head = packet_head(PACKET_EAGER, context, sender);
    struct chan_data data; /* read, source and start mean nothing beside base */
    data.base = base;
    data.len = len;
    data.cookie = NULL;
    data.flags = mode / MPID_MORE; /* CHAN_MORE */
    if (__builtin_expect(link->send(link, &head, &data) != 0, 0)) {
        refund(vc, len);
        return false;
    }
    vc->sent++;
    return true;
}
_Static_assert(CHAN_MORE == 1 && MPID_MORE == 2, "and MPID_SYNC is never sent now");

/* What a thread sends to its own process, or leaves waiting, no channel wakes another
 * thread for. */
static inline void wake_for_vc(const struct vc *vc)
{
    if (vc->peer.rank == device.env.rank || vc->busy)
        wake_news();
}

static __attribute__((noinline)) bool send_now_locked(struct vc *vc, uint32_t context,
                                                      uint64_t sender, const void *base,
                                                      size_t len, unsigned mode)
{
    os_lock(&device.lock);
    bool sent = send_now(vc, context, sender, base, len, mode);
    wake_for_vc(vc);
    os_unlock(&device.lock);
    return sent;
}

inline bool mpid_send_now(struct vc *vc, uint32_t context, uint64_t sender, const void *base, size_t len,
                   unsigned mode)
{
    if (__builtin_expect(os_lock_enabled, 0))
        return send_now_locked(vc, context, sender, base, len, mode);
    return send_now(vc, context, sender, base, len, mode);
}

size_t mpid_eager_max(struct vc *vc)
{
    os_lock(&device.lock);
    size_t max = vc->link->eager_max;
    os_unlock(&device.lock);
    return max;
}

int mpid_send(struct vc *vc, const struct mpid_envelope *env, const struct mpid_bytes *bytes,
              unsigned mode, struct mpid_request *request)
{
    os_lock(&device.lock);
    int rc = CHAN_AGAIN;
    if (__builtin_expect(spend(vc, bytes->len, mode, vc->link->eager_max), 1)) {
        struct chan_head head = packet_message(PACKET_EAGER, env);
        struct chan_data data = payload_of(bytes, 0, bytes->len);
        data.flags = mode & MPID_MORE ? CHAN_MORE : 0;
        rc = vc->link->send(vc->link, &head, &data);
        if (rc == 0)
            vc->sent++;
        else
            refund(vc, bytes->len);
    }
    if (__builtin_expect(rc != 0, 0))
        rc = send_slow(vc, env, bytes, mode, request);
    wake_for_vc(vc);
    os_unlock(&device.lock);
    return rc;
}

/* ---- streams of rendezvous data ---- */

/* Send the next fragment. Returns 0, CHAN_AGAIN, or CHAN_PENDING. */
static int offer_fragment(struct chan_link *link, struct mpid_request *request)
{
    size_t len = request->end - request->moved;
    if (len > link->max_data)
        len = link->max_data;
    struct chan_head head =
        packet_head(PACKET_DATA, (uint32_t)request->peer_id, request->moved);
    struct chan_data data = payload_of(&request->bytes, request->moved, len);
    data.cookie = request;
    int rc = link->send(link, &head, &data);
    if (rc != CHAN_AGAIN)
        request->moved += len;
    return rc;
}

/* Have the list begin with the one at this place; those before it come last. */
static void begin_bulk_at(struct vc *vc, struct mpid_request **at)
{
    struct mpid_request *first = *at, **end = at;
    if (at == &vc->bulk)
        return;
    while (*end)
        end = &(*end)->next;
    *end = vc->bulk;
    *at = NULL;
    vc->bulk = first;
}

/* Send a fragment of each message. Returns CHAN_AGAIN where the channel takes no more: then the one whose turn
 * it was is the first. */
static int drain_each(struct vc *vc, bool *moved)
{
    struct mpid_request *request, **at = &vc->bulk;
    while ((request = *at)) {
        if (request->state == CAR_BULK && request->moved < request->end) {
            int rc = offer_fragment(vc->bound, request);
            if (rc == CHAN_AGAIN) {
                begin_bulk_at(vc, at);
                return rc;
            }
            *moved = true;
            if (rc == CHAN_PENDING)
                request->state = CAR_BULK_PENDING;
        }
        if (request->state == CAR_BULK && request->moved >= request->end) {
            *at = request->next;
            rndv_finish_send(request);
        } else {
            at = &request->next;
        }
    }
    return 0;
}

/* Returns whether anything moved. Fragments of several messages take turns. */
static bool drain_bulk(struct vc *vc)
{
    bool any = false, moved;
    do {
        moved = false;
        int rc = drain_each(vc, &moved);
        any |= moved;
        if (rc)
            return any;
    } while (moved);
    return any;
}

static bool drain_control(struct vc *vc)
{
    while (vc->control_head) {
        struct control *control = vc->control_head;
        struct chan_data data = {.base = control->large ? control->large : control->payload,
                                 .len = control->len};
        if (data.len > vc->bound->max_data) { /* another channel had taken it */
            vc_fail(vc, MPID_LOST, "a packet is too long for the channel that is left");
            return false;
        }
        if (vc->bound->send(vc->bound, &control->head, &data))
            return false;
        vc->control_head = control->next;
        vc_control_free(control);
    }
    return true;
}

bool send_drain(struct vc *vc)
{
    bool moved = false;
    if (!vc_is_up(vc) || vc->state == VC_LEFT)
        return false;
    if (!drain_control(vc) || (vc->foreign && vc->state != VC_OPEN) || vc->state == VC_LEAVING)
        return false;
    while (vc->send_head) {
        struct mpid_request *request = vc->send_head;
        send_unqueue(request);
        if (offer(vc, request)) { /* back to its old position */
            request->prev = NULL;
            request->next = vc->send_head;
            *(vc->send_head ? &vc->send_head->prev : &vc->send_tail) = request;
            vc->send_head = request;
            return moved;
        }
        moved = true;
    }
    if (moved && device.finalizing)
        wake_news(); /* CLOSE may go now */
    vc_let_go(vc);
    return drain_bulk(vc) || moved;
}

bool send_drain_busy(void)
{
    bool moved = false, blocks = false;
    struct vc *vc = device.busy;
    device.busy = NULL;
    device.drains = false;
    while (vc) {
        struct vc *next = vc->busy_next;
        vc->busy = false;
        moved |= send_drain(vc);
        if (vc_is_up(vc) && (vc->control_head || vc->send_head || vc->bulk)) {
            vc_stay_busy(vc); /* its channel tells when there is room, also while this process sleeps */
            blocks |= !vc->blocked;
            vc->blocked = true;
        } else {
            vc->blocked = false;
            (void)vc_free_unused(vc);
        }
        vc = next;
    }
    if (wake_is_wanted())
        wake_work(blocks);
    return moved;
}

void send_sent(struct vc *vc, struct mpid_request *request)
{
    if (request->state == CAR_SENDING) {
        request_unlist(&vc->pending, request);
        car_complete(request);
    } else if (request->state == CAR_BULK_PENDING) {
        request->state = CAR_BULK;
        if (vc_is_up(vc))
            drain_bulk(vc);
    }
}

/* ---- ends ---- */

static void fail(struct mpid_request *request, enum mpid_error error)
{
    rndv_release(request);
    ids_drop(&device.ids, request->id);
    request->error = (uint8_t)error;
    car_complete(request);
}

void send_ask_cancel(struct mpid_request *request)
{
    struct chan_head head = packet_head(PACKET_CANCEL, request->id, 0);
    request->mode |= SEND_CANCEL;
    vc_control(request->vc, &head, NULL, 0);
}

/* What the peer had not matched when it closed, it will not match. Whose cancelling has been
 * asked for gets an answer to that. */
void send_unwanted(struct vc *vc)
{
    vc->link = &vc->stand_in;
    while (vc->send_head) {
        struct mpid_request *request = vc->send_head;
        send_unqueue(request);
        fail(request, MPID_LOST);
    }
    for (struct mpid_request *request = vc->asked, *next; request; request = next) {
        next = request->next;
        if (request->state != CAR_ASKED || request->mode & SEND_CANCEL)
            continue;
        request_unlist(&vc->asked, request);
        vc->unfinished--;
        fail(request, MPID_LOST);
    }
}

/* The peer may be about to read what it has been asked to receive: only its answer ends the send. */
static void fail_context(struct vc *vc, void *arg)
{
    uint32_t context = *(const uint32_t *)arg;
    for (struct mpid_request *request = vc->send_head, *next; request; request = next) {
        next = request->next;
        if (request->place.env.context != context)
            continue;
        send_unqueue(request);
        fail(request, lost_context(context));
    }
    for (struct mpid_request *request = vc->asked, *next; request; request = next) {
        next = request->next;
        if (request->state != CAR_ASKED || request->place.env.context != context ||
            request->mode & SEND_CANCEL)
            continue;
        request->mode |= SEND_GIVEN_UP;
        send_ask_cancel(request);
        if (vc->state == VC_FAILED)
            return;
    }
}

void send_fail_context(uint32_t context)
{
    vc_each_engaged(fail_context, &context);
}

static void fail_all(struct mpid_request **list, enum mpid_error error)
{
    while (*list) {
        struct mpid_request *request = *list;
        *list = request->next;
        fail(request, error);
    }
}

void send_fail(struct vc *vc, enum mpid_error error)
{
    fail_all(&vc->send_head, error);
    fail_all(&vc->pending, error);
    fail_all(&vc->asked, error);
    fail_all(&vc->bulk, error);
    vc->send_tail = NULL;
    vc->unfinished = 0;
}
