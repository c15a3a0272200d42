/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why ranks are stuck: writes the verdict and marks the culprits. hang_why.c looks for the causes,
 * hang_message.c for those of messages and hang_coll.c for those of collectives.
 */
#ifndef DIAGNOSE_HANG_WHY_H
#define DIAGNOSE_HANG_WHY_H

#include "diagnose/hang_graph.h"

struct why {
    struct hang *h;
    struct pair *pairs;
    int pair_count;
    int lines, left_out;
    int meeting;   /* the collective at hand */
    int suspected; /* ranks */
    int tries;     /* at what would come if one rank stayed where it is */
    int missing;   /* lines about messages that are missing */
};

void why_write(struct hang *h);

/* ---- for the parts ---- */

/* Write a line, if there is room for one more of the kind. Returns whether there was. */
bool why_tell(struct why *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The kind ends: say how many lines had no room. */
void why_end_kind(struct why *w);
/* Make a rank a culprit. */
void why_blame(struct why *w, int rank);
/* Note that two ranks do not fit together, so that one of them is to blame. */
void why_pair(struct why *w, int a, int b);
/* Make culprits of those noted, and put them in set, which may be NULL: of two the one that fits
 * with fewer of the others, or both. Then forget the pairs. */
void why_blame_pairs(struct why *w, bool *set);
/* Put into h->set the ranks from rank on of whom the same is said. NULL: nothing is said. Returns
 * how many. */
int why_alike(struct why *w, const char *const *said, int rank);

/* Messages that are nearly what is awaited, and requests that were not started. */
void why_messages(struct why *w);
/* Explain those of h->late that wait for a message from or to ranks in the collective at hand.
 * blame: they may be wrong as well as the other. */
void why_missing(struct why *w, bool blame);
/* Explain the collectives that ranks wait in. */
void why_collectives(struct why *w);

/* Whether a request that is not started is what item waits for. */
bool why_is_idle_match(const struct hang_item *item, const struct hang_queue *queue);

#endif
