/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The words by which two processes of the pair channel meet; see pair.h. A word is one message of a socket, as it
 * is in memory, since both ends are on one host. Without I/O. Whatever comes is hostile until it is checked.
 */
#ifndef PAIR_TALK_H
#define PAIR_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/channel.h"

enum { PAIR_NONCE = 16, PAIR_LAYOUT = 1 /* counts up when words or rings change */ };

struct pair_hello {
    uint32_t magic, layout;
    struct chan_gid gid, to_gid;
    uint32_t rank, to_rank;
    uint8_t nonce[PAIR_NONCE];
};

struct pair_challenge {
    uint8_t nonce[PAIR_NONCE];
    uint64_t proof[2];
};

struct pair_proof {
    uint64_t proof[2];
};

struct pair_answer {
    uint32_t magic;
    uint32_t answer; /* enum chan_answer */
};

/* What both have said. */
struct pair_talk {
    struct pair_hello hello;
    uint8_t nonce[PAIR_NONCE]; /* the owner's */
};

/* The caller's first word; the nonce is random already. */
void pair_talk_begin(struct pair_talk *talk, const struct chan_env *env, const struct chan_peer *peer);
/* Take a caller's first word, of len bytes. Returns whether it is one, for this process. */
bool pair_talk_hear(struct pair_talk *talk, const struct chan_env *env, const void *bytes, size_t len);
/* The owner's word, with a new nonce in talk. */
void pair_talk_challenge(const struct pair_talk *talk, const uint8_t secret[16], struct pair_challenge *word);
/* Take it. Returns whether it proves that the owner is the right one. */
bool pair_talk_is_owner(struct pair_talk *talk, const uint8_t secret[16], const void *bytes, size_t len);
void pair_talk_prove(const struct pair_talk *talk, const uint8_t secret[16], struct pair_proof *word);
bool pair_talk_is_caller(const struct pair_talk *talk, const uint8_t secret[16], const void *bytes, size_t len);
void pair_talk_answer(enum chan_answer answer, struct pair_answer *word);
/* The answer; CHAN_ANSWERS: it is none. */
enum chan_answer pair_talk_answer_of(const void *bytes, size_t len);

#endif
