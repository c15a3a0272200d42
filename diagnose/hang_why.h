/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why ranks are stuck: writes the verdict and marks the culprits. hang_why.c has the kinds of
 * causes in a table, hang_message.c those of messages and hang_coll.c those of collectives.
 */
#ifndef DIAGNOSE_HANG_WHY_H
#define DIAGNOSE_HANG_WHY_H

#include "diagnose/hang_graph.h"

/* Two ranks that do not fit together. */
struct pair {
    int a, b;
};

struct why {
    struct hang *h;
    struct pair *pairs;
    bool *settled;     /* [part_count], parts whose culprits are known */
    const char **said; /* [count], of each rank, for why_next() */
    bool *late;        /* [count], the ranks that a cause is about */
    int pair_count, lines, left_out;
    int tries; /* at messages that may come alone */
};

void why_write(struct hang *h);

/* ---- for the parts ---- */

/* Write a line, if there is room for one more of the kind. Returns whether there was. */
bool why_tell(struct why *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next sentence about ranks from *rank on, or NULL. Put all its ranks into h->set, and forget
 * it; *rank is the first of them. */
const char *why_next(struct why *w, int *rank);

/* Make a rank a culprit; it settles its part. */
void why_blame(struct why *w, int rank);
/* Note that two ranks do not fit together: when the cause has been looked for, the one that fits
 * with fewer of the others is made a culprit, or both. */
void why_pair(struct why *w, int a, int b);
/* Whether the culprits are to be found in the part of a vertex, and are not known yet. */
bool why_is_open(const struct why *w, int vertex);

/* Messages that nearly match the awaited ones, or did, and requests that were not started. */
void why_messages(struct why *w);
/* Messages that ranks which have not come to a collective await of ranks in it. */
void why_missing(struct why *w);
/* Collectives whose members make different calls. */
void why_different(struct why *w);
/* The other collectives that ranks wait in. */
void why_collectives(struct why *w);

/* Whether a request that is not started is what item waits for. */
bool why_is_idle_match(const struct hang_item *item, const struct hang_queue *queue);

#endif
