/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreement that goes on while members die; see consensus.h.
 *
 * The ranks are a binary tree with 0 at its root. Where a member is dead, its children belong to
 * the nearest ancestor that lives; those without one belong to the leader, the lowest rank that
 * lives. A member that has heard all its children says so to its parent. When the leader has heard
 * everybody, it settles on the result, and all send it down to those that they have heard.
 *
 * A leader may die with its result known to some. Its successor asks again: each member that
 * hears of the death speaks up again, for the ballot of the successor, and from then on takes no
 * result of a lower ballot. The successor hears all survivors, so a result that one of them has
 * is known to it, and it settles on the one of the highest ballot.
 */
#include "mpi/comm/consensus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct consensus_heard {
    uint32_t rank;
    uint32_t ballot; /* the highest it has spoken up for */
};

int consensus_init(struct consensus *c, const struct consensus_owner *owner, uint32_t rank,
                   uint32_t size, size_t count)
{
    *c = (struct consensus){
        .owner = *owner, .rank = rank, .size = size, .count = count, .sent_to = size};
    c->given = malloc(2 * count * sizeof(*c->given));
    if (!c->given)
        return -ENOMEM;
    c->value = c->given + count;
    memset(c->given, 0xff, count * sizeof(*c->given));
    return 0;
}

void consensus_fini(struct consensus *c)
{
    free(c->given);
    free(c->heard);
    *c = (struct consensus){0};
}

const uint64_t *consensus_result(const struct consensus *c)
{
    return c->accepted ? c->value : NULL;
}

static bool is_failed(const struct consensus *c, uint32_t rank)
{
    return rank != c->rank && c->owner.is_failed(c->owner.arg, rank);
}

/* ---- members that have spoken ---- */

static struct consensus_heard *find(const struct consensus *c, uint32_t rank)
{
    for (size_t i = 0; i < c->heard_count; i++)
        if (c->heard[i].rank == rank)
            return &c->heard[i];
    return NULL;
}

/* There is room for a power of two. */
static int note(struct consensus *c, uint32_t rank, uint32_t ballot)
{
    struct consensus_heard *heard = find(c, rank);
    if (heard) {
        if (ballot > heard->ballot)
            heard->ballot = ballot;
        return 0;
    }
    if (!(c->heard_count & (c->heard_count - 1))) {
        size_t room = c->heard_count ? 2 * c->heard_count : 1;
        struct consensus_heard *more = realloc(c->heard, room * sizeof(*more));
        if (!more)
            return -ENOMEM;
        c->heard = more;
    }
    c->heard[c->heard_count++] = (struct consensus_heard){rank, ballot};
    return 0;
}

static uint32_t lacks_below(const struct consensus *c, uint32_t rank);

/* The first one of this rank and all below it that has not spoken up for the leader's ballot, and is not dead; size:
 * there is none. */
static uint32_t lacks(const struct consensus *c, uint32_t rank)
{
    if (rank >= c->size)
        return c->size;
    const struct consensus_heard *heard = find(c, rank);
    if (heard && heard->ballot == c->leader)
        return c->size;
    return rank == c->rank || is_failed(c, rank) ? lacks_below(c, rank) : rank;
}

static uint32_t lacks_below(const struct consensus *c, uint32_t rank)
{
    if (rank >= c->size / 2)
        return c->size;
    uint32_t first = lacks(c, 2 * rank + 1);
    return first < c->size ? first : lacks(c, 2 * rank + 2);
}

static uint32_t parent(const struct consensus *c)
{
    for (uint32_t rank = c->rank; rank;) {
        rank = (rank - 1) / 2;
        if (!is_failed(c, rank))
            return rank;
    }
    return c->leader;
}

uint32_t consensus_awaited(const struct consensus *c)
{
    if (c->accepted)
        return c->rank;
    bool leads = c->leader == c->rank;
    uint32_t lacking = leads ? lacks(c, 0) : lacks_below(c, c->rank);
    return lacking < c->size ? lacking : leads ? c->rank : parent(c);
}

/* ---- messages up and down ---- */

static void send_result(const struct consensus *c, uint32_t to)
{
    struct consensus_message message = {
        .is_result = true, .ballot = c->accepted - 1, .words = c->value};
    c->owner.send(c->owner.arg, to, &message);
}

/* The result is c->value: keep it, and pass it on. */
static void accept(struct consensus *c, uint32_t ballot)
{
    c->best = c->accepted = ballot + 1;
    for (size_t i = 0; i < c->heard_count; i++)
        if (!is_failed(c, c->heard[i].rank))
            send_result(c, c->heard[i].rank);
}

static void speak_up(struct consensus *c, uint32_t to)
{
    if (c->sent_to == to && c->promised == c->leader)
        return;
    c->sent_to = to;
    c->promised = c->leader;
    struct consensus_message message = {.ballot = c->leader,
                                        .accepted = c->best,
                                        .words = c->best ? c->value : c->given};
    c->owner.send(c->owner.arg, to, &message);
}

/* The leader has heard everybody. */
static void settle(struct consensus *c)
{
    c->promised = c->leader;
    if (c->accepted > c->leader)
        return;
    if (!c->best)
        memcpy(c->value, c->given, c->count * sizeof(*c->value));
    accept(c, c->leader);
}

static void advance(struct consensus *c)
{
    while (is_failed(c, c->leader))
        c->leader++;
    if (!c->has_joined)
        return;
    if (c->leader == c->rank) {
        if (lacks(c, 0) == c->size)
            settle(c);
    } else if (lacks_below(c, c->rank) == c->size) {
        speak_up(c, parent(c));
    }
}

/* ---- calls of the owner ---- */

static void combine(uint64_t *given, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        given[i] &= words[i];
}

void consensus_join(struct consensus *c, const uint64_t *words)
{
    combine(c->given, words, c->count);
    c->has_joined = true;
    advance(c);
}

void consensus_failed(struct consensus *c)
{
    advance(c);
}

static int take_up(struct consensus *c, uint32_t from, const struct consensus_message *m)
{
    int error = note(c, from, m->ballot);
    if (error)
        return error;
    if (!m->accepted) {
        combine(c->given, m->words, c->count);
    } else if (m->accepted > c->best) {
        c->best = m->accepted;
        memcpy(c->value, m->words, c->count * sizeof(*c->value));
    }
    if (c->accepted > m->ballot)
        send_result(c, from);
    advance(c);
    return 0;
}

static int take_result(struct consensus *c, const struct consensus_message *m)
{
    if (!c->has_joined)
        return -EBADMSG;
    if (m->ballot < c->promised || m->ballot < c->accepted)
        return 0;
    memcpy(c->value, m->words, c->count * sizeof(*c->value));
    accept(c, m->ballot);
    return 0;
}

int consensus_take(struct consensus *c, uint32_t from, const struct consensus_message *message)
{
    if (from >= c->size || from == c->rank || message->ballot >= c->size ||
        message->accepted > c->size)
        return -EBADMSG;
    return message->is_result ? take_result(c, message) : take_up(c, from, message);
}
