/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How a daemon, or a debugger, is started on another machine: by ssh, by srun in a Slurm allocation, or by a
 * command of the user's. The daemon's part of the command is the same for all machines and jobs.
 */
#ifndef BNR_REMOTE_H
#define BNR_REMOTE_H

#include <stdbool.h>

#include "bnr/core/launching.h"

enum remote_kind {
    REMOTE_SSH,
    REMOTE_SRUN,
    REMOTE_COMMAND
};

enum {
    REMOTE_ARGUMENTS = 2
};

struct remote {
    enum remote_kind kind;
    const char *command; /* of REMOTE_COMMAND: words, in which %h is the host, %u the user, and a
                          * word %c the program; without that it stands behind them */
    const char *program; /* in place of ssh or srun; may be NULL */
    const char *agent;   /* of REMOTE_SSH: a program with its options in place of ssh; may be NULL.
                          * One of another name gets the user, the host and the command alone. */
    const char *more;    /* options more for ssh, the agent or srun; may be NULL */
    const char *daemon;  /* the path of vireod there, or of what else is to run */
    const char *argument[REMOTE_ARGUMENTS]; /* of the program there, plain words; NULL: no more */
    bool may_ask;            /* a person at the terminal can answer ssh */
    bool has_terminal;       /* it is given the terminal of the command, as a person wants it */
};

/* The words of the command for a host; user may be NULL. NULL-terminated, to be released with one
 * free(); NULL: no memory. */
char **remote_words(const struct remote *r, const char *host, const char *user);

/* The path of the daemon below prefix (NULL: beside this program), to free(); NULL: no memory. */
char *remote_daemon(const char *prefix);

/* Whether all quotes of a user's command are closed. */
bool remote_is_closed(const char *command);

/* What a command that has ended without a daemon says of itself. */
struct remote_verdict {
    enum launching_stage stage; /* the failed stage */
    bool is_final;              /* trying again would not help */
};

/* Judge by how it ended (as wait() gives it) and by the text that it has written to stderr. */
struct remote_verdict remote_judge(const struct remote *r, int status, const char *text);

#endif
