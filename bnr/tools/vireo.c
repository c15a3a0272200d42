/* SPDX-License-Identifier: BSD-3-Clause */

/* vireo: what one asks of this library. `vireo ps` lists jobs, `vireo report` asks an mpiexec why
 * its job does not go on, and prints what that says, `vireo streams` shows what its ranks write,
 * and `vireo info` tells what channels there are. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bnr/client/door_link.h"
#include "bnr/tools/attach.h"
#include "include/version.h"

enum {
    EXIT_USAGE = 2,
    ANSWER_S = 60,
    JOBS_MAX = 256,
    DEPTH_MAX = 64,
    COMMAND_MAX = 70
};

static const char help[] =
    "usage: vireo ps\n"
    "\n"
    "List your running jobs on this host: the process number of each mpiexec, and its\n"
    "command.\n"
    "\n"
    "usage: vireo streams [JOB] [--rank LIST] [--tag T] [--from oldest|now|OFFSET]\n"
    "                     [--reliable]\n"
    "\n"
    "Show what the ranks of a running job write from now on, until it ends. LIST is as\n"
    "0-3,7; T is stdout, stderr, the number of a program's own stream, or any. The job\n"
    "goes on as if nobody looked: what comes faster than it can be shown is left out,\n"
    "and said, unless --reliable makes the ranks wait.\n"
    "\n"
    "usage: vireo streams [JOB] --stdin [--rank RANK]\n"
    "\n"
    "Write standard input to that of a rank, which reads it through mpiexec.\n"
    "\n"
    "usage: vireo report [JOB]\n"
    "\n"
    "Print what each rank of a running job waits for, which ranks are to blame where\n"
    "it does not go on, and why. The job goes on.\n"
    "\n"
    "JOB is the process number of its mpiexec, or of a process that it has started;\n"
    "with one job of yours on this host it can be left out. The same report comes on\n"
    "mpiexec's standard error at SIGQUIT (Ctrl-\\), and when --timeout ends the job.\n"
    "\n"
    "usage: vireo info\n"
    "\n"
    "List the channels that a process has here, their parameters, and why one is not\n"
    "open.\n";

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

/* A link to the mpiexec with this number, or to that above a process of its job. Returns 0 or
 * -errno. */
static int connect_above(struct door_link *link, int job, enum door_wish wish)
{
    int rc = -ECONNREFUSED;
    for (int pid = job, depth = 0; pid > 1 && depth < DEPTH_MAX && rc == -ECONNREFUSED; depth++) {
        rc = door_link_open(link, DOOR_OF_JOB, pid, wish);
        pid = parent_of(pid);
    }
    return rc;
}

static void explain(int job, int rc)
{
    if (rc == -ECONNREFUSED && kill(job, 0) && errno == ESRCH)
        fprintf(stderr, "vireo: there is no process %d: its job has ended\n", job);
    else if (rc == -ECONNREFUSED)
        fprintf(stderr,
                "vireo: process %d is no mpiexec of this library, and belongs to no job of one; "
                "vireo report without a number finds the jobs\n",
                job);
    else
        fprintf(stderr, "vireo: cannot ask %d: %s\n", job,
                rc == -EPERM ? "it is another user's, or another process listens in its name"
                             : strerror(-rc));
}

