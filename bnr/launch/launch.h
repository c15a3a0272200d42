/* SPDX-License-Identifier: BSD-3-Clause */

/* Start one process: find the program, and run it with given streams. */
#ifndef BNR_LAUNCH_H
#define BNR_LAUNCH_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The processors and memory that a process is bound to. */
struct launch_binding {
    const cpu_set_t *cpus; /* of cpus_len bytes; NULL: none */
    size_t cpus_len;
    bool has_policy;
    int policy; /* of memory, as set_mempolicy() has them */
    const unsigned long *nodes;
    unsigned long node_count;
};

struct launch {
    const char *path;  /* the path that launch_resolve() found */
    char *const *argv; /* NULL-terminated */
    char *const *envp;
    const char *wdir; /* NULL: stay */
    int stream[3];    /* become descriptors 0, 1, 2 */
    int keep[4];      /* inherited under their own numbers; -1: none */
    bool stops; /* at the program's first instruction, as by SIGSTOP */
    bool has_terminal; /* the streams are one, which is to control it */
    struct launch_binding binding;
};

/* The status that a shell would exit with, too. */
enum launch_outcome {
    LAUNCH_NOT_EXECUTABLE = 126,
    LAUNCH_NOT_FOUND = 127,
};

/* Find name as execvp() would after chdir(wdir), along search, a PATH (may be NULL). Returns 0 with
 * path, or an outcome with a sentence in why. */
int launch_resolve(const char *name, const char *wdir, const char *search, char *path, size_t size,
                   char why[512]);
/* The same in the folders of first (NULL: none), then in those of search. */
int launch_seek(const char *name, const char *wdir, const char *first, const char *search,
                char path[PATH_MAX], char why[512]);

/* Find name along this process's PATH. Returns 0 with *path, the caller's to free, or an outcome. */
int launch_find(const char *name, char **path, char why[512]);

/* The value of a variable in an environment, or NULL. */
const char *launch_variable(char *const *environment, const char *name);

/* Start the process as leader of its own process group, with a terminal of its own session; the
 * kernel kills it when the calling thread ends. Its limits and signals are those that this process
 * was started with (bnr/launch/limit.h, bnr/launch/start_signals.h). Returns 0 with *pid and in *pidfd a descriptor of it (-1: the kernel gives none), or -errno
 * with the step that failed in *step. */
int launch_start(const struct launch *l, pid_t *pid, int *pidfd, const char **step);

/* Write why step failed with rc in a start of path, and the cure. Returns the matching outcome of a
 * shell. */
int launch_explain(const char *path, int rc, const char *step, char *why, size_t size);

#endif
