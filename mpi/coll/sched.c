/* SPDX-License-Identifier: BSD-3-Clause */

/* Schedules: building and running; see sched.h. */
#include "mpi/coll/sched.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/type/op.h"
#include "mpi/type/type.h"

struct sched_memory {
    struct sched_memory *next;
    _Alignas(64) char bytes[];
};

void sched_init(struct sched *s, struct comm *comm, const struct op *op)
{
    int tag = (int)(comm->coll_tag % COMM_KEPT_TAG);
    comm_count(comm, comm->coll_tag + 1);
    if (comm->local) /* is used by the same schedules */
        comm_count(comm->local, comm->coll_tag);
    sched_init_at(s, &(struct sched_place){comm, CONTEXT_COLL, tag, NULL}, op);
}

void sched_init_kept(struct sched *s, struct comm *comm, const struct op *op)
{
    int tag = COMM_KEPT_TAG + (int)(comm->coll_kept_tag++ % (COMM_AGREE_TAG - COMM_KEPT_TAG));
    sched_init_at(s, &(struct sched_place){comm, CONTEXT_COLL, tag, NULL}, op);
}

void sched_init_at(struct sched *s, const struct sched_place *place, const struct op *op)
{
    s->place = *place;
    s->op = op;
    s->ended = NULL;
    s->stops = s->broken = s->empties = s->lacks = false;
    s->error = MPI_SUCCESS;
    s->misfit.peer = -1;
    s->count = s->next = s->settled = s->held = 0;
    s->room = SCHED_STEPS;
    s->used = 0;
    s->steps = s->own_steps;
    s->memory = NULL;
}

/* Call change for all that is to be kept alive. */
static void each_held(const struct sched *s, void (*change)(struct type *type))
{
    for (int i = 0; i < s->held; i++) {
        const struct sched_step *step = &s->steps[i];
        if (step->kind == SCHED_CALL || step->kind == SCHED_WAIT)
            continue;
        if (step->kind == SCHED_TASK) {
            const struct sched_task *task = step->to;
            task->each_type(task, change);
            continue;
        }
        change(type_from(step->type));
        if (step->kind == SCHED_COPY)
            change(type_from(step->from_type));
    }
}

void sched_hold(struct sched *s)
{
    s->held = s->count;
    each_held(s, type_ref);
    if (s->held && s->op)
        op_ref((struct op *)(uintptr_t)s->op);
}

static __attribute__((noinline)) void let_go(struct sched *s)
{
    each_held(s, type_unref);
    if (s->op)
        op_unref((struct op *)(uintptr_t)s->op);
}

void sched_fini(struct sched *s)
{
    if (s->held)
        let_go(s);
    while (s->memory) {
        struct sched_memory *memory = s->memory;
        s->memory = memory->next;
        free(memory);
    }
    if (s->steps != s->own_steps)
        free(s->steps);
}

/* ---- building ---- */

static bool grow(struct sched *s)
{
    size_t size = (size_t)s->room * sizeof(*s->steps);
    struct sched_step *steps = malloc(2 * size);
    if (!steps)
        return false;
    memcpy(steps, s->steps, size);
    if (s->steps != s->own_steps)
        free(s->steps);
    s->steps = steps;
    s->room *= 2;
    return true;
}

/* The next step, not filled in. Without memory it is one that will not be run. */
static struct sched_step *append(struct sched *s)
{
    if (s->count == s->room && !grow(s)) {
        s->broken = true;
        s->count = 0;
    }
    return &s->steps[s->count++];
}

void sched_over(struct sched *s, struct comm *comm)
{
    s->place.comm = comm;
}

void sched_go(struct sched *s, const struct sched_place *place)
{
    s->place = *place;
}

static bool is_empty(MPI_Count count, MPI_Datatype type)
{
    return count == 0 || type_from(type)->size == 0;
}