/* Ranks write parts of a report: nothing of theirs may steer the terminal. */
static void make_plain(char *text, ssize_t len)
{
    for (ssize_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
            text[i] = '?';
}

static int report(int job)
{
    char text[4096];
    ssize_t len, any = 0;
    struct timeval limit = {.tv_sec = ANSWER_S};
    struct door_link link;
    int rc = connect_above(&link, job, DOOR_REPORT);
    if (rc) {
        explain(job, rc);
        return EXIT_FAILURE;
    }
    setsockopt(link.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while ((len = read(link.fd, text, sizeof(text))) > 0) {
        any = 1;
        make_plain(text, len);
        if (fwrite(text, 1, (size_t)len, stdout) != (size_t)len)
            break;
    }
    door_link_close(&link);
    if (len || !any || fflush(stdout)) {
        fprintf(stderr, "vireo: %s\n",
                len > 0   ? "the report could not be written"
                : any     ? "the report broke off"
                : len < 0 ? "mpiexec does not answer"
                          : "mpiexec has ended, or refuses to answer this user");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/* Whether a file of /proc belongs to our user; root sees all. */
static bool is_our_process(int pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d", pid);
    return !stat(path, &st) && (st.st_uid == geteuid() || geteuid() == 0);
}

/* The command of a process, on one line cut to width. */
static void print_command(FILE *to, int pid)
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

/* The jobs of our user, for root all. Returns how many. */
static int find_our_jobs(int jobs[JOBS_MAX])
{
    int count = find_jobs(jobs), ours = 0;
    for (int i = 0; i < count; i++)
        if (is_our_process(jobs[i]))
            jobs[ours++] = jobs[i];
    return ours;
}

static int list_jobs(void)
{
    int jobs[JOBS_MAX], count = find_our_jobs(jobs);
    for (int i = 0; i < count; i++) {
        printf("%8d  ", jobs[i]);
        print_command(stdout, jobs[i]);
        putchar('\n');
    }
    return EXIT_SUCCESS;
}

/* Root may look at each job, and is told whose it is. */
static void warn_root(int pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d", pid);
    if (geteuid() == 0 && !stat(path, &st) && st.st_uid)
        fprintf(stderr, "vireo: this job belongs to user %u; you see it since you are root\n",
                (unsigned)st.st_uid);
}

/* The only job of ours, or 0, after saying which there are. */
static int only_job(void)
{
    int jobs[JOBS_MAX], ours = find_our_jobs(jobs);
    if (ours == 1)
        return jobs[0];
    fputs(ours ? "vireo: several jobs run here; name one by its number:\n"
               : "vireo: no job of yours runs here\n",
          stderr);
    for (int i = 0; i < ours; i++) {
        fprintf(stderr, "  %d  ", jobs[i]);
        print_command(stderr, jobs[i]);
        fputc('\n', stderr);
    }
    return 0;
}

static int show_streams(int argc, char **argv)
{
    struct attach a;
    struct door_link link;
    if (attach_parse(&a, argc, argv))
        return EXIT_USAGE;
    int job = a.job ? a.job : only_job();
    int rc = job ? connect_above(&link, job, DOOR_STREAMS) : 0;
    if (rc)
        explain(job, rc);
    if (!job || rc)
        return EXIT_FAILURE;
    warn_root(job);
    rc = attach_run(&a, &link);
    door_link_close(&link);
    return rc;
}

/* Become the program that initializes MPI and tells. It lies beside this one. */
static int info(void)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 16);
    if (len > 0) {
        path[len] = 0;
        strcat(path, "-info");
        execl(path, path, (char *)NULL);
    }
    fprintf(stderr, "vireo: vireo-info cannot be started: %s; install MPI as a whole\n",
            strerror(errno));
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        printf("vireo (Vireo MPI) %s\n", VIREO_VERSION);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && !strcmp(argv[1], "info"))
        return info();
    if (argc == 2 && !strcmp(argv[1], "ps"))
        return list_jobs();
    if (argc >= 2 && !strcmp(argv[1], "streams"))
        return show_streams(argc - 2, argv + 2);
    if (argc < 2 || argc > 3 || strcmp(argv[1], "report")) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    char *end = NULL;
    long job = argc == 3 ? strtol(argv[2], &end, 10) : only_job();
    if (argc == 3 && (*end || end == argv[2] || job <= 0 || job > INT32_MAX)) {
        fprintf(stderr, "vireo: '%s' is no process number\n", argv[2]);
        return EXIT_USAGE;
    }
    return job ? report((int)job) : EXIT_FAILURE;
}
