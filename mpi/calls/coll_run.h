/* SPDX-License-Identifier: BSD-3-Clause */

/* Running collectives: through memory that the members share, or by a schedule of messages. */
#ifndef MPI_COLL_RUN_H
#define MPI_COLL_RUN_H

struct coll;
struct comm;
struct sched_misfit;

/* Run a collective. Returns MPI_SUCCESS or the error class; misfit (may be NULL): see mpi/coll/sched.h. */
int coll_run(const struct coll *c, struct sched_misfit *misfit);

/* The same of what the library needs for itself, over all of a communicator. */
int coll_run_over(struct comm *comm, struct coll *c);

#endif
