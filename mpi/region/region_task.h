/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A collective that goes through a region while its caller does other things: one step of a
 * schedule. The tasks of a region end one after the other, in the order in which they begin, which
 * is the same at all members; the words that the first one awaits are looked at by progress. Those behind it have
 * given their parts ahead, as far as each is one operation and there is room: REGION_AHEAD at most have
 * begun and not ended. Others may have come to an operation, too, without being done with as many before it.
 */
#ifndef MPI_COLL_REGION_TASK_H
#define MPI_COLL_REGION_TASK_H

#include "include/mpid.h"
#include "mpi/region/region.h"

struct region_task {
    struct sched_task task;
    struct coll c;
    struct region *r;
    region_fn prepare;
    int64_t bytes;
    bool alone; /* no other task goes through the region */
    enum { REGION_TASK_NEW, REGION_TASK_QUEUED, REGION_TASK_RUNS } state;
    bool begun;
    struct region_run run;
    int64_t root_bytes; /* of a call that goes on by messages: how many the root has; -1: it does not */
    region_give_fn *give; /* its part, ahead; NULL: at its turn */
    /* Of struct region, while others run. */
    uint32_t call;
    int stranger;
    uint32_t sync;
    struct region_task *next; /* of the region */
    struct mpid_look look;
};

/* Set up a task for a call, through r, alone or not: arrays of counts and displacements are referred to.
 * Returns false where the call does not go through a region, or memory has run out. */
bool region_task_init(struct region_task *task, const struct coll *c, struct region *r, bool alone);
/* Give back what it holds. It must not be on its way. */
void region_task_fini(struct region_task *task);

/* Begin or continue, as the schedule does, but without a look for the awaited word. After
 * SCHED_WAITS run the schedule, and where the call goes on by messages, which are behind the task there. */
int region_task_try(struct region_task *task, struct sched_misfit *misfit);

#endif
