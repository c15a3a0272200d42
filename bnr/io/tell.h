/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes, told to a channel that the user names: "-" is stdout, "+" stderr,
 * anything else a file. */
#ifndef BNR_TELL_H
#define BNR_TELL_H

#include <stddef.h>

struct table;

/* Tell mpiexec's own process. Returns 0, or -errno with a sentence in why. */
int tell_pid(const char *channel, char why[512]);

/* The process of a rank. */
struct tell_process {
    const char *host, *program;
    int pid;
};

/* Tell where each rank runs, a line each: rank, host, process, program. Returns as tell_pid(). */
int tell_processes(const char *channel, const struct tell_process *list, int count, char why[512]);

/* Write to stderr how all ranks have ended: equal ones together. */
void tell_codes(const struct table *table);

#endif
