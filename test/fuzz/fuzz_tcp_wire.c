/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a peer or a stranger may send to the tcp channel, to its parsers: cards,
 * the messages of the handshake, and the stream of packets, cut into reads of
 * any size. Checks that packets come whole and within bounds.
 *
 * The first byte of an input chooses the parser.
 *
 * usage: fuzz_tcp_wire FILE...
 */
#include <errno.h>

#include "channels/tcp/addr.h"
#include "channels/tcp/input.h"
#include "channels/tcp/link.h"
#include "channels/tcp/wire.h"
#include "os/turn.h"
#include "test/fuzz/main.h"

extern const struct chan_ops chan_tcp;

/* The device that the packets go to. */
static struct {
    uint8_t *place;
    size_t place_len;
    int lost;
    unsigned sum;
} sunk;

static void touch(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sunk.sum += bytes[i];
}

static void on_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                       size_t len)
{
    require(len <= WIRE_DATA_MAX && !sunk.place && !sunk.lost, "arrived() when it may not");
    touch(data, len);
}

static void *on_place(struct chan_peer *peer, const struct chan_head *head, size_t len,
                      void **token)
{
    require(len <= WIRE_DATA_MAX && !sunk.place && !sunk.lost, "place() when it may not");
    sunk.place = malloc(len);
    sunk.place_len = len;
    require(sunk.place != NULL, "no memory");
    *token = sunk.place;
    return sunk.place;
}

static void on_landed(struct chan_peer *peer, void *token)
{
    require(token == sunk.place && !sunk.lost, "landed() when it may not");
    touch(sunk.place, sunk.place_len);
    free(sunk.place);
    sunk.place = NULL;
}

static void on_lost(struct chan_link *link, int rc)
{
    require(rc == -EPROTO && !sunk.lost, "lost() for another reason than nonsense");
    sunk.lost = 1;
}

/* Let input_offer()'s places take up to limit bytes. Returns how many they took. */
static size_t feed(struct tcp_link *link, const uint8_t *bytes, size_t len)
{
    struct iovec iov[2];
    int count = input_offer(link, iov);
    size_t done = 0;
    for (int i = 0; i < count; i++) {
        require(iov[i].iov_len > 0, "a place without room");
        size_t part = len - done < iov[i].iov_len ? len - done : iov[i].iov_len;
        memcpy(iov[i].iov_base, bytes + done, part);
        done += part;
    }
    if (done)
        (void)input_take(link, done);
    return done;
}

static void fuzz_stream(const uint8_t *bytes, size_t len)
{
    static const struct chan_sink sink = {
        .arrived = on_arrived, .place = on_place, .landed = on_landed, .lost = on_lost};
    struct chan_env env = {.size = sizeof(env), .sink = &sink};
    struct tcp tcp = {.env = &env, .epoll = -1, .last_dirty = &tcp.dirty};
    struct {
        struct chan_peer peer;
        void *slots[8]; /* behind the peer */
    } other = {.peer = {.rank = 1}};
    if (!len)
        return;
    os_pool_init(&tcp.buffers, LINK_IN_LEN, 4);
    struct tcp_link *link = link_create(&tcp, &other.peer);
    require(link != NULL, "no memory");
    link->state = LINK_OPEN;
    size_t step = (size_t)bytes[0] * bytes[0] + 1; /* bytes a read */
    bytes++;
    len--;
    memset(&sunk, 0, sizeof(sunk));
    while (len && link_is_up(link)) {
        size_t done = feed(link, bytes, len < step ? len : step);
        require(done > 0, "a read that takes nothing");
        bytes += done;
        len -= done;
    }
    free(sunk.place);
    sunk.place = NULL;
    link->state = LINK_OVER;
    link_destroy(link);
    os_pool_fini(&tcp.buffers);
}

static void fuzz_handshake(const uint8_t *bytes, size_t len)
{
    static const uint8_t secret[16] = "not known to you";
    uint8_t message[WIRE_HELLO_LEN] = {0};
    struct wire_talk talk = {0};
    enum chan_answer answer = CHAN_ACCEPT;
    memcpy(message, bytes, len < sizeof(message) ? len : sizeof(message));
    require(wire_hello_get(message, &talk, secret) && wire_challenge_get(message, &talk, secret) &&
                wire_proof_get(message, &talk, secret) &&
                wire_answer_get(message, &talk, &answer, secret),
            "a stranger has made a proof");
}

static void fuzz_card(const uint8_t *bytes, size_t len)
{
    static const char mine[] = "n=0123456789abcdef,p=4711,host=a,a=127.0.0.1,a=::1";
    char card[CHAN_CARD_MAX];
    struct addr_list list;
    snprintf(card, sizeof(card), "%.*s", (int)len, (const char *)bytes);
    struct chan_verdict there = chan_tcp.match(mine, card), back = chan_tcp.match(card, mine);
    require(there.fit == back.fit && there.score == back.score, "match() is not symmetric");
    if (!addr_of_card(&list, card)) {
        require(list.count > 0 && list.count <= ADDR_MAX, "a list of addresses out of bounds");
        addr_sort(&list, true);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static void (*const targets[])(const uint8_t *, size_t) = {fuzz_stream, fuzz_handshake,
                                                               fuzz_card};
    if (!len)
        return 0;
    os_turns = os_turn_network = bytes[0] >> 7; /* a job of network byte order */
    targets[bytes[0] % 3](bytes + 1, len - 1);
    return 0;
}
