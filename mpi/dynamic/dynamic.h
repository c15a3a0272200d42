/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators with processes of other jobs. The two roots meet over a socket (port.h), and the
 * rest is what any intercommunicator takes (mpi/make/comm_inter.c), with the socket in the place of
 * messages between the leaders.
 *
 * A spawned job is one of its own, with an mpiexec of its own. Its processes find in their environment the name
 * of a port that the root has opened for them alone, and connect there in MPI_Init.
 */
#ifndef MPI_DYNAMIC_H
#define MPI_DYNAMIC_H

#include <mpi.h>
#include <stddef.h>

struct comm;

enum { DYNAMIC_WHY = 256 }; /* bytes of a sentence */

/* Make one of comm, an intracommunicator, and the communicator at the other end of root's socket.
 * Collective over comm. fd, failed and why are root's: failed is an error class, with which all members end, where
 * there is no socket, and all get root's sentence in why. Takes the socket. Returns MPI_SUCCESS or an error class. */
int dynamic_bind(struct comm *comm, int root, int fd, int failed, char why[DYNAMIC_WHY], struct comm **new);

/* Spawn, collective over comm, an intracommunicator. order is root's (NULL: failed, an error class, is what all
 * members end with); why as above. Returns MPI_SUCCESS or an error class. */
struct order;
int dynamic_spawn(struct comm *comm, int root, struct order *order, int failed, char why[DYNAMIC_WHY],
                  struct comm **new);

/* In MPI_Init of all members of a spawned world: connect with those that have spawned it, by comm_parent. Returns MPI_SUCCESS or
 * an error class, with a sentence in why. */
int dynamic_begin(char *why, size_t size);

/* What all members of a call with a root check alike; null: the name of an argument that is NULL, or NULL. Returns
 * MPI_SUCCESS or the error's code. */
int dynamic_check(MPI_Comm handle, int root, const char *null, const char *function);

/* Wait until all members of both groups have come here. Ends, too, where some have failed. */
void dynamic_part(struct comm *comm);

#endif
