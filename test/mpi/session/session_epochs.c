/* SPDX-License-Identifier: BSD-3-Clause */

/* A thousand sessions one after the other, each with a communicator and messages on it: memory,
 * descriptors and threads do not grow. arg 1: epochs; arg 2: up to so many microseconds are
 * idled away between calls, so that epochs of the processes overlap. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

struct usage {
    long kib, fds, threads;
};

static long entries(const char *path)
{
    long n = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static struct usage look(void)
{
    struct usage now = {0, entries("/proc/self/fd"), entries("/proc/self/task")};
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, "VmRSS:", 6))
            now.kib = atol(line + 6);
    if (file)
        fclose(file);
    return now;
}

static unsigned seed;

static void linger(int most_us)
{
    if (!most_us || rand_r(&seed) % 4)
        return;
    long us = rand_r(&seed) % most_us;
    struct timespec pause = {0, us * 1000};
    nanosleep(&pause, NULL);
}

/* Everybody's number round the ring, a long message, and a sum. */
static void talk(MPI_Comm comm, int epoch, int *long_out, int *long_in, int count)
{
    int rank = check_rank(comm), size = check_size(comm), sum = -1, from = -1;
    int left = (rank + size - 1) % size, right = (rank + 1) % size, mine = epoch * 1000 + rank;
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, comm,
                    MPI_STATUS_IGNORE));
    CHECK(from == epoch * 1000 + left);
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * epoch * 1000 + size * (size - 1) / 2);
    if (epoch % 50 == 0) {
        long_out[count - 1] = mine;
        OK(MPI_Sendrecv(long_out, count, MPI_INT, right, 2, long_in, count, MPI_INT, left, 2, comm,
                        MPI_STATUS_IGNORE));
        CHECK(long_in[count - 1] == epoch * 1000 + left);
    }
}

static void epoch_of(int epoch, int idle_us, int *long_out, int *long_in, int count)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    linger(idle_us);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    linger(idle_us);
    OK(MPI_Comm_create_from_group(group, "epochs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Group_free(&group));
    talk(comm, epoch, long_out, long_in, count);
    linger(idle_us);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}

int main(int argc, char **argv)
{
    enum { COUNT = 100000, SETTLED = 100 };
    int epochs = argc > 1 ? atoi(argv[1]) : 1000, idle_us = argc > 2 ? atoi(argv[2]) : 0, flag = 1;
    int *long_out = calloc(COUNT, sizeof(int)), *long_in = calloc(COUNT, sizeof(int));
    struct usage before = {0, 0, 0}, after;
    seed = (unsigned)getpid();
    CHECK(long_out && long_in);
    for (int epoch = 0; epoch < epochs; epoch++) {
        if (epoch == SETTLED)
            before = look();
        epoch_of(epoch, idle_us, long_out, long_in, COUNT);
    }
    after = look();
    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    if (epochs > SETTLED) {
        if (after.kib > before.kib + 512 || after.fds > before.fds ||
            after.threads != before.threads)
            fprintf(stderr, "RSS %ld to %ld KiB, descriptors %ld to %ld, threads %ld to %ld\n",
                    before.kib, after.kib, before.fds, after.fds, before.threads, after.threads);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep what is freed */
        CHECK(after.kib <= before.kib + 512);
#endif
        CHECK(after.fds <= before.fds); /* a peer that has exited takes a connection along */
        CHECK(after.threads == before.threads);
    }
    free(long_out);
    free(long_in);
    return 0;
}
