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
