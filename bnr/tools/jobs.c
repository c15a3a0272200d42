/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that run on this host; see jobs.h. */
#include "bnr/tools/jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEPTH_MAX = 64,
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

void jobs_print_command(FILE *to, int pid)
{
    char path[32], text[COMMAND_MAX];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        fclose(file);
    while (len && !text[len - 1])
        len--;
    for (size_t i = 0; i < len; i++)
        fputc(text[i] > ' ' && text[i] <= '~' ? text[i] : text[i] ? '?' : ' ', to);
}

int jobs_find(int jobs[JOBS_MAX])
{
    int count = find_jobs(jobs), ours = 0;
    for (int i = 0; i < count; i++)
        if (is_our_process(jobs[i]))
            jobs[ours++] = jobs[i];
    return ours;
}

int jobs_only(const char *who)
{
    int jobs[JOBS_MAX], ours = jobs_find(jobs);
    if (ours == 1)
        return jobs[0];
    fprintf(stderr,
            ours ? "%s: several jobs run here; name one by its number:\n"
                 : "%s: no job of yours runs here\n",
            who);
    for (int i = 0; i < ours; i++) {
        fprintf(stderr, "  %d  ", jobs[i]);
        jobs_print_command(stderr, jobs[i]);
        fputc('\n', stderr);
    }
    return 0;
}
