/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rendezvous: a long message asks first (RTS), and its bytes travel once the
 * receive is known (CTS), by the engine that has been fastest for this peer and
 * size: a stream of packets, which two cores copy in a pipeline; or a one-sided
 * copy out of the sender's memory, by the receiver alone or, if that takes the time of a core, by
 * both sides, each a half. The receiver chooses and measures.
 *
 * Each half is a CAR: the first one that of the request itself, which the receiver copies; the second
 * one added to it, which the sender copies. Either goes on alone, and is streamed if its copy
 * fails.
 */
#include "mpid/message/rndv.h"

#include <stdlib.h>
#include <string.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/message/recv.h"
#include "mpid/message/send.h"
#include "mpid/peers/lost.h"
#include "mpid/wait/car.h"
#include "mpid/wait/progress.h"
#include "os/clock.h"

enum {
    EXPLORE = 24,          /* one use in so many tries another engine */
    EARLY = 24,            /* uses in which messages of several engines are under way at once, */
    SELDOM = 4,            /* and later so much more seldom than one in EXPLORE where the other */
    FAR = 2,               /* takes so many times as long; both where operations are pending */
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

/* Whether one-sided operations with the peer go on while others are begun. */
static bool may_pend(const struct vc *vc)
{
    const struct chan_onesided *onesided = vc->bound ? vc->bound->ops->onesided : NULL;
    return onesided && !onesided->at_once;
}

static enum packet_engine cheapest(const struct rates *rates, uint32_t engines)
{
    enum packet_engine best = ENGINE_STREAM;
    for (uint32_t i = 1; i < engines; i++)
        if (rates->ps_per_byte[i] && rates->ps_per_byte[i] < rates->ps_per_byte[best])
            best = (enum packet_engine)i;
    return best;
}

/* A stream first, then each direct engine once (pulling before splitting: it
 * probes), then the cheapest, but now and then another: which one is best depends on
 * where the two processes run and on their pages, and either may change. Where operations
 * are pending, an engine that is far behind costs more to try than it may save: its turn comes seldom. */
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
    enum packet_engine best = cheapest(rates, engines);
    if (use % EXPLORE)
        return best;
    enum packet_engine other = (enum packet_engine)(use / EXPLORE % engines);
    bool is_far = may_pend(vc) && rates->ps_per_byte[other] / FAR > rates->ps_per_byte[best];
    return is_far && use / EXPLORE / engines % SELDOM ? best : other;
}

/* How much longer this message took. With several in flight, measure from the end of the previous
 * one, so that none counts another's time. The average goes a quarter of the way to the new figure,
 * or to half or one and a half of itself: an interruption, or a lucky time, counts no more than the
 * many others. But the first figures of operations that are pending hold what they have waited for
 * others: a lower one takes their place. */
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
    if (rates->uses < EARLY && rate < *average && may_pend(request->vc))
        *average = 0;
    uint64_t old = *average, least = old / 2, most = old ? old + old / 2 : UINT32_MAX / 8;
    uint64_t now = rate < least ? least : rate > most ? most : rate;
    *average = (uint32_t)(old ? (old * 3 + now) / 4 : now);
}

/* ---- CARs ---- */

/* The CAR that is the request's own, of either. */
static struct mpid_request *first_of(struct mpid_request *car)
{
    return car->from ? car->whole : car;
}

static void put_back(struct mpid_request *car)
{
    os_pool_put(&device.cars, car);
}

/* One more CAR for what a CAR does, of the bytes [from, end) that it had; NULL: no memory. */
static struct mpid_request *second_of(const struct mpid_request *first, uint64_t from, bool named)
{
    struct mpid_request *car = os_pool_get(&device.cars);
    if (!car)
        return NULL;
    *car = (struct mpid_request){.pending = 1,
                                 .kind = first->kind,
                                 .state = first->state,
                                 .place.env = first->place.env,
                                 .vc = first->vc,
                                 .bytes = first->bytes,
                                 .total = first->total,
                                 .mode = first->mode,
                                 .from = from,
                                 .end = first->end};
    if (named && !(car->id = ids_new(&device.ids, car))) {
        put_back(car);
        return NULL;
    }
    return car;
}

static void add_second(struct mpid_request *first, struct mpid_request *second)
{
    first->end = second->from;
    car_add(first, second);
    second->handler = put_back;
}

