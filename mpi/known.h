/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A vector clock, for mpiexec --check: how far this process knows each process of the job to be. A
 * process counts steps; what it ended in a step is known to be over by all that know of the step. Messages
 * of the program, its collectives, and the locks and flags of windows carry the clock.
 *
 * The clock has a slot for 64 ranks. Above that, ranks that are 64 apart share one: then a process may
 * seem to know more than it does, and never less, so that nobody is accused wrongly.
 */
#ifndef MPI_KNOWN_H
#define MPI_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

enum { KNOWN_SLOTS = 64 };

struct known {
    uint32_t step[KNOWN_SLOTS];
};

extern bool known_is_kept; /* otherwise nothing below may be called */

/* Keep one from now on, as a rank of the job: at the start, before there are messages. */
void known_begin(int rank);
int known_rank(void);

/* Something of this process is over: begin a step. Returns its number, never 0. */
uint32_t known_step(void);
/* What this process knows now. */
struct known known_now(void);
/* This process learns what another one has known. */
void known_learn(const struct known *theirs);
/* Whether whoever knows that much knows of a step of a rank of the job. */
bool known_says(const struct known *known, int rank, uint32_t step);

/* Let to know what from does. */
void known_join(struct known *to, const struct known *from);

/* This process may have heard of any other, in a way that does not carry the clock: call what
 * known_on_any() has set, which learns all that can be known here. */
void known_any(void);
void known_on_any(void (*learn)(void));

#endif
