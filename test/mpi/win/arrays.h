/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random operations on arrays of long numbers that are distributed over a window, and a model of all memory that
 * every process keeps. Places are sums, maxima, sums of doubles, numbers that one operation of a round puts,
 * numbers that nobody changes, and a ticket.
 */
#ifndef TEST_MPI_ARRAYS_H
#define TEST_MPI_ARRAYS_H

#include <stdbool.h>

#include "windows.h"

enum {
    SUMS = 200,
    MAXIMA = 100,
    DOUBLES = 100,
    PUTS = 1200,
    LONGS = 15000, /* of a member's first operation, which may be long */
    STILL = 6000,
    /* where they begin */
    AT_MAXIMA = SUMS,
    AT_DOUBLES = AT_MAXIMA + MAXIMA,
    AT_PUTS = AT_DOUBLES + DOUBLES,
    AT_LONGS = AT_PUTS + PUTS,
    AT_STILL = AT_LONGS + LONGS,
    TICKET = AT_STILL + STILL,
    PLACES,
    OPS = 10, /* of a member in a round */
    COUNT_MAX = 2500
};

/* A generator that is the same everywhere. */
static inline unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* A number that nobody changes. */
static inline long still(int target, int place)
{
    return -1000000L * target - place;
}

/* What one operation does: count places, step apart, from first on, at a target. */
struct op {
    int target, first, count, step, kind;
    long value;
};

enum {
    SUM,
    MAX,
    DOUBLE,
    PUT,
    GET,
    FETCH,
    OP_KINDS,
    LONG = OP_KINDS
};

/* The places of sums and maxima are apart, since one place must see one operation; those of puts
 * belong to one operation of the round, as puts have no order. */
static inline struct op draw_op(unsigned *seed, int who, int size)
{
    const int rooms[] = {[SUM] = SUMS,  [MAX] = MAXIMA, [DOUBLE] = DOUBLES,
                         [GET] = STILL, [FETCH] = 1,    [PUT] = PUTS / (size * OPS),
                         [LONG] = LONGS / size};
    const int firsts[] = {[MAX] = AT_MAXIMA, [DOUBLE] = AT_DOUBLES, [GET] = AT_STILL, [FETCH] = TICKET,
                          [PUT] = AT_PUTS + who * rooms[PUT],
                          [LONG] = AT_LONGS + who / OPS * rooms[LONG]};
    struct op op = {.target = (int)draw(seed, (unsigned)size), .kind = (int)draw(seed, OP_KINDS)};
    if (op.kind == PUT && who % OPS == 0)
        op.kind = LONG;
    int room = rooms[op.kind], first = firsts[op.kind];
    bool is_long = op.kind == LONG || (op.kind == GET && draw(seed, 2));
    op.count = 1 + (int)draw(seed, is_long ? COUNT_MAX : 12);
    op.step = 1 + (int)draw(seed, 4);
    if (is_long && op.count * op.step > room)
        op.step = 1;
    if (op.count * op.step > room)
        op.count = op.step = 1;
    op.first = first + (int)draw(seed, (unsigned)(room - op.count * op.step + 1));
    op.value = (long)draw(seed, 1000) + 1;
    return op;
}

/* A place has the bytes of a double. Sums of whole numbers are exact in any order. */
static inline void add_double(long *place, double value)
{
    double sum;
    memcpy(&sum, place, sizeof(sum));
    sum += value;
    memcpy(place, &sum, sizeof(sum));
}

/* model: [size][PLACES] */
static inline void apply(long *model, const struct op *op)
{
    for (int i = 0; i < op->count; i++) {
        long *place = &model[op->target * PLACES + op->first + i * op->step];
        if (op->kind == SUM)
            *place += op->value + i;
        else if (op->kind == MAX)
            *place = *place > op->value + i ? *place : op->value + i;
        else if (op->kind == DOUBLE)
            add_double(place, (double)(op->value + i));
        else if (op->kind == PUT || op->kind == LONG)
            *place = op->value + i;
        else if (op->kind == FETCH)
            *place += 1;
    }
}

/* The places at the target as a datatype: contiguous, a vector, or a list. */
static inline MPI_Datatype type_of(const struct op *op, unsigned how)
{
    MPI_Datatype type;
    static _Thread_local int at[COUNT_MAX];
    MPI_Datatype element = op->kind == DOUBLE ? MPI_DOUBLE : MPI_LONG;
    for (int i = 0; i < op->count; i++)
        at[i] = i * op->step;
    if (how % 2)
        OK(MPI_Type_vector(op->count, 1, op->step, element, &type));
    else
        OK(MPI_Type_create_indexed_block(op->count, 1, at, element, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

static inline void fill(const struct op *op, long *values)
{
    for (int i = 0; i < op->count; i++) {
        values[i] = op->kind == DOUBLE ? 0 : op->value + i;
        if (op->kind == DOUBLE)
            add_double(&values[i], (double)(op->value + i));
    }
}

static inline int run_typed(struct window *w, const struct op *op, long *values, long *was, MPI_Datatype type,
                            MPI_Request *request)
{
    MPI_Aint at = window_at(w, op->target, op->first);
    MPI_Datatype element = op->kind == DOUBLE ? MPI_DOUBLE : MPI_LONG;
    MPI_Op how = op->kind == MAX ? MPI_MAX : MPI_SUM;
    int puts = op->kind == PUT || op->kind == LONG;
    if (op->kind == GET && request)
        return MPI_Rget(was, op->count, MPI_LONG, op->target, at, 1, type, w->win, request);
    if (op->kind == GET)
        return MPI_Get(was, op->count, MPI_LONG, op->target, at, 1, type, w->win);
    if (op->kind == LONG && op->step == 1)
        return MPI_Put(values, op->count, MPI_LONG, op->target, at, op->count, MPI_LONG, w->win);
    if (puts && request)
        return MPI_Rput(values, op->count, MPI_LONG, op->target, at, 1, type, w->win, request);
    if (puts)
        return MPI_Put(values, op->count, MPI_LONG, op->target, at, 1, type, w->win);
    if (request && op->value % 2)
        return MPI_Raccumulate(values, op->count, element, op->target, at, 1, type, how, w->win, request);
    if (op->value % 5 == 0)
        return MPI_Accumulate(values, op->count, element, op->target, at, 1, type, how, w->win);
    return MPI_Get_accumulate(values, op->count, element, was, op->count, element, op->target, at, 1, type, how,
                              w->win);
}

/* Start it in an epoch; with requests, wait for its own. Returns the first code that is none of success. */
static inline int start(struct window *w, const struct op *op, long *values, long *was, int requests)
{
    static const long one = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    if (op->kind == FETCH)
        return MPI_Fetch_and_op(&one, was, MPI_LONG, op->target, window_at(w, op->target, op->first), MPI_SUM, w->win);
    fill(op, values);
    MPI_Datatype type = type_of(op, (unsigned)op->value);
    int rc = run_typed(w, op, values, was, type, requests ? &request : NULL);
    OK(MPI_Type_free(&type));
    int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return rc ? rc : waited;
}

enum {
    BY_FENCE,
    BY_LOCKS,
    BY_LOCK_ALL,
    BY_START,
    EPOCHS
};

#endif
