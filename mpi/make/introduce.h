/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How processes of several jobs get to know each other.
 *
 * All members of a communicator know each other: they are of one job, or were introduced. Where an
 * intercommunicator is made of groups that are not all of one job, each half gathers what others must know
 * of its members, the leaders exchange that, and all members take it in, before they agree on a context: which
 * no member leaves before all have come to it. So no process is called by one that it does not know.
 */
#ifndef MPI_INTRODUCE_H
#define MPI_INTRODUCE_H

#include <stdbool.h>

struct agree;
struct comm;
struct group;
struct vc;

/* VCs that are kept until a communicator has them. */
struct introduced {
    struct vc **vcs;
    int count;
    bool was_needed; /* the same at all members */
    int rc;          /* of this member alone: MPI_SUCCESS or an error class, which the others have to hear */
};

/* Introduce the members of both halves, if they are of several jobs: remote is the other one. Returns MPI_SUCCESS
 * or an error class, on which all members agree. introduce_end() follows in any case. */
int introduce(const struct agree *halves, const struct group *remote, struct introduced *introduced);
void introduce_end(struct introduced *introduced);

#endif