/* A CAR is over. Returns whether the whole message is, with that. */
static bool is_last(struct mpid_request *car)
{
    struct mpid_request *first = first_of(car);
    first->left -= car->end - car->from;
    return !first->left;
}

/* ---- the receiver ---- */

void rndv_send_done(struct vc *vc, uint32_t id, enum mpid_error error)
{
    struct chan_head head = packet_head(PACKET_DONE, id, error);
    vc_control(vc, &head, NULL, 0);
}

static void finish_receive(struct mpid_request *car)
{
    if (is_last(car)) {
        measure(first_of(car));
        stats_count_received(car->vc, car->total);
    }
    request_unlist(&car->vc->arriving, car);
    ids_drop(&device.ids, car->id);
    car_complete(car);
}

/* So many more bytes are in place. */
static void moved(struct mpid_request *car, size_t len)
{
    car->moved += len;
    if (car->moved == car->end - car->from)
        finish_receive(car);
}

/* Copy the request's bytes out of the sender's memory. Returns 0 when done, CHAN_PENDING if
 * rndv_got() will tell, or another outcome: then stream them. */
static int pull(struct mpid_request *request, const struct chan_remote *from)
{
    struct vc *vc = request->vc;
    int rc = vc->bound->ops->onesided->get(vc->bound, (void *)request->bytes.base, from, request->end,
                                           request);
    if (rc == CHAN_UNABLE)
        vc->no_direct = true;
    return rc;
}

/* Ask for the bytes of a request, and of the CAR that is its second half; NULL: there is none. */
static void send_cts(struct mpid_request *request, const struct mpid_request *second)
{
    struct packet_cts cts = {.sender_id = (uint32_t)request->peer_id,
                             .receiver_id = request->id,
                             .engine = second ? ENGINE_SPLIT : ENGINE_STREAM,
                             .second_id = second ? second->id : 0,
                             .addr = (uint64_t)(uintptr_t)request->bytes.base,
                             .limit = second ? second->end : request->end,
                             .split = second ? second->from : 0};
    struct chan_head head = packet_head(PACKET_CTS, 0, 0);
    packet_turn(PACKET_CTS, &cts);
    vc_control(request->vc, &head, &cts, sizeof(cts));
}

/* Have the sender stream the request's bytes. */
static void ask_for_stream(struct mpid_request *request)
{
    request->mode = ENGINE_STREAM;
    send_cts(request, NULL);
}

/* All that is the request's has been read. */
static void finish_pull(struct mpid_request *request)
{
    struct vc *vc = request->vc;
    uint32_t id = (uint32_t)request->peer_id;
    finish_receive(request);
    rndv_send_done(vc, id, MPID_OK);
}

/* A receive has failed, and nothing writes to its place any more. */
static void end_failed(struct mpid_request *request)
{
    request_unlist(&request->vc->arriving, request);
    ids_drop(&device.ids, request->id);
    car_complete(request);
}

void rndv_got(struct chan_peer *peer, void *cookie, int rc)
{
    struct mpid_request *request = cookie;
    struct vc *vc = (struct vc *)peer;
    request->state = CAR_ARRIVING;
    if (vc->state == VC_FAILED) {
        end_failed(request);
        vc_check(vc);
        return;
    }
    if (!rc) {
        finish_pull(request);
        return;
    }
    vc->no_direct = true;
    ask_for_stream(request);
}

/* Receive by halves. Returns false, with nothing done, if there is no memory for the second one. */
static bool start_split(struct mpid_request *request, const struct chan_remote *from)
{
    struct vc *vc = request->vc;
    struct mpid_request *second = second_of(request, request->count / 2 & ~(uint64_t)4095, true);
    if (!second)
        return false;
    add_second(request, second);
    request_list(&vc->arriving, second);
    device.stats.engine[ENGINE_SPLIT]++;
    send_cts(request, second);
    if (vc->state == VC_FAILED) /* and so is the request */
        return true;
    if (pull(request, from))
        ask_for_stream(request);
    else
        finish_pull(request);
    return true;
}

/* Receive by a copy out of the sender's memory. Returns false if no copy will follow. */
static bool start_pull(struct mpid_request *request, const struct chan_remote *from)
{
    int rc = pull(request, from);
    if (rc && rc != CHAN_PENDING)
        return false;
    device.stats.engine[ENGINE_PULL]++;
    if (rc)
        request->state = CAR_READING;
    else
        finish_pull(request);
    return true;
}

