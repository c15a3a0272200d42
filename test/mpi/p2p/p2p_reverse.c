/* SPDX-License-Identifier: BSD-3-Clause */

/* Many receives that wait, and many messages that wait, matched from the last to the first, with a
 * source told and with any: the time for each does not grow with their number, but for memory that
 * ten of them find in the nearest cache and these do not. */
#include <stdlib.h>
#include <time.h>

#include "check.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MANY = 2000, TRIES = 1 };
#else
enum { MANY = 100000, TRIES = 20 };
#endif

enum {
    FEW = 10,
    FEW_ROUNDS = 500,
    TIMES = 8 /* the most that one of many may cost, in those of ten: on an idle machine it is 2 */
};

struct run {
    int me, sender, source; /* the receiver is 0; source as its receives tell it */
    int n;
    MPI_Request *recvs, *sends;
    int *in, *out;
};

static void post(struct run *run, int tag)
{
    run->in[tag] = -1;
    OK(MPI_Irecv(&run->in[tag], 1, MPI_INT, run->source, tag, MPI_COMM_WORLD, &run->recvs[tag]));
}

static void send(struct run *run, int tag)
{
    run->out[tag] = tag * 3 + 1;
    OK(MPI_Isend(&run->out[tag], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &run->sends[tag]));
}

static void check_all(const struct run *run)
{
    for (int i = 0; run->me == 0 && i < run->n; i++)
        CHECK(run->in[i] == i * 3 + 1);
}

/* Seconds that this process has run: what others do meanwhile is not its own. */
static double used(void)
{
    struct timespec t;
    CHECK(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t));
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Both return the seconds from when the second side begins. */
static double posted(struct run *run)
{
    for (int i = 0; run->me == 0 && i < run->n; i++)
        post(run, i);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double began = used();
    for (int i = run->n - 1; run->me == run->sender && i >= 0; i--) {
        run->out[i] = i * 3 + 1;
        OK(MPI_Send(&run->out[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD));
    }
    if (run->me == 0)
        OK(MPI_Wait(&run->recvs[0], MPI_STATUS_IGNORE));
    double seconds = used() - began;
    if (run->me == 0)
        OK(MPI_Waitall(run->n, run->recvs, MPI_STATUSES_IGNORE));
    check_all(run);
    return seconds;
}

static double unexpected(struct run *run)
{
    for (int i = 0; run->me == run->sender && i < run->n; i++)
        send(run, i);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (run->me == 0) /* once the last one is here, all are */
        OK(MPI_Probe(run->source, run->n - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    double began = used();
    for (int i = run->n - 1; run->me == 0 && i >= 0; i--)
        OK(MPI_Recv(&run->in[i], 1, MPI_INT, run->source, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    double seconds = used() - began;
    if (run->me == run->sender)
        OK(MPI_Waitall(run->n, run->sends, MPI_STATUSES_IGNORE));
    check_all(run);
    return seconds;
}

static double each(struct run *run, double (*how)(struct run *run), int n, int rounds)
{
    double seconds = 0;
    run->n = n;
    for (int i = 0; i < rounds; i++)
        seconds += how(run);
    return seconds / n / rounds;
}

/* Caches are shared: one good try is enough. */
static void compare(struct run *run, double (*how)(struct run *run))
{
    int good = 0;
    for (int i = 0; i < TRIES && !good; i++) {
        double few = each(run, how, FEW, FEW_ROUNDS), many = each(run, how, MANY, 1);
        good = many <= TIMES * few;
        if (i == TRIES - 1 && TRIES > 1 && !good && run->me == 0)
            fprintf(stderr, "a match of %d takes %g us, of %d %g us\n", MANY, many * 1e6, FEW,
                    few * 1e6);
        OK(MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    CHECK(good || TRIES == 1);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    struct run run = {.me = check_rank(MPI_COMM_WORLD),
                      .sender = check_size(MPI_COMM_WORLD) - 1,
                      .recvs = malloc(MANY * sizeof(MPI_Request)),
                      .sends = malloc(MANY * sizeof(MPI_Request)),
                      .in = malloc(MANY * sizeof(int)),
                      .out = malloc(MANY * sizeof(int))};
    CHECK(run.recvs && run.sends && run.in && run.out);
    for (int any = 0; any < 2; any++) {
        run.source = any ? MPI_ANY_SOURCE : run.sender;
        compare(&run, posted);
        compare(&run, unexpected);
    }
    free(run.recvs);
    free(run.sends);
    free(run.in);
    free(run.out);
    OK(MPI_Finalize());
    return 0;
}
