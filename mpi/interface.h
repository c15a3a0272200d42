/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions that the generated int twins of the _c functions call (tools/gen_interface.py).
 *
 * A scalar count widens by itself. An array of int is copied into an array of 64-bit integers
 * that lives until the _c function returns: here if it is short, otherwise from malloc.
 *
 * interface_length and interface_no_mem need to know communicators; mpi/comm/comm_twin.c defines them.
 * The rest is in mpi/interface.c.
 */

#ifndef MPI_INTERFACE_H
#define MPI_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

/* MPI_Count and MPI_Aint arrays both consist of int64_t, and one is passed for the other. */
_Static_assert(sizeof(MPI_Aint) == sizeof(int64_t), "64-bit hosts only");
_Static_assert(sizeof(MPI_Count) == sizeof(int64_t), "64-bit hosts only");

/* The name of the _c or _x form that the user has called in this thread: the body that it shares with
 * other forms cannot know it. NULL: another form. */
extern _Thread_local const char *interface_called;

/* Which processes an array has an element for. */
enum interface_group {
    INTERFACE_LOCAL,     /* those of comm's local group */
    INTERFACE_PEERS,     /* as local, but of an intercommunicator's remote group */
    INTERFACE_ROOT,      /* as peers at the root (or if root is MPI_ROOT); none elsewhere */
    INTERFACE_INDEGREE,  /* the neighbours that send to this process */
    INTERFACE_OUTDEGREE, /* the neighbours that this process sends to */
};

/* One array of a call, widened. */
struct interface_array {
    int64_t *to;    /* the array that the _c function gets; NULL where the caller gave NULL */
    bool failed;    /* no memory */
    int64_t own[48];
};

/* Return how many elements an array of a collective on comm has; root only matters for
 * INTERFACE_ROOT. 0 for a bad handle or root: the _c function, which is called all the same,
 * reports the error. */
int interface_length(MPI_Comm comm, enum interface_group group, int root);

/* Raise MPI_ERR_NO_MEM on comm (on MPI_COMM_SELF if that is MPI_COMM_NULL) for the named function.
 * Returns the value that the function is to return. */
int interface_no_mem(MPI_Comm comm, const char *function);

/* Copy len elements of from; a negative len is 0. */
void interface_widen(struct interface_array *array, const int *from, int len);

/* Whether there is memory behind each of count arrays. */
bool interface_widened(const struct interface_array *arrays, int count);

/* Free the memory that interface_widen took, whether it failed or not. */
void interface_release(struct interface_array *arrays, int count);

#endif
