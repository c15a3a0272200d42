/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables over the parts of the tcp channel that do no I/O. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/tcp/addr.h"
#include "channels/tcp/alive.h"
#include "channels/tcp/out.h"
#include "channels/tcp/wire.h"
#include "os/turn.h"

static int number, failures;

static void claim(int truth, const char *what)
{
    printf("%s %d - %s\n", truth ? "ok" : "not ok", ++number, what);
    failures += !truth;
}

static struct wire_talk talk_of(uint8_t seed)
{
    struct wire_talk talk = {.hello = {.rank = 70000u + seed, .to_rank = 3, .number = 1ull << 40 | seed}};
    memset(talk.hello.gid.b, seed + 1, 16);
    memset(talk.hello.to_gid.b, seed + 2, 16);
    memset(talk.hello.nonce, seed + 3, WIRE_HELLO_NONCE_LEN);
    memset(talk.nonce, seed + 4, WIRE_NONCE_LEN);
    return talk;
}

typedef int get_fn(const uint8_t *in, struct wire_talk *talk, const uint8_t *secret);

static int get_hello(const uint8_t *in, struct wire_talk *talk, const uint8_t *secret)
{
    return wire_hello_get(in, talk, secret);
}

static int get_challenge(const uint8_t *in, struct wire_talk *talk, const uint8_t *secret)
{
    return wire_challenge_get(in, talk, secret);
}

static int get_proof(const uint8_t *in, struct wire_talk *talk, const uint8_t *secret)
{
    return wire_proof_get(in, talk, secret);
}

static int get_answer(const uint8_t *in, struct wire_talk *talk, const uint8_t *secret)
{
    enum chan_answer answer;
    return wire_answer_get(in, talk, &answer, secret);
}

/* Whether every message with one bit changed is refused, and the right one is not. */
static int every_bit_counts(get_fn *get, uint8_t *bytes, size_t len, const uint8_t *secret)
{
    struct wire_talk talk = talk_of(0);
    int good = !get(bytes, &talk, secret);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        talk = talk_of(0);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        good &= get(bytes, &talk, secret) == -EPROTO;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    return good;
}

static void test_handshake(void)
{
    static const uint8_t secret[16] = "0123456789abcde", other[16] = "0123456789abcdf";
    struct wire_talk talk = talk_of(0), heard = {0};
    uint8_t hello[WIRE_HELLO_LEN], challenge[WIRE_CHALLENGE_LEN], proof[WIRE_PROOF_LEN],
        answer[WIRE_ANSWER_LEN];
    wire_hello_put(hello, &talk, secret);
    wire_challenge_put(challenge, &talk, secret);
    wire_proof_put(proof, &talk, secret);
    wire_answer_put(answer, &talk, CHAN_REFUSE_CLOSED, secret);
    claim(!wire_hello_get(hello, &heard, secret) &&
              !memcmp(&heard.hello, &talk.hello, sizeof(talk.hello)),
          "HELLO carries who talks to whom");
    claim(!wire_challenge_get(challenge, &heard, secret) &&
              !memcmp(heard.nonce, talk.nonce, WIRE_NONCE_LEN),
          "CHALLENGE carries the acceptor's number");
    enum chan_answer heard_answer;
    claim(!wire_answer_get(answer, &heard, &heard_answer, secret) &&
              heard_answer == CHAN_REFUSE_CLOSED,
          "ANSWER carries the verdict");
    claim(every_bit_counts(get_hello, hello, sizeof(hello), secret), "each bit of HELLO counts");
    claim(every_bit_counts(get_challenge, challenge, sizeof(challenge), secret),
          "each bit of CHALLENGE counts");
    claim(every_bit_counts(get_proof, proof, sizeof(proof), secret), "each bit of PROOF counts");
    claim(every_bit_counts(get_answer, answer, sizeof(answer), secret),
          "each bit of ANSWER counts");
    claim(wire_hello_get(hello, &heard, other) == -EPROTO, "another secret is refused");
    struct wire_talk replay = talk_of(0);
    replay.nonce[5] ^= 1;
    claim(wire_proof_get(proof, &replay, secret) == -EPROTO,
          "a PROOF that was overheard does not fit another challenge");
    os_turn_network = true;
    hello[6] = (uint8_t)(3 - hello[6]); /* the proof is of the other number */
    claim(wire_hello_get(hello, &heard, secret) == -EPROTO, "a HELLO says its byte order by its proof");
    os_turn_network = false;
    claim(wire_proof_get(answer, &talk, secret) == -EPROTO &&
              wire_answer_get(proof, &talk, &heard_answer, secret) == -EPROTO,
          "no message passes for another kind");
}

