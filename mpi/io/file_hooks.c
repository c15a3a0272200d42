/* SPDX-License-Identifier: BSD-3-Clause */

/* What the I/O library may ask of mpi/: see hooks.h. */
#include "mpi/io/file_hooks.h"

#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/io/file.h"
#include "mpi/request/grequest.h"
#include "mpi/init.h"
#include "mpi/type/kernels.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "os/settings.h"

/* ---- the runs of a type ---- */

/* One run after the other; those that adjoin become one. */
struct runs {
    int (*visit)(void *arg, int64_t offset, int64_t len);
    void *arg;
    int64_t offset, len; /* not visited yet; len 0: none */
};

static int flush(struct runs *runs)
{
    int rc = runs->len ? runs->visit(runs->arg, runs->offset, runs->len) : 0;
    runs->len = 0;
    return rc;
}

static int add(struct runs *runs, int64_t offset, int64_t len)
{
    if (runs->len && runs->offset + runs->len == offset) {
        runs->len += len;
        return 0;
    }
    int rc = flush(runs);
    runs->offset = offset;
    runs->len = len;
    return rc;
}

static int64_t list_len(const struct kernel *list, int64_t i)
{
    return list->block ? list->block : list->starts[i + 1] - list->starts[i];
}

static int walk(struct runs *runs, const struct kernel_part *part, int64_t base)
{
    const struct kernel *kernel = part->kernel;
    int rc = 0;
    base += part->offset;
    if (part->size == 0)
        return 0;
    if (!kernel)
        return add(runs, base, part->size);
    for (int64_t i = 0; i < kernel->count && !rc; i++) {
        switch ((enum kernel_kind)kernel->kind) {
        case KERNEL_LOOP: rc = walk(runs, &kernel->child, base + i * kernel->stride); break;
        case KERNEL_LIST: rc = add(runs, base + kernel->offsets[i], list_len(kernel, i)); break;
        case KERNEL_SEQUENCE: rc = walk(runs, &kernel->parts[i], base); break;
        }
    }
    return rc;
}

static int flatten(MPI_Datatype handle, int (*visit)(void *arg, int64_t offset, int64_t len),
                   void *arg)
{
    const struct type *type = type_from(handle);
    struct runs runs = {.visit = visit, .arg = arg};
    int rc = 0;
    if (type->kernels)
        rc = walk(&runs, &type->kernels->root, 0);
    else if (type->size)
        rc = add(&runs, type->true_lb, type->size);
    return rc ? rc : flush(&runs);
}

static bool is_committed(MPI_Datatype handle)
{
    const struct type *type = type_from(handle);
    return type && type->committed;
}

static bool wants_report(void)
{
    return os_setting(OS_SETTING_IO_REPORT);
}

/* ---- requests ---- */

/* Of a generalized request. */
struct outcome {
    MPI_File file;
    int error_class;
    struct io_error error;
    MPI_Count bytes;
};

static int query(void *extra_state, MPI_Status *status)
{
    struct outcome *outcome = extra_state;
    status_set_bytes(status, outcome->bytes);
    if (!outcome->error_class)
        return MPI_SUCCESS;
    return file_raise(file_from(outcome->file), outcome->error_class, &outcome->error,
                      "MPI_Wait");
}

static int forget(void *extra_state)
{
    free(extra_state);
    return MPI_SUCCESS;
}

/* What was begun is done. */
static int cancel(void *extra_state, int complete)
{
    (void)extra_state;
    (void)complete;
    return MPI_SUCCESS;
}

static int request_start_of(MPI_File file, MPI_Request *request)
{
    struct outcome *outcome = calloc(1, sizeof(*outcome));
    struct grequest what = {query, forget, cancel, outcome};
    struct request *made = outcome ? grequest_create(&what) : NULL;
    if (!made) {
        free(outcome);
        return MPI_ERR_NO_MEM;
    }
    outcome->file = file;
    *request = request_handle(made);
    return MPI_SUCCESS;
}

static void complete(MPI_Request handle, int error_class, const struct io_error *error,
                     MPI_Count bytes)
{
    struct request *request = request_from(handle);
    struct outcome *outcome = ((struct grequest *)request->owned)->extra_state;
    int rc;
    outcome->error_class = error_class;
    outcome->bytes = bytes;
    if (error_class)
        outcome->error = *error;
    (void)grequest_complete(request, &rc);
}

const struct io_hooks file_hooks = {
    .flatten = flatten,
    .is_committed = is_committed,
    .host_id = comm_host_id,
    .use_threads = init_use_threads,
    .wants_report = wants_report,
    .request_begin = request_start_of,
    .request_complete = complete,
};
