/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The warden: a process that does nothing until mpiexec dies without a word.
 * Then it kills every process of the job: the process groups that the host
 * table names, and whatever carries the job's id in BNR_JOB of its environment
 * or holds the table's descriptor, until none is left. Only what has cleared its
 * environment, closed its descriptors and left its group escapes.
 *
 * It sleeps in a read of a pipe that only mpiexec holds, in a session of its
 * own. mpiexec starts another where the warden itself is killed.
 */
#ifndef BNR_WARDEN_H
#define BNR_WARDEN_H

#include <stddef.h>
#include <sys/types.h>

#include "bnr/host/table.h"

struct warden {
    pid_t pid; /* 0: none */
    int pipe;  /* write end */
    const struct table *table;
    char *name; /* see warden_start() */
    size_t name_size;
};

/* Start it. name, of size bytes, is the memory of this program's first
 * arguments, which the warden writes over so that it is not taken for mpiexec;
 * NULL leaves it. Returns 0 or -errno. */
int warden_start(struct warden *w, const struct table *t, char *name, size_t size);

/* Start another in place of one that has been reaped. */
int warden_restart(struct warden *w);

/* All is over: let it go, and wait until it has. */
void warden_stop(struct warden *w);

/* Whether the NUL-separated block of environment names the job: BNR_JOB holds
 * ids of 32 digits, separated by commas, one per mpiexec inside another. */
int warden_names_job(const char *block, size_t len, const char *id);

#endif
