/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that go through a region in the background; see region_task.h. */
#include "mpi/region/region_task.h"

#include <stdatomic.h>
#include <stddef.h>

#include "mpi/coll/choose.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/context.h"
#include "mpi/request/request.h"

static void types_of(const struct coll_data *data, int blocks, void (*change)(struct type *type))
{
    for (int i = 0; data->types && i < blocks; i++)
        if (data->types[i] != MPI_DATATYPE_NULL)
            change(type_from(data->types[i]));
    if (!data->types)
        change(type_from(data->type));
}

/* A handle that does not matter at this process may be no type. */
static void each_type(const struct sched_task *task, void (*change)(struct type *type))
{
    const struct coll *c = &((const struct region_task *)task)->c;
    bool is_root = c->rank == c->root, sends = false, receives = c->kind != COLL_BARRIER;
    if (c->kind == COLL_GATHER)
        receives = is_root;
    if (c->kind == COLL_ALLGATHER || c->kind == COLL_ALLTOALL || c->kind == COLL_GATHER)
        sends = c->send.buf != MPI_IN_PLACE;
    if (c->kind == COLL_SCATTER) {
        sends = is_root;
        receives = c->recv.buf != MPI_IN_PLACE;
    }
    if (sends)
        types_of(&c->send, c->peers, change);
    if (receives)
        types_of(&c->recv, c->peers, change);
}

static inline void start(struct region_task *task)
{
    if (task->prepare != region_notice)
        choose_count_region(&task->c);
    region_begin(&task->run, task->r, &task->c, task->prepare, task->bytes);
}

/* ---- the line; all locked ---- */

static void begin(struct region_task *task)
{
    const struct region *r = task->r;
    start(task);
    task->run.number = r->number; /* if it has no operations */
    task->begun = true;
    task->give = region_meet_ahead(&task->run);
    if (!task->give)
        task->give = region_cycle_ahead(&task->run);
    if (!task->give)
        task->give = region_pull_ahead(&task->run);
    task->call = r->call;
    task->stranger = -1;
    task->sync = task->r->begun++ % REGION_AHEAD;
}

/* The region is at a task. */
static void enter(const struct region_task *task)
{
    struct region *r = task->r;
    r->call = task->call;
    r->stranger = task->stranger;
    r->sync = &r->syncs[task->sync];
    r->tally = &r->tallies[task->sync];
}

/* Begin tasks, and give their parts, in order. All members number operations alike, so that none begins before the
 * one ahead of it has taken its numbers. A task whose turn it is goes by itself: progress looks at its word. */
static void go_ahead(struct region *r)
{
    while (r->next_ahead && r->ahead < REGION_AHEAD) {
        struct region_task *task = r->next_ahead;
        if (!task->begun)
            begin(task);
        if (!task->give || task->state == REGION_TASK_RUNS)
            return;
        enter(task);
        int rc = task->give(&task->run);
        task->stranger = r->stranger;
        if (rc)
            return; /* at its turn it finds the same */
        r->next_ahead = task->next;
        r->ahead++;
    }
}

/* Put it behind the others of its region. Returns whether it is the first. */
static bool line_up(struct region_task *task)
{
    struct region *r = task->r;
    bool first = !r->tasks;
    task->next = NULL;
    if (first)
        r->tasks = task;
    else
        r->last->next = task;
    r->last = task;
    if (!r->next_ahead)
        r->next_ahead = task;
    if (!first)
        mpid_begin(&task->task.request->dev); /* the one before completes it */
    go_ahead(r);
    return first;
}

/* Others have come to a task's last operation, and may have given their parts of it ahead. */
static void doubt(struct region *r, uint64_t number)
{
    uint64_t sure = number > REGION_AHEAD ? number - REGION_AHEAD : 0;
    if (r->known > sure)
        r->known = sure;
    if (r->told > sure)
        r->told = sure;
}

/* It is over. Returns the one whose turn is next. */
static struct region_task *leave(struct region_task *task)
{
    struct region *r = task->r;
    r->tasks = task->next;
    if (r->next_ahead == task)
        r->next_ahead = task->next;
    else
        r->ahead--;
    go_ahead(r);
    return r->tasks;
}