static void start_stream(struct mpid_request *request)
{
    struct vc *vc = request->vc;
    bool empty = !request->end;
    device.stats.engine[ENGINE_STREAM]++;
    ask_for_stream(request);
    if (empty && vc->state != VC_FAILED)
        finish_receive(request);
}

void rndv_start(struct mpid_request *request, struct vc *vc, uint64_t total,
                const struct chan_remote *from, uint32_t id)
{
    uint64_t len = request->count;
    request->state = CAR_ARRIVING;
    request->total = total;
    request->moved = request->from = 0;
    request->end = request->left = len;
    request->peer_id = id;
    request->id = ids_new(&device.ids, request);
    if (!request->id) {
        request->error = MPID_NO_MEMORY;
        car_complete(request);
        rndv_send_done(vc, id, MPID_NO_MEMORY);
        return;
    }
    request_list(&vc->arriving, request);
    request->mode = choose(vc, request, len, total == len ? from : NULL);
    request->started_ns = len >= RNDV_DIRECT_MIN ? os_now_ns() : 0;
    if ((request->mode == ENGINE_PULL && start_pull(request, from)) ||
        (request->mode == ENGINE_SPLIT && start_split(request, from)))
        return;
    start_stream(request);
}

/* A second half that the sender streams, as it cannot write into our memory. */
static void note_streamed(struct mpid_request *car)
{
    car->mode = car->whole->mode = ENGINE_STREAM;
    car->vc->no_split = true;
}

/* The CAR that a DATA packet may write to, or NULL. */
static struct mpid_request *target(struct vc *vc, const struct chan_head *head, size_t len)
{
    struct mpid_request *car = ids_find(&device.ids, packet_id(head));
    uint64_t offset = head->word[1];
    if (!car || car->kind != MPID_RECV || car->vc != vc || car->state != CAR_ARRIVING)
        return NULL;
    if (offset < car->from || offset > car->end || len > car->end - offset ||
        len > car->end - car->from - car->moved)
        return NULL;
    if (car->from && car->mode == ENGINE_SPLIT)
        note_streamed(car);
    return car->mode == ENGINE_STREAM ? car : NULL;
}

static void data_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct mpid_request *request = target(vc, head, len);
    if (!request) {
        vc_fail(vc, MPID_LOST, "it sent data that nobody asked for");
        return;
    }
    packet_copy(request, head->word[1], data, len);
    moved(request, len);
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
        moved(landing->request, landing->len);
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

/* What a channel still reads ends when it says so: the memory is in use until then. */
void rndv_fail(struct vc *vc, enum mpid_error error)
{
    for (struct mpid_request *request = vc->arriving, *next; request; request = next) {
        next = request->next;
        request->error = (uint8_t)error;
        if (request->state != CAR_READING)
            end_failed(request);
    }
}

/* ---- the sender ---- */

void rndv_release(struct mpid_request *request)
{
    if (request->region)
        request->region->ops->dereg(request->region);
    request->region = NULL;
}

void rndv_finish_send(struct mpid_request *car)
{
    rndv_release(car);
    if (is_last(car) && !car->cancelled && !car->error)
        stats_count_sent(car->vc, car->bytes.len);
    car->vc->unfinished--;
    ids_drop(&device.ids, car->id);
    car_complete(car);
}

static void finish_asked(struct mpid_request *request)
{
    request_unlist(&request->vc->asked, request);
    rndv_finish_send(request);
}

static struct mpid_request *asked_send(struct vc *vc, uint32_t id)
{
    struct mpid_request *request = ids_find(&device.ids, id);
    if (!request || request->kind != MPID_SEND || request->vc != vc)
        return NULL;
    return request;
}

/* Send a CAR's bytes as packets. */
static void stream(struct mpid_request *car)
{
    struct vc *vc = car->vc;
    struct mpid_request **at = &vc->bulk;
    car->moved = car->from;
    car->state = CAR_BULK;
    car->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = car;
    vc_mark_busy(vc);
}

/* Stream the second half: the receiver counts bytes, whichever way they come. */
static void stream_second(struct mpid_request *request, const struct packet_cts *cts)
{
    struct mpid_request *second = second_of(request, cts->split, false);
    if (!second) {
        vc_fail(request->vc, MPID_NO_MEMORY, "no memory for half a message");
        return;
    }
    add_second(request, second);
    second->peer_id = cts->second_id;
    request->vc->unfinished++;
    stream(second);
}

