/* SPDX-License-Identifier: BSD-3-Clause */

/* Terminals of ranks (--pty), and mpiexec's own meanwhile: its keys go to the ranks that read them. */
#ifndef BNR_RUN_TERMINAL_H
#define BNR_RUN_TERMINAL_H

#include <stdbool.h>

struct run;

/* Whether a rank has a terminal of its own; arg is the run. */
bool run_has_terminal(void *arg, int rank);
/* The ranks have been started: typed keys go to those with a terminal. */
void run_terminal_begin(struct run *run);
/* A rank has ended. */
void run_terminal_ended(struct run *run, int rank);
/* Have mpiexec's terminal back while it stands still; have it as it was. */
void run_terminal_pause(struct run *run);
void run_terminal_go_on(struct run *run);
/* mpiexec's terminal has another size. */
void run_terminal_resize(struct run *run);

#endif
