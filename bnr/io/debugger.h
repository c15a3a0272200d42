/* SPDX-License-Identifier: BSD-3-Clause */

/* A debugger for each rank, which attaches to its process in a window of its own: of tmux if
 * mpiexec runs in one, otherwise an xterm. On another host it is run by the command that starts
 * daemons there. */
#ifndef BNR_DEBUGGER_H
#define BNR_DEBUGGER_H

#include <stdbool.h>
#include <sys/types.h>

struct remote;

struct debugger {
    const char *name;
    char *path;         /* of the debugger */
    char *window;       /* of tmux, or xterm */
    bool is_tmux;
};

/* Find both; name: gdb or lldb. Returns 0, or what to exit with and a sentence in why. */
int debugger_prepare(struct debugger *d, const char *name, char why[512]);
void debugger_fini(struct debugger *d);

/* A rank's process. */
struct debugger_target {
    int rank, pid;
    const struct remote *remote; /* how a command runs on its host; NULL: it is this one */
    const char *host, *user;     /* for that */
};

/* Open the window of a rank; in_fd: a descriptor that reads nothing. Returns 0, or -errno. */
int debugger_open(const struct debugger *d, const struct debugger_target *target, int in_fd);

/* Whether some debugger has attached to a process. */
bool debugger_has(int pid);

#endif
