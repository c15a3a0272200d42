/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Blocking collectives (MPI-5.0 chapter 6): check, then one call.
 *
 * Over an intercommunicator, data go from one group to the other (MPI-5.0 6.2.3). Of a call with a
 * root, the root has named itself MPI_ROOT, the rest of its group MPI_PROC_NULL, and nothing of
 * what these give is looked at.
 */
#include "mpi/coll/coll.h"

#include <mpi.h>
#include <stdio.h>

#include "mpi/comm/comm.h"
#include "mpi/errh.h"
#include "mpi/request/request.h"
#include "mpi/type/op.h"
#include "mpi/type/type.h"

/* ---- checks: each returns MPI_SUCCESS, or the code of what it has reported ---- */

/* A call that is being checked. */
struct call {
    struct coll *c;
    const char *function;
};

/* A stretch of memory. */
struct span {
    uintptr_t at;
    int64_t len; /* 0, or less: none, or not known */
};

static int check_comm(const struct call *call, MPI_Comm handle)
{
    struct comm *comm = comm_from(handle);
    if (!comm)
        return errh_bad_comm(handle, call->function);
    call->c->comm = comm;
    if (comm->remote && (call->c->kind == COLL_SCAN || call->c->kind == COLL_EXSCAN))
        return errh_comm(comm, MPI_ERR_COMM, call->function,
                         "comm: an intercommunicator, over which there are no scans; "
                         "MPI_Intercomm_merge makes one that has them");
    return MPI_SUCCESS;
}

