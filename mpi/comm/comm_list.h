/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All communicators of this process, for the device to go through (mpid_set_comms()): when mpiexec
 * asks why a job hangs.
 */
#ifndef MPI_COMM_LIST_H
#define MPI_COMM_LIST_H

struct comm;

void comm_list_add(struct comm *comm);
void comm_list_remove(struct comm *comm);

#endif
