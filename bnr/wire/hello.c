/* SPDX-License-Identifier: BSD-3-Clause */

/* The beginning of a link; see hello.h. */
#include "bnr/wire/hello.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "os/keyed_hash.h"

enum hello_kind {
    KIND_HELLO = 1,
    KIND_CHALLENGE,
    KIND_PROOF,
    KIND_KEY /* not on the wire: keys are made of it */
};

enum {
    PREFIX_LEN = 8,
    PROOF_LEN = 8,
    BODY_LEN = HELLO_LEN - PREFIX_LEN - PROOF_LEN
};

static const uint8_t no_nonce[HELLO_NONCE_LEN];

static void prefix_put(uint8_t *out, enum hello_kind kind, uint8_t code)
{
    memcpy(out, "Vlnk", 4);
    out[4] = HELLO_VERSION;
    out[5] = (uint8_t)kind;
    out[6] = code;
    out[7] = 0;
}

static int prefix_is(const uint8_t *in, enum hello_kind kind)
{
    uint8_t right[PREFIX_LEN];
    prefix_put(right, kind, 0);
    return memcmp(in, right, PREFIX_LEN) == 0;
}

static void body_put(uint8_t *out, const struct hello *h)
{
    uint32_t from = htobe32(h->from), to = htobe32(h->to);
    uint64_t number = htobe64(h->number);
    memcpy(out, h->job, 16);
    memcpy(out + 16, &from, 4);
    memcpy(out + 20, &to, 4);
    memcpy(out + 24, &number, 8);
    memcpy(out + 32, h->dialer_nonce, HELLO_NONCE_LEN);
}

static void prove(uint8_t out[PROOF_LEN], const uint8_t *prefix, const struct hello *h,
                  const uint8_t *nonce, const uint8_t secret[16])
{
    uint8_t text[PREFIX_LEN + BODY_LEN + HELLO_NONCE_LEN];
    memcpy(text, prefix, PREFIX_LEN);
    body_put(text + PREFIX_LEN, h);
    memcpy(text + PREFIX_LEN + BODY_LEN, nonce, HELLO_NONCE_LEN);
    uint64_t hash = htobe64(os_keyed_hash(secret, text, sizeof(text)));
    memcpy(out, &hash, PROOF_LEN);
}

/* Compare in a time that does not tell how much is right. */
static int is_proven(const uint8_t *proof, const uint8_t *prefix, const struct hello *h,
                     const uint8_t *nonce, const uint8_t secret[16])
{
    uint8_t right[PROOF_LEN], wrong = 0;
    prove(right, prefix, h, nonce, secret);
    for (int i = 0; i < PROOF_LEN; i++)
        wrong |= (uint8_t)(right[i] ^ proof[i]);
    return !wrong;
}

void hello_put(uint8_t out[HELLO_LEN], const struct hello *h, const uint8_t secret[16])
{
    prefix_put(out, KIND_HELLO, 0);
    body_put(out + PREFIX_LEN, h);
    prove(out + PREFIX_LEN + BODY_LEN, out, h, no_nonce, secret);
}

void hello_challenge_put(uint8_t out[HELLO_CHALLENGE_LEN], const struct hello *h,
                         const uint8_t secret[16])
{
    prefix_put(out, KIND_CHALLENGE, 0);
    memcpy(out + PREFIX_LEN, h->listener_nonce, HELLO_NONCE_LEN);
    prove(out + PREFIX_LEN + HELLO_NONCE_LEN, out, h, h->listener_nonce, secret);
}

void hello_proof_put(uint8_t out[HELLO_PROOF_LEN], const struct hello *h, const uint8_t secret[16])
{
    prefix_put(out, KIND_PROOF, 0);
    prove(out + PREFIX_LEN, out, h, h->listener_nonce, secret);
}

int hello_get(const uint8_t in[HELLO_LEN], struct hello *h, const uint8_t secret[16])
{
    const uint8_t *body = in + PREFIX_LEN;
    struct hello got = *h;
    memcpy(got.job, body, 16);
    memcpy(&got.from, body + 16, 4);
    memcpy(&got.to, body + 20, 4);
    memcpy(&got.number, body + 24, 8);
    memcpy(got.dialer_nonce, body + 32, HELLO_NONCE_LEN);
    got.from = be32toh(got.from);
    got.to = be32toh(got.to);
    got.number = be64toh(got.number);
    if (!prefix_is(in, KIND_HELLO) || !is_proven(body + BODY_LEN, in, &got, no_nonce, secret))
        return -EPROTO;
    *h = got;
    return 0;
}

int hello_challenge_get(const uint8_t in[HELLO_CHALLENGE_LEN], struct hello *h,
                        const uint8_t secret[16])
{
    const uint8_t *nonce = in + PREFIX_LEN;
    if (!prefix_is(in, KIND_CHALLENGE) || !is_proven(nonce + HELLO_NONCE_LEN, in, h, nonce, secret))
        return -EPROTO;
    memcpy(h->listener_nonce, nonce, HELLO_NONCE_LEN);
    return 0;
}

int hello_proof_get(const uint8_t in[HELLO_PROOF_LEN], const struct hello *h,
                    const uint8_t secret[16])
{
    return prefix_is(in, KIND_PROOF) && is_proven(in + PREFIX_LEN, in, h, h->listener_nonce, secret)
               ? 0
               : -EPROTO;
}

void hello_keys(const struct hello *h, const uint8_t secret[16], uint8_t dialer[16],
                uint8_t listener[16])
{
    for (uint8_t part = 0; part < 4; part++) {
        uint8_t prefix[PREFIX_LEN];
        prefix_put(prefix, KIND_KEY, part);
        prove((part < 2 ? dialer : listener) + part % 2 * PROOF_LEN, prefix, h, h->listener_nonce,
              secret);
    }
}