/* Whether it is its turn. */
static bool has_turn(struct region_task *task)
{
    if (task->state == REGION_TASK_NEW)
        task->state = line_up(task) ? REGION_TASK_RUNS : REGION_TASK_QUEUED;
    else if (task->state == REGION_TASK_QUEUED && mpid_is_complete(&task->task.request->dev))
        task->state = REGION_TASK_RUNS;
    return task->state == REGION_TASK_RUNS;
}

/* For the hang report. */
static uint64_t awaits(const struct region_task *task, int whom)
{
    return sched_awaits(task->c.comm->context + CONTEXT_COLL, whom);
}

/* Go on with one whose turn it is. */
static inline int run(struct region_task *task, struct sched_misfit *misfit)
{
    int rc = task->run.go(&task->run);
    if (rc == SCHED_WAITS) {
        task->task.awaits = awaits(task, task->run.whose);
        return rc;
    }
    task->state = REGION_TASK_NEW;
    return region_outcome(&task->run, rc, misfit);
}

/* The region is the task's own. */
static inline int run_alone(struct region_task *task, struct sched_misfit *misfit)
{
    if (task->state == REGION_TASK_NEW)
        start(task);
    task->state = REGION_TASK_RUNS;
    return run(task, misfit);
}

/* The first in line goes on, and at its end the next. */
static __attribute__((noinline)) int run_in_line(struct region_task *task, struct sched_misfit *misfit)
{
    struct region *r = task->r;
    struct region_task *next = NULL;
    int rc = SCHED_WAITS;
    os_lock(&r->lock);
    if (has_turn(task)) {
        if (!task->begun)
            begin(task);
        enter(task);
        rc = run(task, misfit);
        task->stranger = r->stranger;
        if (rc != SCHED_WAITS || task->give) /* one that waits for readers, too: others give ahead meanwhile */
            doubt(r, task->run.number);
        next = rc == SCHED_WAITS ? NULL : leave(task);
    }
    os_unlock(&r->lock);
    if (next)
        mpid_complete(&next->task.request->dev, MPID_OK);
    return rc;
}

int region_task_try(struct region_task *task, struct sched_misfit *misfit)
{
    if (task->root_bytes >= 0)
        return MPI_SUCCESS;
    int rc = task->alone ? run_alone(task, misfit) : run_in_line(task, misfit);
    if (rc == REGION_BY_MESSAGES) {
        task->root_bytes = task->run.root_bytes;
        rc = MPI_SUCCESS;
    }
    if (!rc && atomic_load_explicit(&task->c.comm->failed, memory_order_relaxed))
        rc = comm_failure(task->c.comm);
    return rc;
}

static int go_on(struct sched_task *of, struct sched_misfit *misfit)
{
    struct region_task *task = (struct region_task *)of;
    int rc = region_task_try(task, misfit);
    if (rc == SCHED_WAITS && task->state == REGION_TASK_RUNS) {
        mpid_begin(&of->request->dev);
        mpid_look(&task->look);
    }
    return rc;
}

bool region_task_init(struct region_task *task, const struct coll *c, struct region *r, bool alone)
{
    task->prepare = region_choose(r, c, &task->bytes);
    if (!task->prepare && !alone)
        task->prepare = region_choose_notice(c, &task->bytes);
    struct request *request = task->prepare ? request_begin(NULL) : NULL;
    if (!request)
        return false;
    mpid_complete(&request->dev, MPID_OK); /* until it is awaited */
    task->c = *c;
    task->task = (struct sched_task){go_on, each_type, request, awaits(task, -1)};
    task->r = r;
    task->alone = alone;
    task->root_bytes = -1;
    task->state = REGION_TASK_NEW;
    task->begun = false; /* those in a line run once */
    task->look =
        (struct mpid_look){.how = &region_watch, .arg = &task->run, .request = &request->dev};
    return true;
}

void region_task_fini(struct region_task *task)
{
    request_free(task->task.request);
}
