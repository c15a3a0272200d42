/* SPDX-License-Identifier: BSD-3-Clause */

/* What the daemons of a job over several machines (wide.h) tell of their ranks: some of it is kept, and the rest
 * becomes calls of hooks. */
#ifndef BNR_WIDE_WORDS_H
#define BNR_WIDE_WORDS_H

#include <stdbool.h>

struct core_message;
struct wide;

/* What the daemon of a rank on another machine has told of it. */
int wide_pid(const struct wide *w, int rank);
const char *wide_cpus(const struct wide *w, int rank);   /* that it may use; NULL: not told */
const char *wide_report(const struct wide *w, int rank); /* that it has left for --report; NULL: none */
const char *wide_abort(const struct wide *w, int rank);  /* the message of its abort; "": none */

/* Whether a rank on another machine, which waits in MPI_Init, has a debugger. */
bool wide_is_debugged(const struct wide *w, int rank);

/* Whether some rank on another machine has asked that others go on after failures, as far as its daemon has told. */
bool wide_some_tolerate(const struct wide *w);

/* ---- for the other files of a job over several machines ---- */

/* Nothing is told yet. Returns 0 or -ENOMEM. */
int wide_words_begin(struct wide *w);
/* Words have come, in a stream (bnr/daemon/words.h). */
void wide_words_take(struct wide *w, const struct core_message *message);
void wide_words_free(struct wide *w);

#endif
