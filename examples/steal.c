/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Primes are counted by ranks that steal work from each other.
 *
 * Shows: windows of MPI_Win_allocate, MPI_Win_lock_all for the whole run, MPI_Fetch_and_op to take work
 * without a message to anybody, MPI_Accumulate into a histogram that all share, MPI_Win_flush.
 *
 *   mpicc -O2 steal.c -o steal
 *   mpiexec -n 4 ./steal [LIMIT]
 *
 * The numbers below LIMIT (1000000) are cut into blocks, and each rank owns as many blocks, one after
 * the other. High numbers take longer, so that the last ranks would finish last. Each rank has a
 * counter of the blocks that were taken of its own. Whoever takes one adds 1 to the counter, and has
 * the block whose number was there before. A rank takes its own blocks first, and then those of the
 * ranks behind it, until nobody has any. In the end, rank 0 checks that every block was done once.
 */

#include <errno.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOT = 0, BLOCKS = 64 /* of each rank */, BARS = 10, WIDTH = 50 };

/* At each rank. Only rank 0's bars are used. */
struct board {
    long taken;        /* blocks */
    long done[BLOCKS]; /* how many times */
    long bars[BARS];   /* primes in each tenth of the numbers */
};

static int rank, ranks;
static long limit;

/* The displacement unit of the window is a long. */
static MPI_Aint at(size_t offset)
{
    return (MPI_Aint)(offset / sizeof(long));
}

static int is_prime(long n)
{
    if (n < 4)
        return n > 1;
    if (n % 2 == 0)
        return 0;
    for (long d = 3; d <= n / d; d += 2)
        if (n % d == 0)
            return 0;
    return 1;
}

/* Take a block of a rank's. Returns its number, or BLOCKS or more: none is left. */
static long take(int owner, MPI_Win win)
{
    const long one = 1;
    long block = 0;

    MPI_Fetch_and_op(&one, &block, MPI_LONG, owner, at(offsetof(struct board, taken)), MPI_SUM, win);
    MPI_Win_flush(owner, win);
    return block;
}

/* Count the primes of a block, and tell rank 0 and the owner. */
static void work(int owner, long block, MPI_Win win)
{
    const long one = 1;
    long bars[BARS] = {0}, blocks = (long)ranks * BLOCKS, mine = (long)owner * BLOCKS + block;

    for (long n = limit * mine / blocks; n < limit * (mine + 1) / blocks; n++)
        bars[n * BARS / limit] += is_prime(n);
    MPI_Accumulate(bars, BARS, MPI_LONG, ROOT, at(offsetof(struct board, bars)), BARS, MPI_LONG,
                   MPI_SUM, win);
    MPI_Accumulate(&one, 1, MPI_LONG, owner, at(offsetof(struct board, done)) + block, 1, MPI_LONG,
                   MPI_SUM, win);
    MPI_Win_flush_all(win); /* the buffers above end here */
}

static void print(const long *bars)
{
    long sum = 0, most = 1;

    for (int i = 0; i < BARS; i++) {
        sum += bars[i];
        most = bars[i] > most ? bars[i] : most;
    }
    for (int i = 0; i < BARS; i++) {
        printf("%12ld %8ld ", limit * i / BARS, bars[i]);
        for (long n = bars[i] * WIDTH / most; n > 0; n--)
            putchar('#');
        putchar('\n');
    }
    printf("%ld primes below %ld\n", sum, limit);
}

int main(int argc, char **argv)
{
    char *end = "";
    long stolen = 0, all_stolen = 0;
    int wrong = 0, wrongs = 0;
    struct board *board;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    errno = 0;
    limit = argc > 1 ? strtol(argv[1], &end, 10) : 1000000;
    if (errno || *end || limit < 1 || limit > 100000000) {
        if (rank == ROOT)
            fprintf(stderr, "usage: steal [LIMIT], where LIMIT is from 1 to 100000000\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }

    MPI_Win_allocate(sizeof *board, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &board, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *board = (struct board){0};
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD); /* all boards are empty */

    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ranks; i++) {
        int owner = (rank + i) % ranks;

        for (long block = take(owner, win); block < BLOCKS; block = take(owner, win)) {
            work(owner, block, win);
            stolen += owner != rank;
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD); /* all blocks are done */

    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int i = 0; i < BLOCKS; i++)
        wrong += board->done[i] != 1;
    if (rank == ROOT)
        print(board->bars);
    MPI_Win_unlock(rank, win);
    MPI_Reduce(&wrong, &wrongs, 1, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD);
    MPI_Reduce(&stolen, &all_stolen, 1, MPI_LONG, MPI_SUM, ROOT, MPI_COMM_WORLD);
    if (rank == ROOT)
        printf("%ld of %ld blocks were stolen, %d were not done once\n", all_stolen,
               (long)ranks * BLOCKS, wrongs);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrongs != 0;
}
