/* SPDX-License-Identifier: BSD-3-Clause */

/* Finding the job's memory; see find.h. */
#include "bnr/client/find.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NUMBERS_MAX = 4, /* of BNR_FD: two descriptors, the process that they come from, the bell */
    FDS_SEARCHED = 32,
    STARTING_MS = 1000 /* until mpiexec has noted which process is which rank */
};

/* Read numbers below 2^30, separated by commas. Returns how many, or -EINVAL. */
static int parse_numbers(const char *text, int *numbers, int max)
{
    for (int i = 0; i < max; i++) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < 0 || value >= 1 << 30 || (*end && *end != ','))
            return -EINVAL;
        numbers[i] = (int)value;
        if (!*end)
            return i + 1;
        text = end + 1;
    }
    return -EINVAL;
}

/* Whether the job is the one that mpiexec has put this process into: the last of BNR_JOB. */
static bool is_named(const struct table *t)
{
    const char *list = getenv("BNR_JOB");
    size_t len = list ? strlen(list) : 0;
    char id[2 * sizeof(t->head->gid) + 1];
    for (size_t i = 0; i < sizeof(t->head->gid); i++)
        snprintf(id + 2 * i, 3, "%02x", t->head->gid[i]);
    return len >= sizeof(id) - 1 && !strcmp(list + len - (sizeof(id) - 1), id);
}

static int reopen(int pid, int fd, int flags)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    return open(path, flags | O_CLOEXEC);
}

/* Attach to the descriptors that mpiexec itself holds. */
static int attach_to_launcher(struct table *t, const int *numbers)
{
    char why[256];
    int head = reopen(numbers[2], numbers[0], O_RDWR);
    int memory = reopen(numbers[2], numbers[1], O_RDWR);
    if (head >= 0 && memory >= 0 && !table_attach(t, head, memory, why, sizeof(why))) {
        if (is_named(t))
            return 0;
        table_detach(t);
    }
    if (head >= 0)
        close(head);
    if (memory >= 0)
        close(memory);
    return -EPROTO;
}

int find_by_environment(struct table *t, int *rank, int *bell, char *why, size_t size)
{
    const char *fds = getenv("BNR_FD"), *rank_text = getenv("BNR_RANK");
    int numbers[NUMBERS_MAX], count = fds ? parse_numbers(fds, numbers, NUMBERS_MAX) : -EINVAL;
    if (count < 2 || !rank_text || parse_numbers(rank_text, rank, 1) != 1) {
        snprintf(why, size, "BNR_FD and BNR_RANK are not as mpiexec sets them");
        return -EPROTO;
    }
    char first[256];
    *bell = count == NUMBERS_MAX ? numbers[3] : -1;
    if (!table_attach(t, numbers[0], numbers[1], first, sizeof(first)))
        return 0;
    if (count >= NUMBERS_MAX - 1 && !attach_to_launcher(t, numbers)) {
        if (*bell >= 0)
            *bell = reopen(numbers[2], *bell, O_WRONLY | O_NONBLOCK);
        return 0;
    }
    snprintf(why, size, "cannot join the job as rank %d: %.160s", *rank, first);
    return -EPROTO;
}

/* The rank whose process group this process belongs to, or -1; *unknown: some rank has no process
 * yet. */
static int look_for_group(const struct table *t, bool *unknown)
{
    *unknown = false;
    for (int r = 0; r < t->world_size; r++) {
        if (table_slot(t, r) < 0)
            continue;
        if (t->rank[r].pid == (int)getpgrp())
            return r;
        *unknown |= !t->rank[r].pid;
    }
    return -1;
}

/* The same, but this process may be here before mpiexec has noted its number. */
static int rank_of_group(const struct table *t)
{
    bool unknown;
    int rank = look_for_group(t, &unknown);
    for (int i = 0; rank < 0 && unknown && i < STARTING_MS; i++) {
        usleep(1000);
        rank = look_for_group(t, &unknown);
    }
    return rank;
}

int find_launcher(void)
{
    const char *fds = getenv("BNR_FD");
    int numbers[NUMBERS_MAX];
    return fds && parse_numbers(fds, numbers, NUMBERS_MAX) >= NUMBERS_MAX - 1 ? numbers[2] : -1;
}

bool find_by_descriptors(struct table *t, int *rank, int *bell)
{
    char why[256];
    struct pollfd seen[FDS_SEARCHED] = {0};
    for (int i = 0; i < FDS_SEARCHED; i++)
        seen[i].fd = TABLE_FIRST_FD + i;
    (void)poll(seen, FDS_SEARCHED, 0); /* where it fails, each is tried */
    for (int i = 0; i < FDS_SEARCHED; i++) {
        int fd = seen[i].fd;
        if (seen[i].revents & POLLNVAL || table_attach(t, fd, fd + 1, why, sizeof(why)))
            continue;
        *rank = rank_of_group(t);
        *bell = fcntl(fd + 2, F_GETFD) < 0 ? -1 : fd + 2;
        if (*rank >= 0)
            return true;
        table_detach(t);
    }
    return false;
}
