/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks of the arguments of collectives; see call.h. */
#include "mpi/calls/call.h"

#include <mpi.h>
#include <stdio.h>

#include "mpi/calls/coll_run.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/topo.h"
#include "mpi/request/request.h"
#include "mpi/type/op.h"
#include "mpi/type/type.h"

/* A stretch of memory. */
struct span {
    uintptr_t at;
    int64_t len; /* 0, or less: none, or not known */
};

static int check_comm(struct coll_call *call)
{
    struct comm *comm = comm_from(call->handle);
    if (!comm)
        return errh_bad_comm(call->handle, call->function);
    const struct comm_hosts *hosts = comm_hosts_of(comm);
    if (__builtin_expect(!hosts, 0))
        return coll_call_raise(comm, MPI_ERR_NO_MEM, call->function, NULL);
    coll_over(&call->c, comm, hosts);
    if (comm->remote && (call->c.kind == COLL_SCAN || call->c.kind == COLL_EXSCAN))
        return errh_comm(comm, MPI_ERR_COMM, call->function,
                         "comm: an intercommunicator, over which there are no scans; "
                         "MPI_Intercomm_merge makes one that has them");
    return MPI_SUCCESS;
}

static int check_root(const struct coll_call *call)
{
    struct comm *comm = call->c.comm;
    int root = call->c.root;
    bool is_name = comm->remote && (root == MPI_ROOT || root == MPI_PROC_NULL);
    if ((unsigned)root < (unsigned)comm->peers || is_name)
        return MPI_SUCCESS;
    if (comm->remote)
        return errh_comm(comm, MPI_ERR_ROOT, call->function,
                         "root %d: must be 0 to %d where the root is in the other group; in its "
                         "own, MPI_ROOT at the root and MPI_PROC_NULL elsewhere",
                         root, comm->peers - 1);
    return errh_comm(comm, MPI_ERR_ROOT, call->function, "root %d: must be 0 to %d", root,
                     comm->size - 1);
}

static bool is_root(const struct coll *c)
{
    return c->comm->remote ? c->root == MPI_ROOT : c->root == c->comm->rank;
}

/* Whether this process is in the root's group of an intercommunicator, and not the root. */
static bool is_idle(const struct coll *c)
{
    return c->root == MPI_PROC_NULL;
}

/* Whether this process's data are in their place already, as MPI_IN_PLACE says, in a call where
 * they may be: checks refuse it elsewhere. */
static bool is_in_place(const struct coll *c, const struct coll_data *data)
{
    return data->buf == MPI_IN_PLACE && !c->comm->remote;
}

/* Whether this process has the block that is one of the root's. */
static bool has_block(const struct coll *c, const struct coll_data *data)
{
    return c->comm->remote ? c->root >= 0 : !(is_root(c) && data->buf == MPI_IN_PLACE);
}

/* How many blocks there are, in data of c. */
static int blocks_of(const struct coll *c, const struct coll_data *data)
{
    const struct comm *comm = c->comm;
    if (__builtin_expect(coll_is_of_neighbors(c), 0))
        return data == &c->send ? topo_outdegree(comm->topo, comm->rank)
                                : topo_indegree(comm->topo, comm->rank);
    return c->kind == COLL_REDUCE_SCATTER ? comm->size : comm->peers;
}

static __attribute__((cold, noinline)) int refuse(const struct coll_call *call, int error,
                                                  const char *name, MPI_Count count)
{
    struct comm *comm = call->c.comm;
    if (error == MPI_ERR_COUNT)
        return errh_comm(comm, error, call->function, "%s: count %lld is negative or too large",
                         name, (long long)count);
    return errh_comm(comm, error, call->function, "%s is NULL, but its count is not 0", name);
}