static int check_root(const struct call *call, int root)
{
    struct comm *comm = call->c->comm;
    call->c->root = root;
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

/* How many blocks there are. */
static int blocks_of(const struct coll *c)
{
    return c->kind == COLL_REDUCE_SCATTER ? c->comm->size : c->comm->peers;
}

static __attribute__((cold, noinline)) int refuse(const struct call *call, int error,
                                                  const char *name, MPI_Count count)
{
    struct comm *comm = call->c->comm;
    if (error == MPI_ERR_COUNT)
        return errh_comm(comm, error, call->function, "%s: count %lld is negative or too large",
                         name, (long long)count);
    return errh_comm(comm, error, call->function, "%s is NULL, but its count is not 0", name);
}

static __attribute__((cold, noinline)) int refuse_type(const struct call *call, const char *name,
                                                       MPI_Datatype type)
{
    char which[48];
    snprintf(which, sizeof(which), "%s: its datatype", name);
    return errh_bad_type(call->c->comm, type, which, call->function);
}

/* Check count elements at a buffer. */
static int check_elements(const struct call *call, const char *name, const void *buf,
                          MPI_Count count, MPI_Datatype type)
{
    struct mpid_bytes bytes;
    struct type *used;
    if (buf == MPI_IN_PLACE)
        return errh_comm(call->c->comm, MPI_ERR_BUFFER, call->function,
                         "%s: MPI_IN_PLACE has no meaning %s: give a buffer", name,
                         call->c->comm->remote ? "over an intercommunicator" : "here");
    int rc = type_place(type, buf, count, &bytes, &used);
    if (rc == MPI_ERR_TYPE)
        return refuse_type(call, name, type);
    return rc ? refuse(call, rc, name, count) : MPI_SUCCESS;
}

/* Check blocks whose counts, and maybe types, are in arrays. */
static int check_arrays(const struct call *call, const char *name, const struct coll_data *data,
                        bool has_displs)
{
    if (data->buf == MPI_IN_PLACE)
        return check_elements(call, name, data->buf, 0, MPI_BYTE);
    if (!data->counts || (has_displs && !data->displs))
        return errh_comm(call->c->comm, MPI_ERR_ARG, call->function,
                         "%s: its array of %s is NULL", name,
                         data->counts ? "displacements" : "counts");
    for (int i = 0; i < blocks_of(call->c); i++) {
        MPI_Datatype type = data->types ? data->types[i] : data->type;
        /* NULL may be the base of displacements that lead to memory */
        const void *buf = data->displs && data->displs[i] ? (const void *)data : data->buf;
        int rc = check_elements(call, name, buf, data->counts[i], type);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Check all blocks. */
static int check_blocks(const struct call *call, const char *name, const struct coll_data *data)
{
    MPI_Count all;
    if (data->counts || call->c->uneven)
        return check_arrays(call, name, data, true);
    if (__builtin_mul_overflow(data->count, blocks_of(call->c), &all))
        return refuse(call, MPI_ERR_COUNT, name, data->count);
    int rc = check_elements(call, name, data->buf, data->count, data->type);
    return rc ? rc : check_elements(call, name, data->buf, all, data->type);
}

static int check_block(const struct call *call, const char *name, const struct coll_data *data)
{
    return check_elements(call, name, data->buf, data->count, data->type);
}

/* Memory that a buffer names: all of it where the blocks are even, else one block. Types
 * that users have made may leave out what another of them takes, so of these nothing is known. */
static struct span span_of(const struct coll *c, const struct coll_data *data, bool blocks)
{
    int one = c->comm->rank < blocks_of(c) ? c->comm->rank : 0;
    MPI_Datatype handle = data->types ? data->types[one] : data->type;
    MPI_Count count = data->counts ? data->counts[one] : data->count;
    struct span span = {(uintptr_t)data->buf, type_constant_bytes(handle, count)};
    if (!blocks || span.len <= 0)
        return span;
    if (!c->uneven)
        span.len *= blocks_of(c);
    else
        span.at += (uintptr_t)data->displs[one] *
                   (uintptr_t)(data->types ? 1 : type_constant_bytes(handle, 1));
    return span;
}

/* Input and output must not share memory. */
static int check_distinct(const struct call *call)
{
    const struct coll *c = call->c;
    bool to_all = c->kind == COLL_SCATTER || c->kind == COLL_ALLTOALL;
    bool from_all = c->kind == COLL_GATHER || c->kind == COLL_ALLGATHER || c->kind == COLL_ALLTOALL;
    struct span in = span_of(c, &c->send, to_all), out = span_of(c, &c->recv, from_all);
    if (in.len <= 0 || out.len <= 0 || in.at >= out.at + (uintptr_t)out.len ||
        out.at >= in.at + (uintptr_t)in.len)
        return MPI_SUCCESS;
    return errh_comm(c->comm, MPI_ERR_BUFFER, call->function,
                     "sendbuf and recvbuf share memory: use %s",
                     c->comm->remote ? "two buffers" : "MPI_IN_PLACE");
}

static int check_op(const struct call *call, MPI_Op handle)
{
    struct coll *c = call->c;
    c->op = op_from(handle);
    if (!c->op)
        return errh_comm(c->comm, MPI_ERR_OP, call->function, "op: %s",
                         handle == MPI_OP_NULL ? "is MPI_OP_NULL" : "no such operation");
    if (op_check(c->op, c->recv.type))
        return errh_comm(c->comm, MPI_ERR_OP, call->function,
                         "op: a predefined operation that is not defined for this datatype "
                         "(MPI-5.0 6.9.2)");
    return MPI_SUCCESS;
}

/* Check the input and the operation of a reduction whose output, or as many elements of input, have
 * been checked. */
static int check_input(const struct call *call, MPI_Op op, MPI_Count count)
{
    const struct coll *c = call->c;
    int rc = MPI_SUCCESS;
    if (!is_in_place(c, &c->send)) {
        if (!c->send.buf || c->send.buf == MPI_IN_PLACE) /* count and type are good */
            rc = check_elements(call, "sendbuf", c->send.buf, count, c->recv.type);
        if (!rc)
            rc = check_distinct(call);
    }
    return rc ? rc : check_op(call, op);
}

static int run(const struct call *call)
{
    int rc = coll_run(call->c);
    if (__builtin_expect(!rc, 1))
        return MPI_SUCCESS;
    if (rc == MPI_ERR_TRUNCATE)
        return errh_comm(call->c->comm, rc, call->function,
                         "more data came than fit: another member gave another count or datatype, "
                         "or called another collective function or these in another order");
    return request_raise(call->c->comm, rc, call->function, MPI_STATUS_IGNORE);
}

static struct coll_data data_of(const void *buf, MPI_Count count, MPI_Datatype type)
{
    return (struct coll_data){.buf = (void *)(uintptr_t)buf, .count = count, .type = type};
}

static struct coll_data arrays_of(const void *buf, const MPI_Count *counts,
                                  const MPI_Aint *displs, MPI_Datatype type)
{
    return (struct coll_data){
        .buf = (void *)(uintptr_t)buf, .counts = counts, .displs = displs, .type = type};
}

/* ---- barrier and broadcast ---- */

/*
 * Wait until every process of a communicator, of both groups of an intercommunicator, has called
 * this.
 *
 * MPI-5.0 6.3
 */
int PMPI_Barrier(MPI_Comm comm)
{
    struct coll c = {.kind = COLL_BARRIER};
    struct call call = {&c, __func__};
    int rc = check_comm(&call, comm);
    return rc ? rc : run(&call);
}

/*
 * Give every process what the root has.
 *
 * All call with the same root, and with counts and types that make the same data. The call
 * returns when buffer is filled, at the root when it may be changed; others may not have got it
 * by then. Over an intercommunicator, the root (MPI_ROOT) gives it to the other group, who name the
 * root's rank; the rest of its own group (MPI_PROC_NULL) have no part in it.
 *
 * buffer (inout): at the root, what is sent; elsewhere, where to
 * count: number of elements, 0 or more
 *
 * MPI-5.0 6.4
 */
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_BCAST, .recv = data_of(buffer, count, datatype)};
    struct call call = {&c, __func__};
    int rc = check_comm(&call, comm);
    if (!rc)
        rc = check_root(&call, root);
    if (!rc && !is_idle(&c))
        rc = check_block(&call, "buffer", &c.recv);
    return rc ? rc : run(&call);
}

/* ---- gather and scatter ---- */

/* Both with one count and with arrays. */
static int gather(struct call *call, int root, MPI_Comm comm)
{
    struct coll *c = call->c;
    int rc = check_comm(call, comm);
    if (!rc)
        rc = check_root(call, root);
    if (rc)
        return rc;
    bool sends = has_block(c, &c->send);
    if (is_root(c))
        rc = check_blocks(call, "recvbuf", &c->recv);
    if (!rc && sends)
        rc = check_block(call, "sendbuf", &c->send);
    if (!rc && sends && is_root(c))
        rc = check_distinct(call);
    return rc ? rc : run(call);
}

/*
 * Gather a block of data from every process at the root.
 *
 * The blocks stand in recvbuf in the order of ranks, each recvcount elements long. Every process
 * sends as much as the root has said it receives of each. The call returns when this process's
 * buffers may be used again. Over an intercommunicator, the root (MPI_ROOT) gets the blocks of the
 * other group, who name the root's rank; the rest of its own group (MPI_PROC_NULL) have no part.
 *
 * sendbuf: this process's block; at the root maybe MPI_IN_PLACE: its block is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all; only used at the root
 * recvcount: number of elements of each block, not of all; only used at the root
 * recvtype: type of each element; only used at the root
 *
 * MPI-5.0 6.5
 */
int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_GATHER,
                     .send = data_of(sendbuf, sendcount, sendtype),
                     .recv = data_of(recvbuf, recvcount, recvtype)};
    return gather(&(struct call){&c, __func__}, root, comm);
}

