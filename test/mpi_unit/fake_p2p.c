/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages in one process; see fake_p2p.h. */
#include "fake_p2p.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/request/compared.h"
#include "mpi/region/region.h"
#include "mpi/coll/checked.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/errh.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/type/type.h"

uint32_t (*fake_p2p_draw)(uint32_t below);
bool fake_p2p_is_fatal;
enum mpid_error fake_p2p_error;

/* A send or receive; of equal (context, from, to, tag) the list has the oldest first. */
struct side {
    struct side *next;
    bool is_send;
    uint32_t context;
    int64_t from, to; /* processes */
    int tag;
    struct mpid_bytes bytes;
    char *copy;              /* data of a send that is complete already, or NULL */
    struct request *request; /* NULL likewise */
};

static struct side *sides;

const struct request_ops request_send_ops, request_recv_ops;
struct request request_done = {.object = {OBJECT_REQUEST, 1}, .ops = &request_send_ops};

/* ---- the interface under test ---- */

static struct request *new_request(const struct request_ops *ops)
{
    struct request *request = calloc(1, sizeof(*request));
    if (!request)
        abort();
    request->ops = ops;
    atomic_store(&request->dev.pending, 1);
    return request;
}

static int64_t process(const struct group *group, int rank)
{
    return group ? group->first + rank : rank;
}

static int add(const struct p2p_side *p, bool is_send, const void *buf, MPI_Count count,
               MPI_Datatype type, struct side **added)
{
    struct type *used;
    struct side *side = calloc(1, sizeof(*side)), **end = &sides;
    const struct comm *comm = p->comm;
    int64_t me = process(comm->group, comm->rank);
    int64_t peer = process(comm->remote ? comm->remote : comm->group, p->peer);
    if (!side || p->peer < 0 || p->peer >= comm->peers)
        abort();
    int rc = type_place(type, buf, count, &side->bytes, &used);
    if (rc) {
        free(side);
        return rc;
    }
    side->is_send = is_send;
    side->context = p->context;
    side->tag = p->tag;
    side->from = is_send ? me : peer;
    side->to = is_send ? peer : me;
    while (*end)
        end = &(*end)->next;
    *end = *added = side;
    return MPI_SUCCESS;
}

int p2p_isend_mode(const struct p2p_side *to, const void *buf, MPI_Count count,
                   MPI_Datatype type, unsigned mode, struct request **request)
{
    struct side *side;
    int rc = add(to, true, buf, count, type, &side);
    if (rc)
        return rc;
    if (fake_p2p_draw(2)) {
        side->copy = malloc(side->bytes.len + 1);
        type_pack(&side->bytes, 0, side->copy, side->bytes.len);
        *request = &request_done;
        return MPI_SUCCESS;
    }
    *request = side->request = new_request(&request_send_ops);
    return MPI_SUCCESS;
}

int p2p_irecv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
              struct request **request)
{
    struct side *side;
    int rc = add(from, false, buf, count, type, &side);
    if (rc)
        return rc;
    *request = side->request = new_request(&request_recv_ops);
    return MPI_SUCCESS;
}

bool errh_is_fatal(const struct errh_slot *slot)
{
    (void)slot;
    return fake_p2p_is_fatal;
}

int p2p_end(struct request *request)
{
    if (!mpid_is_complete(&request->dev))
        abort();
    int rc = request->dev.error == MPID_TRUNCATED ? MPI_ERR_TRUNCATE
             : request->dev.error                 ? MPI_ERR_OTHER
                                                  : MPI_SUCCESS;
    free(request);
    return rc;
}

static void drop(struct side *side)
{
    struct side **at = &sides;
    while (*at != side)
        at = &(*at)->next;
    *at = side->next;
    struct request *request = side->request;
    free(side->copy);
    free(side);
    if (!request)
        return;
    atomic_store(&request->dev.pending, 0);
    if (request->dev.done)
        request->dev.done(&request->dev);
}

void mpid_cancel(struct mpid_request *request)
{
    struct side *side = sides;
    while (side && !(side->request && &side->request->dev == request))
        side = side->next;
    request->cancelled = side != NULL;
    if (side)
        drop(side);
}

bool mpid_when_done(struct mpid_request *request, void (*done)(struct mpid_request *request))
{
    if (mpid_is_complete(request))
        return false;
    request->done = done;
    return true;
}

const struct comm_hosts comm_hosts_one = {.count = 1, .in_order = true};

const struct comm_hosts *comm_hosts_find(struct comm *comm)
{
    return &comm_hosts_one;
}

void compared_begin(void)
{
}

void checked_append(struct sched *s, const struct coll *c)
{
}

void mpid_set_report(void (*put)(FILE *file))
{
}

bool mpid_progress(void)
{
    return false;
}

void request_wait(struct request *request)
{
    while (!mpid_is_complete(&request->dev))
        if (!fake_p2p_deliver())
            abort();
}

/* ---- delivery ---- */

static bool fit(const struct side *a, const struct side *b)
{
    return a->context == b->context && a->from == b->from && a->to == b->to && a->tag == b->tag;
}

/* The first side like this one: itself, if no older one must come before it. */
static struct side *first_like(const struct side *like, bool is_send)
{
    struct side *side = sides;
    while (side && !(side->is_send == is_send && fit(side, like)))
        side = side->next;
    return side;
}

static void fail(struct side *send, struct side *recv)
{
    recv->request->dev.error = fake_p2p_error;
    fake_p2p_error = MPID_OK;
    drop(send);
    drop(recv);
}

static void transfer(struct side *send, struct side *recv)
{
    if (fake_p2p_error) {
        fail(send, recv);
        return;
    }
    size_t len = send->bytes.len;
    if (len > recv->bytes.len) {
        len = recv->bytes.len;
        recv->request->dev.error = MPID_TRUNCATED;
    }
    char *data = send->copy;
    if (!data) {
        data = malloc(len + 1);
        type_pack(&send->bytes, 0, data, len);
    }
    type_unpack(&recv->bytes, 0, data, len);
    recv->request->dev.bytes = recv->bytes;
    recv->request->dev.count = len;
    if (!send->copy)
        free(data);
    drop(send);
    drop(recv);
}

bool fake_p2p_deliver(void)
{
    struct side *chosen = NULL;
    uint32_t seen = 0;
    for (struct side *recv = sides; recv; recv = recv->next)
        if (!recv->is_send && first_like(recv, false) == recv && first_like(recv, true))
            if (fake_p2p_draw(++seen) == 0)
                chosen = recv;
    if (chosen)
        transfer(first_like(chosen, true), chosen);
    return chosen != NULL;
}

bool fake_p2p_is_empty(void)
{
    return !sides;
}

/* There is no host, and so no memory that is shared. */
bool region_run(const struct coll *c, int *rc, struct sched_misfit *misfit)
{
    (void)c, (void)rc, (void)misfit;
    return false;
}
