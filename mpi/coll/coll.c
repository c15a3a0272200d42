/* SPDX-License-Identifier: BSD-3-Clause */

/* Running collectives; see coll.h. */
#include "mpi/coll/coll.h"

#include <mpi.h>
#include <stdatomic.h>

#include "mpi/coll/choose.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_hosts.h"
#include "mpi/region/region.h"

/* One collective in so many makes progress in any case: a root that only sends waits for nothing, and
 * would not hear that a member has failed. */
enum { LOOK_PERIOD = 32 };

static bool is_failed(const struct comm *comm)
{
    return __builtin_expect(atomic_load_explicit(&comm->failed, memory_order_relaxed), 0);
}

static const struct sched_misfit no_misfit = {-1, 0, 0};

static __attribute__((cold)) int end_failed(const struct comm *comm, struct sched_misfit *misfit)
{
    if (misfit)
        *misfit = no_misfit;
    return comm_failure(comm);
}

/* Whether the call has gone through shared memory, and its outcome. */
static inline bool runs_in_region(const struct coll *c, int *rc, struct sched_misfit *misfit)
{
    if (!region_may_run(c) || choose_is_forced(c))
        return false;
    *misfit = no_misfit;
    return region_run(c, rc, misfit);
}

const char *coll_noted(const struct comm *comm, uint32_t number, int *root)
{
    static const char *const names[COLL_KINDS + 1][2] = {
        [COLL_BARRIER] = {"MPI_Barrier", "MPI_Barrier"},
        [COLL_BCAST] = {"MPI_Bcast", "MPI_Bcast"},
        [COLL_REDUCE] = {"MPI_Reduce", "MPI_Reduce"},
        [COLL_ALLREDUCE] = {"MPI_Allreduce", "MPI_Allreduce"},
        [COLL_GATHER] = {"MPI_Gather", "MPI_Gatherv"},
        [COLL_SCATTER] = {"MPI_Scatter", "MPI_Scatterv"},
        [COLL_ALLGATHER] = {"MPI_Allgather", "MPI_Allgatherv"},
        [COLL_ALLTOALL] = {"MPI_Alltoall", NULL}, /* of two functions */
        [COLL_REDUCE_SCATTER] = {"MPI_Reduce_scatter_block", "MPI_Reduce_scatter"},
        [COLL_SCAN] = {"MPI_Scan", "MPI_Scan"},
        [COLL_EXSCAN] = {"MPI_Exscan", "MPI_Exscan"},
        [NOTED_COPY] = {"MPI_Comm_idup", NULL},
    };
    uint64_t word = atomic_load_explicit(&comm->calls[number % COMM_CALLS], memory_order_relaxed);
    unsigned form = (unsigned)(word >> NOTED_ROOT) % (1u << (NOTED_NUMBER - NOTED_ROOT));
    unsigned kind = form >> 1;
    if (word >> NOTED_NUMBER != (uint64_t)number + 1 || kind > NOTED_COPY)
        return NULL;
    bool is_rooted =
        kind == COLL_BCAST || kind == COLL_REDUCE || kind == COLL_GATHER || kind == COLL_SCATTER;
    *root = is_rooted && !comm->remote ? (int)(word % (1u << NOTED_ROOT)) : -1;
    return names[kind][form & 1];
}

/* Where a member has failed some messages never come, and some that have come stand for nothing. */
int coll_run(const struct coll *c, struct sched_misfit *misfit)
{
    struct sched s;
    int rc = MPI_SUCCESS;
    if (is_failed(c->comm))
        return end_failed(c->comm, misfit);
    if (!runs_in_region(c, &rc, &s.misfit)) {
        sched_init(&s, c->comm, c->op);
        if (__builtin_expect(rc == REGION_BY_MESSAGES, 0))
            choose_begin_as(&s, c, s.misfit.len); /* as the region has left it */
        else
            choose_begin(&s, c);
        rc = sched_run(&s);
    } else {
        choose_count_region(c);
    }
    if (!(c->comm->coll_tag % LOOK_PERIOD))
        (void)mpid_progress();
    if (is_failed(c->comm) && !rc)
        rc = comm_failure(c->comm);
    if (__builtin_expect(rc && misfit, 0))
        *misfit = s.misfit;
    return rc;
}

int coll_run_over(struct comm *comm, struct coll *c)
{
    const struct comm_hosts *hosts = comm_hosts_of(comm);
    if (!hosts)
        return MPI_ERR_NO_MEM;
    coll_over(c, comm, hosts);
    return coll_run(c, NULL);
}

struct coll_block coll_block(const struct coll_data *data, int rank)
{
    struct coll_block block = {data->buf, data->count, data->type};
    if (data->types)
        block.type = data->types[rank] == MPI_DATATYPE_NULL ? MPI_BYTE : data->types[rank]; /* of no elements */
    if (data->counts)
        block.count = data->counts[rank];
    if (data->types)
        block.buf = (void *)((uintptr_t)data->buf + (uintptr_t)data->displs[rank]);
    else
        block.buf = coll_at(data->buf, data->displs ? data->displs[rank] : data->count * rank,
                            data->type);
    return block;
}
