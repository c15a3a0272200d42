/* SPDX-License-Identifier: BSD-3-Clause */

/* The words of the report. Each function returns a string in the report's memory. */
#ifndef DIAGNOSE_HANG_WORDS_H
#define DIAGNOSE_HANG_WORDS_H

#include "diagnose/hang_graph.h"

/* As printf() has it. */
const char *words(struct hang *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many ranks of set there are. */
int words_count(const struct hang *h, const bool *set);
/* "rank 3" or "ranks 0-2,5": those of set. */
const char *words_ranks(struct hang *h, const bool *set);
/* What a rank does: "waits in MPI_Recv for a message from rank 1 (tag 5, MPI_COMM_WORLD)". brief:
 * without its messages and times. */
const char *words_state(struct hang *h, int rank, bool brief);
/* "waits in MPI_Recv" */
const char *words_does(struct hang *h, const struct hang_thread *thread);
const char *words_function(const struct hang_thread *thread);

/* Words for the missing call that would end a wait. */
struct words_wait {
    const char *missing;  /* what the other did not call */
    const char *not_done; /* what it did not do */
};

const struct words_wait *words_wait(const struct hang_item *item);
/* The awaited thing: "a message from rank 1 (tag 5, MPI_COMM_WORLD)". peer: in place of the rank,
 * or NULL. */
const char *words_item(struct hang *h, const struct hang_item *item, const char *peer);
/* "rank 1", "rank 1 of job 5f3a1c2b", "its rank 1" or "any rank"; peer and rank are as in struct hang_item. */
const char *words_peer(struct hang *h, const struct hang_comm *comm, int peer, int rank);
/* Why a send is not over, by what its sender says of it: "on the way". */
const char *words_send(const char *state);
/* " on MPI_COMM_WORLD (its collective number 5)", of a thread that is in one, or "". */
const char *words_collective(struct hang *h, const struct hang_thread *thread);
const char *words_comm(struct hang *h, const struct hang_comm *comm);
/* " (tag 5, MPI_COMM_WORLD)" */
const char *words_envelope(struct hang *h, const struct hang_comm *comm, int tag);
/* "message", or "partitioned message". */
const char *words_kind(enum hang_use use);
/* " (its collective number 3)": counted from 1; "" if unknown. */
const char *words_number(struct hang *h, const struct hang_comm *comm, int number);
/* "has 2 other threads outside MPI, 1 computing and 1 asleep" */
const char *words_others(struct hang *h, const struct hang_others *others);
/* Write text, wrapped. In place of a blank WORDS_BREAK may stand once a line: a line that is too
 * long is parted there. */
#define WORDS_BREAK '\v'
void words_wrap(FILE *to, const char *text);

#endif
