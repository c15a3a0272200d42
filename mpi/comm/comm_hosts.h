/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The hosts of a communicator and the ranks on each. All members know the same, without a message.
 * Communicators of one group share them; they last as long as the group.
 * Where members come from jobs that were started separately, the hosts are unknown.
 */
#ifndef MPI_COMM_HOSTS_H
#define MPI_COMM_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/comm/comm.h"

struct comm_hosts {
    int count;       /* hosts; 0: not known. With 0 or 1 the arrays are NULL */
    int mine;        /* this process's */
    bool in_order;   /* ranks of each host follow each other */
    const int *host; /* [size] of each rank; hosts have numbers in the order of their first ranks */
    const int *first; /* [count + 1] where each host begins in ranks */
    const int *ranks; /* [size] host by host, in order */
};

/* Of one host, and of unknown ones. */
extern const struct comm_hosts comm_hosts_one, comm_hosts_unknown;

/* Find them out. NULL: no memory. */
const struct comm_hosts *comm_hosts_find(struct comm *comm);
/* The hosts of an intracommunicator; of the local group of another. NULL: no memory. */
static inline const struct comm_hosts *comm_hosts_of(struct comm *comm)
{
    const struct comm_hosts *hosts = __atomic_load_n(&comm->hosts, __ATOMIC_ACQUIRE);
    return __builtin_expect(hosts != 0, 1) ? hosts : comm_hosts_find(comm);
}

/* A number that all processes of this host share, and no others. Not before MPI starts. */
uint64_t comm_host_id(void);
/* The same for those that can share memory: of one host, and one job. */
uint64_t comm_memory_id(void);

#endif