static struct sched_step *append_message(struct sched *s, enum sched_kind kind, int peer,
                                         MPI_Count count, MPI_Datatype type)
{
    struct sched_step *step = append(s);
    step->kind = (uint8_t)kind;
    step->use = (uint8_t)s->place.use;
    step->peer = s->place.ranks ? s->place.ranks[peer] : peer;
    step->tag = s->place.tag;
    step->from = step->to = s->own_bytes;
    step->count = count;
    step->type = type;
    step->comm = s->place.comm;
    step->request = NULL;
    return step;
}

int sched_send(struct sched *s, int peer, const void *buf, MPI_Count count, MPI_Datatype type)
{
    if (is_empty(count, type) && !s->empties)
        return s->count;
    if (is_empty(count, type)) {
        sched_signal(s, peer);
        return s->count - 1;
    }
    append_message(s, SCHED_SEND, peer, count, type)->from = buf;
    return s->count - 1;
}

int sched_recv(struct sched *s, int peer, void *buf, MPI_Count count, MPI_Datatype type)
{
    if (is_empty(count, type) && !s->empties)
        return s->count;
    if (is_empty(count, type)) {
        sched_await(s, peer);
        return s->count - 1;
    }
    append_message(s, SCHED_RECV, peer, count, type)->to = buf;
    return s->count - 1;
}

void sched_signal(struct sched *s, int peer)
{
    append_message(s, SCHED_SEND, peer, 0, MPI_BYTE);
}

void sched_await(struct sched *s, int peer)
{
    append_message(s, SCHED_RECV, peer, 0, MPI_BYTE);
}

void sched_copy_as(struct sched *s, const void *from, MPI_Count from_count,
                   MPI_Datatype from_type, void *to, MPI_Count count, MPI_Datatype type)
{
    if (count == 0 || from_count == 0)
        return;
    struct sched_step *step = append(s);
    step->kind = SCHED_COPY;
    step->from = from;
    step->from_count = from_count;
    step->from_type = from_type;
    step->to = to;
    step->count = count;
    step->type = type;
}

void sched_copy(struct sched *s, const void *from, void *to, MPI_Count count, MPI_Datatype type)
{
    sched_copy_as(s, from, count, type, to, count, type);
}

void sched_reduce(struct sched *s, const void *from, void *to, MPI_Count count,
                  MPI_Datatype type)
{
    if (count == 0)
        return;
    struct sched_step *step = append(s);
    step->kind = SCHED_REDUCE;
    step->from = from;
    step->to = to;
    step->count = count;
    step->type = type;
}

void sched_call(struct sched *s, sched_fn call, void *arg)
{
    struct sched_step *step = append(s);
    step->kind = SCHED_CALL;
    step->call = call;
    step->to = arg;
}

void sched_task(struct sched *s, struct sched_task *task)
{
    struct sched_step *step = append(s);
    step->kind = SCHED_TASK;
    step->peer = s->count - 1;
    step->to = task;
    step->request = task->request;
}

void sched_wait_for(struct sched *s, int which)
{
    struct sched_step *step = append(s);
    step->kind = SCHED_WAIT;
    step->peer = which;
}

void sched_wait(struct sched *s)
{
    sched_wait_for(s, SCHED_ALL);
}

/* No memory for so much: give something that may be pointed into, but is not used. */
static void *no_temp(struct sched *s)
{
    s->broken = true;
    return s->own_bytes;
}

void *sched_temp(struct sched *s, MPI_Count size)
{
    if (size < 0 || size > INT64_MAX / 2)
        return no_temp(s);
    size_t len = ((size_t)size + 63) & ~(size_t)63;
    if (len <= SCHED_BYTES - s->used) {
        char *own = s->own_bytes + s->used;
        s->used += len;
        return own;
    }
    struct sched_memory *memory = aligned_alloc(64, sizeof(*memory) + len);
    if (!memory)
        return no_temp(s);
    memory->next = s->memory;
    s->memory = memory;
    return memory->bytes;
}

