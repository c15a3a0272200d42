/* SPDX-License-Identifier: BSD-3-Clause */

/* Windows that are made, used and freed leave nothing: no memory, descriptor or thread.
 *
 * usage: win_many [WINDOWS] */
#include <dirent.h>
#include <time.h>

#include "windows.h"

enum {
    FIRST = 5,        /* a part of so many makes what stays */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GROWTH_KB = 65536, /* they keep memory that was freed */
#else
    GROWTH_KB = 2048, /* at most, of all the others */
#endif
    WORDS = 32
};

struct usage {
    long memory_kb, mappings, descriptors, threads;
};

static long entries(const char *folder)
{
    DIR *dir = opendir(folder);
    long count = 0;
    CHECK(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += *entry->d_name != '.';
    closedir(dir);
    return count;
}

static struct usage usage_now(void)
{
    struct usage now = {0, 0, entries("/proc/self/fd"), entries("/proc/self/task")};
    char line[512];
    FILE *in = fopen("/proc/self/status", "re");
    CHECK(in);
    while (fgets(line, sizeof(line), in))
        if (!strncmp(line, "VmRSS:", 6))
            now.memory_kb = atol(line + 6);
    fclose(in);
    CHECK((in = fopen("/proc/self/maps", "re")));
    while (fgets(line, sizeof(line), in))
        now.mappings++;
    fclose(in);
    return now;
}

/* A thread that was joined is in /proc until the kernel has done with it. */
static struct usage least_usage(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct usage least = usage_now();
    for (int i = 0; i < 50 && least.threads > 1; i++) {
        nanosleep(&pause, NULL);
        struct usage now = usage_now();
        if (now.threads < least.threads)
            least = now;
    }
    return least;
}

/* A window of one kind, an epoch of each sort in turn. */
static void make_and_free(int i, int rank, int size)
{
    struct window w = window_open(MPI_COMM_WORLD, (enum window_kind)(i % WINDOW_KINDS), WORDS);
    long v = i;
    int target = (rank + 1) % size;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (i / WINDOW_KINDS % 2) {
        OK(MPI_Win_fence(0, w.win));
        OK(MPI_Put(&v, 1, MPI_LONG, target, window_at(&w, target, 1), 1, MPI_LONG, w.win));
        OK(MPI_Win_fence(0, w.win));
        CHECK(w.mine[1] == i);
    } else {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
        OK(MPI_Put(&v, 1, MPI_LONG, target, window_at(&w, target, 1), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(target, w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* before it is detached */
    }
    window_close(&w);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    struct usage begun = usage_now();
    double time = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        if (i == count / FIRST)
            begun = least_usage();
        make_and_free(i, rank, size);
    }
    time = MPI_Wtime() - time;
    struct usage now = least_usage();
    if (rank == 0)
        printf(
            "%d windows, %.0f us each: %ld KiB more, %ld mappings, %ld descriptors, %ld threads\n",
            count, time / count * 1e6, now.memory_kb - begun.memory_kb,
            now.mappings - begun.mappings, now.descriptors - begun.descriptors,
            now.threads - begun.threads);
    CHECK(now.memory_kb - begun.memory_kb <= GROWTH_KB);
    CHECK(now.mappings - begun.mappings <= 8);
    CHECK(now.descriptors == begun.descriptors && now.threads == begun.threads);
    OK(MPI_Finalize());
    return 0;
}
