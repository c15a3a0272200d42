/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that go through a region in the background; see region_task.h. */
#include "mpi/coll/region_task.h"

#include <stdatomic.h>
#include <stddef.h>

#include "mpi/coll/choose.h"
#include "mpi/coll/sched.h"
#include "mpi/request/request.h"

static void types_of(const struct coll_data *data, int blocks, void (*change)(struct type *type))
{
    for (int i = 0; data->types && i < blocks; i++)
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

/* Put it behind the others of its region. Returns whether it is the first. */
static bool line_up(struct region_task *task)
{
    struct region *r = task->r;
    task->next = NULL;
    os_lock(&r->lock);
    struct region_task **end = &r->tasks;
    while (*end)
        end = &(*end)->next;
    if (r->tasks)
        mpid_begin(&task->task.request->dev); /* the one before completes it */
    *end = task;
    bool first = r->tasks == task;
    os_unlock(&r->lock);
    return first;
}

/* The next one may go on. */
static void leave(struct region_task *task)
{
    struct region *r = task->r;
    task->state = REGION_TASK_NEW;
    if (task->alone)
        return;
    os_lock(&r->lock);
    struct region_task *next = task->next;
    r->tasks = next;
    os_unlock(&r->lock);
    if (next)
        mpid_complete(&next->task.request->dev, MPID_OK);
}

static void begin(struct region_task *task)
{
    choose_count_region(&task->c);
    region_begin(&task->run, task->r, &task->c, task->prepare, task->bytes);
    task->state = REGION_TASK_RUNS;
}

/* Whether it is its turn, which begins then. */
static bool has_turn(struct region_task *task)
{
    if (task->state == REGION_TASK_NEW && !task->alone && !line_up(task))
        task->state = REGION_TASK_QUEUED;
    if (task->state == REGION_TASK_QUEUED && !mpid_is_complete(&task->task.request->dev))
        return false;
    if (task->state != REGION_TASK_RUNS)
        begin(task);
    return true;
}

int region_task_try(struct region_task *task, struct sched_misfit *misfit)
{
    if (!has_turn(task))
        return SCHED_WAITS;
    int rc = task->run.go(&task->run);
    if (rc == SCHED_WAITS)
        return rc;
    rc = region_outcome(&task->run, rc, misfit);
    if (!rc && atomic_load_explicit(&task->c.comm->failed, memory_order_relaxed))
        rc = MPI_ERR_PROC_ABORTED;
    leave(task);
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
    struct request *request = task->prepare ? request_begin(NULL) : NULL;
    if (!request)
        return false;
    mpid_complete(&request->dev, MPID_OK); /* until it is awaited */
    task->task = (struct sched_task){go_on, each_type, request};
    task->c = *c;
    task->r = r;
    task->alone = alone;
    task->state = REGION_TASK_NEW;
    task->look =
        (struct mpid_look){.how = &region_watch, .arg = &task->run, .request = &request->dev};
    return true;
}

void region_task_fini(struct region_task *task)
{
    request_free(task->task.request);
}
