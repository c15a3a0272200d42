/* SPDX-License-Identifier: BSD-3-Clause */

/* Partitioned communication (MPI-5.0 4.2). */
#include <mpi.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/info.h"
#include "mpi/request/part.h"
#include "mpi/request/request.h"
#include "mpi/world.h"

/* ---- making requests ---- */

static int refuse(const struct part_what *what, int rc, const char *function)
{
    switch (rc) {
    case MPI_ERR_TYPE: return errh_bad_type(what->comm, what->type, "datatype", function);
    case MPI_ERR_BUFFER:
        return errh_comm(what->comm, rc, function, "buf: NULL, but there is something to be in it");
    case MPI_ERR_COUNT:
        return errh_comm(what->comm, rc, function,
                         "%d partitions of %lld elements: negative, or too many bytes",
                         what->partitions, (long long)what->count);
    case MPI_ERR_NO_MEM: return errh_comm(what->comm, rc, function, "out of memory");
    default: return request_raise(what->comm, rc, function, MPI_STATUS_IGNORE);
    }
}

static int check(const struct part_what *what, MPI_Info info, const char *function)
{
    if (what->partitions < 0)
        return errh_comm(what->comm, MPI_ERR_ARG, function, "partitions %d: must be 0 or more",
                         what->partitions);
    if (what->count < 0)
        return refuse(what, MPI_ERR_COUNT, function);
    if (what->tag < 0)
        return errh_comm(what->comm, MPI_ERR_TAG, function,
                         "tag %d: must be 0 to %d, and here never MPI_ANY_TAG", what->tag,
                         COMM_TAG_UB);
    if ((unsigned)what->peer >= (unsigned)what->comm->peers && what->peer != MPI_PROC_NULL)
        return errh_comm(what->comm, MPI_ERR_RANK, function,
                         "rank %d: must be 0 to %d, or MPI_PROC_NULL, and here never "
                         "MPI_ANY_SOURCE",
                         what->peer, what->comm->peers - 1);
    if (info != MPI_INFO_NULL && !info_from(info))
        return errh_comm(what->comm, MPI_ERR_INFO, function,
                         "info %s is no info object, or was freed", errh_name(info).text);
    return MPI_SUCCESS;
}

static int create(struct part_what what, MPI_Comm comm, MPI_Info info, MPI_Request *request,
                  const char *function)
{
    struct request *made;
    what.comm = comm_from(comm);
    if (!what.comm)
        return errh_bad_comm(comm, function);
    int rc = check(&what, info, function);
    if (rc)
        return rc;
    if (!request)
        return errh_comm(what.comm, MPI_ERR_ARG, function, "request is NULL");
    rc = part_create(&what, &made);
    if (rc)
        return refuse(&what, rc, function);
    *request = request_handle(made);
    return MPI_SUCCESS;
}

/*
 * Make a request to send a buffer whose partitions become ready one by one.
 *
 * Nothing is sent before MPI_Start; from then on each partition goes out, alone or together with
 * its neighbours, once MPI_Pready has been called for it. The request is complete, and inactive
 * again, when all are ready and the buffer may be changed.
 *
 * It is matched once, with the MPI_Precv_init of the same communicator, tag and ranks that comes
 * in the same place in order. There the number of partitions may be another, but not that of all
 * bytes. Such messages match no others. Does not wait for the receiver.
 *
 * buf: what is sent: all partitions, one after the other
 * partitions: how many there are, 0 or more
 * count: number of elements of each, 0 or more
 * info: hints, or MPI_INFO_NULL; none is known
 * request (out): inactive request, for MPI_Start
 *
 * MPI_ERR_ARG: the number of partitions is negative, or request is NULL.
 *
 * MPI-5.0 4.2.1
 */
int PMPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                    int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct part_what what = {.send = true,
                             .buf = (void *)(uintptr_t)buf,
                             .partitions = partitions,
                             .count = count,
                             .type = datatype,
                             .peer = dest,
                             .tag = tag};
    return create(what, comm, info, request, __func__);
}

/*
 * Make a request to receive a buffer whose partitions arrive one by one.
 *
 * It is matched as MPI_Psend_init says. After MPI_Start, MPI_Parrived tells of each partition
 * whether it is there; the request is complete, and inactive again, when all are. Does not wait
 * for the sender.
 *
 * buf (out): where to: all partitions, one after the other
 * partitions: how many there are, 0 or more; maybe not as many as the sender's
 * count: number of elements of each, 0 or more
 * dest: rank of the sender, not MPI_ANY_SOURCE; or MPI_PROC_NULL: nothing is received
 * tag: tag of the message, not MPI_ANY_TAG
 * info: hints, or MPI_INFO_NULL; none is known
 * request (out): inactive request, for MPI_Start
 *
 * MPI_ERR_ARG: the number of partitions is negative, or request is NULL.
 *
 * MPI-5.0 4.2.1
 */
int PMPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct part_what what = {.buf = buf,
                             .partitions = partitions,
                             .count = count,
                             .type = datatype,
                             .peer = dest,
                             .tag = tag};
    return create(what, comm, info, request, __func__);
}

/* ---- partitions ---- */

/* The part of a request, or NULL and the error. */
static struct part *find(MPI_Request request, bool send, int *rc, const char *function)
{
    struct request *r = request_from(request);
    struct part *part = r ? part_of(r) : NULL;
    *rc = MPI_SUCCESS;
    if (!part || part_is_send(part) != send)
        *rc = errh_comm(r ? r->comm : NULL, MPI_ERR_REQUEST, function,
                        "request: not of a partitioned %s", send ? "send" : "receive");
    else if (send && !part_is_active(part))
        *rc = errh_comm(r->comm, MPI_ERR_REQUEST, function, "request: not started (MPI_Start)");
    return *rc ? NULL : part;
}

