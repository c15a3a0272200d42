/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How the two ends of a link prove to each other that they belong to one job, version 1. Numbers
 * are in network byte order. No I/O.
 *
 * Three messages begin a link; each starts with 8 bytes: "Vlnk", version, kind (HELLO 1, CHALLENGE
 * 2, PROOF 3), two zeros.
 *
 *   HELLO      dialer -> listener   64 bytes
 *      8  job      16
 *     24  from      4  the dialer's node
 *     28  to        4  the node that it means to reach
 *     32  number    8  from 1 on, of all that the dialer has sent to this node
 *     40  nonce    16  random
 *     56  proof     8
 *   CHALLENGE  listener -> dialer   32 bytes: 8 nonce 16, 24 proof 8
 *   PROOF      dialer -> listener   16 bytes: 8 proof 8
 *
 * A proof is the keyed hash, with the job's secret, of the message's first 8 bytes, of bytes 8 to
 * 55 of the HELLO, and of the listener's nonce (zeros in HELLO). The secret never travels. A
 * stranger is told nothing, and a HELLO that was overheard is told nothing either: the listener
 * takes each number of a node once. After PROOF both have the same two keys for frames, one for
 * each direction, which no other link has.
 */
#ifndef BNR_HELLO_H
#define BNR_HELLO_H

#include <stdint.h>

enum {
    HELLO_VERSION = 1,
    HELLO_LEN = 64,
    HELLO_CHALLENGE_LEN = 32,
    HELLO_PROOF_LEN = 16,
    HELLO_NONCE_LEN = 16
};

/* The facts that both ends know. The dialer fills all but listener_nonce. */
struct hello {
    uint8_t job[16];
    uint32_t from, to;
    uint64_t number;
    uint8_t dialer_nonce[HELLO_NONCE_LEN], listener_nonce[HELLO_NONCE_LEN];
};

void hello_put(uint8_t out[HELLO_LEN], const struct hello *h, const uint8_t secret[16]);
void hello_challenge_put(uint8_t out[HELLO_CHALLENGE_LEN], const struct hello *h,
                         const uint8_t secret[16]);
void hello_proof_put(uint8_t out[HELLO_PROOF_LEN], const struct hello *h, const uint8_t secret[16]);

/* Returns 0, or -EPROTO: close, and say nothing. hello_get() fills all but listener_nonce and
 * leaves it to the caller that job and to are its own; hello_challenge_get() fills listener_nonce.
 */
int hello_get(const uint8_t in[HELLO_LEN], struct hello *h, const uint8_t secret[16]);
int hello_challenge_get(const uint8_t in[HELLO_CHALLENGE_LEN], struct hello *h,
                        const uint8_t secret[16]);
int hello_proof_get(const uint8_t in[HELLO_PROOF_LEN], const struct hello *h,
                    const uint8_t secret[16]);

/* The keys of frames that the dialer and the listener send. */
void hello_keys(const struct hello *h, const uint8_t secret[16], uint8_t dialer[16],
                uint8_t listener[16]);

#endif
