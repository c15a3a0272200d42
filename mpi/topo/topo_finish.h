/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The beginnings and ends that functions of the two chapters on topologies (mpi/api/topo.c,
 * mpi/api/topo_graph.c) share. All return MPI_SUCCESS, or the code of an error that they have
 * reported in the name of the function.
 */
#ifndef MPI_TOPO_FINISH_H
#define MPI_TOPO_FINISH_H

#include <mpi.h>
#include <stdbool.h>

struct comm;
struct topo;

/* ---- checks ---- */

/* Find the communicator that another is made of. */
int topo_check_parent(MPI_Comm handle, struct comm **comm, const char *function);
/* Find a communicator with a topology of this kind. */
int topo_check_kind(MPI_Comm handle, int kind, struct comm **comm, const char *function);
int topo_check_rank(struct comm *comm, int rank, const char *function);
/* Check that the user's array has room for so many elements. */
int topo_check_room(struct comm *comm, int room, int count, const char *function);

/* ---- reports: never MPI_SUCCESS ---- */

int topo_null_argument(struct comm *comm, const char *function);
int topo_no_memory(struct comm *comm, const char *function);
int topo_failed(struct comm *comm, int error_class, const char *function);

/* ---- grids, and graphs that every process knows ---- */

/* Make the communicator of a topology (whose reference is taken over; NULL: no memory for it). */
int topo_finish(struct comm *comm, struct topo *topo, int nodes, bool reorder, MPI_Comm *newcomm,
                const char *function);
/* Find the node of a topology, likewise, that this process would take. */
int topo_finish_map(struct comm *comm, struct topo *topo, int nodes, int *newrank,
                    const char *function);

#endif
