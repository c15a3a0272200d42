/* SPDX-License-Identifier: BSD-3-Clause */

/* A debugger for each rank, which attaches to its process in a window of its own: of tmux where mpiexec
 * runs in one, else an xterm. */
#ifndef BNR_DEBUGGER_H
#define BNR_DEBUGGER_H

#include <stdbool.h>
#include <sys/types.h>

struct debugger {
    char *path;         /* of the debugger */
    char *window;       /* of tmux, or xterm */
    bool is_tmux;
};

/* Find both; name: gdb or lldb. Returns 0, or what to exit with and a sentence in why. */
int debugger_prepare(struct debugger *d, const char *name, char why[512]);
void debugger_fini(struct debugger *d);

/* Open the window of a rank, whose process is pid; in_fd is what reads nothing. Returns 0 with the
 * command's process in *command, or -errno. */
int debugger_open(const struct debugger *d, int rank, int pid, int in_fd, pid_t *command);

/* Whether some debugger has attached to a process. */
bool debugger_has(int pid);

#endif
