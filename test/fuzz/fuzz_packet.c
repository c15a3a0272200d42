/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hostile peers of the device: any packets in any order, whole or in place, cut off by
 * losses, among sends, receives, probes and cancels of this side. Nothing may crash, read outside
 * its memory, or write outside the buffers that receives were given.
 *
 * An input is a row of steps: a byte that chooses, and its operands, 0 where the input ends.
 *
 * usage: fuzz_packet FILE...
 */
#include <errno.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "os/turn.h"
#include "test/fuzz/main.h"
#include "test/mpid/beneath.h"

enum {
    REQUESTS = 24,
    STEPS = 400,
    GUARD = 32,
    LEN_MAX = 40000
};

/* ---- input ---- */

static struct {
    const uint8_t *at, *end;
} input;

static uint64_t take(int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes && input.at < input.end; i++)
        value |= (uint64_t)*input.at++ << 8 * i;
    return value;
}

/* A size: small ones, those about the edges, and any. */
static uint64_t take_len(void)
{
    static const uint16_t edges[] = {0, 1, 24, 40, 48, 49, 512, 513, 536, 4096, 4097, 16385, 32768};
    uint64_t how = take(1);
    return how < 13 ? edges[how] : how < 128 ? how : take(2) % LEN_MAX;
}

/* ---- requests ---- */

struct slot {
    struct mpid_request request;
    char *area; /* guard, place, guard */
    size_t room, stretch;
    bool used;
};

static struct slot slots[REQUESTS + 1]; /* the last one for the end */
static struct mpid_message *message;

static void pack(const struct mpid_bytes *from, size_t offset, void *to, size_t len)
{
    require(offset <= from->len && len <= from->len - offset, "packed beyond the place");
    for (size_t i = 0; i < len; i++)
        ((char *)to)[i] = ((const char *)from->buf)[2 * (offset + i)];
}

static void unpack(const struct mpid_bytes *to, size_t offset, const void *from, size_t len)
{
    require(offset <= to->len && len <= to->len - offset, "unpacked beyond the place");
    for (size_t i = 0; i < len; i++)
        ((char *)to->buf)[2 * (offset + i)] = ((const char *)from)[i];
}

static const struct mpid_layout spread = {.pack = pack, .unpack = unpack};

/* Only a complete one may be looked at, and then it must be whole. */
static void retire(struct slot *slot)
{
    size_t size = slot->room * slot->stretch;
    for (size_t i = 0; i < GUARD; i++)
        require(slot->area[i] == 0x5e && slot->area[GUARD + size + i] == 0x5e,
                "written outside a place");
    require(slot->request.kind == MPID_SEND || slot->request.count <= slot->room,
            "more received than there is room for");
    free(slot->area);
    slot->used = false;
}

static struct slot *free_slot(void)
{
    for (int i = 0; i < REQUESTS; i++)
        if (slots[i].used && mpid_is_complete(&slots[i].request))
            retire(&slots[i]);
    for (int i = 0; i < REQUESTS; i++)
        if (!slots[i].used)
            return &slots[i];
    return NULL;
}

static struct mpid_bytes make_place(struct slot *slot, size_t len, bool gaps)
{
    slot->room = len;
    slot->stretch = gaps ? 2 : 1;
    slot->used = true;
    slot->area = malloc(len * slot->stretch + 2 * GUARD);
    require(slot->area != NULL, "no memory");
    memset(slot->area, 0x5e, len * slot->stretch + 2 * GUARD);
    struct mpid_bytes bytes = {.base = slot->area + GUARD, .len = len};
    if (gaps) {
        bytes.layout = &spread;
        bytes.buf = slot->area + GUARD;
        bytes.base = NULL;
    }
    return bytes;
}

static struct mpid_envelope take_want(void)
{
    uint8_t how = (uint8_t)take(1);
    return (struct mpid_envelope){how >> 6 & 1 ? 6 : 4, how & 3 ? (how & 3) - 1 : MPID_ANY,
                                  how >> 2 & 3 ? (how >> 2 & 3) - 1 : MPID_ANY};
}

static struct vc *source(const struct mpid_envelope *want)
{
    return want->rank < 0 ? NULL : beneath_vc((uint32_t)want->rank);
}

static void step_recv(void)
{
    struct slot *slot = free_slot();
    struct mpid_envelope want = take_want();
    if (!slot)
        return;
    size_t len = (size_t)take_len();
    struct mpid_bytes bytes = make_place(slot, len, take(1) & 1);
    mpid_recv(&slot->request, source(&want), &want, &bytes);
}

static void step_send(void)
{
    struct slot *slot = free_slot();
    if (!slot)
        return;
    uint8_t how = (uint8_t)take(1);
    struct mpid_envelope env = {4, BENEATH_ME, how & 3};
    size_t len = (size_t)take_len();
    struct mpid_bytes bytes = make_place(slot, len, how >> 2 & 1);
    uint32_t to = how >> 3 & 1 ? 0 : 2;
    if (!mpid_send(beneath_vc(to), &env, &bytes, how >> 4 & 1 ? MPID_SYNC : 0, &slot->request)) {
        atomic_store(&slot->request.pending, 0);
        slot->request.kind = MPID_SEND;
    }
}