/*
 * Gather blocks of data that differ in length at the root.
 *
 * As MPI_Gather, with a length and a place for the block of each process.
 *
 * sendbuf: this process's block; at the root maybe MPI_IN_PLACE: its block is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all; only used at the root
 * recvcounts: number of elements from each rank; only used at the root
 * displs: where the block of each rank begins, in extents of recvtype from recvbuf on; only used
 *   at the root
 * recvtype: type of each element; only used at the root
 *
 * MPI_ERR_ARG: recvcounts or displs is NULL at the root.
 *
 * MPI-5.0 6.5
 */
int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_GATHER,
                     .uneven = true,
                     .send = data_of(sendbuf, sendcount, sendtype),
                     .recv = arrays_of(recvbuf, recvcounts, displs, recvtype)};
    return gather(&(struct call){&c, __func__}, root, comm);
}

static int scatter(struct call *call, int root, MPI_Comm comm)
{
    struct coll *c = call->c;
    int rc = check_comm(call, comm);
    if (!rc)
        rc = check_root(call, root);
    if (rc)
        return rc;
    bool receives = has_block(c, &c->recv);
    if (is_root(c))
        rc = check_blocks(call, "sendbuf", &c->send);
    if (!rc && receives)
        rc = check_block(call, "recvbuf", &c->recv);
    if (!rc && receives && is_root(c))
        rc = check_distinct(call);
    return rc ? rc : run(call);
}

