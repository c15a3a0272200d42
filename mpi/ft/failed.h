/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Members of a communicator that have failed, in the order in which this process has heard of it: of
 * an intercommunicator those of both groups.
 */
#ifndef MPI_FAILED_H
#define MPI_FAILED_H

struct comm;
struct group;

/* Give the group of all, or of those that the user has acknowledged. NULL: no memory. */
struct group *failed_all(const struct comm *comm);
struct group *failed_acknowledged(const struct comm *comm);
/* Acknowledge the first count, or all if there are not so many. Those that are acknowledged stay so.
 * Returns how many are. */
int failed_acknowledge(struct comm *comm, int count);

#endif
