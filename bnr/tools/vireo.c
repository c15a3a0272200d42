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
#include "bnr/tools/jobs.h"
#include "include/version.h"

enum {
    EXIT_USAGE = 2,
    ANSWER_S = 60
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

/* Ranks write parts of a report: nothing of theirs may steer the terminal. */
static void make_plain(char *text, ssize_t len)
{
    for (ssize_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
            text[i] = '?';
}

static int print_report(int job)
{
    char text[4096];
    ssize_t len, any = 0;
    struct timeval limit = {.tv_sec = ANSWER_S};
    struct door_link link;
    int rc = jobs_connect(&link, job, DOOR_REPORT);
    if (rc) {
        jobs_explain("vireo", job, rc);
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

/* Say that a word has no place. */
static int refuse(const char *what, const char *word)
{
    fprintf(stderr, "vireo: %s, not '%s'; vireo --help tells more\n", what, word);
    return EXIT_USAGE;
}

/* Each command takes the words behind its name, up to NULL, and returns the exit status. */

static int report(char **words)
{
    char *end = NULL;
    if (!words[0]) {
        int only = jobs_only("vireo");
        return only ? print_report(only) : EXIT_FAILURE;
    }
    long job = strtol(words[0], &end, 10);
    if (*end || end == words[0] || job <= 0 || job > INT32_MAX)
        return refuse("'report' takes the process number of a job's mpiexec", words[0]);
    if (words[1])
        return refuse("'report' takes one job", words[1]);
    return print_report((int)job);
}

static int list_jobs(char **words)
{
    if (words[0])
        return refuse("'ps' takes nothing behind it", words[0]);
    int jobs[JOBS_MAX], count = jobs_find(jobs);
    for (int i = 0; i < count; i++) {
        printf("%8d  ", jobs[i]);
        jobs_print_command(stdout, jobs[i]);
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

static int show_streams(char **words)
{
    struct attach a;
    struct door_link link;
    if (attach_parse(&a, words))
        return EXIT_USAGE;
    int job = a.job ? a.job : jobs_only("vireo");
    int rc = job ? jobs_connect(&link, job, DOOR_STREAMS) : 0;
    if (rc)
        jobs_explain("vireo", job, rc);
    if (!job || rc)
        return EXIT_FAILURE;
    warn_root(job);
    rc = attach_run(&a, &link);
    door_link_close(&link);
    return rc;
}

/* Become the program that initializes MPI and tells. It lies beside this one. */
static int info(char **words)
{
    char path[4096];
    if (words[0])
        return refuse("'info' takes nothing behind it", words[0]);
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

/* Whether one of the words asks what there is. */
static bool asks_for_help(char **words)
{
    if (!strcmp(words[0], "help"))
        return true;
    for (; *words; words++)
        if (!strcmp(*words, "--help") || !strcmp(*words, "-h"))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(char **words);
    } commands[] = {
        {"ps", list_jobs}, {"streams", show_streams}, {"report", report}, {"info", info}};
    if (argc < 2) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    if (asks_for_help(argv + 1)) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("vireo (Vireo MPI) %s\n", VIREO_VERSION);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argv + 2);
    return refuse("the commands are ps, streams, report and info", argv[1]);
}
