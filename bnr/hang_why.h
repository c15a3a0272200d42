/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the parts of the verdict share: hang_why.c, and hang_coll.c for collectives. See
 * hang_graph.h.
 */
#ifndef BNR_HANG_WHY_H
#define BNR_HANG_WHY_H

#include <stdbool.h>

struct hang;

struct why {
    struct hang *h;
    int *mark;  /* [count]: number of the group that waits for this rank, or that it is in */
    bool *late; /* [count]: has not come to the collective at hand */
    bool *weak; /* [count]: is, of two parts that wait for each other, in the smaller one */
    bool *told; /* [count]: why it waits has been explained */
    int *path;  /* [count]: for cycles */
    int lines, left_out;
};

/* Whether there is room for one line more of a kind. */
bool why_has_room(struct why *w);
/* The kind ends: say how many lines had no room. */
void why_end_kind(struct why *w);
/* Make a rank a culprit. */
void why_blame(struct why *w, int rank);
void why_clear(struct why *w, bool *set);

/* Explain the collectives that ranks wait in. Returns 0 or -ENOMEM. */
int why_collectives(struct why *w);

#endif
