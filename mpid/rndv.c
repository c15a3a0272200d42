/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rendezvous: a long message asks first (RTS), and its bytes travel once the
 * receive is known (CTS), by the engine that has been fastest for this peer and
 * size: a stream of packets, which two cores copy in a pipeline; or a one-sided
 * copy out of the sender's memory, by the receiver alone or, where that takes the time of
 * a core, by both sides, each a half. The receiver chooses and measures.
 */
#include <stdlib.h>
#include <string.h>

#include "mpid/device.h"
#include "os/clock.h"

enum {
    EXPLORE = 24,          /* one use in so many tries another engine */
    SELF_TURNS = 8         /* enough for a packet to this process, and its answer */
};

/* ---- the choice of an engine ---- */

/* One for each factor of four in size; NULL: no memory. */
static struct rates *rates_of(struct vc *vc, uint64_t len)
{
    int class = 0;
    if (!vc->rates)
        vc->rates = calloc(RATE_CLASSES, sizeof(*vc->rates));
    if (!vc->rates)
        return NULL;
    for (len /= 4 * (uint64_t)RNDV_DIRECT_MIN; len && class < RATE_CLASSES - 1; len /= 4)
        class ++;
    return &vc->rates[class];
}

/* A stream first, then each direct engine once (pulling before splitting: it
 * probes), then the cheapest, but now and then another: which one is best depends on
 * where the two processes run and on their pages, and either may change. */
static enum packet_engine choose(struct vc *vc, const struct mpid_request *request, uint64_t len,
                                 const struct chan_remote *from)
{
    const struct chan_onesided *onesided = vc->bound->ops->onesided;
    if (len < RNDV_DIRECT_MIN || !from || !from->address || request->bytes.layout ||
        vc->no_direct || !onesided || (onesided->key_len && !from->key))
        return ENGINE_STREAM;
    struct rates *rates = rates_of(vc, len);
    if (!rates)
        return ENGINE_STREAM;
    uint32_t use = rates->uses++;
    uint32_t engines = vc->no_split || !onesided->at_once ? ENGINE_SPLIT : ENGINES;
    if (use < 2 * ENGINES)
        return (enum packet_engine)(use % engines);
    if (use % EXPLORE == 0)
        return (enum packet_engine)(use / EXPLORE % engines);
    enum packet_engine best = ENGINE_STREAM;
    for (uint32_t i = 1; i < engines; i++)
        if (rates->ps_per_byte[i] && rates->ps_per_byte[i] < rates->ps_per_byte[best])
            best = (enum packet_engine)i;
    return best;
}

/* What this message has added to the time that went by: of several in flight, the time
 * since the last one was done, else each would count the others' too. The average goes a
 * quarter of the way to the new figure, or to half or one and a half of itself: an
 * interruption, or a lucky time, counts no more than the many others. */
static void measure(struct mpid_request *request)
{
    uint64_t len = request->count;
    if (!request->started_ns || !len)
        return;
    uint64_t now_ns = os_now_ns(), from_ns = request->started_ns;
    if (from_ns < device.moved_ns)
        from_ns = device.moved_ns;
    device.moved_ns = now_ns;
    uint64_t rate = (now_ns - from_ns) * 1000 / len + 1;
    struct rates *rates = rates_of(request->vc, len);
    if (!rates)
        return;
    uint32_t *average = &rates->ps_per_byte[request->mode];
    uint64_t old = *average, least = old / 2, most = old ? old + old / 2 : UINT32_MAX / 8;
    uint64_t now = rate < least ? least : rate > most ? most : rate;
    *average = (uint32_t)(old ? (old * 3 + now) / 4 : now);
}

/* ---- the receiver ---- */

void rndv_send_done(struct vc *vc, uint32_t id, enum mpid_error error)
{
    struct chan_head head = packet_head(PACKET_DONE, id, error);
    vc_control(vc, &head, NULL, 0);
}

static void finish_receive(struct mpid_request *request)
{
    measure(request);
    request_unlist(&request->vc->arriving, request);
    stats_count_received(request->vc, request->total);
    ids_drop(&device.ids, request->id);
    device_complete(request);
}

/* Bytes in place: moved counts those of this side and those of the peer. */
void rndv_moved(struct mpid_request *request, size_t len)
{
    request->moved += len;
    if (request->moved >= request->count)
        finish_receive(request);
}

