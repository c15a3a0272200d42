/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ranks count the sockets that they listen on, after MPI_Init() and after each has exchanged messages
 * with each other one; rank 0 prints both sums, and the number of those on other addresses than
 * 127.0.0.1. With the argument "unshared" no shared memory can be mapped once MPI is initialized, but in
 * the place of what is mapped.
 *
 * doors unshared FILE WHEN: all ranks but the last load the channel in FILE, before each has exchanged a
 * message with the last one, or after that, so that a rank's card changes twice. WHEN is before, after,
 * tool (after, by writing a control variable), or apart (each rank at a time of its own).
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { LONG_COUNT = 1 << 17, INODES_MAX = 256 };

static int rank, size, unshared;
static int sent[LONG_COUNT], got[LONG_COUNT];

/* The library's calls come here, too. */
void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    if (unshared && (flags & MAP_SHARED) && !(flags & MAP_FIXED)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    long address = syscall(SYS_mmap, at, len, prot, flags, fd, offset);
    return address == -1 ? MAP_FAILED : (void *)address;
}

/* The sockets among this process's descriptors. */
static int own_sockets(unsigned long inodes[INODES_MAX])
{
    char path[300], to[64];
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir);
    for (struct dirent *entry; (entry = readdir(dir)) && count < INODES_MAX;) {
        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        ssize_t len = readlink(path, to, sizeof(to) - 1);
        to[len < 0 ? 0 : len] = 0;
        count += sscanf(to, "socket:[%lu]", &inodes[count]) == 1;
    }
    closedir(dir);
    return count;
}

/* Add to [0] how many of them listen, to [1] how many of those on other addresses than 127.0.0.1. */
static void count_in(const char *table, const unsigned long *inodes, int sockets, int counts[2])
{
    char line[512], address[64];
    unsigned state;
    unsigned long inode;
    FILE *file = fopen(table, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%*s %63[0-9A-F]:%*x %*s %x %*s %*s %*s %*s %*s %lu", address, &state,
                   &inode) != 3 || state != 0x0a)
            continue;
        for (int i = 0; i < sockets; i++)
            if (inodes[i] == inode) {
                counts[0]++;
                counts[1] += strcmp(address, "0100007F") != 0;
            }
    }
    if (file)
        fclose(file);
}

static void count_doors(int counts[2])
{
    unsigned long inodes[INODES_MAX];
    int sockets = own_sockets(inodes);
    counts[0] = counts[1] = 0;
    count_in("/proc/net/tcp", inodes, sockets, counts);
    count_in("/proc/net/tcp6", inodes, sockets, counts);
}

/* With the peers in the order of their distance: neighbours call each other at the same time. */
static void exchange(int count)
{
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        for (int i = 0; i < count; i++)
            sent[i] = rank * 1000003 + to * 101 + i;
        OK(MPI_Sendrecv(sent, count, MPI_INT, to, step, got, count, MPI_INT, from, step,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < count; i++)
            CHECK(got[i] == from * 1000003 + rank * 101 + i);
    }
}

/* A message from each to the last rank, and back. */
static void meet_last(void)
{
    int last = size - 1, mine = rank, other = -1;
    for (int r = rank == last ? 0 : last; r < size && r != rank; r++) {
        OK(MPI_Sendrecv(&mine, 1, MPI_INT, r, 7, &other, 1, MPI_INT, r, 7, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK(other == r);
    }
}

static void load(const char *file, int by_tool)
{
    int provided, index, count;
    MPI_T_cvar_handle handle;
    if (!by_tool) {
        OK(MPIX_Channel_load(file));
        return;
    }
    CHECK(!MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK(!MPI_T_cvar_get_index("VIREO_CHANNEL_PATH", &index));
    CHECK(!MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK(!MPI_T_cvar_write(handle, file));
    CHECK(!MPI_T_cvar_handle_free(&handle));
    CHECK(!MPI_T_finalize());
}

static void load_late(const char *file, const char *when)
{
    int is_before = !strcmp(when, "before") || (!strcmp(when, "apart") && rank % 2);
    int loads = rank < size - 1;
    if (loads && is_before)
        load(file, 0);
    meet_last();
    if (loads && !is_before)
        load(file, !strcmp(when, "tool"));
    meet_last();
    meet_last(); /* the last rank has met all that load: all have */
}

int main(int argc, char **argv)
{
    int counts[4] = {0}, sums[4];
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    unshared = argc > 1 && !strcmp(argv[1], "unshared");
    count_doors(counts);
    if (argc > 3)
        load_late(argv[2], argv[3]);
    exchange(1);
    exchange(LONG_COUNT);
    count_doors(counts + 2);
    OK(MPI_Reduce(counts, sums, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    if (!rank)
        printf("first %d then %d elsewhere %d\n", sums[0], sums[2], sums[1] + sums[3]);
    OK(MPI_Finalize());
    return 0;
}
