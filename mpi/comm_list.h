/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All communicators of this process, for what asks by context: what mpiexec is told of a job that
 * hangs.
 */
#ifndef MPI_COMM_LIST_H
#define MPI_COMM_LIST_H

struct comm;

void comm_list_add(struct comm *comm);
void comm_list_remove(struct comm *comm);

/* Let the device go through them; after mpid_init(). */
void comm_list_init(void);

#endif
