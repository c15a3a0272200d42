/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreement that goes on while members die: one engine for each member, without I/O. Its owner
 * carries the messages, and tells it of deaths.
 *
 * Each member gives some words, and all survivors get the same words: the bitwise AND of those
 * given. The words of a member that dies may count or not. Without a death a member sends at most
 * three messages, and the result is there after one way up a tree and one way down. A member has
 * the result before others have it, so its engine takes messages until consensus_fini().
 *
 * What the owner must keep:
 * - Whoever is taken for dead is dead: it never speaks as a living member again.
 * - Every survivor learns of each death, sooner or later, and calls consensus_failed().
 * - A message between two members that live arrives.
 * - An engine stays until all survivors have a result, and so does its member. The result of a later
 *   agreement among the same members shows that: all of them have taken part in it.
 *
 * Survivors agree. A member that dies may have got another result than they do, and if it has told
 * them of it before, they know of two.
 */
#ifndef MPI_CONSENSUS_H
#define MPI_CONSENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A proposal is known by its ballot: the rank of its leader, the lowest rank that lives. */
struct consensus_message {
    bool is_result;    /* down the tree; else up */
    uint32_t ballot;   /* of the proposal */
    uint32_t accepted; /* up: 1 + the ballot of a result that a member has; 0: there is none */
    const uint64_t *words; /* up: that result, or the AND of what is given; down: the result */
};

/* What the owner does for an engine. */
struct consensus_owner {
    bool (*is_failed)(void *arg, uint32_t rank); /* once true, true for good */
    void (*send)(void *arg, uint32_t to, const struct consensus_message *message);
    void *arg;
};

struct consensus_heard; /* a member that has sent something up to this one */

struct consensus {
    struct consensus_owner owner;
    uint32_t rank, size;
    size_t count;      /* of words */
    uint32_t leader;   /* the lowest rank that lives, as far as is known */
    uint32_t promised; /* no result of a lower ballot is taken any more */
    uint32_t sent_to;  /* size: nothing is sent yet */
    uint32_t accepted; /* 1 + the ballot of this member's result; 0: there is none */
    uint32_t best;     /* 1 + the highest ballot of a result that this member has heard of */
    bool has_joined;
    uint64_t *given; /* the AND of this member's words and those heard */
    uint64_t *value; /* the result of ballot best - 1 */
    struct consensus_heard *heard;
    size_t heard_count;
};

/* Make the engine of one of size members, for count words, 1 at least. Returns 0 or -ENOMEM. */
int consensus_init(struct consensus *c, const struct consensus_owner *owner, uint32_t rank,
                   uint32_t size, size_t count);
void consensus_fini(struct consensus *c);

/* Give this member's words, once. Messages may have come before. */
void consensus_join(struct consensus *c, const uint64_t *words);

/* A message has come. Returns 0, -ENOMEM, or -EBADMSG for one that no member sends; an engine that
 * has answered -ENOMEM is of no use any more. */
int consensus_take(struct consensus *c, uint32_t from, const struct consensus_message *message);

/* A member has failed: is_failed() knows more than before. */
void consensus_failed(struct consensus *c);

/* A member whose word is needed next, which may itself wait for others; this one: none. */
uint32_t consensus_awaited(const struct consensus *c);

/* The result, of count words; NULL while there is none. It never changes. */
const uint64_t *consensus_result(const struct consensus *c);

#endif
