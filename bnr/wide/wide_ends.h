/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ends of ranks in a job over several machines (wide.h), as the tree brings them: mpiexec's own hooks hear of those
 * elsewhere, and all daemons of all; of ranks that have ended well some milliseconds later, many at a time.
 */
#ifndef BNR_WIDE_ENDS_H
#define BNR_WIDE_ENDS_H

struct core_message;
struct wide;

void wide_ends_begin(struct wide *w);
/* The loop must run once more. */
void wide_ends_stop(struct wide *w);

/* Ranks have ended: RANKS_ENDED of the engine. */
void wide_ends_take(struct wide *w, const struct core_message *message);

#endif
