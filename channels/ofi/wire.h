/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every byte that the ofi channel gives a fabric. Each message is a frame, and a body of frame.len
 * bytes. Both ends are of one byte order and word size (cards of others match nothing), so these are
 * plain structs.
 *
 *   caller                        callee
 *   HELLO      ofi_hello    -->              who calls, its address, a nonce, a number, and a proof
 *              ofi_challenge <-- CHALLENGE   a nonce, and the proof of the callee
 *   PROOF      ofi_proof    -->              the proof of the caller that it is there now
 *              ofi_welcome  <-- WELCOME      or REFUSED, with the answer in value
 *
 * then, both ways: DATA with a packet, CREDIT (of 0 to a peer that may have ended), LAST and BYE. LAST
 * tells how many packets its writer has sent ever, and is the last word of a process that may end now. One
 * that goes on after all says it again at its end.
 *
 * A link has a name of 64 bits at each end, which is half random: a frame that does not begin with
 * the reader's name for it is dropped. A proof is a keyed hash with the secret of the two (the job's, or one of their own) over the role,
 * both processes and both nonces; that of HELLO, over all of it, and whom it is for. A HELLO without a
 * right one is dropped, before anything is kept, inserted or answered; so is one whose number the same caller
 * has used before. A caller that waits long says HELLO again, with another number: all else stays, so answers
 * to either are good. Packets of a link are numbered. A sender has OFI_WINDOW packets at most that
 * are not reported as taken; credit in any frame gives some back.
 */
#ifndef OFI_WIRE_H
#define OFI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/channel.h"

enum ofi_kind {
    OFI_HELLO = 1,
    OFI_CHALLENGE,
    OFI_PROOF,
    OFI_WELCOME,
    OFI_REFUSED,
    OFI_DATA,
    OFI_CREDIT,
    OFI_LAST,
    OFI_BYE,
    OFI_KINDS
};

enum {
    OFI_BUFFER = 16 << 10, /* bytes of the largest message */
    OFI_WINDOW = 512,
    OFI_ADDRESS_MAX = 256,
    OFI_NONCE = 16
};

struct ofi_frame {
    uint64_t to; /* the reader's name of the link; 0: HELLO */
    uint16_t kind;
    uint16_t credit; /* DATA packets that were taken */
    uint32_t len;
    uint32_t number; /* DATA: counts from 0; LAST: of a next packet */
    uint32_t value;  /* REFUSED: enum chan_answer */
    struct chan_head head; /* DATA */
};

struct ofi_hello {
    struct chan_gid gid;
    uint32_t rank;
    uint32_t address_len;
    uint64_t from;   /* the writer's name of the link */
    uint64_t number; /* of the writer's HELLOs: each has a higher one */
    uint8_t nonce[OFI_NONCE];
    uint64_t proof;
    uint8_t address[OFI_ADDRESS_MAX]; /* address_len of them are sent */
};

struct ofi_challenge {
    uint64_t from;
    uint8_t nonce[OFI_NONCE];
    uint64_t proof;
};

struct ofi_proof {
    uint64_t proof;
};

struct ofi_welcome {
    uint64_t from;
};

_Static_assert(sizeof(struct ofi_frame) == 40, "on the wire");
_Static_assert(offsetof(struct ofi_hello, address) == 64, "on the wire");
_Static_assert(sizeof(struct ofi_challenge) == 32, "on the wire");

enum { OFI_DATA_MAX = OFI_BUFFER - sizeof(struct ofi_frame) };

/* The key of memory that may be reached: the provider's, and what to take off an address. */
struct ofi_key {
    uint64_t key, base;
};

/* What both ends know once a challenge was sent. */
struct ofi_talk {
    struct chan_gid caller, callee;
    uint32_t caller_rank, callee_rank;
    uint8_t caller_nonce[OFI_NONCE], callee_nonce[OFI_NONCE];
};

/* The proof of the caller, or of the callee. */
uint64_t ofi_wire_proof(const uint8_t secret[16], const struct ofi_talk *talk, bool of_caller);

/* The proof of a HELLO to this process: proof itself is left out, and the unsent rest of
 * address. */
uint64_t ofi_wire_hello_proof(const uint8_t secret[16], const struct ofi_hello *hello, const struct chan_gid *to,
                              uint32_t to_rank);

/* The frame of a message of len bytes, which lies in an aligned buffer of this process alone, or
 * NULL if it is none, or its body has a wrong length for its kind. *body: the body. */
const struct ofi_frame *ofi_wire_read(const void *message, size_t len, const void **body);

#endif
