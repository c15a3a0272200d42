/* SPDX-License-Identifier: BSD-3-Clause */

/* Process groups that outlive their rank's process; see leftovers.h. */
#include "bnr/io/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/file.h"

enum {
    LOOK_MS = 5,      /* before the first look, */
    LOOK_MAX_MS = 100 /* and at most between later ones */
};

struct leftovers_target {
    dev_t device;
    ino_t inode; /* 0: nobody waits for its output */
};

struct leftovers_group {
    struct leftovers_target output[2];
    pid_t pid; /* 0: the rank's process lives, or its group is gone */
    int status;
    bool is_in_grace, lives, holds; /* lives, holds: found by the last look at processes */
    uint64_t until_ns;
};

/* ---- what processes of the group do ---- */

/* Bytes written there reach somebody, or stay. */
static bool is_kept(int fd, mode_t mode)
{
    return S_ISFIFO(mode) || S_ISREG(mode) || S_ISSOCK(mode) || isatty(fd);
}

void leftovers_note_output(struct leftovers *l, int rank, int i, int fd)
{
    struct stat st;
    if (!fstat(fd, &st) && is_kept(fd, st.st_mode))
        l->groups[rank].output[i] = (struct leftovers_target){st.st_dev, st.st_ino};
}

static bool is_output(const struct leftovers_group *g, const struct stat *st)
{
    for (int i = 0; i < 2; i++)
        if (g->output[i].inode && g->output[i].inode == st->st_ino &&
            g->output[i].device == st->st_dev)
            return true;
    return false;
}

/* Whether a process has the output of its group open. One that hides its descriptors may. */
static bool holds(const struct leftovers_group *g, int pid)
{
    char path[64];
    struct stat st;
    bool is_found = false;
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *fds = opendir(path);
    if (!fds)
        return errno != ENOENT && errno != ESRCH;
    for (struct dirent *e; !is_found && (e = readdir(fds));)
        is_found = e->d_name[0] != '.' && !fstatat(dirfd(fds), e->d_name, &st, 0) &&
                   is_output(g, &st);
    closedir(fds);
    return is_found;
}

/* The group of a process that is no zombie; 0: there is none. *is_half: its first thread has ended,
 * and others have not. */
static pid_t group_of(int pid, bool *is_half)
{
    char path[64], text[1024], state;
    int group, threads;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    (void)os_read_start(path, text, sizeof(text));
    const char *after = strrchr(text, ')'); /* the name may hold anything */
    if (!after || sscanf(after + 1,
                         " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
                         &state, &group, &threads) != 3)
        return 0;
    bool is_dead = strchr("ZXx", state);
    *is_half = is_dead && threads > 1;
    return is_dead && !*is_half ? 0 : group;
}

static struct leftovers_group *find(struct leftovers *l, pid_t pid)
{
    for (int i = 0; pid && i < l->ranks; i++)
        if (l->groups[i].pid == pid)
            return &l->groups[i];
    return NULL;
}

/* Note what living processes do in each group; where processes cannot be seen, the worst. */
static void look_at_processes(struct leftovers *l)
{
    DIR *proc = opendir("/proc");
    for (int i = 0; i < l->ranks; i++)
        l->groups[i].lives = l->groups[i].holds = !proc;
    if (!proc)
        return;
    for (struct dirent *e; (e = readdir(proc));) {
        bool is_half = false;
        int pid = atoi(e->d_name);
        struct leftovers_group *g = pid > 0 ? find(l, group_of(pid, &is_half)) : NULL;
        if (!g)
            continue;
        g->lives = true;
        g->holds = g->holds || is_half || holds(g, pid);
    }
    closedir(proc);
}

/* ---- their ends ---- */

static void end(struct leftovers *l, int rank)
{
    struct leftovers_group *g = &l->groups[rank];
    g->pid = 0;
    l->count--;
    l->over(l->arg, rank, g->status);
}

void leftovers_look(struct leftovers *l)
{
    for (int i = 0; l->count && i < l->ranks; i++)
        if (l->groups[i].pid && kill(-l->groups[i].pid, 0))
            end(l, i);
}

static void on_timer(uv_timer_t *timer);

static void arm(struct leftovers *l)
{
    if (l->is_watching && l->count && !uv_is_active((uv_handle_t *)&l->timer))
        uv_timer_start(&l->timer, on_timer, l->pause_ms, 0);
}

/* Looks become rarer, and take a fifth of the time at most: a host may have many processes. */
static void on_timer(uv_timer_t *timer)
{
    struct leftovers *l = timer->data;
    uint64_t begin = os_now_ns();
    look_at_processes(l);
    uint64_t now = os_now_ns();
    for (int i = 0; l->count && i < l->ranks; i++) {
        const struct leftovers_group *g = &l->groups[i];
        bool goes_on = g->lives && (g->is_in_grace || (g->holds && now < g->until_ns));
        if (!g->pid || goes_on)
            continue;
        (void)kill(-g->pid, SIGKILL);
        end(l, i);
    }
    l->pause_ms = 2 * l->pause_ms < LOOK_MAX_MS ? 2 * l->pause_ms : LOOK_MAX_MS;
    l->pause_ms += 4 * (now - begin) / 1000000;
    uv_update_time(timer->loop);
    arm(l);
}

void leftovers_add(struct leftovers *l, int rank, pid_t pid, int status, bool is_in_grace)
{
    struct leftovers_group *g = &l->groups[rank];
    g->pid = pid;
    g->status = status;
    g->is_in_grace = is_in_grace;
    g->until_ns = os_now_ns() + l->hold_ns;
    l->count++;
    if (!l->is_watching && !is_in_grace) {
        (void)kill(-pid, SIGKILL);
        end(l, rank);
        return;
    }
    l->pause_ms = LOOK_MS;
    arm(l);
}

bool leftovers_has(const struct leftovers *l, int rank)
{
    return l->groups[rank].pid != 0;
}

/* ---- life ---- */

int leftovers_init(struct leftovers *l, int ranks, void (*over)(void *arg, int rank, int status),
                   void *arg)
{
    *l = (struct leftovers){.ranks = ranks, .over = over, .arg = arg};
    l->groups = calloc((size_t)ranks, sizeof(*l->groups));
    return l->groups ? 0 : -ENOMEM;
}

void leftovers_fini(struct leftovers *l)
{
    free(l->groups);
    l->groups = NULL;
}

void leftovers_watch(struct leftovers *l, uv_loop_t *loop, uint64_t hold_ms)
{
    uv_timer_init(loop, &l->timer);
    l->timer.data = l;
    l->hold_ns = hold_ms * 1000000;
    l->is_watching = true;
}

void leftovers_unwatch(struct leftovers *l)
{
    if (l->is_watching)
        uv_close((uv_handle_t *)&l->timer, NULL);
    l->is_watching = false;
}