static void step_probe(void)
{
    struct mpid_probe probe = {.want = take_want()};
    struct slot *slot = free_slot();
    uint8_t how = (uint8_t)take(1);
    if (!message || !slot) {
        probe.from = source(&probe.want);
        probe.take = how & 1 && !message;
        if (mpid_probe(&probe) == MPID_FOUND && probe.take)
            message = probe.message;
        return;
    }
    struct mpid_bytes bytes = make_place(slot, (size_t)take_len(), how >> 1 & 1);
    mpid_recv_message(&slot->request, message, &bytes);
    message = NULL;
}

static void step_cancel(void)
{
    struct slot *slot = &slots[take(1) % REQUESTS];
    if (slot->used)
        mpid_cancel(&slot->request);
}

/* ---- packets ---- */

/* A name that a peer may know, or make up. */
static uint32_t take_id(void)
{
    uint8_t how = (uint8_t)take(1);
    if (how < 200 && slots[how % REQUESTS].used)
        return slots[how % REQUESTS].request.id;
    return (uint32_t)take(4);
}

static struct chan_head take_head(uint32_t type)
{
    uint8_t how = (uint8_t)take(1);
    if (type == PACKET_EAGER || type == PACKET_RTS) {
        struct mpid_envelope env = {how & 1 ? 6 : 4, how >> 1 & 3, how >> 3 & 3};
        if (how >> 6 == 3)
            env.rank = (int32_t)take(4);
        if (how >> 6 == 2)
            env.tag = (int32_t)take(4);
        return packet_message((enum packet_type)type, &env);
    }
    uint64_t second = how < 100 ? how % 3 : how < 200 ? take(2) : take(8);
    return packet_head((enum packet_type)type, take_id(), second);
}

/* A payload of a kind that fits, sometimes. */
static size_t take_payload(uint32_t type, uint8_t *to)
{
    uint8_t how = (uint8_t)take(1);
    size_t len = 0;
    if (how < 220 && type == PACKET_RTS) {
        struct packet_rts rts = {.total = how & 1 ? take_len() : take(8),
                                 .addr = how & 2 ? 4096 : 0,
                                 .id = (uint32_t)take(1),
                                 .flags = how >> 2 & 1};
        if (rts.flags && rts.total < LEN_MAX)
            len = (size_t)rts.total;
        if (!rts.flags && how & 8) {
            rts.flags = RTS_HAS_KEY;
            len = beneath.key_len;
        }
        memset(to + sizeof(rts), rts.flags == RTS_HAS_KEY ? 'k' : 0x77, len);
        packet_turn(PACKET_RTS, &rts);
        memcpy(to, &rts, sizeof(rts));
        return sizeof(rts) + len;
    }
    if (how < 220 && type == PACKET_CTS) {
        struct packet_cts cts = {.sender_id = take_id(),
                                 .receiver_id = (uint32_t)take(1),
                                 .engine = how % 4,
                                 .addr = how & 4 ? 4096 : 0,
                                 .limit = how & 8 ? take(8) : take_len(),
                                 .split = how & 16 ? take(8) : take_len()};
        packet_turn(PACKET_CTS, &cts);
        memcpy(to, &cts, sizeof(cts));
        return sizeof(cts);
    }
    len = (size_t)take_len();
    memset(to, how, len);
    return len;
}

static uint32_t take_rank(void)
{
    return take(1) & 1 ? 0 : 2;
}

/* Whether the device has a link to a rank that is open: only over such a one packets come. */
static bool is_open(uint32_t rank)
{
    const struct vc *vc = vc_find(&beneath.env->gid, rank);
    return vc && vc_is_up(vc);
}

/* A body that is written in place, some steps after it was announced, or never. */
static struct {
    void *token;
    uint8_t *place;
    size_t len;
} landing[BENEATH_RANKS];

/* The payload lies in memory of just its length, so that reading beyond it is seen. */
static void step_arrive(uint32_t type)
{
    uint8_t payload[sizeof(struct packet_rts) + LEN_MAX];
    uint32_t from = take_rank();
    struct chan_head head = take_head(type);
    size_t len = take_payload(type, payload);
    if (landing[from].place || !is_open(from))
        return; /* the link has still to bring that one */
    uint8_t *exact = malloc(len ? len : 1);
    require(exact != NULL, "no memory");
    memcpy(exact, payload, len);
    beneath_arrive(from, head, exact, len);
    free(exact);
}

/* A blocking receive's one look, which may bring several packets. */
static void some_arrive(void)
{
    for (uint64_t n = take(1) % 4; n; n--)
        step_arrive(take(1) & 1 ? PACKET_EAGER : take(1) % 12);
}

