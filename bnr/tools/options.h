/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The command line of mpiexec: one table of options, in both common dialects,
 * which the parser, --help and the manual page share.
 *
 *   mpiexec [options] program [arguments] [: [options] program [arguments]]...
 *
 * Each spelling works with one dash or two; a value is the next word or
 * follows "=". Options end at the first word that is none, or at "--". Most
 * options hold for the whole job wherever they stand; those of a program
 * (-n, -env, -x, -envlist, -wdir) hold for the program after them.
 *
 * Nothing is ignored in silence: an option is in the table, or it is refused
 * with the nearest name. Options of other launchers that change nothing on one
 * host are in the table and marked so; those that ask for what mpiexec cannot do
 * are in the table with the sentence that says so.
 */
#ifndef BNR_OPTIONS_H
#define BNR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bnr/core/place/start_wish.h"
#include "bnr/stdio/outfile.h"
#include "bnr/wire/hosts.h"

enum options_help {
    OPTIONS_HELP_NONE,
    OPTIONS_HELP_TEXT,
    OPTIONS_HELP_MAN,
    OPTIONS_HELP_SETTINGS,
    OPTIONS_HELP_TABLE,
    OPTIONS_HELP_ALL
};

/* Which of mpiexec's own variables a process gets. */
enum options_pass {
    OPTIONS_PASS_DEFAULT,
    OPTIONS_PASS_ALL,
    OPTIONS_PASS_NONE,
    OPTIONS_PASS_LIST
};

/* Changes of the environment, in the order given. */
struct option_env {
    enum options_pass pass;
    char **list;    /* names that pass when pass is OPTIONS_PASS_LIST; NULL-terminated */
    char **without; /* names that do not pass; NAME* for all that begin so; NULL-terminated */
    char **set;     /* "NAME=VALUE", a later one replaces an earlier; NULL-terminated */
};

/* One program of the job: its ranks follow those of the program before. */
struct option_app {
    int count;        /* processes, at least 1 */
    int per_node;     /* at most so many on each host; 0: not given */
    char **argv;      /* NULL-terminated; argv[0] as the user wrote it */
    const char *path; /* folders to seek it in before those of PATH, or NULL */
    const char *wdir; /* directory to start in, as written, or NULL */
    bool in_session;  /* without it, each process starts in a folder of its own */
    const char *pset; /* the name of its process set, or NULL */
    const char *behind; /* the option before it that could have had a value, or NULL */
    struct option_env env;
};

enum option_launcher {
    OPTION_LAUNCHER_ANY, /* while options are read: chosen by the list of hosts */
    OPTION_LAUNCHER_SSH,
    OPTION_LAUNCHER_SRUN
};

/* How daemons are started on other hosts. */
struct option_remote {
    const char *command;  /* of --launcher-cmd, or NULL */
    enum option_launcher launcher;
    const char *program;  /* in place of ssh or srun, or NULL */
    const char *agent;    /* in place of ssh alone: a program with its options, or NULL */
    const char *ssh_more, *srun_more; /* words behind those of ssh and of srun, or NULL */
    const char *prefix;   /* this library's folder there, or NULL: as here */
    bool is_piped;        /* daemons are linked by the launcher's own pipes */
    int per_host;         /* -ppn; 0: not given */
};

struct options {
    struct option_app *apps;
    int napps;                       /* 0 only with help or version */
    int nranks;                      /* sum of the apps' counts */
    struct hosts hosts;              /* those named, or allocated; none: this host alone */
    bool label, stamps, hosts_shown; /* the rank, the time, the host begin each line */
    bool json, xml;                  /* each line becomes a JSON object, or an XML element */
    const char *xml_file;            /* for these; NULL: mpiexec's stdout */
    bool is_background;              /* mpiexec goes there before ranks start */
    bool shows_settings;             /* those in force, before ranks start */
    bool colors;                     /* in the color of the rank, on a terminal */
    const char *prefix;              /* each line's beginning, as prefix.h has it; NULL: nothing */
    bool verbose, shows_progress;
    bool report;
    bool check;   /* collective calls across ranks */
    bool merge;   /* stderr goes where stdout goes */
    bool goes_on; /* when a rank fails, the others are left alone */
    bool is_strict; /* they are not, whatever the ranks ask for */
    bool version;
    const char *debugger; /* one a rank, in a window; or NULL */
    bool has_totalview;   /* mpiexec runs under it */
    bool has_keepalive;   /* the job ends with what the descriptor reads */
    int keepalive_fd;
    bool attaches; /* print the processes of a job that runs, and exit */
    int attach_job; /* 0: the only one */
    enum options_help help;
    double timeout_s; /* 0: none; from --timeout, or MPIEXEC_TIMEOUT */
    const char *stdin_file; /* in the place of mpiexec's own, for rank 0; or NULL */
    struct option_env env; /* for every program, before its own */
    struct outfile files;
    struct start_wish start;
    char **words;                       /* made from files and other words; NULL-terminated */
    const char *report_pid, *proctable; /* where to write them: -, + or a file; NULL: nowhere */
    bool tells_codes, tells_times;
    int universe_size; /* at least nranks; 0: not given */
    int pretend_hosts; /* 0: not given */
    struct option_remote remote;
    const char *doubt; /* what mpiexec is to say before it starts ranks, or NULL */
    char **settings; /* "VIREO_NAME=VALUE" of --set and --report; NULL-terminated */
};

/* Parse argv[1..argc-1] into o. Strings of argv are borrowed and must outlive o.
 * Returns 0, -ENOMEM, or -EINVAL with one sentence in why (no newline, no
 * "mpiexec:"), which names the word, the reason and the cure. On failure o
 * holds nothing. */
int options_parse(struct options *o, int argc, char **argv, char *why, size_t size);

/* How many objects of the kind o->start.map the hosts of the job have together, which other hosts
 * tell: the number of processes follows from it. Returns 0, or -errno with a sentence in why. */
struct options_ask {
    int (*objects)(void *arg, const struct options *o, uint64_t *count, char why[512]);
    void *arg;
};

/* The same, where other hosts can be asked. Returns what ask has failed with, too. */
int options_parse_asking(struct options *o, int argc, char **argv, const struct options_ask *ask,
                         char why[512]);

/* Free a NULL-terminated list and its strings; NULL: nothing. */
void options_free_list(char **list);

/* Release what o holds. Accepts a zeroed o. */
void options_free(struct options *o);

/* Compose the environment of app's processes: the passed part of base (environ), then settings, the
 * job's variables, the app's, and last extra (the launcher's own; may be NULL). A later value of a
 * name replaces an earlier. Returns a NULL-terminated array to release with one free(); its strings
 * are borrowed from the arguments. NULL when memory is out. */
char **options_environ(const struct options *o, const struct option_app *app, char *const *base,
                       char *const *extra);

/* Print what o->help asks for: what people use on one screen, all options, the manual page in roff, or
 * the table of settings. */
void options_print_help(enum options_help help, FILE *to);

#endif