void *sched_temp_of(struct sched *s, MPI_Count count, MPI_Datatype handle)
{
    const struct type *type = type_from(handle);
    MPI_Count reach, size, low = type->true_lb;
    if (count == 0)
        return s->own_bytes;
    if (__builtin_mul_overflow(type->extent, count - 1, &reach) ||
        __builtin_add_overflow(reach < 0 ? -reach : reach, type->true_extent, &size))
        return no_temp(s);
    if (reach < 0)
        low += reach;
    return (void *)((uintptr_t)sched_temp(s, size) - (uintptr_t)low);
}

/* ---- running ---- */

static void keep_first(struct sched *s, int rc)
{
    if (rc && !s->error)
        s->error = rc;
}

/* Once a process is lost nothing more is sent: the others would take a result without its part for
 * a whole one. They hear of the loss themselves. */
static void note(struct sched *s, int rc)
{
    keep_first(s, rc);
    if (rc == MPI_ERR_PROC_ABORTED || rc == MPIX_ERR_REVOKED)
        s->stops = true;
}

/* A message has failed with error, and its data are missing here. If that does not end the process,
 * later messages get a wrong length: no other rank takes a result without these data. */
static __attribute__((noinline)) void note_message(struct sched *s, const struct sched_step *step,
                                                   int error)
{
    note(s, error);
    s->lacks = true;
    if (errh_is_fatal(&step->comm->errhandler))
        s->stops = true;
}

/* The other side gets no bytes in place of some, and a byte in place of none. */
static __attribute__((noinline)) int send_spoilt(struct sched_step *step, const struct p2p_side *to)
{
    MPI_Count bytes = is_empty(step->count, step->type);
    return p2p_isend_mode(to, "", bytes, MPI_BYTE, MPID_STANDARD, &step->request);
}

static void start_message(struct sched *s, struct sched_step *step)
{
    struct p2p_side side = {step->comm, step->comm->context + step->use, step->peer, step->tag};
    int rc;
    if (step->kind == SCHED_SEND) {
        rc = __builtin_expect(s->lacks, 0)
                 ? send_spoilt(step, &side)
                 : p2p_isend_mode(&side, step->from, step->count, step->type, MPID_STANDARD,
                                  &step->request);
        if (step->request == &request_done)
            step->request = NULL;
    } else {
        rc = p2p_irecv(&side, step->to, step->count, step->type, &step->request);
    }
    if (__builtin_expect(rc, 0)) {
        step->request = NULL;
        note_message(s, step, rc);
    }
}

/* A message does not have the length that is due. Where the error ends the process, nothing more is
 * waited for: the others may run another algorithm, which has no message for this one. */
static __attribute__((noinline)) int tell_misfit(struct sched *s, const struct sched_step *step)
{
    const struct mpid_request *dev = &step->request->dev;
    if (!s->error)
        s->misfit = (struct sched_misfit){step->peer, (MPI_Count)dev->bytes.len,
                                          (MPI_Count)dev->count};
    if (errh_is_fatal(&step->comm->errhandler))
        s->stops = true;
    return dev->error == MPID_TRUNCATED ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
}

static bool fits(const struct sched_step *step)
{
    const struct mpid_request *dev = &step->request->dev;
    if (dev->error)
        return dev->error != MPID_TRUNCATED;
    return step->kind == SCHED_SEND || dev->count == dev->bytes.len;
}

/* Whether a step is not, or no longer, under way. */
static bool settle(struct sched *s, struct sched_step *step)
{
    if ((step->kind != SCHED_SEND && step->kind != SCHED_RECV) || !step->request)
        return true;
    if (!request_is_complete(step->request))
        return false;
    if (__builtin_expect(!fits(step), 0))
        note(s, tell_misfit(s, step));
    int rc = p2p_end(step->request);
    step->request = NULL;
    if (__builtin_expect(rc, 0) && rc != MPI_ERR_TRUNCATE)
        note_message(s, step, rc);
    return true;
}

/* Whether all steps before end have settled. */
static bool settle_before(struct sched *s, int end)
{
    while (s->settled < end) {
        if (!settle(s, &s->steps[s->settled]))
            return false;
        s->settled++;
    }
    return true;
}

