/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The hang report of a job (bnr/diagnose/ask.h): asked for by signals, by the time limit and at the door, and answered by
 * all hosts.
 */
#ifndef BNR_RUN_ASK_H
#define BNR_RUN_ASK_H

#include <stdbool.h>

struct run;
struct unpacking;

/* The ranks are in the table: be ready for requests. Returns 0 or -ENOMEM. */
int run_ask_start(struct run *run);
/* Close everything; the loop must run once more, then run_ask_free(). Both do nothing before run_ask_start(). */
void run_ask_stop(struct run *run);
void run_ask_free(struct run *run);

/* A process at the door wishes for a report, or another text (enum door_wish). Its connection is taken over. */
void run_ask_serve(struct run *run, int wish, int fd);
/* A rank on another machine has answered; arg is the run. See wide_hooks. */
void run_ask_take(void *arg, int rank, struct unpacking u);
/* Make a report, and call done with the run and it soon. Returns whether it will be called. */
bool run_ask_report(struct run *run, void (*done)(void *arg, const char *report));
/* Whether some rank has called MPI_Init: otherwise a report says nothing. */
bool run_ask_has_ranks(const struct run *run);

#endif
