/* SPDX-License-Identifier: BSD-3-Clause */

/* Bytes of the tcp channel; see wire.h. */
#include "channels/tcp/wire.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "os/be.h"
#include "os/keyed_hash.h"
#include "os/turn.h"

enum frame_kind {
    KIND_HELLO = 1,
    KIND_CHALLENGE,
    KIND_PROOF,
    KIND_ANSWER
};

enum {
    PREFIX_LEN = 8,
    PROOF_LEN = 8,
    HELLO_BODY_LEN = WIRE_HELLO_LEN - PREFIX_LEN - PROOF_LEN
};

_Static_assert(sizeof(struct chan_head) == 16, "the head is carried in 16 bytes");
_Static_assert(HELLO_BODY_LEN == 2 * 4 + 2 * sizeof(struct chan_gid) + 8 + WIRE_HELLO_NONCE_LEN,
               "HELLO's fields fill it");
_Static_assert(WIRE_CHALLENGE_LEN == PREFIX_LEN + WIRE_NONCE_LEN + PROOF_LEN, "CHALLENGE");
_Static_assert(WIRE_PROOF_LEN == PREFIX_LEN + PROOF_LEN, "PROOF");
_Static_assert(WIRE_ANSWER_LEN == PREFIX_LEN + PROOF_LEN, "ANSWER");

static const uint8_t byte_order = __BYTE_ORDER == __LITTLE_ENDIAN ? 1 : 2;
static const uint8_t no_nonce[WIRE_NONCE_LEN];

static void prefix_put(uint8_t *out, enum frame_kind kind, uint8_t code)
{
    memcpy(out, "Vchn", 4);
    out[4] = WIRE_VERSION;
    out[5] = (uint8_t)kind;
    out[6] = code;
    out[7] = 0;
}

static void body_put(uint8_t *out, const struct wire_hello *hello)
{
    os_be32_put(out, hello->rank);
    os_be32_put(out + 4, hello->to_rank);
    memcpy(out + 8, hello->gid.b, 16);
    memcpy(out + 24, hello->to_gid.b, 16);
    os_be64_put(out + 40, hello->number);
    memcpy(out + 48, hello->nonce, WIRE_HELLO_NONCE_LEN);
}

/* The proof that goes with a message that starts with prefix. */
static void prove(uint8_t out[PROOF_LEN], const uint8_t *prefix, const struct wire_hello *hello,
                  const uint8_t *nonce, const uint8_t secret[16])
{
    uint8_t text[PREFIX_LEN + HELLO_BODY_LEN + WIRE_NONCE_LEN];
    memcpy(text, prefix, PREFIX_LEN);
    body_put(text + PREFIX_LEN, hello);
    memcpy(text + PREFIX_LEN + HELLO_BODY_LEN, nonce, WIRE_NONCE_LEN);
    uint64_t hash = htobe64(os_keyed_hash(secret, text, sizeof(text)));
    memcpy(out, &hash, PROOF_LEN);
}

/* Compare in a time that does not tell how much is right. */
static int is_proven(const uint8_t *proof, const uint8_t *prefix, const struct wire_hello *hello,
                     const uint8_t *nonce, const uint8_t secret[16])
{
    uint8_t right[PROOF_LEN], wrong = 0;
    prove(right, prefix, hello, nonce, secret);
    for (int i = 0; i < PROOF_LEN; i++)
        wrong |= (uint8_t)(right[i] ^ proof[i]);
    return !wrong;
}

static int prefix_is(const uint8_t *in, enum frame_kind kind)
{
    return !memcmp(in, "Vchn", 4) && in[4] == WIRE_VERSION && in[5] == kind && !in[7];
}

/* The other order only where the whole job is in network order. */
static int is_known_order(uint8_t order)
{
    return order == byte_order || (os_turn_network && order == 3 - byte_order);
}

void wire_hello_put(uint8_t out[WIRE_HELLO_LEN], const struct wire_talk *talk,
                    const uint8_t secret[16])
{
    prefix_put(out, KIND_HELLO, byte_order);
    body_put(out + PREFIX_LEN, &talk->hello);
    prove(out + PREFIX_LEN + HELLO_BODY_LEN, out, &talk->hello, no_nonce, secret);
}

