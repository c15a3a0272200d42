/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why ranks are stuck: writes the verdict and marks the culprits. hang_why.c has the kinds of
 * causes in a table, hang_message.c those of messages and hang_coll.c those of collectives.
 */
#ifndef DIAGNOSE_HANG_WHY_H
#define DIAGNOSE_HANG_WHY_H

#include "diagnose/hang_graph.h"

struct why {
    struct hang *h;
    struct pair *pairs;
    int pair_count;
    bool *settled; /* [part_count], parts of which the culprits are known */
    int lines, left_out;
    int missing; /* lines about messages that are missing */
    int tries;   /* at what may come alone */
};

void why_write(struct hang *h);

/* ---- for the parts ---- */

/* Write a line, if there is room for one more of the kind. Returns whether there was. */
bool why_tell(struct why *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Put into h->set the ranks from rank on of whom the same is said, and forget what is said of them.
 * Returns how many. */
int why_alike(struct why *w, const char **said, int rank);

/* Make a rank a culprit; it settles its part. */
void why_blame(struct why *w, int rank);
/* Note that two ranks do not fit together, so that one of them is to blame. */
void why_pair(struct why *w, int a, int b);
/* Make culprits of those noted: of two the one that fits with fewer of the others, or both. Then
 * forget the pairs. */
void why_blame_pairs(struct why *w);
/* Whether the culprits are to be found in the part of a rank or meeting, and are not known yet. */
bool why_is_open(const struct why *w, int vertex);

/* Messages that are nearly what is awaited, or were, and requests that were not started. */
void why_messages(struct why *w);
/* Messages that ranks which have not come to a collective await of ranks in it. */
void why_missing(struct why *w, const struct meeting *m);
/* Explain the collectives that ranks wait in. */
void why_collectives(struct why *w);

/* Whether a request that is not started is what item waits for. */
bool why_is_idle_match(const struct hang_item *item, const struct hang_queue *queue);

#endif
