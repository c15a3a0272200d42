/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes of communicators, types and windows: keyvals, values, callbacks. */
#ifndef MPI_ATTR_H
#define MPI_ATTR_H

#include <mpi.h>

struct comm;
struct type;
struct attr; /* a list of (keyval, value) on one object */

int attr_init(const struct comm *world, int appnum, int universe_size);
void attr_fini(void);

/* Copy the attributes of one communicator to another, as MPI_Comm_dup does;
 * delete all, in reverse order of setting. Return MPI_SUCCESS or what a
 * callback returned. */
int attr_copy_comm(struct comm *from, struct comm *to);
int attr_delete_comm(struct comm *comm);

#endif