static void test_header(void)
{
    struct chan_head head = {{0x0102030405060708u, 0xfffefdfcfbfaf9f8u}}, heard;
    uint8_t bytes[WIRE_HEADER_LEN];
    size_t len;
    wire_header_put(bytes, &head, 0x12345);
    claim(bytes[0] == 0 && bytes[1] == 1 && bytes[2] == 0x23 && bytes[3] == 0x45,
          "lengths are in network byte order");
    claim(!wire_header_get(bytes, &heard, &len) && len == 0x12345 &&
              !memcmp(&head, &heard, sizeof(head)),
          "a header is read as it was written");
    os_turns = true;
    struct chan_head turned = wire_head_turned(&head);
    wire_header_put(bytes, &turned, 1);
    claim(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ||
              !memcmp(bytes + 8, "\1\2\3\4\5\6\7\10\377\376\375\374\373\372\371\370", 16),
          "a head that is turned is in network byte order");
    claim(!wire_header_get(bytes, &heard, &len) && !memcmp(&head, &heard, sizeof(head)), "and is turned back");
    os_turns = false;
    wire_header_put(bytes, &head, WIRE_DATA_MAX);
    claim(!wire_header_get(bytes, &heard, &len) && len == WIRE_DATA_MAX, "the largest length");
    wire_header_put(bytes, &head, WIRE_DATA_MAX + 1);
    claim(wire_header_get(bytes, &heard, &len) == -EPROTO, "a longer one is refused");
    int good = 1;
    for (int bit = 32; bit < 64; bit++) {
        wire_header_put(bytes, &head, 1);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        good &= wire_header_get(bytes, &heard, &len) == -EPROTO;
    }
    claim(good, "a wrong mark or version is refused");
}

static void test_cards(void)
{
    static const struct {
        const char *card;
        int rc, count;
        const char *claim;
    } cards[] = {
        {"n=1,p=80,a=1.2.3.4,a=::1", 0, 2, "addresses of both families"},
        {"p=80,a=1.2.3.4,x=y", 0, 1, "an unknown key is passed over"},
        {"a=1.2.3.4", -ENOENT, 0, "no port"},
        {"p=80", -ENOENT, 0, "no address"},
        {"p=0,a=1.2.3.4", 0, 1, "port 0: it does not listen yet"},
        {"p=65536,a=1.2.3.4", -EINVAL, 0, "a port that is too large"},
        {"p=-1,a=1.2.3.4", -EINVAL, 0, "a negative port"},
        {"p=+8,a=1.2.3.4", -EINVAL, 0, "a port with a sign"},
        {"p=8x,a=1.2.3.4", -EINVAL, 0, "a port with a letter"},
        {"p=80,a=host.name", -EINVAL, 0, "a name is no address"},
        {"p=80,a=1.2.3", -EINVAL, 0, "half an address"},
        {"p=80,a=", -EINVAL, 0, "an empty address"},
        {"p=80,a=1.2.3.4,a=%", -EINVAL, 0, "bad encoding"},
        {"", -ENOENT, 0, "an empty card"},
    };
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
        struct addr_list list;
        int rc = addr_of_card(&list, cards[i].card);
        claim(rc == cards[i].rc && (rc || list.count == cards[i].count), cards[i].claim);
    }
}

