/* SPDX-License-Identifier: BSD-3-Clause */

/* The ranks' processes, wherever they run, as debuggers, users and spawners are told of them. */
#ifndef BNR_RUN_PROCESSES_H
#define BNR_RUN_PROCESSES_H

#include <stdbool.h>

struct run;

/* Before the first rank is started: whether they are to wait for a debugger. Returns 0 or -ENOMEM. */
int run_processes_begin(struct run *run);
/* Forget them; the loop must run once more. */
void run_processes_stop(struct run *run);

/* A rank has been started. */
void run_processes_note(struct run *run, int rank);
/* Tell debuggers and users of all processes, once all ranks have been started. */
void run_processes_publish(struct run *run);
/* Whether a file is still being told of them. */
bool run_processes_are_told(const struct run *run);

/* Those that have been started, as DOOR_PROCESSES has them, to be freed; NULL: no memory. */
char *run_processes_list(const struct run *run);

#endif
