/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives. struct coll is the call, in the terms of MPI-5.0 chapter 6; choose.c picks the
 * algorithm; the algorithm writes a schedule; the schedule is run.
 *
 * Arguments are taken as checked. What only matters at the root is not looked at elsewhere.
 */
#ifndef MPI_COLL_COLL_H
#define MPI_COLL_COLL_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/comm/comm.h"
#include "mpi/type/op.h"
#include "mpi/type/type.h"

struct comm_hosts;
struct sched;

enum coll_kind {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_GATHER,
    COLL_SCATTER,
    COLL_ALLGATHER,
    COLL_ALLTOALL,
    COLL_REDUCE_SCATTER,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_NEIGHBOR_ALLGATHER,
    COLL_NEIGHBOR_ALLTOALL,
    COLL_KINDS
};

/* Data of one process, or blocks of data, one for each process that they go to or come from (over
 * an intercommunicator those of the other group, but in reduce_scatter of the own; in those of a
 * topology the neighbours); arrays have as many elements. */
struct coll_data {
    void *buf;               /* maybe MPI_IN_PLACE */
    MPI_Count count;         /* of each block; or */
    const MPI_Count *counts; /* NULL: all are equal */
    const MPI_Aint *displs;  /* in extents, or in bytes where types is set */
    MPI_Datatype type;       /* of each block; or */
    const MPI_Datatype *types;
};

/*
 * bcast: buffer in recv. Reductions and scans: count and type in recv, the input in send.buf. Of
 * reduce_scatter: blocks in recv. The rest: as MPI has them.
 */
struct coll {
    enum coll_kind kind;
    bool uneven; /* one of the calls whose blocks may differ in size */
    bool unlike; /* members are known to have given different lengths, though they may not differ */
    int root; /* over an intercommunicator: MPI_ROOT, MPI_PROC_NULL, or of the other group */
    struct comm *comm;
    int rank, size; /* mine, and of those who take part: of the local group */
    int peers;      /* that data go to or come from: size, or the size of the remote group */
    const struct comm_hosts *hosts; /* of those who take part */
    const struct op *op;
    struct coll_data send, recv;
};

/* Let all of a communicator take part. */
static inline void coll_over(struct coll *c, struct comm *comm, const struct comm_hosts *hosts)
{
    c->comm = comm;
    c->rank = comm->rank;
    c->size = comm->size;
    c->peers = comm->peers;
    c->hosts = hosts;
}

static inline bool coll_is_of_neighbors(const struct coll *c)
{
    return c->kind >= COLL_NEIGHBOR_ALLGATHER; /* they are the last kinds */
}

/* A call in a word: number plus one, kind and form, root. NOTED_COPY is one kind more: MPI_Comm_idup. */
enum { NOTED_ROOT = 25, NOTED_NUMBER = 32, NOTED_COPY = COLL_KINDS };

/* Note a call that is about to begin, for the hang report: one with a root, which a member may leave
 * before others come, or a nonblocking one, whose name no function shows that waits for it. */
static inline void coll_note_as(struct comm *comm, unsigned kind, bool uneven, int root)
{
    uint32_t number = comm->coll_tag;
    uint64_t word = ((uint64_t)number + 1) << NOTED_NUMBER |
                    (uint64_t)(kind << 1 | uneven) << NOTED_ROOT |
                    ((unsigned)root & ((1u << NOTED_ROOT) - 1));
    atomic_store_explicit(&comm->calls[number % COMM_CALLS], word, memory_order_relaxed);
}
static inline void coll_note(const struct coll *c)
{
    coll_note_as(c->comm, c->kind, c->uneven, c->root);
}
/* Forget a call that is noted, and does not begin. */
static inline void coll_forget(const struct coll *c)
{
    atomic_store_explicit(&c->comm->calls[c->comm->coll_tag % COMM_CALLS], 0, memory_order_relaxed);
}
/* The function that was called as collective number of a communicator, and its root, or -1; NULL:
 * not known, or not any more. */
const char *coll_noted(const struct comm *comm, uint32_t number, int *root);

/* ---- for algorithms ---- */

/* An algorithm: append the steps of this process. */
typedef void (*coll_fn)(struct sched *s, const struct coll *c);

#define A(kind, name, word, needs, function) void function(struct sched *s, const struct coll *c);
#include "mpi/coll/algorithms.inc"
#undef A
void coll_inter(struct sched *s, const struct coll *c); /* over an intercommunicator: any but scans */

/* The two halves of a tree barrier: the root, process 0, hears from all; all hear from it. */
void coll_barrier_up(struct sched *s, const struct coll *c);
void coll_barrier_down(struct sched *s, const struct coll *c);

/* The block of one process. */
struct coll_block {
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
};
struct coll_block coll_block(const struct coll_data *data, int rank);

static inline MPI_Count coll_size(MPI_Datatype type)
{
    return type_from(type)->size;
}

/* buf and so many elements on. */
static inline void *coll_at(const void *buf, MPI_Count elements, MPI_Datatype type)
{
    return (void *)((uintptr_t)buf + (uintptr_t)elements * (uintptr_t)type_from(type)->extent);
}

/* a + b around a ring of size ranks; a is 0 to size - 1, b -size to size. */
static inline int coll_around(int a, int b, int size)
{
    int sum = a < size - b ? a + b : a - (size - b);
    return sum < 0 ? sum + size : sum;
}

#endif
