/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A number for all processes of a communicator; see file_counter.h.
 *
 * A question has the number to add and the tag of the answer, so that several threads of a process
 * may ask at once. The owner has one receive for questions posted; its handler answers and posts
 * the next one.
 */
#include "mpi/io/file_counter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "os/lock.h"

enum { QUESTION_TAG = 0, ANSWER_TAG = 1, ANSWER_TAGS = 1 << 30 };

struct question {
    int64_t by, tag;
};

struct io_counter {
    struct comm *comm; /* referenced */
    int owner;
    _Atomic int64_t value;   /* at the owner */
    _Atomic uint32_t asked;  /* questions of this process */
    _Atomic int references;  /* the user's, and the posted receive's */
    struct os_lock lock;     /* guards listening and closed */
    struct request *listening; /* the owner's receive for questions, or NULL */
    bool closed;
    struct question heard;
};

static void unref(struct io_counter *counter)
{
    if (atomic_fetch_sub(&counter->references, 1) > 1)
        return;
    comm_unref(counter->comm);
    free(counter);
}

static struct p2p_side side(const struct io_counter *counter, int peer, int tag)
{
    return (struct p2p_side){counter->comm, counter->comm->context + CONTEXT_COUNTER, peer, tag};
}

/* ---- the owner ---- */

static void answer(struct io_counter *counter, int peer, const struct question *question)
{
    struct request *request;
    struct p2p_side to = side(counter, peer, (int)question->tag);
    int64_t *was = malloc(sizeof(*was));
    if (!was)
        return;
    *was = atomic_fetch_add(&counter->value, question->by);
    if (p2p_isend(&to, was, 1, MPI_INT64_T, &request) || request == &request_done) {
        free(was);
        return;
    }
    request->owned = was;
    request_let_go(request);
}

/* Take the questions that have arrived. Returns whether there may be more. */
static bool take(struct io_counter *counter, struct request *request)
{
    MPI_Status status;
    bool cancelled = request->dev.cancelled;
    size_t len = request->dev.count;
    int rc = p2p_finish(request, &status);
    const struct question *question = &counter->heard;
    if (rc || cancelled)
        return false;
    if (len == sizeof(*question) && question->tag >= ANSWER_TAG)
        answer(counter, status.MPI_SOURCE, question);
    return true;
}

static void on_question(struct mpid_request *dev);

/* Post the receive again until one does not complete at once, or drop the receive's reference. */
static void post(struct io_counter *counter)
{
    struct p2p_side from = side(counter, MPI_ANY_SOURCE, QUESTION_TAG);
    for (bool more = true; more;) {
        struct request *request = NULL;
        os_lock(&counter->lock);
        if (!counter->closed && p2p_irecv(&from, &counter->heard, 2, MPI_INT64_T, &request))
            request = NULL;
        counter->listening = request;
        if (request) {
            request->state = counter;
            more = !mpid_when_done(&request->dev, on_question);
            if (more) /* it is taken below, and may be the last */
                counter->listening = NULL;
        }
        os_unlock(&counter->lock);
        if (!request)
            break;
        if (!more)
            return;
        more = take(counter, request);
    }
    unref(counter);
}

static void on_question(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct io_counter *counter = request->state;
    os_lock(&counter->lock);
    counter->listening = NULL;
    os_unlock(&counter->lock);
    if (take(counter, request))
        post(counter);
    else
        unref(counter);
}

/* ---- for all ---- */

struct io_counter *file_counter_open(MPI_Comm handle, int owner)
{
    struct io_counter *counter = calloc(1, sizeof(*counter));
    if (!counter)
        return NULL;
    counter->comm = comm_from(handle);
    object_ref(&counter->comm->object);
    counter->owner = owner;
    counter->references = 1;
    if (counter->comm->rank == owner) {
        counter->references++;
        post(counter);
    }
    return counter;
}

void file_counter_close(struct io_counter *counter)
{
    if (!counter)
        return;
    os_lock(&counter->lock);
    counter->closed = true;
    if (counter->listening)
        mpid_cancel(&counter->listening->dev);
    os_unlock(&counter->lock);
    unref(counter);
}

int file_counter_add(struct io_counter *counter, int64_t by, int64_t *was)
{
    if (counter->comm->rank == counter->owner) {
        *was = atomic_fetch_add(&counter->value, by);
        return MPI_SUCCESS;
    }
    int tag = ANSWER_TAG + (int)(atomic_fetch_add(&counter->asked, 1) % ANSWER_TAGS);
    struct question question = {by, tag};
    struct p2p_side from = side(counter, counter->owner, tag);
    struct p2p_side to = side(counter, counter->owner, QUESTION_TAG);
    int rc = p2p_send_mode(&to, &question, 2, MPI_INT64_T, MPID_STANDARD);
    return rc ? rc : p2p_recv(&from, was, 1, MPI_INT64_T, MPI_STATUS_IGNORE);
}

void file_counter_set(struct io_counter *counter, int64_t to)
{
    atomic_store(&counter->value, to);
}