static bool is_over(struct sched *s, const struct sched_step *wait)
{
    if (wait->peer == SCHED_ALL)
        return settle_before(s, s->next);
    return settle(s, &s->steps[wait->peer]);
}

static bool is_task_over(struct sched *s, struct sched_task *task)
{
    int rc = task->go_on(task, &s->misfit);
    if (rc == SCHED_WAITS)
        return false;
    note(s, rc);
    return true;
}

static bool do_step(struct sched *s, struct sched_step *step)
{
    switch ((enum sched_kind)step->kind) {
    case SCHED_SEND:
    case SCHED_RECV: start_message(s, step); break;
    case SCHED_COPY:
        note(s, type_copy(step->from, step->from_count, step->from_type, step->to, step->count,
                          step->type));
        break;
    case SCHED_REDUCE:
        note(s, op_apply(s->op, step->from, step->to, step->count, step->type));
        break;
    case SCHED_CALL: note(s, step->call(s, step->to)); break;
    case SCHED_TASK: return is_task_over(s, step->to);
    case SCHED_WAIT: return is_over(s, step);
    }
    return true;
}

/* Start nothing more, and cancel the receives that are under way. */
static void stop(struct sched *s)
{
    for (int i = s->settled; i < s->next; i++)
        if (s->steps[i].kind == SCHED_RECV && s->steps[i].request)
            mpid_cancel(&s->steps[i].request->dev);
    s->next = s->count;
}

bool sched_advance(struct sched *s)
{
    while (s->next < s->count && !s->broken && !(s->stops && s->error)) {
        if (!do_step(s, &s->steps[s->next]))
            return false;
        s->next++;
    }
    if (s->next < s->count && !s->broken)
        stop(s);
    return s->broken || settle_before(s, s->count);
}

const struct sched_step *sched_awaited(const struct sched *s)
{
    const struct sched_step *step = s->next < s->count ? &s->steps[s->next] : NULL;
    return &s->steps[step && step->peer != SCHED_ALL ? step->peer : s->settled];
}

void sched_skip(struct sched *s, int error)
{
    keep_first(s, error);
    mpid_cancel(&sched_awaited(s)->request->dev);
}

int sched_end(struct sched *s)
{
    sched_fini(s);
    return s->broken ? MPI_ERR_NO_MEM : s->error;
}

/* Run what has not ended at once. */
static __attribute__((noinline)) void run_on(struct sched *s)
{
    do
        request_wait(sched_awaited(s)->request);
    while (!sched_advance(s));
}

int sched_run(struct sched *s)
{
    if (!sched_advance(s))
        run_on(s);
    return sched_end(s);
}

int sched_again(struct sched *s)
{
    int rc = s->broken ? MPI_ERR_NO_MEM : s->error;
    s->error = MPI_SUCCESS;
    s->stops = s->lacks = false;
    s->next = s->settled = 0;
    return rc;
}

/* ---- in the background ---- */

static void go_on(struct mpid_request *dev);

static uint64_t awaits(const struct sched_step *step)
{
    if (step->kind == SCHED_TASK)
        return ((const struct sched_task *)step->to)->awaits;
    return sched_awaits(step->comm->context + step->use, step->peer);
}

/* Advance until something is awaited, whose completion goes on here; or to the end. From when a
 * handler is set, another thread may have the schedule. */
static void advance(struct sched *s)
{
    while (!sched_advance(s)) {
        const struct sched_step *step = sched_awaited(s);
        struct request *awaited = step->request;
        awaited->state = s;
        atomic_store_explicit(&s->awaits, awaits(step), memory_order_relaxed);
        if (mpid_when_done(&awaited->dev, go_on))
            return;
    }
    s->ended(s);
}

static void go_on(struct mpid_request *dev)
{
    advance(request_of(dev)->state);
}

void sched_start(struct sched *s, void (*ended)(struct sched *s))
{
    s->ended = ended;
    advance(s);
}
