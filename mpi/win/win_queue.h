/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lock of one window at one process: readers and one writer. Those that have to wait are served
 * in the order in which they came. It consists of words in memory that the processes of a host
 * share, and knows nothing of waiting: a waiting member looks whether its turn has come, and a
 * leaving one learns which member to wake.
 *
 * Where nobody waits, a member takes the lock at once. Otherwise it takes a ticket, and its turn is
 * when the tickets before it were served. Then it takes the lock as soon as that is free; only with
 * it in hand it lets the next ticket be served. A member that has had the lock may take it again
 * past those that wait: its caller bounds how often. A reader passes them that has other locks,
 * since those that wait may wait for it. Members are numbers from 0 on.
 *
 * A ticket is taken by one store: of its end and the member, in the slot of the ticket. Only then
 * is the number of the next ticket raised, by the member or by the next one that comes, so that no
 * ticket is ever without the name of its member, even if that dies at once. The lock itself is one
 * word that names the writer, and one for each reader, so that it is never without names either.
 */
#ifndef MPI_WIN_QUEUE_H
#define MPI_WIN_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All changes are in one order (memory_order_seq_cst): a member that lets the next one go looks for
 * sleepers after that, and one that sleeps is counted before it looks again. */
struct win_queue {
    _Atomic uint32_t next;     /* ticket to be taken */
    _Atomic uint32_t serving;  /* ticket whose turn it is */
    _Atomic uint32_t writer;   /* member + 1; 0: none */
    _Atomic uint32_t sleepers; /* processes that sleep until their turn */
    _Atomic uint32_t passers;  /* that wait to pass others */
    _Atomic uint32_t busy;    /* process id that changes elements which no instruction can change */
    _Atomic uint32_t behalf;  /* for reports: whom the writer has it for, rank + 1; 0: itself */
    uint32_t members, slots;  /* slots: a power of two above members */
    _Atomic uint32_t words[]; /* [members] how many times it reads; [slots] who has the ticket */
};

enum {
    WIN_QUEUE_ALL = -2,
    WIN_QUEUE_NOBODY = -1,
    WIN_QUEUE_MEMBERS = 16384, /* so many there may be: a ticket's end says which round it is of */
    WIN_QUEUE_DEAD = 65534     /* has the tickets of members that died: a number above all others */
};

/* A ticket's end, and the member that has it: a slot that was not written yet has another ticket.
 */
static inline uint32_t win_queue_word(uint32_t ticket, uint32_t member)
{
    return ticket << 16 | (member + 1);
}

/* Bytes of a queue for so many members, a multiple of two cache lines. */
size_t win_queue_len(uint32_t members);
/* The memory is zero. */
void win_queue_init(struct win_queue *queue, uint32_t members);

/* In what follows, *wake is the member to wake, or WIN_QUEUE_NOBODY or _ALL. */

/* Take the lock if that is free and nobody waits. Returns whether it was taken. */
static inline bool win_queue_try(struct win_queue *queue, uint32_t me, bool exclusive, int *wake);
/* Take it if it is free, past those that wait. */
bool win_queue_take(struct win_queue *queue, uint32_t me, bool exclusive, int *wake);

/* Take a ticket; and whether its turn has come and the lock is free. */
uint32_t win_queue_join(struct win_queue *queue, uint32_t me);
bool win_queue_is_turn(const struct win_queue *queue, uint32_t ticket, bool exclusive);
/* The turn of our ticket has come: take the lock, and give the ticket away. Returns false where
 * another one has taken it meanwhile. */
bool win_queue_enter(struct win_queue *queue, uint32_t me, bool exclusive, int *wake);
/* Give the lock back. Returns whom to wake. */
int win_queue_leave(struct win_queue *queue, uint32_t me, bool exclusive);
/* Give a ticket up whose turn is not awaited any more. Returns likewise. */
int win_queue_give_up(struct win_queue *queue, uint32_t me, uint32_t ticket);
/* Around a sleep; is_turn() is asked again between the two. */
void win_queue_sleeps(struct win_queue *queue, bool begins);
/* Around the wait of a reader that passes others, and whether win_queue_take() may be tried. */
void win_queue_passes(struct win_queue *queue, bool begins);
static inline bool win_queue_may_pass(struct win_queue *queue)
{
    return !atomic_load(&queue->writer);
}

/* A member has died: give back the locks that it held, and have its tickets passed over, each when
 * its turn comes. Several may call it for the same member. Returns whether this call gave one back.
 */
bool win_queue_bury(struct win_queue *queue, uint32_t dead, int *wake);

static inline _Atomic uint32_t *win_queue_holds(struct win_queue *queue, uint32_t member)
{
    return &queue->words[member];
}

static inline bool win_queue_try(struct win_queue *queue, uint32_t me, bool exclusive, int *wake)
{
    uint32_t now = atomic_load_explicit(&queue->serving, memory_order_relaxed);
    *wake = WIN_QUEUE_NOBODY;
    return atomic_load_explicit(&queue->next, memory_order_relaxed) == now &&
           win_queue_take(queue, me, exclusive, wake);
}

#endif