/* Write the second half into the receiver's memory; if that fails, stream it. In both cases the
 * receiver reads the first one meanwhile. */
static void split(struct mpid_request *request, const struct packet_cts *cts)
{
    struct vc *vc = request->vc;
    struct chan_remote to = {cts->addr + cts->split, NULL};
    const char *base = request->bytes.base;
    request->state = CAR_LENT;
    if (vc->bound->ops->onesided->put(vc->bound, base + cts->split, &to, cts->limit - cts->split,
                                      request)) {
        stream_second(request, cts);
        return;
    }
    request->left = request->end = cts->split;
    rndv_send_done(vc, cts->second_id, MPID_OK);
}

static bool can_split(const struct mpid_request *request)
{
    const struct chan_onesided *onesided = request->vc->bound->ops->onesided;
    return onesided && onesided->at_once && !request->bytes.layout;
}

/* Whether it asks for a stream of the half that the receiver was to read. */
static bool is_second_cts(const struct mpid_request *request, const struct packet_cts *cts)
{
    return request->state == CAR_LENT && cts->engine == ENGINE_STREAM && cts->limit == request->end &&
           cts->receiver_id == request->peer_id;
}

static bool is_first_cts(const struct mpid_request *request, const struct packet_cts *cts)
{
    if (request->state != CAR_ASKED || cts->limit > request->total)
        return false;
    if (cts->engine == ENGINE_SPLIT)
        return cts->split && cts->split < cts->limit && can_split(request);
    return cts->engine == ENGINE_STREAM;
}

static void take_cts(struct vc *vc, const struct packet_cts *cts)
{
    struct mpid_request *request = asked_send(vc, cts->sender_id);
    bool first = request && is_first_cts(request, cts);
    if (!first && !(request && is_second_cts(request, cts))) {
        vc_fail(vc, MPID_LOST, "it sent a CTS packet that fits no message");
        return;
    }
    if (first) {
        request->peer_id = cts->receiver_id;
        request->end = request->left = cts->limit;
    }
    if (cts->engine == ENGINE_SPLIT) {
        split(request, cts);
    } else {
        request_unlist(&vc->asked, request);
        stream(request);
    }
}

static void cts_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct packet_cts cts;
    (void)head, (void)len;
    memcpy(&cts, data, sizeof(cts));
    packet_turn(PACKET_CTS, &cts);
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
    enum mpid_error error = lost_context(request->place.env.context);
    if (request->mode & SEND_GIVEN_UP)
        request->error = (uint8_t)(error ? error : MPID_LOST);
    else
        request->cancelled = true;
    finish_asked(request);
}

/* A send may be told that its bytes have been read. */
static bool is_read_by_peer(const struct mpid_request *car)
{
    return car->kind == MPID_SEND && (car->state == CAR_ASKED || car->state == CAR_LENT);
}

/* A second half may be said to have been written. */
static bool is_written_by_peer(const struct mpid_request *car)
{
    return car->kind == MPID_RECV && car->state == CAR_ARRIVING && car->from &&
           car->mode == ENGINE_SPLIT;
}

static void done_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    struct mpid_request *car = ids_find(&device.ids, packet_id(head));
    uint64_t error = head->word[1];
    (void)data, (void)len;
    if (car && car->vc == vc && error <= MPID_NO_MEMORY && is_read_by_peer(car)) {
        car->error = (uint8_t)error;
        finish_asked(car);
    } else if (car && car->vc == vc && error == MPID_OK && is_written_by_peer(car)) {
        moved(car, car->end - car->from);
    } else {
        vc_fail(vc, MPID_LOST, "it sent a DONE packet that fits no message");
    }
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
        if (car_is_posted(request) && match_unpost(&device.match, request)) {
            request->cancelled = true;
            car_complete(request);
        }
    } else if (request->state == CAR_WAITING) {
        send_unqueue(request);
        rndv_release(request); /* it may have been lent before there was room for the question */
        request->cancelled = true;
        ids_drop(&device.ids, request->id);
        car_complete(request);
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

/* ---- life ---- */

static int start(void)
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

static void open_cars(void)
{
    os_pool_init(&device.cars, mpid_space_seal(MPID_SPACE_REQUEST), 16);
}

static void end(void)
{
    os_pool_fini(&device.cars);
}

const struct life rndv_life = {.start = start, .open = open_cars, .end = end};