static __attribute__((cold, noinline)) int refuse_type(const struct coll_call *call,
                                                       const char *name, MPI_Datatype type, int rank)
{
    char which[64];
    if (rank < 0)
        snprintf(which, sizeof(which), "%s: its datatype", name);
    else
        snprintf(which, sizeof(which), "%s: its datatype for rank %d", name, rank);
    return errh_bad_type(call->c.comm, type, which, call->function);
}

/* Whether these are elements of a dense predefined type, and nothing is wrong with them. */
static inline bool is_plain(const void *buf, MPI_Count count, MPI_Datatype type)
{
    return __builtin_expect(buf && buf != MPI_IN_PLACE && type_quick_bytes(type, count) >= 0, 1);
}

static __attribute__((noinline)) int check_elements_slow(const struct coll_call *call, const char *name,
                                                         const void *buf, MPI_Count count,
                                                         MPI_Datatype type)
{
    struct mpid_bytes bytes;
    struct type *used;
    if (buf == MPI_IN_PLACE)
        return errh_comm(call->c.comm, MPI_ERR_BUFFER, call->function,
                         "%s: MPI_IN_PLACE has no meaning %s: give a buffer", name,
                         call->c.comm->remote ? "over an intercommunicator" : "here");
    int rc = type_place(type, buf, count, &bytes, &used);
    if (rc == MPI_ERR_TYPE || type == MPI_DATATYPE_NULL || (!rc && comm_is_misread(call->c.comm, type)))
        return refuse_type(call, name, type, -1);
    return rc ? refuse(call, rc, name, count) : MPI_SUCCESS;
}

/* Check count elements at a buffer. */
static inline int check_elements(const struct coll_call *call, const char *name, const void *buf,
                                 MPI_Count count, MPI_Datatype type)
{
    return is_plain(buf, count, type) ? MPI_SUCCESS : check_elements_slow(call, name, buf, count, type);
}