/*
 * Give every process its block of what the root has.
 *
 * The blocks stand in sendbuf in the order of ranks, each sendcount elements long. Every process
 * receives as much as the root has said it sends to each. The call returns when this process's
 * buffers may be used again. Over an intercommunicator, the root (MPI_ROOT) has blocks for the
 * other group, who name the root's rank; the rest of its own group (MPI_PROC_NULL) have no part.
 *
 * sendbuf: the blocks of all; only used at the root
 * sendcount: number of elements of each block, not of all; only used at the root
 * sendtype: type of each element; only used at the root
 * recvbuf: this process's block; at the root maybe MPI_IN_PLACE: its block stays in its place in
 *   sendbuf
 * recvcount, recvtype: of this process's block; unused where recvbuf is MPI_IN_PLACE
 *
 * MPI-5.0 6.6
 */
int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_SCATTER,
                     .send = data_of(sendbuf, sendcount, sendtype),
                     .recv = data_of(recvbuf, recvcount, recvtype)};
    return scatter(&(struct call){&c, __func__}, root, comm);
}

/*
 * Give every process its block, of a length of its own, of what the root has.
 *
 * As MPI_Scatter, with a length and a place for the block of each process.
 *
 * sendbuf: the blocks of all; only used at the root
 * sendcounts: number of elements for each rank; only used at the root
 * displs: where the block of each rank begins, in extents of sendtype from sendbuf on; only used
 *   at the root
 * sendtype: type of each element; only used at the root
 * recvbuf: this process's block; at the root maybe MPI_IN_PLACE: its block stays in its place in
 *   sendbuf
 * recvcount, recvtype: of this process's block; unused where recvbuf is MPI_IN_PLACE
 *
 * MPI_ERR_ARG: sendcounts or displs is NULL at the root.
 *
 * MPI-5.0 6.6
 */
int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_SCATTER,
                     .uneven = true,
                     .send = arrays_of(sendbuf, sendcounts, displs, sendtype),
                     .recv = data_of(recvbuf, recvcount, recvtype)};
    return scatter(&(struct call){&c, __func__}, root, comm);
}

/* ---- gather to all, all to all ---- */

static int allgather(struct call *call, MPI_Comm comm)
{
    struct coll *c = call->c;
    int rc = check_comm(call, comm);
    if (!rc)
        rc = check_blocks(call, "recvbuf", &c->recv);
    if (!rc && !is_in_place(c, &c->send)) {
        rc = check_block(call, "sendbuf", &c->send);
        if (!rc)
            rc = check_distinct(call);
    }
    return rc ? rc : run(call);
}

