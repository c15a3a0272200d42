/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the parts of the verdict share: hang_why.c, hang_message.c for messages, and hang_coll.c for
 * collectives. See hang_graph.h.
 */
#ifndef DIAGNOSE_HANG_WHY_H
#define DIAGNOSE_HANG_WHY_H

#include <stdbool.h>

#include "diagnose/hang_graph.h"

struct why {
    struct hang *h;
    bool *late; /* [count]: has not come to the collective at hand */
    struct pair *pairs;
    int pair_count, pair_room;
    int lines, left_out;
    int meeting;   /* the collective at hand */
    bool brief;    /* its late ranks are many */
    int suspected; /* ranks */
    int tries;     /* at what would come if one rank stayed where it is */
    int missing;   /* lines about messages that are missing */
};

/* Two ranks that do not fit together. */
struct pair {
    int rank[2];
};

/* Whether there is room for one line more of a kind. */
bool why_has_room(struct why *w);
/* The kind ends: say how many lines had no room. */
void why_end_kind(struct why *w);
/* Make a rank a culprit. */
void why_blame(struct why *w, int rank);
/* Note that two ranks do not fit together, so that one of them is to blame. */
void why_pair(struct why *w, int a, int b);
/* Make culprits of those noted, and put them in set, which may be NULL: of two the one that fits
 * with fewer of the others, or both. Then forget the pairs. */
void why_blame_pairs(struct why *w, bool *set);
void why_clear(struct why *w, bool *set);
/* Put into h->set those of w->late, from rank on, of whom write() writes the same as of rank.
 * Returns that as a string to free(), or NULL: no memory. */
char *why_alike(struct why *w, int rank, void (*write)(struct why *w, FILE *to, int rank));

/* Messages that are nearly what is awaited, and requests that were not started. */
void why_messages(struct why *w);
/* Explain those of w->late that wait for a message from or to ranks in the collective at hand.
 * blame: they may be wrong as well as the other. */
void why_missing(struct why *w, bool blame);
/* Explain the collectives that ranks wait in. */
void why_collectives(struct why *w);

#endif
