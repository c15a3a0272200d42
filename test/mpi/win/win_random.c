/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random programs on windows, against a model that every process keeps of all memory.
 *
 *   win_random FIRST COUNT
 *
 * In each round all draw, from the same numbers, what each process does: sums and maxima of any
 * places, sums of doubles, puts, short and long, of places that belong to one operation of this
 * round, gets of places that nobody changes, and tickets. Each process does its own part in an epoch
 * of a random kind; afterwards every memory must be as the model says, and the tickets that were
 * drawn must be those that there were. Origins use random datatypes, lengths, and forms of the calls.
 */
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
    ROUNDS = 12,
    OPS = 10,
    COUNT_MAX = 2500
};

static int rank, size;
static long *model; /* [size][PLACES] */

/* A generator that is the same everywhere. */
static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* A number that nobody changes. */
static long still(int target, int place)
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
static struct op draw_op(unsigned *seed, int who)
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
static void add_double(long *place, double value)
{
    double sum;
    memcpy(&sum, place, sizeof(sum));
    sum += value;
    memcpy(place, &sum, sizeof(sum));
}

static void apply(const struct op *op)
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
static MPI_Datatype type_of(const struct op *op, unsigned how)
{
    MPI_Datatype type;
    static int at[COUNT_MAX];
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

static void start(struct window *w, const struct op *op, long *values, long *was, int requests)
{
    static const long one = 1;
    MPI_Aint at = window_at(w, op->target, op->first);
    MPI_Datatype type;
    MPI_Request request = MPI_REQUEST_NULL;
    if (op->kind == FETCH) {
        OK(MPI_Fetch_and_op(&one, was, MPI_LONG, op->target, at, MPI_SUM, w->win));
        return;
    }
    for (int i = 0; i < op->count; i++) {
        values[i] = op->kind == DOUBLE ? 0 : op->value + i;
        if (op->kind == DOUBLE)
            add_double(&values[i], (double)(op->value + i));
    }
    type = type_of(op, (unsigned)op->value);
    MPI_Datatype element = op->kind == DOUBLE ? MPI_DOUBLE : MPI_LONG;
    MPI_Op how = op->kind == MAX ? MPI_MAX : MPI_SUM;
    if (op->kind == GET && requests)
        OK(MPI_Rget(was, op->count, MPI_LONG, op->target, at, 1, type, w->win, &request));
    else if (op->kind == GET)
        OK(MPI_Get(was, op->count, MPI_LONG, op->target, at, 1, type, w->win));
    else if (op->kind == LONG && op->step == 1)
        OK(MPI_Put(values, op->count, MPI_LONG, op->target, at, op->count, MPI_LONG, w->win));
    else if ((op->kind == PUT || op->kind == LONG) && requests)
        OK(MPI_Rput(values, op->count, MPI_LONG, op->target, at, 1, type, w->win, &request));
    else if (op->kind == PUT || op->kind == LONG)
        OK(MPI_Put(values, op->count, MPI_LONG, op->target, at, 1, type, w->win));
    else if (requests && op->value % 2)
        OK(MPI_Raccumulate(values, op->count, element, op->target, at, 1, type, how, w->win,
                           &request));
    else if (op->value % 5 == 0)
        OK(MPI_Accumulate(values, op->count, element, op->target, at, 1, type, how, w->win));
    else
        OK(MPI_Get_accumulate(values, op->count, element, was, op->count, element, op->target, at,
                              1, type, how, w->win));
    OK(MPI_Type_free(&type));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

enum {
    BY_FENCE,
    BY_LOCKS,
    BY_LOCK_ALL,
    BY_START,
    EPOCHS
};

static void begin(struct window *w, int epoch, MPI_Group all)
{
    if (epoch == BY_FENCE)
        OK(MPI_Win_fence(0, w->win));
    else if (epoch == BY_LOCK_ALL)
        OK(MPI_Win_lock_all(0, w->win));
    else if (epoch == BY_START) {
        OK(MPI_Win_post(all, 0, w->win));
        OK(MPI_Win_start(all, 0, w->win));
    }
}

static void end(struct window *w, int epoch)
{
    if (epoch == BY_FENCE)
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    else if (epoch == BY_LOCK_ALL)
        OK(MPI_Win_unlock_all(w->win));
    else if (epoch == BY_START) {
        OK(MPI_Win_complete(w->win));
        OK(MPI_Win_wait(w->win));
    }
}

/* Returns the sum of the tickets that this process drew. */
static long play(struct window *w, const struct op *ops, int epoch, MPI_Group all)
{
    static long values[OPS][COUNT_MAX], was[OPS][COUNT_MAX];
    long sum = 0;
    begin(w, epoch, all);
    for (int i = 0; i < OPS; i++) {
        if (epoch == BY_LOCKS)
            OK(MPI_Win_lock(ops[i].value % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, ops[i].target,
                            0, w->win));
        start(w, &ops[i], values[i], was[i], epoch == BY_LOCKS || epoch == BY_LOCK_ALL);
        if (epoch == BY_LOCK_ALL && ops[i].value % 5 == 0)
            OK(MPI_Win_flush(ops[i].target, w->win));
        if (epoch == BY_LOCKS)
            OK(MPI_Win_unlock(ops[i].target, w->win));
    }
    end(w, epoch);
    for (int i = 0; i < OPS; i++) {
        sum += ops[i].kind == FETCH ? was[i][0] : 0;
        for (int j = 0; ops[i].kind == GET && j < ops[i].count; j++)
            CHECK(was[i][j] == still(ops[i].target, ops[i].first + j * ops[i].step));
    }
    return sum;
}

static void check_memory(struct window *w, unsigned seed)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    for (int i = 0; i < PLACES; i++) {
        if (w->mine[i] != model[rank * PLACES + i])
            fprintf(stderr, "seed %u, window %d, rank %d, place %d: %ld, and not %ld\n", seed,
                    w->kind, rank, i, w->mine[i], model[rank * PLACES + i]);
        CHECK(w->mine[i] == model[rank * PLACES + i]);
    }
    OK(MPI_Win_unlock(rank, w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void run(unsigned seed, struct window *w, MPI_Group all)
{
    struct op ops[OPS], mine[OPS];
    for (int round = 0; round < ROUNDS; round++) {
        int epoch = (int)draw(&seed, EPOCHS);
        long before = 0, after = 0, sum, drawn;
        for (int r = 0; r < size; r++)
            before += model[r * PLACES + TICKET] * (model[r * PLACES + TICKET] - 1) / 2;
        for (int r = 0; r < size; r++) {
            for (int i = 0; i < OPS; i++) {
                ops[i] = draw_op(&seed, r * OPS + i);
                apply(&ops[i]);
            }
            if (r == rank)
                memcpy(mine, ops, sizeof(mine));
        }
        for (int r = 0; r < size; r++)
            after += model[r * PLACES + TICKET] * (model[r * PLACES + TICKET] - 1) / 2;
        drawn = play(w, mine, epoch, all);
        OK(MPI_Allreduce(&drawn, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum == after - before);
        check_memory(w, seed);
    }
}

int main(int argc, char **argv)
{
    MPI_Group all;
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1,
             count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    model = malloc((size_t)size * PLACES * sizeof(long));
    CHECK(model);
    for (unsigned seed = first; seed < first + count; seed++) {
        for (int kind = 0; kind < WINDOW_KINDS; kind++) {
            memset(model, 0, (size_t)size * PLACES * sizeof(long));
            struct window w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, PLACES);
            for (int r = 0; r < size; r++)
                for (int i = AT_STILL; i < AT_STILL + STILL; i++)
                    model[r * PLACES + i] = still(r, i);
            memcpy(w.mine, model + rank * PLACES, sizeof(long) * PLACES);
            OK(MPI_Win_sync(w.win));
            OK(MPI_Barrier(MPI_COMM_WORLD));
            run(seed * WINDOW_KINDS + (unsigned)kind, &w, all);
            window_close(&w);
        }
    }
    free(model);
    OK(MPI_Group_free(&all));
    OK(MPI_Finalize());
    return 0;
}