/*
 * Gather a block of data from every process at every process.
 *
 * As MPI_Gather, with every process as the root. Over an intercommunicator, each group gets the
 * blocks of the other, and the two may differ in length.
 *
 * sendbuf: this process's block; or, in all processes, MPI_IN_PLACE: it is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all, in the order of ranks
 * recvcount: number of elements of each block, not of all
 *
 * MPI-5.0 6.7
 */
int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_ALLGATHER,
                     .send = data_of(sendbuf, sendcount, sendtype),
                     .recv = data_of(recvbuf, recvcount, recvtype)};
    return allgather(&(struct call){&c, __func__}, comm);
}

/*
 * Gather blocks of data that differ in length at every process.
 *
 * As MPI_Allgather, with a length and a place for the block of each process; the lengths are the
 * same everywhere, over an intercommunicator in every process of a group.
 *
 * sendbuf: this process's block; or, in all processes, MPI_IN_PLACE: it is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all
 * recvcounts: number of elements from each rank
 * displs: where the block of each rank begins, in extents of recvtype from recvbuf on
 *
 * MPI_ERR_ARG: recvcounts or displs is NULL.
 *
 * MPI-5.0 6.7
 */
int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_ALLGATHER,
                     .uneven = true,
                     .send = data_of(sendbuf, sendcount, sendtype),
                     .recv = arrays_of(recvbuf, recvcounts, displs, recvtype)};
    return allgather(&(struct call){&c, __func__}, comm);
}

static int alltoall(struct call *call, MPI_Comm comm)
{
    struct coll *c = call->c;
    int rc = check_comm(call, comm);
    if (!rc)
        rc = check_blocks(call, "recvbuf", &c->recv);
    if (!rc && !is_in_place(c, &c->send)) {
        rc = check_blocks(call, "sendbuf", &c->send);
        if (!rc)
            rc = check_distinct(call);
    }
    return rc ? rc : run(call);
}

/*
 * Send a block to every process, and receive one from each.
 *
 * Block i of sendbuf goes to rank i, and what comes from rank i is block i of recvbuf; over an
 * intercommunicator, these are ranks of the other group, and blocks may be longer one way than the
 * other.
 *
 * sendbuf: the blocks for all, in the order of ranks; or, in all processes, MPI_IN_PLACE: they
 *   are in recvbuf, and replaced there
 * sendcount: number of elements of each block, not of all; unused where sendbuf is MPI_IN_PLACE
 * sendtype: type of each element; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks from all, in the order of ranks
 * recvcount: number of elements of each block, not of all
 *
 * MPI-5.0 6.8
 */
int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_ALLTOALL,
                     .send = data_of(sendbuf, sendcount, sendtype),
                     .recv = data_of(recvbuf, recvcount, recvtype)};
    return alltoall(&(struct call){&c, __func__}, comm);
}

/*
 * Send a block of its own length to every process, and receive one from each.
 *
 * As MPI_Alltoall, with a length and a place for each block. What one process sends to another
 * must be as long as the other has said.
 *
 * sendbuf: the blocks for all; or, in all processes, MPI_IN_PLACE: they are in recvbuf, and
 *   replaced there
 * sendcounts: number of elements for each rank; unused where sendbuf is MPI_IN_PLACE
 * sdispls: where the block for each rank begins, in extents of sendtype from sendbuf on; unused
 *   where sendbuf is MPI_IN_PLACE
 * sendtype: type of each element; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks from all
 * recvcounts: number of elements from each rank
 * rdispls: where the block from each rank begins, in extents of recvtype from recvbuf on
 *
 * MPI_ERR_ARG: an array of counts or displacements is NULL.
 *
 * MPI-5.0 6.8
 */
int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_ALLTOALL,
                     .uneven = true,
                     .send = arrays_of(sendbuf, sendcounts, sdispls, sendtype),
                     .recv = arrays_of(recvbuf, recvcounts, rdispls, recvtype)};
    return alltoall(&(struct call){&c, __func__}, comm);
}

