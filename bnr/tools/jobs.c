/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that run on this host; see jobs.h. */
#include "bnr/tools/jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    DEPTH_MAX = 64,
    ID_WAIT_US = 500000,
    COMMAND_MAX = 70
};

/* The mpiexecs that listen in this space of process numbers. Returns how many. */
static int find_jobs(int jobs[JOBS_MAX])
{
    char line[512], name[64];
    int count = 0, len = door_name(name, DOOR_OF_JOB, 0);
    FILE *file = fopen("/proc/net/unix", "re");
    while (file && count < JOBS_MAX && fgets(line, sizeof(line), file)) {
        const char *at = strrchr(line, '@');
        int pid = at && !strncmp(at + 1, name, (size_t)len) ? atoi(at + 1 + len) : 0;
        bool known = pid <= 0;
        for (int i = 0; i < count; i++)
            known |= jobs[i] == pid;
        if (!known)
            jobs[count++] = pid;
    }
    if (file)
        fclose(file);
    return count;
}

/* The process that has started pid, or 0. */
static int parent_of(int pid)
{
    char path[32], text[512] = "";
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    const char *at = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
    if (at)
        (void)sscanf(at, ") %*c %d", &parent);
    if (file)
        fclose(file);
    return parent;
}

int jobs_connect(struct door_link *link, int job, enum door_wish wish)
{
    int rc = -ECONNREFUSED;
    for (int pid = job, depth = 0; pid > 1 && depth < DEPTH_MAX && rc == -ECONNREFUSED; depth++) {
        rc = door_link_open(link, DOOR_OF_JOB, pid, wish);
        pid = parent_of(pid);
    }
    return rc;
}

void jobs_explain(const char *who, int job, int rc)
{
    if (rc == -ECONNREFUSED && kill(job, 0) && errno == ESRCH)
        fprintf(stderr, "%s: there is no process %d: its job has ended\n", who, job);
    else if (rc == -ECONNREFUSED)
        fprintf(stderr,
                "%s: process %d is no mpiexec of this library, and belongs to no job of one; "
                "vireo ps lists the jobs\n",
                who, job);
    else
        fprintf(stderr, "%s: cannot ask %d: %s\n", who, job,
                rc == -EPERM ? "it is another user's, or another process listens in its name"
                             : strerror(-rc));
}

/* Whether a file of /proc belongs to our user; root sees all. */
static bool is_our_process(int pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d", pid);
    return !stat(path, &st) && (st.st_uid == geteuid() || geteuid() == 0);
}

void jobs_id(int job, char id[JOBS_ID_LEN + 1])
{
    struct timeval limit = {.tv_usec = ID_WAIT_US};
    struct door_link link;
    size_t len = 0;
    ssize_t n;
    *id = 0;
    if (door_link_open(&link, DOOR_OF_JOB, job, DOOR_JOB))
        return;
    setsockopt(link.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while (len < JOBS_ID_LEN && (n = read(link.fd, id + len, JOBS_ID_LEN - len)) > 0)
        len += (size_t)n;
    id[len] = 0;
    if (strspn(id, "0123456789abcdef") < JOBS_ID_LEN)
        *id = 0;
    door_link_close(&link);
}

void jobs_print(FILE *to, int pid, int depth)
{
    char path[32], text[COMMAND_MAX], id[JOBS_ID_LEN + 1];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
    jobs_id(pid, id);
    fprintf(to, "%8d  %-*s  %*s", pid, JOBS_ID_LEN, *id ? id : "?", 2 * depth, "");
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        fclose(file);
    while (len && !text[len - 1])
        len--;
    for (size_t i = 0; i < len; i++)
        fputc(text[i] > ' ' && text[i] <= '~' ? text[i] : text[i] ? '?' : ' ', to);
    fputc('\n', to);
}

/* The nearest of these jobs above a process, or 0. */
static int job_above(int pid, const int *jobs, int count)
{
    for (int up = 0; up < DEPTH_MAX && (pid = parent_of(pid)) > 1; up++)
        for (int i = 0; i < count; i++)
            if (jobs[i] == pid)
                return pid;
    return 0;
}

struct job_tree {
    int found[JOBS_MAX], above[JOBS_MAX], found_count;
    int *jobs, *depth, count; /* in their order */
};

static void put_below(struct job_tree *t, int job, int depth)
{
    for (int i = 0; i < t->found_count; i++) {
        if (t->above[i] != job)
            continue;
        t->above[i] = -1; /* it is put */
        t->jobs[t->count] = t->found[i];
        t->depth[t->count++] = depth;
        put_below(t, t->found[i], depth + 1);
    }
}

int jobs_find(int jobs[JOBS_MAX], int depth[JOBS_MAX])
{
    struct job_tree t = {.jobs = jobs, .depth = depth};
    int all = find_jobs(t.found);
    for (int i = 0; i < all; i++)
        if (is_our_process(t.found[i]))
            t.found[t.found_count++] = t.found[i];
    for (int i = 0; i < t.found_count; i++)
        t.above[i] = job_above(t.found[i], t.found, t.found_count);
    put_below(&t, 0, 0);
    return t.count;
}

int jobs_only(const char *who)
{
    int jobs[JOBS_MAX], depth[JOBS_MAX], count = jobs_find(jobs, depth), ours = 0;
    for (int i = 0; i < count; i++)
        ours += !depth[i];
    if (ours == 1)
        return jobs[0];
    fprintf(stderr,
            ours ? "%s: several jobs run here; name one by its number:\n"
                 : "%s: no job of yours runs here\n",
            who);
    for (int i = 0; i < count; i++)
        jobs_print(stderr, jobs[i], depth[i]);
    return 0;
}
