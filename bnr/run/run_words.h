/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Words about ranks: where each runs, which of them have ended, and why an end is a failure. The failures are kept for
 * --report.
 */
#ifndef BNR_RUN_WORDS_H
#define BNR_RUN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/job.h"

struct run;

/* Be ready for the ranks of the plan. Returns 0 or -ENOMEM. */
int run_words_begin(struct run *run);
void run_words_free(struct run *run);

/* Whether a rank runs on another machine; arg is the run. */
bool run_is_elsewhere(void *arg, int rank);
/* The name of a rank's host, and the number of its process. */
const char *run_host_of(struct run *run, int rank);
int run_pid_of(struct run *run, int rank);
/* Whether some rank has asked that others go on after failures. */
bool run_some_tolerate(const struct run *run);

/* Whether a rank that has ended had asked for that. */
bool run_has_tolerated(const struct run *run);

/* A rank has ended, wherever it ran; is_tolerant: it had asked that others go on after failures. */
void run_note_over(struct run *run, int rank, bool is_tolerant);
/* Whether that has been noted. */
bool run_is_over(const struct run *run, int rank);
/* A node is lost: its ranks end with it. */
void run_note_lost(struct run *run, uint32_t node);
/* The ranks that run, wherever they do, as 0-3,7. */
void run_list_running(struct run *run, char *text, size_t size);

/* Put into words why a rank's end is a failure. */
void run_explain_end(struct run *run, int rank, const struct job_facts *f, enum job_cause cause);
/* Whether such words wait to be said. What the rank has written comes out before. */
bool run_has_last_words(const struct run *run);
void run_say_last_words(struct run *run);
/* The user has sent a signal, first at asked_ns, and ranks have not ended: say that they are killed. */
void run_say_killed(struct run *run, uint64_t asked_ns);

/* The lines of the report: which ranks have failed, how, and when; NULL: none has, or nobody wants to know. */
const char *run_failures(const struct run *run);

#endif
