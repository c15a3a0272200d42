/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lock of one window at one process; see win_queue.h.
 *
 * A writer names itself in the writer's word, and then looks for readers; a reader counts itself,
 * and then looks for a writer. If it finds the other, it goes back. A waiter stores its member
 * under its ticket, counts itself a sleeper, and looks once more. After each change of a word that
 * others wait for comes a look for sleepers. All of that is sequentially consistent, so that of any
 * two at least one sees the other.
 */
#include "mpi/win/win_queue.h"

enum {
    TWO_LINES = 128
};

static uint32_t slots_of(uint32_t members)
{
    uint32_t slots = 2;
    while (slots < 2 * members)
        slots *= 2;
    return slots;
}

size_t win_queue_len(uint32_t members)
{
    size_t len = sizeof(struct win_queue) + (slots_of(members) + members) * sizeof(uint32_t);
    return (len + TWO_LINES - 1) / TWO_LINES * TWO_LINES;
}

void win_queue_init(struct win_queue *queue, uint32_t members)
{
    queue->members = members;
    queue->slots = slots_of(members);
}

static _Atomic uint32_t *slot_of(struct win_queue *queue, uint32_t ticket)
{
    return &queue->words[queue->members + (ticket & (queue->slots - 1))];
}

static uint32_t word_of(struct win_queue *queue, uint32_t ticket)
{
    return atomic_load(slot_of(queue, ticket));
}

static bool has_readers(struct win_queue *queue)
{
    for (uint32_t i = 0; i < queue->members; i++)
        if (atomic_load(&queue->words[i]))
            return true;
    return false;
}

/* Pass over tickets of the dead. Whoever lets the next ticket be served looks for marks afterwards,
 * and whoever sets a mark looks which ticket is served: one of the two sees the other. */
static void pass_over(struct win_queue *queue)
{
    uint32_t serving = atomic_load(&queue->serving);
    while (word_of(queue, serving) == win_queue_word(serving, WIN_QUEUE_DEAD))
        if (atomic_compare_exchange_strong(&queue->serving, &serving, serving + 1))
            serving++;
}

/* Where somebody sleeps: the member that has the ticket which is served; or all, for those that pass
 * it have no ticket. */
static int sleeper(struct win_queue *queue)
{
    pass_over(queue);
    if (!atomic_load(&queue->sleepers))
        return WIN_QUEUE_NOBODY;
    if (atomic_load(&queue->passers))
        return WIN_QUEUE_ALL;
    uint32_t serving = atomic_load(&queue->serving);
    uint32_t word = word_of(queue, serving), member = (word & 0xffff) - 1;
    return word == win_queue_word(serving, member) && member < queue->members ? (int)member
                                                                              : WIN_QUEUE_NOBODY;
}

/* Whether a slot's word names the member that has a ticket. */
static bool is_taken(uint32_t word, uint32_t ticket)
{
    return !((word ^ ticket << 16) >> 16) && (word & 0xffff);
}

/* Have a ticket, which was the next one. Returns whether it is ours. */
static bool have(struct win_queue *queue, uint32_t ticket, uint32_t me)
{
    uint32_t word = word_of(queue, ticket), now = ticket;
    bool mine = !is_taken(word, ticket);
    if (atomic_load(&queue->next) != ticket)
        return false; /* the word may be of a later round */
    mine = mine && atomic_compare_exchange_strong(slot_of(queue, ticket), &word,
                                                  win_queue_word(ticket, me));
    (void)atomic_compare_exchange_strong(&queue->next, &now, ticket + 1);
    return mine;
}

uint32_t win_queue_join(struct win_queue *queue, uint32_t me)
{
    uint32_t ticket = atomic_load(&queue->next);
    while (!have(queue, ticket, me))
        ticket = atomic_load(&queue->next);
    return ticket;
}

static bool is_free(struct win_queue *queue, bool exclusive)
{
    return !atomic_load(&queue->writer) && !(exclusive && has_readers(queue));
}

bool win_queue_is_turn(const struct win_queue *queue, uint32_t ticket, bool exclusive)
{
    struct win_queue *q = (struct win_queue *)(uintptr_t)queue;
    return atomic_load(&q->serving) == ticket && is_free(q, exclusive);
}

bool win_queue_take(struct win_queue *queue, uint32_t me, bool exclusive, int *wake)
{
    uint32_t none = 0;
    *wake = WIN_QUEUE_NOBODY;
    if (exclusive && !atomic_compare_exchange_strong(&queue->writer, &none, me + 1))
        return false;
    if (!exclusive)
        atomic_fetch_add(win_queue_holds(queue, me), 1);
    if (exclusive ? !has_readers(queue) : !atomic_load(&queue->writer))
        return true;
    *wake = win_queue_leave(queue, me, exclusive);
    return false;
}

bool win_queue_enter(struct win_queue *queue, uint32_t me, bool exclusive, int *wake)
{
    if (!win_queue_take(queue, me, exclusive, wake))
        return false;
    atomic_fetch_add(&queue->serving, 1);
    *wake = exclusive ? WIN_QUEUE_NOBODY : sleeper(queue);
    return true;
}

int win_queue_leave(struct win_queue *queue, uint32_t me, bool exclusive)
{
    if (exclusive) {
        atomic_store(&queue->writer, 0);
        return sleeper(queue);
    }
    atomic_fetch_sub(win_queue_holds(queue, me), 1);
    return has_readers(queue) ? WIN_QUEUE_NOBODY : sleeper(queue);
}

/* Have a ticket passed over that is the member's, if it has not been served. */
static void mark_dead(struct win_queue *queue, uint32_t ticket, uint32_t member)
{
    uint32_t word = win_queue_word(ticket, member);
    (void)atomic_compare_exchange_strong(slot_of(queue, ticket), &word,
                                         win_queue_word(ticket, WIN_QUEUE_DEAD));
}

int win_queue_give_up(struct win_queue *queue, uint32_t me, uint32_t ticket)
{
    mark_dead(queue, ticket, me);
    return sleeper(queue);
}

void win_queue_sleeps(struct win_queue *queue, bool begins)
{
    if (begins)
        atomic_fetch_add(&queue->sleepers, 1);
    else
        atomic_fetch_sub(&queue->sleepers, 1);
}

void win_queue_passes(struct win_queue *queue, bool begins)
{
    if (begins)
        atomic_fetch_add(&queue->passers, 1);
    else
        atomic_fetch_sub(&queue->passers, 1);
}

bool win_queue_bury(struct win_queue *queue, uint32_t dead, int *wake)
{
    uint32_t serving = atomic_load(&queue->serving), next = atomic_load(&queue->next);
    uint32_t mark = dead + 1;
    bool held = atomic_exchange(win_queue_holds(queue, dead), 0);
    if (is_taken(word_of(queue, next), next) && /* it may have died then */
        atomic_compare_exchange_strong(&queue->next, &next, next + 1))
        next++;
    held |= atomic_compare_exchange_strong(&queue->writer, &mark, 0);
    /* The ticket of one that died with the lock may still be served, as those that waited. */
    for (uint32_t ticket = serving; ticket != next && ticket - serving < queue->slots; ticket++)
        mark_dead(queue, ticket, dead);
    *wake = sleeper(queue);
    return held;
}
