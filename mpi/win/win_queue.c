/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lock of one window at one process; see win_queue.h.
 *
 * A waiter stores its member under its ticket, counts itself a sleeper, and looks once more. Who
 * changes a word that others wait for looks for sleepers afterwards. All of that is sequentially
 * consistent, so that one of the two sees the other.
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

static uint32_t word_of(struct win_queue *queue, uint32_t ticket)
{
    return atomic_load(&queue->words[ticket & (queue->slots - 1)]);
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

/* The member that has the ticket which is served, where somebody sleeps. */
static int sleeper(struct win_queue *queue)
{
    pass_over(queue);
    if (!atomic_load(&queue->sleepers))
        return WIN_QUEUE_NOBODY;
    uint32_t serving = atomic_load(&queue->serving);
    uint32_t word = word_of(queue, serving), member = (word & 0xffff) - 1;
    return word == win_queue_word(serving, member) && member < queue->members ? (int)member
                                                                              : WIN_QUEUE_NOBODY;
}

uint32_t win_queue_join(struct win_queue *queue, uint32_t me)
{
    uint32_t ticket = atomic_load(&queue->next);
    while (!win_queue_take(queue, ticket, me))
        ticket = atomic_load(&queue->next);
    return ticket;
}

bool win_queue_is_turn(const struct win_queue *queue, uint32_t ticket, bool exclusive)
{
    struct win_queue *q = (struct win_queue *)(uintptr_t)queue;
    return atomic_load(&q->serving) == ticket && !(exclusive && atomic_load(&q->readers));
}

int win_queue_enter(struct win_queue *queue, uint32_t me, bool exclusive)
{
    if (exclusive) {
        atomic_store(&queue->writer, me + 1);
        return WIN_QUEUE_NOBODY;
    }
    atomic_fetch_add(win_queue_holds(queue, me), 1);
    atomic_fetch_add(&queue->readers, 1);
    atomic_fetch_add(&queue->serving, 1);
    return sleeper(queue);
}

int win_queue_leave(struct win_queue *queue, uint32_t me, bool exclusive)
{
    if (exclusive) {
        atomic_store(&queue->writer, 0);
        atomic_fetch_add(&queue->serving, 1);
        return sleeper(queue);
    }
    atomic_fetch_sub(win_queue_holds(queue, me), 1);
    return atomic_fetch_sub(&queue->readers, 1) == 1 ? sleeper(queue) : WIN_QUEUE_NOBODY;
}

void win_queue_sleeps(struct win_queue *queue, bool begins)
{
    if (begins)
        atomic_fetch_add(&queue->sleepers, 1);
    else
        atomic_fetch_sub(&queue->sleepers, 1);
}

int win_queue_bury(struct win_queue *queue, uint32_t dead)
{
    uint32_t held = atomic_exchange(win_queue_holds(queue, dead), 0);
    if (held)
        atomic_fetch_sub(&queue->readers, held);
    uint32_t serving = atomic_load(&queue->serving), next = atomic_load(&queue->next);
    uint32_t mark = dead + 1;
    if (win_queue_is_taken(word_of(queue, next), next) && /* it may have died then */
        atomic_compare_exchange_strong(&queue->next, &next, next + 1))
        next++;
    (void)atomic_compare_exchange_strong(&queue->writer, &mark, 0);
    /* The ticket of a dead writer is still served: it is passed over like those that waited. */
    for (uint32_t ticket = serving; ticket != next && ticket - serving < queue->slots; ticket++) {
        uint32_t word = win_queue_word(ticket, dead);
        (void)atomic_compare_exchange_strong(&queue->words[ticket & (queue->slots - 1)], &word,
                                             win_queue_word(ticket, WIN_QUEUE_DEAD));
    }
    return sleeper(queue);
}
