/* SPDX-License-Identifier: BSD-3-Clause */

/* The words of the pair channel; see talk.h. */
#include "channels/pair/talk.h"

#include <string.h>

#include "include/channel_help.h"
#include "os/keyed_hash.h"

static const uint32_t magic = 0x52494156; /* "VAIR" */

void pair_talk_begin(struct pair_talk *talk, const struct chan_env *env, const struct chan_peer *peer)
{
    talk->hello.magic = magic;
    talk->hello.layout = PAIR_LAYOUT;
    talk->hello.gid = env->gid;
    talk->hello.rank = env->rank;
    talk->hello.to_gid = peer->gid;
    talk->hello.to_rank = peer->rank;
}

bool pair_talk_hear(struct pair_talk *talk, const struct chan_env *env, const void *bytes, size_t len)
{
    if (len != sizeof(talk->hello))
        return false;
    memcpy(&talk->hello, bytes, len);
    return talk->hello.magic == magic && talk->hello.layout == PAIR_LAYOUT && talk->hello.to_rank == env->rank &&
           !memcmp(&talk->hello.to_gid, &env->gid, sizeof(env->gid));
}

/* 16 bytes that only those make who have the secret, different for each role and talk. */
static void make_proof(const struct pair_talk *talk, const uint8_t secret[16], char role, uint64_t proof[2])
{
    uint8_t text[1 + sizeof(talk->hello) + PAIR_NONCE];
    memcpy(text + 1, &talk->hello, sizeof(talk->hello));
    memcpy(text + 1 + sizeof(talk->hello), talk->nonce, PAIR_NONCE);
    for (int half = 0; half < 2; half++) {
        text[0] = (uint8_t)(role + half);
        proof[half] = os_keyed_hash(secret, text, sizeof(text));
    }
}

static bool is_proof(const struct pair_talk *talk, const uint8_t secret[16], char role, const uint64_t proof[2])
{
    uint64_t right[2];
    make_proof(talk, secret, role, right);
    return chan_equal_secret(right, proof, sizeof(right));
}

void pair_talk_challenge(const struct pair_talk *talk, const uint8_t secret[16], struct pair_challenge *word)
{
    memcpy(word->nonce, talk->nonce, PAIR_NONCE);
    make_proof(talk, secret, 'O', word->proof);
}

bool pair_talk_is_owner(struct pair_talk *talk, const uint8_t secret[16], const void *bytes, size_t len)
{
    struct pair_challenge word;
    if (len != sizeof(word))
        return false;
    memcpy(&word, bytes, len);
    memcpy(talk->nonce, word.nonce, PAIR_NONCE);
    return is_proof(talk, secret, 'O', word.proof);
}

void pair_talk_prove(const struct pair_talk *talk, const uint8_t secret[16], struct pair_proof *word)
{
    make_proof(talk, secret, 'C', word->proof);
}

bool pair_talk_is_caller(const struct pair_talk *talk, const uint8_t secret[16], const void *bytes, size_t len)
{
    struct pair_proof word;
    if (len != sizeof(word))
        return false;
    memcpy(&word, bytes, len);
    return is_proof(talk, secret, 'C', word.proof);
}

void pair_talk_answer(enum chan_answer answer, struct pair_answer *word)
{
    *word = (struct pair_answer){magic, (uint32_t)answer};
}

enum chan_answer pair_talk_answer_of(const void *bytes, size_t len)
{
    struct pair_answer word;
    if (len != sizeof(word))
        return CHAN_ANSWERS;
    memcpy(&word, bytes, len);
    return word.magic == magic && word.answer < CHAN_ANSWERS ? (enum chan_answer)word.answer : CHAN_ANSWERS;
}
