/* SPDX-License-Identifier: BSD-3-Clause */

/* Killing all descendants; see sweep.h. */
#include "bnr/launch/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/file.h"

#define LIMIT_NS 2000000000u

enum { LIST_STEP = 4096 };

/* The children from before the job, by number and start time: the number alone may be given to
 * another process. */
struct earlier_child {
    pid_t pid;
    unsigned long long start;
};
static struct earlier_child *earlier;
static size_t earlier_count;

struct origin {
    pid_t parent;
    unsigned long long start; /* in ticks since boot */
};

static struct origin origin_of(pid_t pid)
{
    struct origin o = {0, 0};
    char path[64], text[1024];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    (void)os_read_start(path, text, sizeof(text));
    const char *after = strrchr(text, ')'); /* the name may hold anything */
    if (after && sscanf(after + 1,
                        " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                        "%*d %*d %llu",
                        &parent, &o.start) == 2)
        o.parent = parent;
    return o;
}

/* ---- listing children ---- */

typedef void (*child_fn)(pid_t pid, void *arg);

/* All that the kernel lists, to free(); NULL with errno: it has no list. */
static char *read_list(void)
{
    char path[64], *text = NULL;
    size_t len = 0, room = 0;
    ssize_t n = -1;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0) {
        char *grown = len + 1 < room ? text : realloc(text, room += LIST_STEP);
        text = grown ? grown : text;
        n = grown ? read(fd, text + len, room - len - 1) : -1;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[len] = 0;
    return text;
}

/* Call fn for the children that the kernel lists. Returns 0, or -1: it has no list. */
static int each_listed(child_fn fn, void *arg)
{
    char *text = read_list(), *end;
    for (char *at = text; at; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        fn((pid_t)pid, arg);
    }
    free(text);
    return text ? 0 : -1;
}

/* The same by looking at every process. */
static void each_found(child_fn fn, void *arg)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (struct dirent *e; (e = readdir(proc));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
            origin_of((pid_t)atoi(e->d_name)).parent == getpid())
            fn((pid_t)atoi(e->d_name), arg);
    closedir(proc);
}

static void each_child(child_fn fn, void *arg)
{
    if (each_listed(fn, arg))
        each_found(fn, arg);
}

/* ---- children from before ---- */

static void remember(pid_t pid, void *arg)
{
    (void)arg;
    struct earlier_child *more = realloc(earlier, (earlier_count + 1) * sizeof(*more));
    if (!more)
        return;
    earlier = more;
    earlier[earlier_count++] = (struct earlier_child){pid, origin_of(pid).start};
}

static bool is_earlier(pid_t pid)
{
    for (size_t i = 0; i < earlier_count; i++)
        if (earlier[i].pid == pid)
            return earlier[i].start == origin_of(pid).start;
    return false;
}

static bool has_children(void)
{
    siginfo_t info;
    return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) || errno != ECHILD;
}

int sweep_prepare(void)
{
    if (has_children())
        each_child(remember, NULL);
    return prctl(PR_SET_CHILD_SUBREAPER, 1) ? -errno : 0;
}

/* ---- killing ---- */

struct round {
    const pid_t *keep;
    int seen, alive; /* alive: killed, and not yet reaped */
};

static void finish(pid_t pid, void *arg)
{
    struct round *round = arg;
    for (const pid_t *keep = round->keep; *keep; keep++)
        if (*keep == pid)
            return;
    if (pid <= 1 || is_earlier(pid))
        return;
    round->seen++;
    kill(pid, SIGKILL);
    round->alive += waitpid(pid, NULL, WNOHANG) == 0;
}

void sweep_children(const pid_t *keep)
{
    uint64_t until = os_now_ns() + LIMIT_NS;
    struct round round;
    do {
        round = (struct round){keep, 0, 0};
        each_child(finish, &round);
        if (round.alive)
            usleep(500);
    } while (round.seen && os_now_ns() < until); /* the children of a dead one come next */
}