static void test_order(void)
{
    struct addr_list list;
    char bad[ADDR_TEXT_LEN];
    claim(!addr_of_text(&list, "10.0.0.1,127.0.0.1, fd00::1,::1", bad) && list.count == 4,
          "a list of addresses is read");
    addr_sort(&list, true);
    claim(addr_is_loopback(&list.addr[0]) && addr_is_loopback(&list.addr[1]) &&
              !addr_is_loopback(&list.addr[2]),
          "on one host, loopback is tried first");
    addr_sort(&list, false);
    claim(!addr_is_loopback(&list.addr[0]) && addr_is_loopback(&list.addr[3]),
          "elsewhere, loopback is tried last");
    claim(addr_of_text(&list, "10.0.0.1,nonsense", bad) == -EINVAL && !strcmp(bad, "nonsense"),
          "a bad address is named");
    claim(!addr_of_text(&list, "192.0.2.7,lo", bad) && list.count >= 2 &&
              !addr_is_loopback(&list.addr[0]) && addr_is_loopback(&list.addr[1]),
          "an interface stands for the addresses that this host has there");
    claim(!addr_of_text(&list, "127.0.0.0/8,127.0.0.1/32", bad) && list.count == 1,
          "a network for those in it, each once");
    claim(!addr_of_text(&list, "^lo", bad), "names may be left out");
    for (int i = 0; i < list.count; i++)
        claim(!addr_is_loopback(&list.addr[i]), "then they are");
    claim(addr_of_text(&list, "no.such7", bad) == -EINVAL && !strcmp(bad, "no.such7"),
          "an interface that is not there is named");
    claim(addr_of_text(&list, "127.0.0.0/33", bad) == -EINVAL, "and so is what is no network");
}

static void test_out(void)
{
    static uint8_t payload[200000];
    uint8_t header[WIRE_HEADER_LEN] = "header";
    struct chan_data data = {.base = payload, .len = sizeof(payload)};
    struct out out = {0};
    claim(!out_room(&out, OUT_LEN + 1, false) && out_room(&out, OUT_LEN, false),
          "the buffer keeps its size unless told to grow");
    claim(out_copy_rest(&out, header, &data, 0) == OUT_LEN, "it takes what finds room");
    claim(out_drop(&out, 100) == 100 && out_room(&out, 100, false) && out.head == 0,
          "what was written makes room");
    claim(out_room(&out, sizeof(payload), true), "it grows when told to");
    claim(out_drop(&out, 1 << 30) == OUT_LEN - 100 && out.tail == 0, "and empties");
    out_trim(&out);
    claim(!out.room, "grown memory is given back");
    free(out.bytes);
}

/* Looks each two seconds at a connection that something waits on; step_s seconds pass between the
 * packets that are sent again, and every nth is answered (0: none). Returns when the host is given
 * up, in seconds, or -1 after an hour. */
static int given_up_at(int step_s, int nth)
{
    struct alive alive = {0};
    int last_answer = 0;
    for (int now = 0; now < 3600; now += 2) {
        int sent = now / step_s, answers = nth ? sent / nth : 0;
        if (answers)
            last_answer = answers * nth * step_s;
        struct alive_signs signs = {.waits = true,
                                    .silent_ms = (uint32_t)(now - last_answer) * 1000u,
                                    .resent = (uint32_t)sent};
        if (!alive_judge(&alive, &signs, (uint64_t)(now + 1) * 1000000000u))
            return now;
    }
    return -1;
}

static void test_alive(void)
{
    struct alive alive = {0};
    struct alive_signs idle = {.waits = false, .silent_ms = 3600000, .resent = 7};
    struct alive_signs closed = {.waits = true, .silent_ms = 130000, .probes = 1, .resent = 7};
    claim(given_up_at(3, 0) == 20, "a host that answers nothing is gone after 20 s");
    claim(given_up_at(120, 0) == 360, "one that is seldom asked, after three questions");
    claim(given_up_at(3, 1) == -1 && given_up_at(120, 1) == -1, "one that answers each is there");
    claim(given_up_at(120, 2) == -1, "and so is one that answers every other");
    claim(alive_judge(&alive, &idle, 1) && alive_judge(&alive, &idle, 2000000001),
          "where nothing waits, nothing is missed");
    claim(alive_judge(&alive, &closed, 4000000001), "one probe without an answer proves nothing");
    closed.probes = 3;
    claim(!alive_judge(&alive, &closed, 6000000001), "but three of them do");
}

int main(void)
{
    test_handshake();
    test_header();
    test_cards();
    test_order();
    test_out();
    test_alive();
    printf("1..%d\n", number);
    return failures != 0;
}
