/* SPDX-License-Identifier: BSD-3-Clause */

/* A debugger for each rank, in a window of its own; see debugger.h. */
#include "bnr/io/debugger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/launch/launch.h"
#include "bnr/launch/remote.h"

enum {
    WORDS_MAX = 80 /* of a window and its debugger */
};

extern char **environ;

int debugger_prepare(struct debugger *d, const char *name, char why[512])
{
    const char *display = getenv("DISPLAY"), *tmux = getenv("TMUX");
    *d = (struct debugger){.name = name, .is_tmux = tmux && *tmux};
    if (!d->is_tmux && (!display || !*display)) {
        snprintf(why, 512, "there is no place for the windows of --debugger: run mpiexec in tmux, or "
                           "set DISPLAY for xterm; -gdb needs no windows");
        return LAUNCH_NOT_FOUND;
    }
    int rc = launch_find(name, &d->path, why);
    return rc ? rc : launch_find(d->is_tmux ? "tmux" : "xterm", &d->window, why);
}

void debugger_fini(struct debugger *d)
{
    free(d->path);
    free(d->window);
}

/* The words that attach the debugger to a process, to be released with one free(). */
static char **words_of(const struct debugger *d, const struct debugger_target *target)
{
    static const struct remote here = {.kind = REMOTE_COMMAND, .command = ""};
    char number[16];
    struct remote r = target->remote ? *target->remote : here;
    snprintf(number, sizeof(number), "%d", target->pid);
    r.daemon = target->remote ? d->name : d->path;
    r.argument[0] = "-p";
    r.argument[1] = number;
    r.has_terminal = true;
    return remote_words(&r, target->host, target->user);
}

int debugger_open(const struct debugger *d, const struct debugger_target *target, int in_fd)
{
    char title[32];
    char *of_tmux[] = {"tmux", "new-window", "-d", "-n", title}, *of_xterm[] = {"xterm", "-T", title, "-e"};
    char **around = d->is_tmux ? of_tmux : of_xterm, **words = words_of(d, target), *all[WORDS_MAX + 1];
    int n = d->is_tmux ? 5 : 4, pidfd = -1;
    const char *step;
    pid_t command;
    struct launch l = {.path = d->window,
                       .argv = all,
                       .envp = environ,
                       .stream = {in_fd, STDERR_FILENO, STDERR_FILENO},
                       .keep = {-1, -1, -1, -1}};
    if (!words)
        return -ENOMEM;
    snprintf(title, sizeof(title), "rank %d", target->rank);
    memcpy(all, around, (size_t)n * sizeof(*all));
    for (char **word = words; *word && n < WORDS_MAX; word++)
        all[n++] = *word;
    all[n] = NULL;
    int rc = launch_start(&l, &command, &pidfd, &step);
    if (pidfd >= 0)
        close(pidfd);
    free(words);
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
