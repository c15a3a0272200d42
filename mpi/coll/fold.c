/* SPDX-License-Identifier: BSD-3-Clause */

/* Folds; see fold.h. place[0] is the result. Places are made when they are needed. */
#include "mpi/coll/fold.h"

#include <stddef.h>
#include <stdint.h>

#include "mpi/coll/sched.h"

void fold_init(struct fold *f, struct sched *s, const void *input, void *result, MPI_Count count,
               MPI_Datatype type)
{
    f->s = s;
    f->count = count;
    f->type = type;
    f->place[0] = result;
    f->place[1] = NULL;
    f->has[0] = result != MPI_IN_PLACE;
    f->has[1] = false;
    f->value = input == MPI_IN_PLACE ? result : input;
    f->at = f->has[0] && f->value == result ? 0 : FOLD_INPUT;
}

static void *place(struct fold *f, int i)
{
    if (!f->has[i]) {
        f->place[i] = sched_temp_of(f->s, f->count, f->type);
        f->has[i] = true;
    }
    return f->place[i];
}

static void move_to(struct fold *f, int i)
{
    f->at = i;
    f->value = place(f, i);
}

/* Which place is free for another value. An input that must come second is copied into the
 * result: see fold_take(). */
static int room(const struct fold *f, bool below)
{
    if (f->at == FOLD_INPUT)
        return below ? 1 : 0;
    return 1 - f->at;
}

void *fold_room(struct fold *f, bool below)
{
    return place(f, room(f, below));
}

void fold_take(struct fold *f, bool below)
{
    int other = room(f, below);
    if (!below) {
        sched_reduce(f->s, f->value, place(f, other), f->count, f->type);
        move_to(f, other);
        return;
    }
    if (f->at == FOLD_INPUT) {
        sched_copy(f->s, f->value, place(f, 0), f->count, f->type);
        move_to(f, 0);
    }
    sched_reduce(f->s, place(f, other), place(f, f->at), f->count, f->type);
}

void *fold_replace(struct fold *f)
{
    move_to(f, 0);
    return f->place[0];
}

void fold_end(struct fold *f)
{
    if (f->at != 0)
        sched_copy(f->s, f->value, place(f, 0), f->count, f->type);
    move_to(f, 0);
}

/* ---- all processes ---- */

static void send_value(const struct fold *f, int peer)
{
    sched_send(f->s, peer, f->value, f->count, f->type);
}

static void recv_value(struct fold *f, int peer, bool below)
{
    sched_recv(f->s, peer, fold_room(f, below), f->count, f->type);
}

/* Let another speak for me. */
static void stay_out(struct fold *f, int speaker)
{
    send_value(f, speaker);
    sched_wait(f->s);
    sched_recv(f->s, speaker, fold_replace(f), f->count, f->type);
    sched_wait(f->s);
}

/*
 * Recursive doubling among 2^k processes. Of the first 2 * extra, the odd ones speak for the ones
 * below them. In each round the ranges of ranks that two have folded are next to each other.
 */
void fold_all(struct fold *f, int rank, int size)
{
    int power = 1;
    while (power <= size / 2)
        power *= 2;
    int extra = size - power;
    bool speaks = rank < 2 * extra;
    if (speaks && rank % 2 == 0) {
        stay_out(f, rank + 1);
        return;
    }
    if (speaks) {
        recv_value(f, rank - 1, true);
        sched_wait(f->s);
        fold_take(f, true);
    }
    int index = speaks ? rank / 2 : rank - extra;
    for (int bit = 1; bit < power; bit *= 2) {
        int other = index ^ bit, peer = other < extra ? 2 * other + 1 : other + extra;
        send_value(f, peer);
        recv_value(f, peer, peer < rank);
        sched_wait(f->s);
        fold_take(f, peer < rank);
    }
    if (speaks)
        send_value(f, rank - 1);
}
