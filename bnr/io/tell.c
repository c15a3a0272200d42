/* SPDX-License-Identifier: BSD-3-Clause */

/* Telling about processes; see tell.h. */
#include "bnr/io/tell.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/host/table.h"
#include "bnr/io/ranks.h"

static FILE *open_channel(const char *channel)
{
    if (!strcmp(channel, "-"))
        return stdout;
    return strcmp(channel, "+") ? fopen(channel, "we") : stderr;
}

static int close_channel(FILE *to, const char *channel, char why[512])
{
    int rc = !to || ferror(to) || fflush(to) ? -errno : 0;
    if (to && to != stdout && to != stderr)
        fclose(to);
    if (rc)
        snprintf(why, 512, "cannot write to '%.300s': %s; name another file, or - or +", channel,
                 strerror(-rc));
    return rc;
}

int tell_pid(const char *channel, char why[512])
{
    FILE *to = open_channel(channel);
    if (to)
        fprintf(to, "%d\n", (int)getpid());
    return close_channel(to, channel, why);
}

int tell_processes(const char *channel, const struct tell_process *list, int count, char why[512])
{
    FILE *to = open_channel(channel);
    for (int r = 0; to && r < count; r++)
        fprintf(to, "%d %s %d %s\n", r, list[r].host, list[r].pid, list[r].program);
    return close_channel(to, channel, why);
}

/* The ranks that have ended as one of them. */
struct alike {
    const struct table *table;
    int status;
};

static bool ended_alike(const void *set, int rank)
{
    const struct alike *alike = set;
    return alike->table->rank[rank].status == alike->status;
}

void tell_codes(const struct table *table)
{
    int size = (int)table->head->world_size;
    for (int r = 0; r < size; r++) {
        struct alike alike = {table, table->rank[r].status};
        char ranks[200];
        int first = 0;
        while (!ended_alike(&alike, first))
            first++;
        if (first < r) /* told already */
            continue;
        ranks_list(ranks, sizeof(ranks), size, ended_alike, &alike);
        bool is_signal = WIFSIGNALED(alike.status);
        fprintf(stderr, "mpiexec: %s %d: %s %s\n", is_signal ? "killed by signal" : "exit code",
                is_signal ? WTERMSIG(alike.status) : WEXITSTATUS(alike.status),
                ranks[strcspn(ranks, ",-")] ? "ranks" : "rank", ranks);
    }
}