void wire_challenge_put(uint8_t out[WIRE_CHALLENGE_LEN], const struct wire_talk *talk,
                        const uint8_t secret[16])
{
    prefix_put(out, KIND_CHALLENGE, 0);
    memcpy(out + PREFIX_LEN, talk->nonce, WIRE_NONCE_LEN);
    prove(out + PREFIX_LEN + WIRE_NONCE_LEN, out, &talk->hello, talk->nonce, secret);
}

void wire_proof_put(uint8_t out[WIRE_PROOF_LEN], const struct wire_talk *talk,
                    const uint8_t secret[16])
{
    prefix_put(out, KIND_PROOF, 0);
    prove(out + PREFIX_LEN, out, &talk->hello, talk->nonce, secret);
}

void wire_answer_put(uint8_t out[WIRE_ANSWER_LEN], const struct wire_talk *talk,
                     enum chan_answer answer, const uint8_t secret[16])
{
    prefix_put(out, KIND_ANSWER, (uint8_t)answer);
    prove(out + PREFIX_LEN, out, &talk->hello, talk->nonce, secret);
}

void wire_hello_sender(const uint8_t in[WIRE_HELLO_LEN], struct chan_gid *gid, uint32_t *rank)
{
    *rank = os_be32_get(in + PREFIX_LEN);
    memcpy(gid->b, in + PREFIX_LEN + 8, sizeof(gid->b));
}

int wire_hello_get(const uint8_t in[WIRE_HELLO_LEN], struct wire_talk *talk,
                   const uint8_t secret[16])
{
    const uint8_t *body = in + PREFIX_LEN;
    struct wire_hello hello = {.rank = os_be32_get(body), .to_rank = os_be32_get(body + 4)};
    memcpy(hello.gid.b, body + 8, 16);
    memcpy(hello.to_gid.b, body + 24, 16);
    hello.number = os_be64_get(body + 40);
    memcpy(hello.nonce, body + 48, WIRE_HELLO_NONCE_LEN);
    if (!prefix_is(in, KIND_HELLO) || !is_known_order(in[6]) ||
        !is_proven(body + HELLO_BODY_LEN, in, &hello, no_nonce, secret))
        return -EPROTO;
    talk->hello = hello;
    return 0;
}

int wire_challenge_get(const uint8_t in[WIRE_CHALLENGE_LEN], struct wire_talk *talk,
                       const uint8_t secret[16])
{
    const uint8_t *nonce = in + PREFIX_LEN;
    if (!prefix_is(in, KIND_CHALLENGE) || in[6] ||
        !is_proven(nonce + WIRE_NONCE_LEN, in, &talk->hello, nonce, secret))
        return -EPROTO;
    memcpy(talk->nonce, nonce, WIRE_NONCE_LEN);
    return 0;
}

int wire_proof_get(const uint8_t in[WIRE_PROOF_LEN], const struct wire_talk *talk,
                   const uint8_t secret[16])
{
    if (!prefix_is(in, KIND_PROOF) || in[6] ||
        !is_proven(in + PREFIX_LEN, in, &talk->hello, talk->nonce, secret))
        return -EPROTO;
    return 0;
}

int wire_answer_get(const uint8_t in[WIRE_ANSWER_LEN], const struct wire_talk *talk,
                    enum chan_answer *answer, const uint8_t secret[16])
{
    if (!prefix_is(in, KIND_ANSWER) || in[6] >= CHAN_ANSWERS ||
        !is_proven(in + PREFIX_LEN, in, &talk->hello, talk->nonce, secret))
        return -EPROTO;
    *answer = (enum chan_answer)in[6];
    return 0;
}

struct chan_head wire_head_turned(const struct chan_head *head)
{
    return (struct chan_head){{os_turned64(head->word[0]), os_turned64(head->word[1])}};
}

static const uint8_t mark[4] = {'V', 'p', 'k', WIRE_VERSION};

void wire_header_put(uint8_t out[WIRE_HEADER_LEN], const struct chan_head *head, size_t len)
{
    os_be32_put(out, (uint32_t)len);
    memcpy(out + 4, mark, sizeof(mark));
    memcpy(out + 8, head, sizeof(*head));
}


int wire_header_get(const uint8_t in[WIRE_HEADER_LEN], struct chan_head *head, size_t *len)
{
    uint32_t n = os_be32_get(in);
    if (memcmp(in + 4, mark, sizeof(mark)) || n > WIRE_DATA_MAX)
        return -EPROTO;
    memcpy(head, in + 8, sizeof(*head));
    if (__builtin_expect(os_turns, 0))
        *head = wire_head_turned(head);
    *len = n;
    return 0;
}