/*
 * Send a block of its own type to every process, and receive one from each.
 *
 * As MPI_Alltoallv, with a datatype for each block, and places in bytes.
 *
 * sendbuf: the blocks for all; or, in all processes, MPI_IN_PLACE: they are in recvbuf, and
 *   replaced there
 * sendcounts: number of elements for each rank; unused where sendbuf is MPI_IN_PLACE
 * sdispls: where the block for each rank begins, in bytes from sendbuf on; unused where sendbuf
 *   is MPI_IN_PLACE
 * sendtypes: type of the elements for each rank; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks from all
 * recvcounts: number of elements from each rank
 * rdispls: where the block from each rank begins, in bytes from recvbuf on
 * recvtypes: type of the elements from each rank
 *
 * MPI_ERR_ARG: an array of counts or displacements is NULL.
 *
 * MPI-5.0 6.8
 */
int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct coll c = {.kind = COLL_ALLTOALL,
                     .uneven = true,
                     .send = arrays_of(sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL),
                     .recv = arrays_of(recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL)};
    c.send.types = sendtypes;
    c.recv.types = recvtypes;
    return alltoall(&(struct call){&c, __func__}, comm);
}

/* ---- reductions ---- */

/*
 * Combine the data of all processes, element by element, at the root.
 *
 * Element i of the result is element i of rank 0, op, element i of rank 1, and so on; where the
 * operation is commutative, in any order, so that a floating-point result may differ in its last
 * bits with the number of processes. The call returns when this process's buffers may be used
 * again. Over an intercommunicator, the root (MPI_ROOT) gets the result of the other group's data,
 * who name the root's rank; the rest of its own group (MPI_PROC_NULL) have no part in it.
 *
 * sendbuf: this process's elements; at the root maybe MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result; only used at the root
 * count: number of elements, the same in all processes
 *
 * MPI-5.0 6.9.1
 */
int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_REDUCE,
                     .send = data_of(sendbuf, count, datatype),
                     .recv = data_of(recvbuf, count, datatype)};
    struct call call = {&c, __func__};
    int rc = check_comm(&call, comm);
    if (!rc)
        rc = check_root(&call, root);
    if (rc)
        return rc;
    if (is_root(&c)) {
        rc = check_block(&call, "recvbuf", &c.recv);
        if (!rc)
            rc = c.comm->remote ? check_op(&call, op) : check_input(&call, op, count);
    } else if (!is_idle(&c)) {
        rc = check_block(&call, "sendbuf", &c.send);
        if (!rc)
            rc = check_op(&call, op);
    }
    return rc ? rc : run(&call);
}

/* Those whose output is as long as the input, at all processes. */
static int reduce_all(struct call *call, MPI_Op op, MPI_Comm comm)
{
    int rc = check_comm(call, comm);
    if (!rc)
        rc = check_block(call, "recvbuf", &call->c->recv);
    if (!rc)
        rc = check_input(call, op, call->c->recv.count);
    return rc ? rc : run(call);
}

/*
 * Combine the data of all processes, element by element, at every process.
 *
 * As MPI_Reduce, with the same result everywhere; over an intercommunicator, each side gets the
 * result of the other side's data.
 *
 * sendbuf: this process's elements; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result
 * count: number of elements, the same in all processes
 *
 * MPI-5.0 6.9.6
 */
int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_ALLREDUCE,
                     .send = data_of(sendbuf, count, datatype),
                     .recv = data_of(recvbuf, count, datatype)};
    return reduce_all(&(struct call){&c, __func__}, op, comm);
}

/*
 * Combine the data of the processes up to this one, element by element.
 *
 * As MPI_Reduce, over the ranks from 0 to this process's, and that included.
 *
 * sendbuf: this process's elements; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result
 * count: number of elements, the same in all processes
 *
 * MPI_ERR_COMM: not a communicator, one that was freed, or an intercommunicator.
 *
 * MPI-5.0 6.11.1
 */
