/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The warden: a process that does nothing until mpiexec dies without a word. Then it kills every
 * process of the job: the process groups that the host table names, and each process that has the
 * job's id in BNR_JOB of its environment or holds the table's descriptor, until none is left. Only
 * a process that has cleared its environment, closed its descriptors and left its group escapes.
 *
 * The folders of the ranks (session_folder.h) go too. Where mpiexec has made its terminal raw (--pty), the warden first makes it as it was before.
 *
 * It sleeps in a read of a pipe that only mpiexec holds, in a session of its
 * own. mpiexec has two of them, so that one is left if mpiexec and the other are killed together,
 * and starts a new one if one is killed.
 */
#ifndef BNR_WARDEN_H
#define BNR_WARDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#include "bnr/host/table.h"

enum {
    WARDENS = 2
};

struct wardens {
    pid_t pid[WARDENS + 1]; /* 0: none; the last one ends the list */
    int pipe[WARDENS];      /* write ends */
    const struct table *table;
    struct termios modes[2]; /* see wardens_know() */
    bool is_raw;
    const char *folder; /* see wardens_start() */
    char *name;         /* likewise */
    size_t name_size;
};

/* Start them. folder: of the job, to be removed after it; "": none; the text must not move. name, of size
 * bytes, is the memory of this program's first arguments; the wardens write over it, so that they
 * are not taken for mpiexec. NULL leaves it. Returns 0 or -errno. */
int wardens_start(struct wardens *w, const struct table *t, const char *folder, char *name,
                  size_t size);

/* A child has been reaped: if it was a warden, start another. Returns 0 or -errno. */
int wardens_reaped(struct wardens *w, pid_t pid);

/* mpiexec has changed the modes of its stdin, a terminal, from the first to the second; NULL: they are
 * as they were again. */
void wardens_know(struct wardens *w, const struct termios modes[2]);

/* The job is over: let the wardens go, and wait until they have ended. */
void wardens_stop(struct wardens *w);

/* Whether the NUL-separated block of environment names the job: BNR_JOB holds
 * ids of 32 digits, separated by commas, one per mpiexec inside another. */
int warden_names_job(const char *block, size_t len, const char *id);
/* The same of an environment of any length, which is read from fd. */
int warden_reads_job(int fd, const char *id);

/* Whether text is such a list of ids. */
int warden_is_list(const char *text);

#endif
