/* SPDX-License-Identifier: BSD-3-Clause */

/* vireo: what one asks of this library. `vireo ps` lists jobs, `vireo report` asks an mpiexec why
 * its job does not go on, and prints what that says, `vireo streams` shows what its ranks write,
 * `vireo info` tells what channels there are, and `vireo fortran` makes MPI's modules for a Fortran
 * compiler. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/client/door_link.h"
#include "bnr/tools/attach.h"
#include "bnr/tools/jobs.h"
#include "bnr/tools/reports.h"
#include "include/version.h"

enum {
    EXIT_USAGE = 2
};

static const char help_ps[] =
    "usage: vireo ps\n"
    "\n"
    "List your running jobs on this host: the process number of each mpiexec, the first\n"
    "digits of the job's id, by which hang reports call it, and the command. Jobs that a job has spawned stand behind it, set in.\n";

static const char help_streams[] =
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
    "Write standard input to that of a rank, which reads it through mpiexec.\n";

static const char help_report[] =
    "usage: vireo report [--alone] [JOB]\n"
    "\n"
    "Print what each rank of a running job waits for, which ranks are to blame where\n"
    "it does not go on, and why; behind it the same of jobs that it has spawned, and of\n"
    "your other jobs on this host that these reports name, as jobs do that are connected;\n"
    "--alone leaves the latter out. The jobs go on.\n"
    "\n"
    "JOB is the process number of its mpiexec, or of a process that it has started;\n"
    "with one job of yours on this host it can be left out. The same report comes on\n"
    "mpiexec's standard error at SIGQUIT (Ctrl-\\), and when --timeout ends the job.\n";

static const char help_info[] =
    "usage: vireo info\n"
    "\n"
    "List the channels that a process has here, their parameters, and why one is not\n"
    "open.\n";

static const char help_fortran[] =
    "usage: vireo fortran [--again] [FC=compiler]\n"
    "\n"
    "Make MPI's modules for a Fortran compiler, as mpifort does at its first use, and print\n"
    "the folder that they are in.\n";

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
    bool is_alone = words[0] && !strcmp(words[0], "--alone");
    words += is_alone;
    if (!words[0]) {
        int only = jobs_only("vireo");
        return only ? reports_print(only, is_alone) : EXIT_FAILURE;
    }
    long job = strtol(words[0], &end, 10);
    if (*end || end == words[0] || job <= 0 || job > INT32_MAX)
        return refuse("'report' takes the process number of a job's mpiexec", words[0]);
    if (words[1])
        return refuse("'report' takes one job", words[1]);
    return reports_print((int)job, is_alone);
}

static int list_jobs(char **words)
{
    if (words[0])
        return refuse("'ps' takes nothing behind it", words[0]);
    int jobs[JOBS_MAX], depth[JOBS_MAX], count = jobs_find(jobs, depth);
    for (int i = 0; i < count; i++)
        jobs_print(stdout, jobs[i], depth[i]);
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

/* Become a program that lies beside this one. */
static int become(const char *name, char **words)
{
    char path[4096], *argv[64] = {path};
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 16);
    for (int i = 0; words[i]; i++) {
        if (i == 62)
            return refuse("too many words", words[i]);
        argv[i + 1] = words[i];
    }
    if (len > 0) {
        path[len] = 0;
        strcat(path, name);
        execv(path, argv);
    }
    fprintf(stderr, "vireo: vireo%s cannot be started: %s; install MPI as a whole\n", name,
            strerror(errno));
    return EXIT_FAILURE;
}

/* The program that initializes MPI and tells. */
static int info(char **words)
{
    if (words[0])
        return refuse("'info' takes nothing behind it", words[0]);
    return become("-info", words);
}

/* The script that makes MPI's modules for a Fortran compiler. */
static int fortran(char **words)
{
    return become("-fortran", words);
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

static const struct {
    const char *name;
    int (*run)(char **words);
    const char *about; /* in a few words */
    const char *help;
} commands[] = {
    {"ps", list_jobs, "list your running jobs on this host", help_ps},
    {"streams", show_streams, "show what a job's ranks write, or write to their stdin", help_streams},
    {"report", report, "print what each rank waits for, and which are to blame", help_report},
    {"info", info, "list the channels of this host, and their parameters", help_info},
    {"fortran", fortran, "make MPI's modules for a Fortran compiler", help_fortran},
};

enum {
    COMMANDS = sizeof(commands) / sizeof(commands[0])
};

/* A line for each command. */
static void list_commands(FILE *to)
{
    fprintf(to, "usage: vireo COMMAND ...\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].about);
    fprintf(to, "\nvireo COMMAND --help tells more of one, vireo --help of all.\n");
}

/* The help of one command, or of all. */
static void print_help(const char *name)
{
    bool is_one = false, is_first = true;
    for (size_t i = 0; i < COMMANDS; i++)
        is_one |= !strcmp(commands[i].name, name);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (is_one && strcmp(commands[i].name, name))
            continue;
        printf("%s%s", is_first ? "" : "\n", commands[i].help);
        is_first = false;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        list_commands(stderr);
        return EXIT_USAGE;
    }
    if (asks_for_help(argv + 1)) {
        print_help(argv[1]);
        return EXIT_SUCCESS;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("vireo (Vireo MPI) %s\n", VIREO_VERSION);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argv + 2);
    return refuse("the commands are ps, streams, report, info and fortran", argv[1]);
}