/* Copy [0, len) out of the sender's memory. Returns 0 where that is done, CHAN_PENDING where
 * rndv_got() will tell, or another outcome: then it is to be streamed. */
static int pull(struct mpid_request *request, const struct chan_remote *from, uint64_t len)
{
    struct vc *vc = request->vc;
    int rc = vc->bound->ops->onesided->get(vc->bound, (void *)request->bytes.base, from, len,
                                           request);
    if (rc == CHAN_UNABLE)
        vc->no_direct = true;
    return rc;
}

static void send_cts(struct mpid_request *request, enum packet_engine engine, uint64_t limit,
                     uint64_t split)
{
    struct packet_cts cts = {.sender_id = (uint32_t)request->peer_id,
                             .receiver_id = request->id,
                             .engine = engine,
                             .addr = (uint64_t)(uintptr_t)request->bytes.base,
                             .limit = limit,
                             .split = split};
    struct chan_head head = packet_head(PACKET_CTS, 0, 0);
    vc_control(request->vc, &head, &cts, sizeof(cts));
}

/* Read our half of a split message; or, where this memory cannot be read, ask for it as a stream. */
static void read_half(struct mpid_request *request)
{
    struct vc *vc = request->vc;
    uint32_t id = (uint32_t)request->peer_id;
    struct chan_remote from = {request->peer_addr, NULL};
    if (pull(request, &from, request->split)) {
        send_cts(request, ENGINE_STREAM, request->split, 0);
        return;
    }
    rndv_moved(request, request->split);
    rndv_send_done(vc, id, MPID_OK);
}

/* All is here. */
static void finish_pull(struct mpid_request *request)
{
    struct vc *vc = request->vc;
    uint32_t id = (uint32_t)request->peer_id;
    finish_receive(request);
    rndv_send_done(vc, id, MPID_OK);
}

void rndv_got(struct chan_peer *peer, void *cookie, int rc)
{
    struct mpid_request *request = cookie;
    struct vc *vc = (struct vc *)peer;
    if (!rc) {
        request->moved = request->count;
        finish_pull(request);
        return;
    }
    vc->no_direct = true;
    request->mode = ENGINE_STREAM;
    send_cts(request, ENGINE_STREAM, request->count, 0);
}

void rndv_start(struct mpid_request *request, struct vc *vc, uint64_t total,
                const struct chan_remote *from, uint32_t id)
{
    request->state = CAR_ARRIVING;
    request->total = total;
    request->moved = 0;
    request->peer_id = id;
    request->peer_addr = from->address;
    request->id = ids_new(&device.ids, request);
    if (!request->id) {
        request->error = MPID_NO_MEMORY;
        device_complete(request);
        rndv_send_done(vc, id, MPID_NO_MEMORY);
        return;
    }
    request_list(&vc->arriving, request);
    uint64_t len = request->count;
    enum packet_engine engine = choose(vc, request, len, total == len ? from : NULL);
    request->mode = engine;
    request->started_ns = len >= RNDV_DIRECT_MIN ? os_now_ns() : 0;
    if (engine == ENGINE_PULL) {
        int rc = pull(request, from, len);
        device.stats.engine[engine] += rc == 0 || rc == CHAN_PENDING;
        if (rc == 0)
            finish_pull(request);
        if (rc == 0 || rc == CHAN_PENDING)
            return;
        request->mode = engine = ENGINE_STREAM;
    }
    uint64_t split = engine == ENGINE_SPLIT ? len / 2 & ~(uint64_t)4095 : 0;
    request->split = split;
    device.stats.engine[engine]++;
    send_cts(request, engine, len, split);
    if (vc->state == VC_FAILED) /* and so is the request */
        return;
    if (len == 0) {
        finish_receive(request);
    } else if (engine == ENGINE_SPLIT) {
        read_half(request);
    }
}

/* The receive that a DATA packet may write to, or NULL. */
static struct mpid_request *target(struct vc *vc, const struct chan_head *head, size_t len)
{
    struct mpid_request *request = ids_find(&device.ids, packet_id(head));
    uint64_t offset = head->word[1];
    if (!request || request->kind != MPID_RECV || request->vc != vc ||
        request->state != CAR_ARRIVING)
        return NULL;
    if (offset > request->count || len > request->count - offset || request->mode == ENGINE_PULL)
        return NULL;
    if (request->mode == ENGINE_SPLIT && offset >= request->split) { /* the peer streams its half */
        request->mode = ENGINE_STREAM;
        vc->no_split = true;
    }
    return request;
}

