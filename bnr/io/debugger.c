/* SPDX-License-Identifier: BSD-3-Clause */

/* A debugger for each rank, in a window of its own; see debugger.h. */
#include "bnr/io/debugger.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/launch/launch.h"

extern char **environ;

static int find(const char *name, char **path, char why[512])
{
    char found[PATH_MAX];
    int rc = launch_resolve(name, NULL, getenv("PATH"), found, sizeof(found), why);
    if (!rc && !(*path = strdup(found)))
        rc = LAUNCH_NOT_FOUND;
    return rc;
}

int debugger_prepare(struct debugger *d, const char *name, char why[512])
{
    const char *display = getenv("DISPLAY"), *tmux = getenv("TMUX");
    *d = (struct debugger){.is_tmux = tmux && *tmux};
    if (!d->is_tmux && (!display || !*display)) {
        snprintf(why, 512, "there is no place for the windows of --debugger: run mpiexec in tmux, or "
                           "set DISPLAY for xterm; -gdb needs no windows");
        return LAUNCH_NOT_FOUND;
    }
    int rc = find(name, &d->path, why);
    return rc ? rc : find(d->is_tmux ? "tmux" : "xterm", &d->window, why);
}

void debugger_fini(struct debugger *d)
{
    free(d->path);
    free(d->window);
}

int debugger_open(const struct debugger *d, int rank, int pid, int in_fd, pid_t *command)
{
    char title[32], number[16];
    char *of_tmux[] = {"tmux", "new-window", "-d", "-n", title, d->path, "-p", number, NULL};
    char *of_xterm[] = {"xterm", "-T", title, "-e", d->path, "-p", number, NULL};
    const char *step;
    int pidfd = -1;
    struct launch l = {.path = d->window,
                       .argv = d->is_tmux ? of_tmux : of_xterm,
                       .envp = environ,
                       .stream = {in_fd, STDERR_FILENO, STDERR_FILENO},
                       .keep = {-1, -1, -1}};
    snprintf(title, sizeof(title), "rank %d", rank);
    snprintf(number, sizeof(number), "%d", pid);
    int rc = launch_start(&l, command, &pidfd, &step);
    if (pidfd >= 0)
        close(pidfd);
    return rc;
}

bool debugger_has(int pid)
{
    char path[32], line[128];
    int tracer = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file && !tracer && fgets(line, sizeof(line), file))
        (void)sscanf(line, "TracerPid: %d", &tracer);
    if (file)
        fclose(file);
    return tracer > 0;
}
