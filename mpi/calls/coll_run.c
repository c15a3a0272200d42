/* SPDX-License-Identifier: BSD-3-Clause */

/* Running collectives; see coll_run.h. */
#include "mpi/calls/coll_run.h"

#include <mpi.h>
#include <stdatomic.h>

#include "mpi/coll/choose.h"
#include "mpi/coll/coll.h"
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
