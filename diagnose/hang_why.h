/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the parts of the verdict share: hang_why.c, hang_message.c for messages, and hang_coll.c for
 * collectives. See hang_graph.h.
 */
#ifndef DIAGNOSE_HANG_WHY_H
#define DIAGNOSE_HANG_WHY_H

#include <stdbool.h>

struct hang;

struct why {
    struct hang *h;
    int *mark;  /* [count]: number of the group that waits for this rank, or that it is in */
    bool *late; /* [count]: has not come to the collective at hand */
    bool *weak; /* [count]: is, of two parts that wait for each other, in the smaller one */
    bool *told; /* [count]: why it waits has been explained */
    bool *sure; /* [count]: and is sure, whoever else it may wait for */
    int *path;  /* [count]: for cycles */
    struct pair *pairs;
    int pair_count, pair_room;
    int lines, left_out;
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

/* Messages that are nearly what is awaited. */
void why_near(struct why *w);
/* Requests that were not started. */
void why_idle(struct why *w);
/* Explain those of w->late that wait for a message from or to ranks in the collective of that
 * group. blame: they may be wrong as well as the other. */
void why_missing(struct why *w, int group, bool blame);

/* Explain the collectives that ranks wait in. Returns 0 or -ENOMEM. */
int why_collectives(struct why *w);

#endif
