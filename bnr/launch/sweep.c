/* SPDX-License-Identifier: BSD-3-Clause */

/* Killing all descendants; see sweep.h. */
#include "bnr/launch/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/file.h"

#define LIMIT_NS 2000000000u

int sweep_prepare(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1) ? -errno : 0;
}

static int finish(pid_t pid, pid_t spared)
{
    if (pid <= 1 || pid == spared)
        return 0;
    kill(pid, SIGKILL);
    return 1;
}

/* Kill the children that the kernel lists. Returns how many, or -errno where it has no list. */
static int kill_listed(pid_t spared)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    ssize_t n = os_read_start(path, text, sizeof(text));
    if (n < 0)
        return (int)n;
    if (n == (ssize_t)sizeof(text) - 1) /* the last number may be cut: it comes again */
        *strrchr(text, ' ') = 0;
    int killed = 0;
    for (char *at = text, *end;; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        killed += finish((pid_t)pid, spared);
    }
    return killed;
}

static pid_t parent_of(const char *name)
{
    char path[300], text[512];
    snprintf(path, sizeof(path), "/proc/%s/stat", name);
    (void)os_read_start(path, text, sizeof(text));
    int parent = 0;
    const char *after = strrchr(text, ')'); /* the name may hold anything */
    return after && sscanf(after + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* The same by looking at every process. */
static int kill_found(pid_t spared)
{
    DIR *proc = opendir("/proc");
    int killed = 0;
    if (!proc)
        return 0;
    for (struct dirent *e; (e = readdir(proc));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && parent_of(e->d_name) == getpid())
            killed += finish((pid_t)atoi(e->d_name), spared);
    closedir(proc);
    return killed;
}

/* Reap all that have ended, but leave spared's end to who waits for it. */
static void reap(pid_t spared)
{
    siginfo_t info;
    for (;;) {
        memset(&info, 0, sizeof(info));
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid ||
            info.si_pid == spared)
            return;
        waitpid(info.si_pid, NULL, 0);
    }
}

int sweep_children(pid_t spared)
{
    uint64_t until = os_now_ns() + LIMIT_NS;
    int total = 0;
    do {
        reap(spared);
        int killed = kill_listed(spared);
        if (killed < 0)
            killed = kill_found(spared);
        if (!killed)
            break;
        total += killed;
        usleep(500);
    } while (os_now_ns() < until);
    return total;
}