int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_SCAN,
                     .send = data_of(sendbuf, count, datatype),
                     .recv = data_of(recvbuf, count, datatype)};
    return reduce_all(&(struct call){&c, __func__}, op, comm);
}

/*
 * Combine the data of the processes before this one, element by element.
 *
 * As MPI_Scan, without this process's own elements. At rank 0 recvbuf is left as it was.
 *
 * sendbuf: this process's elements; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result
 * count: number of elements, the same in all processes
 *
 * MPI_ERR_COMM: not a communicator, one that was freed, or an intercommunicator.
 *
 * MPI-5.0 6.11.2
 */
int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_EXSCAN,
                     .send = data_of(sendbuf, count, datatype),
                     .recv = data_of(recvbuf, count, datatype)};
    return reduce_all(&(struct call){&c, __func__}, op, comm);
}

/*
 * Combine the data of all processes, and give each its block of the result.
 *
 * As MPI_Reduce of as many blocks as there are processes; rank i gets block i. Over an
 * intercommunicator, each group gets the result of the other's data, in as many blocks as it has
 * processes itself; all blocks of one are as much as all of the other.
 *
 * sendbuf: a block for each rank; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: this process's block of the result; with MPI_IN_PLACE it needs room for the blocks of
 *   all
 * recvcount: number of elements of each block, not of all
 *
 * MPI-5.0 6.10.1
 */
int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_REDUCE_SCATTER,
                     .send = data_of(sendbuf, recvcount, datatype),
                     .recv = data_of(recvbuf, recvcount, datatype)};
    struct call call = {&c, __func__};
    int rc = check_comm(&call, comm);
    if (!rc && is_in_place(&c, &c.send))
        rc = check_blocks(&call, "recvbuf", &c.recv);
    else if (!rc)
        rc = check_block(&call, "recvbuf", &c.recv);
    if (!rc && !is_in_place(&c, &c.send))
        rc = check_blocks(&call, "sendbuf", &c.send);
    if (!rc)
        rc = check_input(&call, op, recvcount);
    return rc ? rc : run(&call);
}

/*
 * Combine the data of all processes, and give each its block, of a length of its own, of the
 * result.
 *
 * As MPI_Reduce_scatter_block, with the length of each rank's block; the blocks follow one
 * another. Over an intercommunicator, the lengths are those of this process's group.
 *
 * sendbuf: a block for each rank; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: this process's block of the result; with MPI_IN_PLACE it needs room for the blocks of
 *   all
 * recvcounts: number of elements of each rank's block, the same in all processes
 *
 * MPI_ERR_ARG: recvcounts is NULL.
 *
 * MPI-5.0 6.10.2
 */
int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct coll c = {.kind = COLL_REDUCE_SCATTER,
                     .uneven = true,
                     .send = arrays_of(sendbuf, recvcounts, NULL, datatype),
                     .recv = arrays_of(recvbuf, recvcounts, NULL, datatype)};
    struct call call = {&c, __func__};
    int rc = check_comm(&call, comm);
    MPI_Count all = 0;
    if (!rc && !is_in_place(&c, &c.send))
        rc = check_arrays(&call, "sendbuf", &c.send, false);
    if (!rc && (is_in_place(&c, &c.send) || !recvcounts))
        rc = check_arrays(&call, "recvbuf", &c.recv, false);
    if (rc)
        return rc;
    for (int i = 0; i < c.comm->size; i++)
        if (__builtin_add_overflow(all, recvcounts[i], &all))
            return refuse(&call, MPI_ERR_COUNT, "recvcounts", recvcounts[i]);
    rc = check_elements(&call, "recvbuf", recvbuf, recvcounts[c.comm->rank], datatype);
    if (!rc)
        rc = check_input(&call, op, all);
    return rc ? rc : run(&call);
}

#include "coll.gen.h"