/* Check blocks whose counts, and maybe types, are in arrays. */
static int check_arrays(const struct coll_call *call, const char *name,
                        const struct coll_data *data, bool has_displs)
{
    if (data->buf == MPI_IN_PLACE)
        return check_elements(call, name, data->buf, 0, MPI_BYTE);
    if (blocks_of(&call->c, data) == 0)
        return MPI_SUCCESS;
    if (!data->counts || (has_displs && !data->displs))
        return errh_comm(call->c.comm, MPI_ERR_ARG, call->function, "%s: its array of %s is NULL",
                         name, data->counts ? "displacements" : "counts");
    for (int i = 0; i < blocks_of(&call->c, data); i++) {
        MPI_Datatype type = data->types ? data->types[i] : data->type;
        /* NULL may be the base of displacements that lead to memory */
        const void *buf = data->displs && data->displs[i] ? (const void *)data : data->buf;
        bool is_null = data->types && type == MPI_DATATYPE_NULL; /* with a count of 0 it stands for none */
        if (is_null && data->counts[i])
            return refuse_type(call, name, type, i);
        int rc = is_null ? MPI_SUCCESS : check_elements(call, name, buf, data->counts[i], type);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Check all blocks. */
static int check_blocks(const struct coll_call *call, const char *name,
                        const struct coll_data *data)
{
    MPI_Count all;
    if (data->counts || call->c.uneven)
        return check_arrays(call, name, data, true);
    int blocks = blocks_of(&call->c, data);
    if (blocks == 0)
        return check_elements(call, name, data->buf, 0, data->type);
    if (__builtin_mul_overflow(data->count, blocks, &all))
        return refuse(call, MPI_ERR_COUNT, name, data->count);
    if (is_plain(data->buf, all, data->type))
        return MPI_SUCCESS; /* and so are the elements of one block */
    int rc = check_elements(call, name, data->buf, data->count, data->type);
    return rc ? rc : check_elements(call, name, data->buf, all, data->type);
}

static int check_block(const struct coll_call *call, const char *name, const struct coll_data *data)
{
    return check_elements(call, name, data->buf, data->count, data->type);
}

/* Memory of this process's block, where blocks may differ in size. */
static __attribute__((noinline)) struct span span_of_own(const struct coll *c, const struct coll_data *data,
                                                         bool blocks)
{
    int one = c->comm->rank < blocks_of(c, data) ? c->comm->rank : 0;
    MPI_Datatype handle = data->types ? data->types[one] : data->type;
    MPI_Count count = data->counts ? data->counts[one] : data->count;
    struct span span = {(uintptr_t)data->buf, type_constant_bytes(handle, count)};
    if (blocks && span.len > 0)
        span.at += (uintptr_t)data->displs[one] *
                   (uintptr_t)(data->types ? 1 : type_constant_bytes(handle, 1));
    return span;
}

/* Memory that a buffer names: all of it if the blocks are even, otherwise one block. A user's type
 * may have gaps that another type fills, so the span of these is unknown. */
static inline struct span span_of(const struct coll *c, const struct coll_data *data, bool blocks)
{
    if (__builtin_expect(c->uneven, 0))
        return span_of_own(c, data, blocks);
    int64_t len = type_constant_bytes(data->type, data->count);
    return (struct span){(uintptr_t)data->buf, blocks && len > 0 ? len * blocks_of(c, data) : len};
}

/* Input and output must not share memory. */
static inline int check_apart(const struct coll_call *call, struct span in, struct span out)
{
    if (in.len <= 0 || out.len <= 0 || in.at >= out.at + (uintptr_t)out.len ||
        out.at >= in.at + (uintptr_t)in.len)
        return MPI_SUCCESS;
    return errh_comm(call->c.comm, MPI_ERR_BUFFER, call->function,
                     "sendbuf and recvbuf share memory: use %s",
                     call->c.comm->remote ? "two buffers" : "MPI_IN_PLACE");
}

/* Each of them is one block, or has a block for each of the others. */
static inline __attribute__((always_inline)) int check_distinct(const struct coll_call *call, bool to_all,
                                                                bool from_all)
{
    const struct coll *c = &call->c;
    return check_apart(call, span_of(c, &c->send, to_all), span_of(c, &c->recv, from_all));
}

static int check_op(struct coll_call *call)
{
    struct coll *c = &call->c;
    c->op = op_from(call->op);
    if (!c->op)
        return errh_comm(c->comm, MPI_ERR_OP, call->function, "op: %s",
                         call->op == MPI_OP_NULL ? "is MPI_OP_NULL" : "no such operation");
    if (op_check(c->op, c->recv.type))
        return errh_comm(c->comm, MPI_ERR_OP, call->function,
                         "op: a predefined operation that is not defined for this datatype "
                         "(MPI-5.0 6.9.2)");
    return MPI_SUCCESS;
}

/* Check the input and the operation of a reduction whose output, or as many elements of input, have
 * been checked. */
static int check_input(struct coll_call *call, MPI_Count count)
{
    const struct coll *c = &call->c;
    int rc = MPI_SUCCESS;
    if (!is_in_place(c, &c->send)) {
        if (!c->send.buf || c->send.buf == MPI_IN_PLACE) /* count and type are good */
            rc = check_elements(call, "sendbuf", c->send.buf, count, c->recv.type);
        if (!rc && !c->uneven) {
            int64_t len = type_constant_bytes(c->recv.type, c->recv.count);
            rc = check_apart(call, (struct span){(uintptr_t)c->send.buf, len},
                             (struct span){(uintptr_t)c->recv.buf, len});
        } else if (!rc) {
            rc = check_distinct(call, false, false);
        }
    }
    return rc ? rc : check_op(call);
}

/* ---- the calls: comm has been checked, and the root, if any ---- */

static int check_nothing(struct coll_call *call)
{
    (void)call;
    return MPI_SUCCESS;
}

static int check_bcast(struct coll_call *call)
{
    return is_idle(&call->c) ? MPI_SUCCESS : check_block(call, "buffer", &call->c.recv);
}

static int check_gather(struct coll_call *call)
{
    struct coll *c = &call->c;
    bool sends = has_block(c, &c->send);
    int rc = is_root(c) ? check_blocks(call, "recvbuf", &c->recv) : MPI_SUCCESS;
    if (!rc && sends)
        rc = check_block(call, "sendbuf", &c->send);
    if (!rc && sends && is_root(c))
        rc = check_distinct(call, false, true);
    return rc;
}

static int check_scatter(struct coll_call *call)
{
    struct coll *c = &call->c;
    bool receives = has_block(c, &c->recv);
    int rc = is_root(c) ? check_blocks(call, "sendbuf", &c->send) : MPI_SUCCESS;
    if (!rc && receives)
        rc = check_block(call, "recvbuf", &c->recv);
    if (!rc && receives && is_root(c))
        rc = check_distinct(call, true, false);
    return rc;
}

static int check_allgather(struct coll_call *call)
{
    struct coll *c = &call->c;
    int rc = check_blocks(call, "recvbuf", &c->recv);
    if (!rc && !is_in_place(c, &c->send)) {
        rc = check_block(call, "sendbuf", &c->send);
        if (!rc)
            rc = check_distinct(call, false, true);
    }
    return rc;
}

static int check_alltoall(struct coll_call *call)
{
    struct coll *c = &call->c;
    int rc = check_blocks(call, "recvbuf", &c->recv);
    if (!rc && !is_in_place(c, &c->send)) {
        rc = check_blocks(call, "sendbuf", &c->send);
        if (!rc)
            rc = check_distinct(call, true, true);
    }
    return rc;
}

static int check_reduce(struct coll_call *call)
{
    struct coll *c = &call->c;
    int rc = MPI_SUCCESS;
    if (is_root(c)) {
        rc = check_block(call, "recvbuf", &c->recv);
        if (!rc)
            rc = c->comm->remote ? check_op(call) : check_input(call, c->recv.count);
    } else if (!is_idle(c)) {
        rc = check_block(call, "sendbuf", &c->send);
        if (!rc)
            rc = check_op(call);
    }
    return rc;
}

/* Those whose output is as long as the input, at all processes. */
static int check_reduce_all(struct coll_call *call)
{
    int rc = check_block(call, "recvbuf", &call->c.recv);
    return rc ? rc : check_input(call, call->c.recv.count);
}

/* The first process has no output. */
static int check_exscan(struct coll_call *call)
{
    const struct coll *c = &call->c;
    if (c->comm->rank > 0 || is_in_place(c, &c->send))
        return check_reduce_all(call);
    int rc = check_elements(call, "sendbuf", c->send.buf, c->recv.count, c->recv.type);
    return rc ? rc : check_op(call);
}

static int check_even_parts(struct coll_call *call)
{
    struct coll *c = &call->c;
    bool in_place = is_in_place(c, &c->send);
    int rc =
        in_place ? check_blocks(call, "recvbuf", &c->recv) : check_block(call, "recvbuf", &c->recv);
    if (!rc && !in_place)
        rc = check_blocks(call, "sendbuf", &c->send);
    return rc ? rc : check_input(call, c->recv.count);
}

static int check_uneven_parts(struct coll_call *call)
{
    struct coll *c = &call->c;
    const MPI_Count *counts = c->recv.counts;
    bool in_place = is_in_place(c, &c->send);
    MPI_Count all = 0;
    int rc = MPI_SUCCESS;
    if (!in_place)
        rc = check_arrays(call, "sendbuf", &c->send, false);
    if (!rc && (in_place || !counts))
        rc = check_arrays(call, "recvbuf", &c->recv, false);
    if (rc)
        return rc;
    for (int i = 0; i < c->comm->size; i++)
        if (__builtin_add_overflow(all, counts[i], &all))
            return refuse(call, MPI_ERR_COUNT, "recvcounts", counts[i]);
    rc = check_elements(call, "recvbuf", c->recv.buf, counts[c->comm->rank], c->recv.type);
    return rc ? rc : check_input(call, all);
}

static int check_reduce_scatter(struct coll_call *call)
{
    return call->c.uneven ? check_uneven_parts(call) : check_even_parts(call);
}

static int check_neighbors(struct coll_call *call)
{
    struct coll *c = &call->c;
    struct comm *comm = c->comm;
    if (!comm->topo)
        return errh_comm(comm, MPI_ERR_TOPOLOGY, call->function,
                         "comm: has no topology, which says who the neighbours are; "
                         "MPI_Cart_create or MPI_Dist_graph_create_adjacent gives it one");
    bool sends = topo_outdegree(comm->topo, comm->rank) > 0;
    bool receives = topo_indegree(comm->topo, comm->rank) > 0;
    int rc = check_blocks(call, "recvbuf", &c->recv);
    if (!rc && (c->kind == COLL_NEIGHBOR_ALLTOALL || !sends))
        rc = check_blocks(call, "sendbuf", &c->send);
    else if (!rc)
        rc = check_block(call, "sendbuf", &c->send);
    return rc || c->uneven || !sends || !receives ? rc : check_distinct(call, c->kind == COLL_NEIGHBOR_ALLTOALL, true);
}

int coll_call_check(struct coll_call *call)
{
    static const struct {
        int (*check)(struct coll_call *call);
        bool rooted;
    } checks[COLL_KINDS] = {
        [COLL_BARRIER] = {check_nothing, false},
        [COLL_BCAST] = {check_bcast, true},
        [COLL_REDUCE] = {check_reduce, true},
        [COLL_ALLREDUCE] = {check_reduce_all, false},
        [COLL_GATHER] = {check_gather, true},
        [COLL_SCATTER] = {check_scatter, true},
        [COLL_ALLGATHER] = {check_allgather, false},
        [COLL_ALLTOALL] = {check_alltoall, false},
        [COLL_REDUCE_SCATTER] = {check_reduce_scatter, false},
        [COLL_SCAN] = {check_reduce_all, false},
        [COLL_EXSCAN] = {check_exscan, false},
        [COLL_NEIGHBOR_ALLGATHER] = {check_neighbors, false},
        [COLL_NEIGHBOR_ALLTOALL] = {check_neighbors, false},
    };
    int rc = check_comm(call);
    if (!rc && checks[call->c.kind].rooted) {
        rc = check_root(call);
        coll_note(&call->c);
    }
    return rc ? rc : checks[call->c.kind].check(call);
}

int coll_call_raise(struct comm *comm, int error_class, const char *function,
                    const struct sched_misfit *misfit)
{
#define CAUSE \
    "another member gave another count, datatype or root, or called another collective function " \
    "or these in another order"
    if (misfit && misfit->peer >= 0 && error_class == MPI_ERR_TRUNCATE)
        return errh_comm(comm, error_class, function,
                         "a message of rank %d has more than the %lld bytes that are due: " CAUSE,
                         misfit->peer, (long long)misfit->due);
    if (misfit && misfit->peer >= 0 && error_class == MPI_ERR_COUNT)
        return errh_comm(comm, error_class, function,
                         "a message of rank %d has %lld bytes where %lld are due: " CAUSE,
                         misfit->peer, (long long)misfit->len, (long long)misfit->due);
    if (misfit && error_class == MPI_ERR_COUNT)
        return errh_comm(comm, error_class, function, "the members' calls do not match: " CAUSE);
#undef CAUSE
    return request_raise(comm, error_class, function, MPI_STATUS_IGNORE);
}

int coll_call_run(struct coll_call *call)
{
    int rc = coll_call_check(call);
    if (__builtin_expect(rc, 0))
        return rc;
    struct sched_misfit misfit; /* set with an error */
    rc = coll_run(&call->c, &misfit);
    return __builtin_expect(rc, 0) ? coll_call_raise(call->c.comm, rc, call->function, &misfit)
                                   : MPI_SUCCESS;
}
