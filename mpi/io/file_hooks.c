/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions of mpi/ that the I/O library calls: see hooks.h. */
#include "mpi/io/file_hooks.h"

#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/comm_hosts.h"
#include "mpi/io/file.h"
#include "mpi/io/file_counter.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "mpi/type/type_runs.h"
#include "mpi/world.h"
#include "os/cpu/apart.h"
#include "os/settings.h"
#include "os/turn.h"

static int flatten(MPI_Datatype handle, int (*visit)(void *arg, int64_t offset, int64_t len),
                   void *arg)
{
    return type_runs(type_from(handle), 1, visit, arg);
}

static bool is_committed(MPI_Datatype handle)
{
    const struct type *type = type_from(handle);
    return type && type->committed;
}

static bool is_network(void)
{
    return os_turn_network;
}

static int pack(bool as_job, const void *from, MPI_Count count, MPI_Datatype type, void *to, MPI_Count size)
{
    return type_copy_in(as_job && os_turns, from, count, type, to, size, MPI_BYTE);
}

static int unpack(bool as_job, const void *from, MPI_Count size, void *to, MPI_Count count, MPI_Datatype type)
{
    return type_copy_in(as_job && os_turns, from, size, MPI_BYTE, to, count, type);
}

static bool wants_report(void)
{
    return os_setting(OS_SETTING_IO_REPORT);
}

/* ---- requests ---- */

/* Of a request: the result of its access. */
struct outcome {
    MPI_File file;
    const char *function;
    int error_class;
    struct io_error error;
    MPI_Count bytes;
};

static int outcome_of(const struct request *request, MPI_Status *status)
{
    const struct outcome *outcome = request->owned;
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, outcome->bytes, false);
    return outcome->error_class;
}

/* The file's error handler reports the error. */
static int end(struct request *request, int error_class, MPI_Request *handle)
{
    const struct outcome *outcome = request->owned;
    int rc = error_class ? file_raise(file_from(outcome->file), error_class, &outcome->error,
                                      outcome->function)
                         : MPI_SUCCESS;
    request_free(request);
    *handle = MPI_REQUEST_NULL;
    return rc;
}

/* The access is complete: cancelling it changes nothing. */
static int cancel(struct request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

static int begin(MPI_File file, const char *function, MPI_Request *handle)
{
    static const struct request_ops ops = {.raises = true, .tell = request_tell_nothing, .outcome = outcome_of,
                                           .end = end, .cancel = cancel};
    struct outcome *outcome = calloc(1, sizeof(*outcome));
    struct request *request = outcome ? request_create(&ops, NULL) : NULL;
    if (!request) {
        free(outcome);
        return MPI_ERR_NO_MEM;
    }
    outcome->file = file;
    outcome->function = function;
    request->owned = outcome;
    mpid_begin(&request->dev);
    *handle = request_handle(request);
    return MPI_SUCCESS;
}

/* The user may have freed the request; then the handle leads nowhere. */
static void complete(MPI_Request handle, int error_class, const struct io_error *error,
                     MPI_Count bytes)
{
    struct request *request = (struct request *)handle;
    struct outcome *outcome = request->owned;
    outcome->error_class = error_class;
    outcome->bytes = bytes;
    if (error_class)
        outcome->error = *error;
    mpid_complete(&request->dev, MPID_OK);
}

const struct io_hooks file_hooks = {
    .flatten = flatten,
    .is_committed = is_committed,
    .is_network = is_network,
    .pack = pack,
    .unpack = unpack,
    .host_id = comm_host_id,
    .use_threads = world_use_threads,
    .leave_processor = os_apart_leave,
    .counter_open = file_counter_open,
    .counter_close = file_counter_close,
    .counter_add = file_counter_add,
    .counter_set = file_counter_set,
    .wants_report = wants_report,
    .request_begin = begin,
    .request_complete = complete,
};
