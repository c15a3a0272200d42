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

#include "bnr/plan/plan.h"

enum options_help {
    OPTIONS_HELP_NONE,
    OPTIONS_HELP_TEXT,
    OPTIONS_HELP_MAN,
    OPTIONS_HELP_SETTINGS,
    OPTIONS_HELP_TABLE,
    OPTIONS_HELP_ALL
};

struct options {
    struct plan plan; /* the job */
    bool label, stamps, hosts_shown; /* the rank, the time, the host begin each line */
    const char *xml_file;            /* for XML; NULL: mpiexec's stdout */
    bool is_background;              /* mpiexec goes there before ranks start */
    bool shows_settings;             /* those in force, before ranks start */
    bool colors;                     /* in the color of the rank, on a terminal */
    bool check;   /* collective calls across ranks */
    bool version;
    const char *debugger; /* one a rank, in a window; or NULL */
    bool has_totalview;   /* mpiexec runs under it */
    bool attaches; /* print the processes of a job that runs, and exit */
    int attach_job; /* 0: the only one */
    enum options_help help;
    const char *stdin_file; /* in the place of mpiexec's own, for rank 0; or NULL */
    char **words;           /* made from files and other words; NULL-terminated */
    const char *report_pid; /* where to write it: -, + or a file; NULL: nowhere */
    const char *doubt; /* a warning for mpiexec to print before it starts ranks, or NULL */
};

/* Parse argv[1..argc-1] into o. Strings of argv are borrowed and must outlive o.
 * Returns 0, -ENOMEM, or -EINVAL with one sentence in why (no newline, no
 * "mpiexec:"), which names the word, the reason and the cure. On failure o
 * holds nothing. */
int options_parse(struct options *o, int argc, char **argv, char *why, size_t size);

/* How many objects of the kind o->plan.start.map the hosts of the job have together, which other hosts
 * tell: the number of processes follows from it. Returns 0, or -errno with a sentence in why. */
struct options_ask {
    int (*objects)(void *arg, const struct options *o, uint64_t *count, char why[512]);
    void *arg;
};

/* The same, where other hosts can be asked. Returns what ask has failed with, too. */
int options_parse_asking(struct options *o, int argc, char **argv, const struct options_ask *ask,
                         char why[512]);

/* Release what o holds. Accepts a zeroed o. */
void options_free(struct options *o);

/* Print the help that was asked for: the usual options on one screen, all options, the manual page in roff, or
 * the table of settings. */
void options_print_help(enum options_help help, FILE *to);

#endif
