/* SPDX-License-Identifier: BSD-3-Clause */

/* The state of processes that did not answer; see process.h. */
#include "diagnose/process.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/file.h"

enum {
    LOOKS = 4, /* looks at ranks that seem to compute: they may just have woken up */
    PAUSE_MS = 5
};

/* Read a file of a process. Returns whether there was anything. */
static bool read_proc(int pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    return os_read_start(path, text, size) > 0;
}

static void look_up(struct hang_rank *rank)
{
    char text[1024];
    unsigned long long user, system;
    if (rank->pid <= 0 || !read_proc(rank->pid, "stat", text, sizeof(text)))
        return;
    const char *at = strrchr(text, ')'); /* the name before it may contain anything */
    if (!at || sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                      &rank->run_state, &user, &system) != 3)
        return;
    rank->cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    rank->wchan[0] = 0;
    if (read_proc(rank->pid, "wchan", text, sizeof(text)) && strcmp(text, "0"))
        snprintf(rank->wchan, sizeof(rank->wchan), "%.39s", text);
    for (char *c = rank->wchan; *c; c++)
        if (*c <= ' ' || *c > '~')
            *c = '?';
}

static bool is_unknown(const struct hang_rank *rank)
{
    return rank->state != DIAGNOSE_ANSWERED && rank->state != DIAGNOSE_ENDED;
}

static bool seems_busy(const struct hang_rank *rank)
{
    bool answers_not = rank->state == DIAGNOSE_SILENT || rank->state == DIAGNOSE_NOT_INIT;
    return answers_not && rank->run_state == 'R';
}

void process_look_up(struct hang_rank *ranks, int count)
{
    for (int r = 0; r < count; r++)
        if (is_unknown(&ranks[r]))
            look_up(&ranks[r]);
    for (int look = 1, busy = 1; look < LOOKS && busy; look++) {
        busy = 0;
        for (int r = 0; r < count; r++)
            busy += seems_busy(&ranks[r]);
        if (!busy)
            return;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        for (int r = 0; r < count; r++)
            if (seems_busy(&ranks[r])) /* a rank that sleeps in one of several looks is idle */
                look_up(&ranks[r]);
    }
}