static void data_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct mpid_request *request = target(vc, head, len);
    if (!request) {
        vc_fail(vc, MPID_LOST, "it sent data that nobody asked for");
        return;
    }
    recv_copy(request, head->word[1], data, len);
    rndv_moved(request, len);
}

static void *data_place(struct vc *vc, const struct chan_head *head, struct landing *landing)
{
    struct mpid_request *request = target(vc, head, landing->len);
    landing->offset = head->word[1];
    return request ? packet_land_at(landing, request) : NULL;
}

static void data_landed(struct vc *vc, struct landing *landing)
{
    (void)vc;
    if (landing->request)
        rndv_moved(landing->request, landing->len);
}

/* Looks at every unexpected message: to cancel a send is rare, as it has never been cheap, and
 * is deprecated; a message need not be filed by one more key for that. */
static void cancel_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    uint32_t sender_id = packet_id(head);
    (void)data, (void)len;
    struct unexpected *u = device.match.first;
    while (u && !(u->vc == vc && u->peer_id == sender_id))
        u = u->next;
    struct chan_head answer = packet_head(PACKET_CANCELLED, sender_id, u != NULL);
    if (u) {
        match_take(&device.match, u);
        recv_forget(u);
    }
    vc_control(vc, &answer, NULL, 0);
}

void rndv_fail(struct vc *vc, enum mpid_error error)
{
    while (vc->arriving) {
        struct mpid_request *request = vc->arriving;
        vc->arriving = request->next;
        request->error = (uint8_t)error;
        ids_drop(&device.ids, request->id);
        device_complete(request);
    }
}

/* ---- the sender ---- */

void rndv_release(struct mpid_request *request)
{
    if (request->region)
        request->region->ops->dereg(request->region);
    request->region = NULL;
}

static void finish_send(struct mpid_request *request)
{
    rndv_release(request);
    if (!request->cancelled && !request->error)
        stats_count_sent(request->vc, request->bytes.len);
    request_unlist(&request->vc->asked, request);
    request->vc->unfinished--;
    ids_drop(&device.ids, request->id);
    device_complete(request);
}

static struct mpid_request *asked_send(struct vc *vc, uint32_t id)
{
    struct mpid_request *request = ids_find(&device.ids, id);
    if (!request || request->kind != MPID_SEND || request->vc != vc)
        return NULL;
    return request;
}

/* Send [from, total) as packets. */
static void stream(struct vc *vc, struct mpid_request *request, uint64_t from)
{
    struct mpid_request **at = &vc->bulk;
    request_unlist(&vc->asked, request);
    request->moved = from;
    request->state = CAR_BULK;
    request->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = request;
    vc_mark_busy(vc);
}

/* Write our half into the receiver's memory; or, where that fails, stream it: the receiver counts
 * bytes, whichever way they come. In both cases it reads its own half meanwhile. */
static void split(struct vc *vc, struct mpid_request *request, const struct packet_cts *cts)
{
    struct chan_remote to = {cts->addr + cts->split, NULL};
    const char *base = request->bytes.base;
    request->split = cts->split;
    if (vc->bound->ops->onesided->put(vc->bound, base + cts->split, &to,
                                      request->total - cts->split, request)) {
        stream(vc, request, cts->split);
        return;
    }
    request->state = CAR_LENT;
    rndv_send_done(vc, cts->receiver_id, MPID_OK);
}

/* The receiver cannot read its half, and wants it streamed: at once, or behind ours where that
 * is still under way. */
static void stream_rest(struct vc *vc, struct mpid_request *request, const struct packet_cts *cts)
{
    if (cts->engine != ENGINE_STREAM || cts->limit != request->split ||
        cts->receiver_id != request->peer_id || request->mode & SEND_REST) {
        vc_fail(vc, MPID_LOST, "it sent a second CTS packet that fits no half");
        return;
    }
    request->mode |= SEND_REST;
    if (request->state == CAR_LENT)
        stream(vc, request, request->total);
}

static bool is_split(const struct mpid_request *request)
{
    return request->split && (request->state == CAR_LENT || request->state == CAR_BULK ||
                              request->state == CAR_BULK_PENDING);
}

static bool can_split(const struct vc *vc)
{
    const struct chan_onesided *onesided = vc->bound->ops->onesided;
    return onesided && onesided->at_once;
}