static int bad_partition(MPI_Request request, int partition, const char *function)
{
    struct request *r = request_from(request);
    return errh_comm(r->comm, MPI_ERR_ARG, function, "partition %d: must be 0 to %d", partition,
                     part_partitions(part_of(r)) - 1);
}

static bool is_partition(const struct part *part, int partition)
{
    return partition >= 0 && partition < part_partitions(part);
}

static int ready_before(MPI_Request request, int partition, const char *function)
{
    return errh_comm(request_from(request)->comm, MPI_ERR_ARG, function,
                     "partition %d: has been ready since before", partition);
}

/*
 * Say that a partition of a started send is ready: its bytes may go out.
 *
 * Any threads may, at the same time, each for other partitions. The partition must not be changed
 * until the request is complete. Does not wait.
 *
 * partition: which one, from 0 on
 * request: partitioned send, started
 *
 * MPI_ERR_REQUEST: not a partitioned send, or not started.
 * MPI_ERR_ARG: there is no such partition, or it is ready already.
 *
 * MPI-5.0 4.2.2
 */
int PMPI_Pready(int partition, MPI_Request request)
{
    int rc;
    struct part *part = find(request, true, &rc, __func__);
    if (!part)
        return rc;
    if (!is_partition(part, partition))
        return bad_partition(request, partition, __func__);
    return part_ready(part, partition) ? MPI_SUCCESS : ready_before(request, partition, __func__);
}

/*
 * Say of several partitions that they are ready, as MPI_Pready does of one.
 *
 * This call is local: no other process takes part. The first and the last partition belong to the
 * range. Each is told of once in a round.
 *
 * partition_low: the first one
 * partition_high: the last one; it counts too
 * request: partitioned send, started
 *
 * MPI_ERR_REQUEST: not a partitioned send, or not started.
 * MPI_ERR_ARG: there are no such partitions, or one of them is ready already: then those before it
 *   are ready now.
 *
 * MPI-5.0 4.2.2
 */
int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    int rc;
    struct part *part = find(request, true, &rc, __func__);
    if (!part)
        return rc;
    if (!is_partition(part, partition_low))
        return bad_partition(request, partition_low, __func__);
    if (!is_partition(part, partition_high))
        return bad_partition(request, partition_high, __func__);
    if (partition_low > partition_high)
        return errh_comm(request_from(request)->comm, MPI_ERR_ARG, __func__,
                         "partitions %d to %d: the last one is before the first", partition_low,
                         partition_high);
    for (int i = partition_low; i <= partition_high; i++)
        if (!part_ready(part, i))
            return ready_before(request, i, __func__);
    return MPI_SUCCESS;
}

/*
 * Say of the partitions in a list that they are ready, as MPI_Pready does of one.
 *
 * This call is local: no other process takes part. Each partition is told of once in a round.
 *
 * length: how many are in the list, 0 or more
 * array_of_partitions: which ones, in any order
 * request: partitioned send, started
 *
 * MPI_ERR_REQUEST: not a partitioned send, or not started.
 * MPI_ERR_ARG: the list is NULL or its length negative; or it has a partition that there is not: then
 *   none is ready now; or one that is ready already: then those before it are.
 *
 * MPI-5.0 4.2.2
 */
int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    int rc;
    struct part *part = find(request, true, &rc, __func__);
    if (!part)
        return rc;
    if (length < 0 || (length && !array_of_partitions))
        return errh_comm(request_from(request)->comm, MPI_ERR_ARG, __func__,
                         "length %d: must be 0 or more, or the list is NULL", length);
    for (int i = 0; i < length; i++)
        if (!is_partition(part, array_of_partitions[i]))
            return bad_partition(request, array_of_partitions[i], __func__);
    for (int i = 0; i < length; i++)
        if (!part_ready(part, array_of_partitions[i]))
            return ready_before(request, array_of_partitions[i], __func__);
    return MPI_SUCCESS;
}

/*
 * Ask whether a partition of a receive has arrived.
 *
 * Then it may be read, while others are still under way. Any threads may ask, at the same time. Of a
 * request that is not started, or complete, or MPI_REQUEST_NULL, every partition has arrived. Does not
 * wait, and completes nothing.
 *
 * request: partitioned receive, or MPI_REQUEST_NULL
 * partition: which one, from 0 on
 * flag (out): whether it is there
 *
 * MPI_ERR_REQUEST: not a partitioned receive.
 * MPI_ERR_ARG: there is no such partition, or flag is NULL.
 *
 * MPI-5.0 4.2.2
 */
int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
    int rc;
    if (request == MPI_REQUEST_NULL && flag && mpi_state == MPI_STATE_READY) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    struct part *part = find(request, false, &rc, __func__);
    if (!part)
        return rc;
    if (!is_partition(part, partition))
        return bad_partition(request, partition, __func__);
    if (!flag)
        return errh_comm(request_from(request)->comm, MPI_ERR_ARG, __func__, "flag is NULL");
    *flag = part_arrived(part, partition);
    if (!*flag) {
        (void)mpid_poll();
        *flag = part_arrived(part, partition);
    }
    return MPI_SUCCESS;
}

#include "part.gen.h"
