/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every byte that the tcp channel puts on a connection, version 1. Numbers are
 * in network byte order. This module turns bytes into values and back, checks
 * them, and does no I/O.
 *
 * A connection begins with four messages; each starts with the same 8 bytes:
 *
 *   0  magic    4  "Vchn"
 *   4  version  1  1
 *   5  kind     1  HELLO 1, CHALLENGE 2, PROOF 3, ANSWER 4
 *   6  code     1  HELLO: byte order of the sender, 1 little, 2 big;
 *                  ANSWER: enum chan_answer; else 0
 *   7  zero     1
 *
 *   HELLO      connector -> acceptor   72 bytes
 *      8  rank      4  of the connector
 *     12  to_rank   4  of the process that it means to reach
 *     16  gid      16  group of the connector
 *     32  to_gid   16  group of the process that it means to reach
 *     48  number    8  of the connector's HELLOs: each has a higher one
 *     56  nonce     8  random
 *     64  proof     8
 *   CHALLENGE  acceptor -> connector   32 bytes: 8 nonce 16, 24 proof 8
 *   PROOF      connector -> acceptor   16 bytes: 8 proof 8
 *   ANSWER     acceptor -> connector   16 bytes: 8 proof 8
 *
 * A proof is the keyed hash, with the secret of the two (the job's; of processes of
 * two jobs one of their own), of the message's bytes 0 to
 * 7, of bytes 8 to 63 of the HELLO, and of the acceptor's nonce (zeros in
 * HELLO). So the acceptor learns from HELLO that the stranger has, or has
 * overheard, the secret, and from PROOF that it has it; the secret itself
 * never travels. A stranger without a right HELLO is told nothing, and so is one
 * whose HELLO was overheard: the acceptor takes each number once.
 *
 * After an ANSWER of CHAN_ACCEPT both send packets, 24 bytes and the payload:
 *
 *   0  len      4  bytes of payload, at most WIRE_DATA_MAX
 *   4  mark     3  "Vpk"
 *   7  version  1  1
 *   8  head    16  struct chan_head as it lies in memory; in a job of network
 *                  byte order (os/turn.h) its two words are in that
 *  24  payload
 */
#ifndef TCP_WIRE_H
#define TCP_WIRE_H

#include "include/channel.h"

enum {
    WIRE_VERSION = 1,
    WIRE_HELLO_LEN = 72,
    WIRE_CHALLENGE_LEN = 32,
    WIRE_PROOF_LEN = 16,
    WIRE_ANSWER_LEN = 16,
    WIRE_NONCE_LEN = 16,
    WIRE_HELLO_NONCE_LEN = 8,
    WIRE_HEADER_LEN = 24,
    WIRE_DATA_MAX = 4 << 20
};

/* The caller, and the process that it calls. */
struct wire_hello {
    struct chan_gid gid, to_gid;
    uint32_t rank, to_rank;
    uint64_t number;
    uint8_t nonce[WIRE_HELLO_NONCE_LEN];
};

/* What both sides know once HELLO and CHALLENGE have passed. */
struct wire_talk {
    struct wire_hello hello;
    uint8_t nonce[WIRE_NONCE_LEN]; /* the acceptor's */
};

/* Write a message with its proof. */
void wire_hello_put(uint8_t out[WIRE_HELLO_LEN], const struct wire_talk *talk,
                    const uint8_t secret[16]);
void wire_challenge_put(uint8_t out[WIRE_CHALLENGE_LEN], const struct wire_talk *talk,
                        const uint8_t secret[16]);
void wire_proof_put(uint8_t out[WIRE_PROOF_LEN], const struct wire_talk *talk,
                    const uint8_t secret[16]);
void wire_answer_put(uint8_t out[WIRE_ANSWER_LEN], const struct wire_talk *talk,
                     enum chan_answer answer, const uint8_t secret[16]);

/* Which process a HELLO claims to be of: not checked yet. */
void wire_hello_sender(const uint8_t in[WIRE_HELLO_LEN], struct chan_gid *gid, uint32_t *rank);
/* Read a message. Returns 0, or -EPROTO for any other bytes. HELLO fills talk->hello, CHALLENGE
 * fills talk->nonce. */
int wire_hello_get(const uint8_t in[WIRE_HELLO_LEN], struct wire_talk *talk,
                   const uint8_t secret[16]);
int wire_challenge_get(const uint8_t in[WIRE_CHALLENGE_LEN], struct wire_talk *talk,
                       const uint8_t secret[16]);
int wire_proof_get(const uint8_t in[WIRE_PROOF_LEN], const struct wire_talk *talk,
                   const uint8_t secret[16]);
int wire_answer_get(const uint8_t in[WIRE_ANSWER_LEN], const struct wire_talk *talk,
                    enum chan_answer *answer, const uint8_t secret[16]);

void wire_header_put(uint8_t out[WIRE_HEADER_LEN], const struct chan_head *head, size_t len);
/* A head as a process that turns gives it to wire_header_put(). */
struct chan_head wire_head_turned(const struct chan_head *head);
/* Also turns the head, where this process does. Returns 0, or -EPROTO. */
int wire_header_get(const uint8_t in[WIRE_HEADER_LEN], struct chan_head *head, size_t *len);

#endif
