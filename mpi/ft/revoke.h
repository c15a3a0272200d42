/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Revoking a communicator: messages and collectives end in it, at every member. A process that hears of
 * it tells some others first, each at a power of two ranks from itself. For one that is gone it tells
 * the next that lives, also later: so the news reaches all living members, though others die meanwhile.
 */
#ifndef MPI_REVOKE_H
#define MPI_REVOKE_H

struct comm;

/* Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int revoke_comm(struct comm *comm);

#endif
