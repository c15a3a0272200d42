/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All communicators of this process. The device goes through them when mpiexec asks why a job hangs
 * (mpid_set_comms()), and when a process fails (mpid_set_failed()).
 */
#ifndef MPI_COMM_LIST_H
#define MPI_COMM_LIST_H

#include <mpi.h>
#include <stdint.h>

struct comm;

/* What is told of communicators: made once groups and context are known, maybe more than once; and freed.
 * By the thread that does it, with no lock held. */
struct comm_list_watch {
    void (*made)(struct comm *comm);
    void (*freed)(struct comm *comm);
    void (*finalizes)(void); /* MPI_Finalize has begun; it may wait */
    void (*rests)(void); /* MPI has ended in this process */
};
void comm_list_watch(const struct comm_list_watch *watch);
/* The communicator with this first context; NULL: none. It stays until its freed is told. */
struct comm *comm_list_find(uint32_t context);

/* How many processes have failed that a communicator had as a member. */
extern _Atomic uint32_t comm_list_failures;

void comm_list_add(struct comm *comm);
/* Fail a communicator whose groups and context have become known, if one of its members has failed
 * before that. */
void comm_list_check(struct comm *comm);
/* The user knows that the first count of the processes that have failed cannot send any more. */
void comm_list_acknowledge(struct comm *comm, uint32_t count);
void comm_list_remove(struct comm *comm);
/* The function that was called as collective number of a communicator, and its root, or -1; NULL: not
 * known, or not any more. */
typedef const char *comm_list_noted(const struct comm *comm, uint32_t number, int *root);
/* MPI begins: debuggers learn where the library lies that shows them queues. noted: for mpiexec's
 * report of a hang. */
void comm_list_begin(comm_list_noted *noted);
/* MPI_Finalize has begun, and all that other processes may need of this one's communicators is to be done. */
void comm_list_finalize(void);
/* MPI has ended in this process: no handle leads to a communicator any more. */
void comm_list_end(void);
/* Then, once no call of MPI goes on any more. */
void comm_list_rest(void);
/* The name of the communicator of a context, or words in its place. */
void comm_list_name(uint32_t context, char name[MPI_MAX_OBJECT_NAME]);

#endif