static void step_recv_now(void)
{
    struct slot *slot = free_slot();
    if (!slot)
        return;
    uint8_t how = (uint8_t)take(1);
    struct mpid_bytes bytes = make_place(slot, (size_t)take_len(), false);
    struct mpid_wanted wanted = {.sender = mpid_sender(how & 3, how >> 2 & 3),
                                 .mask = ~(uint64_t)0,
                                 .context = 4,
                                 .base = bytes.base,
                                 .len = bytes.len};
    if (how >> 4 & 1)
        wanted.mask &= ~MPID_ANY_TAG_BITS;
    if (how >> 5 & 1)
        wanted.mask &= ~MPID_ANY_RANK_BITS;
    wanted.sender &= wanted.mask;
    beneath.during = some_arrive;
    if (mpid_recv_now(&wanted))
        require((int32_t)wanted.from >= 0 && wanted.from <= INT64_MAX,
                "received from an impossible rank or tag");
    beneath.during = NULL;
    atomic_store(&slot->request.pending, 0);
    slot->request.kind = MPID_SEND;
}

static void step_place(void)
{
    uint32_t from = take_rank();
    if (!is_open(from))
        return;
    struct chan_peer *peer = beneath.link[from].base.peer;
    if (!landing[from].place) {
        uint32_t type = take(1) & 1 ? PACKET_EAGER : PACKET_DATA;
        struct chan_head head = take_head(type);
        size_t len = (size_t)take_len() % 16385 + 1; /* as channels do: never empty */
        int unlinks = beneath.unlinks;
        uint8_t *place = beneath.env->sink->place(peer, &head, len, &landing[from].token);
        if (!place) {
            if (beneath.unlinks == unlinks)
                beneath.env->sink->lost(&beneath.link[from].base, -ENOMEM);
            return;
        }
        require(beneath.unlinks == unlinks, "a place for a link that is gone");
        memset(place, 0xdd, len);
        landing[from].place = place;
        landing[from].len = len;
        return;
    }
    memset(landing[from].place, 0xee, landing[from].len);
    landing[from].place = NULL;
    beneath.env->sink->landed(peer, landing[from].token);
}

/* ---- links ---- */

static void step_link(void)
{
    uint32_t rank = take_rank();
    struct beneath_link *link = &beneath.link[rank];
    switch (take(1) % 8) {
    case 0: (void)beneath_ask(rank); break;
    case 1:
    case 2:
        if (link->taken)
            beneath_open(rank);
        break;
    case 3:
        if (link->taken)
            beneath.env->sink->lost(&link->base, -ECONNRESET);
        break;
    case 4:
        if (link->taken && link->from_us && !is_open(rank))
            beneath.env->sink->refused(&link->base, take(1) % 3, "no");
        break;
    case 5: beneath.outcome = (int)take(1) % 3; break;
    case 6: {
        uint64_t bits = take(1);
        beneath.direct_fails = bits & 1;
        if (bits & 2)
            beneath_use_keys(bits & 4);
        break;
    }
    default:
        beneath_drain(rank);
        beneath_end_get(take(1) % 3 ? 0 : -EIO);
    }
}

/* What a link has announced is forgotten with it. */
static void forget_landings(int unlinks)
{
    if (beneath.unlinks == unlinks)
        return;
    for (uint32_t i = 0; i < BENEATH_RANKS; i++)
        if (!beneath.link[i].taken)
            landing[i].place = NULL;
}

static void step(void)
{
    uint8_t what = (uint8_t)(take(1) % 24);
    int unlinks = beneath.unlinks;
    switch (what) {
    case 0: step_send(); break;
    case 1: step_recv(); break;
    case 2: step_probe(); break;
    case 3: step_cancel(); break;
    case 4: step_link(); break;
    case 5: (void)mpid_progress(); break;
    case 6:
    case 7: step_place(); break;
    case 23: step_recv_now(); break;
    default: step_arrive(what % 12);
    }
    forget_landings(unlinks);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    input.at = bytes;
    input.end = bytes + len;
    os_turns = len && bytes[len - 1] & 1; /* a job of network byte order */
    setenv("VIREO_EAGER_CREDIT", "30000", 1);
    setenv("VIREO_CONNECT_TIMEOUT_MS", "1", 1);
    beneath_start();
    beneath_use_keys(false);
    memset(landing, 0, sizeof(landing));
    for (uint32_t rank = 0; rank < 3; rank += 2)
        if (beneath_ask(rank) == CHAN_ACCEPT)
            beneath_open(rank);
    for (int i = 0; i < STEPS && input.at < input.end; i++)
        step();
    if (message) { /* whoever has taken one must receive it */
        struct slot *slot = &slots[REQUESTS];
        struct mpid_bytes bytes_of = make_place(slot, 10, false);
        mpid_recv_message(&slot->request, message, &bytes_of);
        message = NULL;
    }
    for (int i = 0; i < REQUESTS; i++)
        if (slots[i].used)
            mpid_cancel(&slots[i].request);
    beneath_stop();
    for (int i = 0; i <= REQUESTS; i++)
        if (slots[i].used) {
            require(mpid_is_complete(&slots[i].request), "a request outlives its device");
            retire(&slots[i]);
        }
    return 0;
}
