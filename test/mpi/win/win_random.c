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
#include "arrays.h"

enum {
    ROUNDS = 12
};

static int rank, size;
static long *model; /* [size][PLACES] */

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
        OK(start(w, &ops[i], values[i], was[i], epoch == BY_LOCKS || epoch == BY_LOCK_ALL));
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
                ops[i] = draw_op(&seed, r * OPS + i, size);
                apply(model, &ops[i]);
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