static void take_cts(struct vc *vc, const struct packet_cts *cts)
{
    struct mpid_request *request = asked_send(vc, cts->sender_id);
    if (request && is_split(request)) {
        stream_rest(vc, request, cts);
        return;
    }
    if (!request || request->state != CAR_ASKED || cts->limit > request->total ||
        cts->split > cts->limit || cts->engine >= ENGINES ||
        (cts->engine == ENGINE_SPLIT && (request->bytes.layout || !can_split(vc)))) {
        vc_fail(vc, MPID_LOST, "it sent a CTS packet that fits no message");
        return;
    }
    request->peer_id = cts->receiver_id;
    request->total = cts->limit;
    if (cts->engine == ENGINE_SPLIT) {
        split(vc, request, cts);
        return;
    }
    request->split = 0;
    stream(vc, request, 0);
}

static void cts_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct packet_cts cts;
    (void)head, (void)len;
    memcpy(&cts, data, sizeof(cts));
    take_cts(vc, &cts);
}

static void cancelled_arrived(struct vc *vc, const struct chan_head *head, const void *data,
                              size_t len)
{
    struct mpid_request *request = asked_send(vc, packet_id(head));
    bool done = head->word[1];
    (void)data, (void)len;
    if (!request || request->state != CAR_ASKED || !done)
        return;
    if (request->mode & SEND_GIVEN_UP)
        request->error = MPID_LOST;
    else
        request->cancelled = true;
    finish_send(request);
}

/* Either side's word that its part is done: to a sender, that the receiver has
 * read all it wanted; to a receiver, that the sender has written its half. */
static void done_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct mpid_request *request = ids_find(&device.ids, packet_id(head));
    uint64_t error = head->word[1];
    (void)data, (void)len;
    if (!request || request->vc != vc || error > MPID_NO_MEMORY) {
        vc_fail(vc, MPID_LOST, "it sent a DONE packet that fits no message");
    } else if (request->kind == MPID_SEND) {
        request->split = 0; /* should our half still be under way */
        if (request->state == CAR_ASKED || request->state == CAR_LENT) {
            request->error = (uint8_t)error;
            finish_send(request);
        }
    } else if (request->mode == ENGINE_SPLIT) {
        rndv_moved(request, request->count - request->split);
    }
}

int rndv_init(void)
{
    static const struct packet_kind kinds[PACKET_TYPES] = {
        [PACKET_CTS] = {"CTS", sizeof(struct packet_cts), cts_arrived, NULL, NULL},
        [PACKET_DATA] = {"DATA", 0, data_arrived, data_place, data_landed},
        [PACKET_DONE] = {"DONE", 0, done_arrived, NULL, NULL},
        [PACKET_CANCEL] = {"CANCEL", 0, cancel_arrived, NULL, NULL},
        [PACKET_CANCELLED] = {"CANCELLED", 0, cancelled_arrived, NULL, NULL},
    };
    int rc = 0;
    for (uint32_t type = 0; type < PACKET_TYPES && !rc; type++)
        if (kinds[type].name)
            rc = packet_add(type, &kinds[type]);
    return rc;
}

/* A message to this process itself is cancelled by two turns of progress. */
static bool is_to_self(const struct mpid_request *request)
{
    return request->kind == MPID_SEND && !request->done && request->state == CAR_ASKED &&
           device_is_own_group(&request->vc->peer.gid) &&
           request->vc->peer.rank == device.env.rank;
}

void mpid_cancel(struct mpid_request *request)
{
    bool to_self = false;
    os_lock(&device.lock);
    if (mpid_is_complete(request)) {
        /* Too late; but the peer may have finished because this send was to be cancelled. */
        if (request->kind == MPID_SEND && request->error == MPID_LOST) {
            request->error = MPID_OK;
            request->cancelled = true;
        }
    } else if (request->kind == MPID_RECV) {
        if (request->state == CAR_POSTED && match_unpost(&device.match, request)) {
            request->cancelled = true;
            device_complete(request);
        }
    } else if (request->state == CAR_WAITING) {
        send_unqueue(request);
        request->cancelled = true;
        ids_drop(&device.ids, request->id);
        device_complete(request);
    } else if (request->state == CAR_ASKED) {
        to_self = is_to_self(request);
        send_ask_cancel(request);
    }
    if (to_self)
        progress_look();
    for (int i = 0; i < SELF_TURNS && to_self && !mpid_is_complete(request); i++)
        (void)progress_turn();
    os_unlock(&device.lock);
}
