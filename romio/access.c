/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reading and writing. Every access of MPI's becomes one at an offset, alone or with all processes,
 * in this thread or one of the library's; for that ROMIO's functions for explicit offsets are
 * called.
 *
 * In a collective access a process whose arguments are wrong, or that has no memory, takes part
 * with no data; at the end all processes get the error.
 */
#include <mpioimpl.h>

#include <adio_extern.h>
#include <limits.h>
#include <sched.h>
#include <string.h>

#include "romio/datarep.h"
#include "romio/direct.h"
#include "romio/file.h"
#include "romio/library.h"
#include "romio/romio.h"
#include "romio/types.h"

enum {
    POOL_THREADS = 4
};

/* An access at an offset. */
struct transfer {
    bool write, collective;
    MPI_Offset offset; /* in etypes */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Count bytes; /* in memory */
};

/* ---- arguments ---- */

static int check_mode(const struct io_file *file, const struct io_access *what,
                      struct io_error *error)
{
    bool shared = what->pointer == IO_SHARED || what->pointer == IO_ORDERED;
    if (file->amode & (what->write ? MPI_MODE_RDONLY : MPI_MODE_WRONLY))
        return file_wrong(error, what->write ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS,
                          "file '%.160s' was opened with %s", file->name,
                          what->write ? "MPI_MODE_RDONLY" : "MPI_MODE_WRONLY");
    if ((file->amode & MPI_MODE_SEQUENTIAL) && !shared)
        return file_wrong(error, MPI_ERR_UNSUPPORTED_OPERATION,
                          "file '%.160s' was opened with MPI_MODE_SEQUENTIAL: use the functions with "
                          "_shared and _ordered", file->name);
    if (file->is_split && what->collective)
        return file_wrong(error, MPI_ERR_OTHER,
                          "file '%.160s': a split access was begun and not ended", file->name);
    return MPI_SUCCESS;
}

/* Sets *etypes: the number by which a pointer moves. */
static int check(const struct io_file *file, const struct io_access *what, struct transfer *op,
                 MPI_Offset *etypes, struct io_error *error)
{
    MPI_Count size, etype = file->view.etype_size;
    *etypes = 0;
    if (what->count < 0)
        return file_wrong(error, MPI_ERR_COUNT, "count %lld is negative", (long long)what->count);
    if (!library_hooks->is_committed(what->type))
        return file_wrong(error, MPI_ERR_TYPE, "datatype is none, or not committed");
    PMPI_Type_size_c(what->type, &size);
    if (__builtin_mul_overflow(size, what->count, &op->bytes))
        return file_wrong(error, MPI_ERR_COUNT, "count %lld: more than 2^63 bytes",
                          (long long)what->count);
    if (!what->buf && op->bytes && types_is_predefined(what->type))
        return file_wrong(error, MPI_ERR_BUFFER, "buf is NULL");
    if (what->pointer == IO_AT && what->offset < 0)
        return file_wrong(error, MPI_ERR_ARG, "offset %lld is negative", (long long)what->offset);
    int rc = check_mode(file, what, error);
    if (rc)
        return rc;
    if (etype ? op->bytes % etype : op->bytes)
        return file_wrong(error, MPI_ERR_IO,
                          "%lld bytes of data are no whole number of elementary types of %lld bytes",
                          (long long)op->bytes, (long long)etype);
    if (op->bytes && !file->view.size)
        return file_wrong(error, MPI_ERR_IO, "the view of file '%.160s' shows no data of it",
                          file->name);
    *etypes = etype ? op->bytes / etype : 0;
    return MPI_SUCCESS;
}

/* ---- by ROMIO ---- */

static bool is_contiguous(MPI_Datatype type)
{
    int flag;
    ADIOI_Datatype_iscontig(type, &flag);
    return flag;
}

static int call_romio(struct io_file *file, const struct transfer *op, int count, MPI_Status *status)
{
    struct romio_data data = {op->buf, count, op->type};
    if (op->collective)
        return romio_collective(file->fd, op->write, op->offset, &data, status);
    if (op->write)
        return ROMIO_File_write_at(file->fd, op->offset, op->buf, count, op->type, status);
    return ROMIO_File_read_at(file->fd, op->offset, op->buf, count, op->type, status);
}

/* The part of the data that lies before the end of the file: ROMIO counts all bytes that were asked
 * for. */
static MPI_Count before_end(struct io_file *file, const struct transfer *op, MPI_Count bytes)
{
    struct io_error ignored;
    MPI_Offset size;
    if (file_get_size(file, &size, &ignored))
        return bytes;
    int64_t there = view_below(&file->view, size) - op->offset * file->view.unit;
    return there < 0 ? 0 : there < bytes ? there : bytes;
}

/* Move bytes as they are in the file. Returns MPI_SUCCESS or an error class; *bytes were moved. */
static int run_native(struct io_file *file, const struct transfer *op, MPI_Count *bytes,
                      struct io_error *error)
{
    struct transfer one = *op;
    struct failure failure;
    MPI_Status status;
    MPI_Datatype many = MPI_DATATYPE_NULL;
    int count = (int)op->count;
    if (op->count > INT_MAX) {
        many = types_many(op->count, op->type);
        one.type = many;
        count = 1;
        if (many == MPI_DATATYPE_NULL) {
            one.type = MPI_BYTE;
            count = 0;
        }
    }
    bool plain = !op->collective && !file->view.runs && is_contiguous(one.type);
    memset(&status, 0, sizeof(status));
    failure_begin(!plain);
    int rc = call_romio(file, &one, count, &status);
    failure_end(&failure);
    *bytes = op->bytes;
    if (rc)
        rc = file_wrong(error, rc,
                        rc == MPI_ERR_PROC_ABORTED ? "file '%.160s': a process that has it open has ended"
                                                   : "file '%.160s': the arguments do not fit its view",
                        file->name);
    if (op->count > INT_MAX && many == MPI_DATATYPE_NULL)
        rc = file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
    types_release(&many);
    if (failure.number) {
        failure_say(&failure, file->name, error);
        rc = failure_class(failure.number);
    }
    if (rc)
        *bytes = 0;
    else if (!op->write && plain)
        PMPI_Get_elements_c(&status, MPI_BYTE, bytes);
    else if (!op->write)
        *bytes = before_end(file, op, op->bytes);
    return rc;
}

/* ---- run by run ---- */

/* Atomic accesses lock what they access; ROMIO does that. */
static enum plan_way way_of(const struct io_file *file, const struct transfer *op)
{
    const struct access_plan *plan = &file->plan;
    enum plan_way way = (op->collective ? plan->together : plan->alone)[op->write];
    return !file->atomic ? way : op->collective ? PLAN_TWO_PHASE : PLAN_SIEVE;
}

static int run_direct(struct io_file *file, const struct transfer *op, MPI_Count *bytes,
                      struct io_error *error)
{
    struct direct_access access = {op->write, op->buf, op->type, op->offset * file->view.unit,
                                   op->bytes};
    struct failure failure;
    *bytes = 0;
    if (!op->bytes)
        return MPI_SUCCESS;
    if (file_descriptor(file, error) < 0)
        return MPI_ERR_IO;
    failure_begin(false);
    *bytes = direct_move(file, &access);
    failure_end(&failure);
    if (!failure.number)
        return MPI_SUCCESS;
    *bytes = 0;
    failure_say(&failure, file->name, error);
    return failure_class(failure.number);
}

/* ---- data as they are in the file ---- */

/* ROMIO counts in int between noncontiguous memory and file, so a large access is split. */
static int run_bytes(struct io_file *file, const struct transfer *op, MPI_Count *bytes,
                     struct io_error *error)
{
    const MPI_Count part_max = 1 << 30;
    MPI_Count size, etype = file->view.etype_size, step = 1;
    MPI_Count lb, extent;
    enum plan_way way = way_of(file, op);
    struct transfer alone = *op;
    if (way == PLAN_DIRECT)
        return run_direct(file, op, bytes, error);
    if (op->collective && way == PLAN_SIEVE) {
        alone.collective = false;
        op = &alone;
    }
    PMPI_Type_size_c(op->type, &size);
    PMPI_Type_get_extent_c(op->type, &lb, &extent);
    if (op->collective || op->bytes <= part_max || size >= part_max || is_contiguous(op->type))
        return run_native(file, op, bytes, error);
    while (step * size % etype)
        step++;
    step *= part_max / (step * size) > 1 ? part_max / (step * size) : 1;
    *bytes = 0;
    for (MPI_Count done = 0; done < op->count; done += step) {
        struct transfer part = *op;
        MPI_Count moved = 0;
        part.count = op->count - done < step ? op->count - done : step;
        part.bytes = part.count * size;
        part.offset = op->offset + done * size / etype;
        part.buf = (char *)op->buf + done * extent;
        int rc = run_native(file, &part, &moved, error);
        *bytes += moved;
        if (rc || moved < part.bytes)
            return rc;
    }
    return MPI_SUCCESS;
}

/* ---- in another representation ---- */

/* The same data, converted, as bytes. */
static int run_converted(struct io_file *file, const struct transfer *op, MPI_Count *bytes,
                         struct io_error *error)
{
    const struct datarep *rep = file->view.datarep;
    struct io_error more;
    struct transfer plain = *op;
    MPI_Count moved = 0, each = datarep_size(rep, op->type, error);
    int rc = each < 0 ? MPI_ERR_UNSUPPORTED_DATAREP : MPI_SUCCESS;
    plain.type = MPI_BYTE;
    plain.count = plain.bytes = rc ? 0 : each * op->count;
    plain.buf = plain.bytes ? malloc((size_t)plain.bytes) : NULL;
    if (!rc && plain.bytes && !plain.buf)
        rc = file_wrong(error, MPI_ERR_NO_MEM, "no memory for %lld bytes of data representation '%s'",
                        (long long)plain.bytes, rep->name);
    if (!rc && op->write && plain.bytes)
        rc = datarep_pack(rep, op->buf, op->count, op->type, plain.buf, error);
    if (rc)
        plain.count = plain.bytes = 0;
    if (!rc || op->collective) {
        int its = run_bytes(file, &plain, &moved, rc ? &more : error);
        rc = rc ? rc : its;
    }
    MPI_Count whole = each > 0 ? moved / each : 0, size;
    if (!rc && !op->write && whole)
        rc = datarep_unpack(rep, plain.buf, whole, op->type, op->buf, error);
    PMPI_Type_size_c(op->type, &size);
    *bytes = rc ? 0 : whole * size;
    free(plain.buf);
    return rc;
}

/* Do the access; error_class: an earlier error, where the access is collective. */
static int perform(struct io_file *file, struct transfer *op, int error_class, MPI_Count *bytes,
                   struct io_error *error)
{
    struct io_error more;
    int rc;
    if (error_class)
        *op = (struct transfer){.write = op->write, .collective = true, .type = MPI_BYTE};
    *bytes = 0;
    if (datarep_converts(file->view.datarep) && !error_class)
        rc = run_converted(file, op, bytes, error);
    else
        rc = run_bytes(file, op, bytes, error_class ? &more : error);
    rc = error_class ? error_class : rc;
    return op->collective ? file_agree(file, rc, error) : rc;
}

/* ---- in other threads ---- */

struct access_item {
    struct work_item job;
    struct io_file *file;
    struct transfer op;
    int error_class;
    int cpu; /* the caller's, which computes on */
    MPI_Request request; /* MPI_REQUEST_NULL: no process waits for it */
};

static struct queue pool;
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

static void make_pool(void)
{
    queue_init(&pool, POOL_THREADS);
}

bool access_has_threads(void)
{
    pthread_once(&pool_once, make_pool);
    return queue_has_threads(&pool);
}

void access_end_threads(void)
{
    pthread_once(&pool_once, make_pool);
    queue_end(&pool);
}

static void count(struct io_file *file, int accesses)
{
    pthread_mutex_lock(&file->lock);
    file->outstanding += accesses;
    if (!file->outstanding)
        pthread_cond_broadcast(&file->settled);
    pthread_mutex_unlock(&file->lock);
}

void access_settle(struct io_file *file)
{
    pthread_mutex_lock(&file->lock);
    while (file->outstanding)
        pthread_cond_wait(&file->settled, &file->lock);
    pthread_mutex_unlock(&file->lock);
}

static void run_job(struct work_item *job)
{
    struct access_item *access = (struct access_item *)job;
    struct io_error error;
    MPI_Count bytes;
    bool collective = access->op.collective;
    library_hooks->leave_processor(access->cpu);
    int rc = perform(access->file, &access->op, access->error_class, &bytes, &error);
    types_release(&access->op.type);
    if (!collective)
        count(access->file, -1); /* which may go then */
    if (access->request != MPI_REQUEST_NULL)
        library_hooks->request_complete(access->request, rc, &error, bytes);
    free(access);
}

/* The access holds the type, as the user may free it at once. A collective access that fails here
 * goes on without a request: the other processes wait for it. */
static int queue_access(struct io_file *file, MPI_File handle, const struct io_access *what,
                        const struct transfer *op, int error_class, struct io_error *error)
{
    struct access_item *job = calloc(1, sizeof(*job));
    MPI_Datatype type = error_class ? MPI_BYTE : types_hold(op->type);
    int rc = error_class;
    library_hooks->use_threads();
    if (!job || type == MPI_DATATYPE_NULL ||
        (!rc && library_hooks->request_begin(handle, what->function, what->request))) {
        free(job);
        types_release(&type);
        return file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
    }
    *job = (struct access_item){{.run = run_job}, file, *op, rc, sched_getcpu(),
                                rc ? MPI_REQUEST_NULL : *what->request};
    job->op.type = type;
    if (!what->collective) {
        pthread_once(&pool_once, make_pool);
        count(file, 1);
    }
    queue_add(what->collective ? &file->queue : &pool, &job->job);
    return rc;
}

/* ---- where ---- */

/* Places in the order of ranks: collective. */
static int order(struct io_file *file, MPI_Offset etypes, int error_class, MPI_Offset *offset,
                 struct io_error *error)
{
    int64_t mine = error_class ? 0 : etypes, upto = mine, base[2] = {0};
    if (file->size > 1)
        (void)PMPI_Scan(&mine, &upto, 1, MPI_INT64_T, MPI_SUM, file->comm);
    if (file->rank == file->size - 1) {
        MPI_Offset was = 0;
        base[1] = pointer_move(&file->shared, upto, &was, error);
        base[0] = was;
    }
    if (file->size > 1)
        (void)PMPI_Bcast(base, 2, MPI_INT64_T, file->size - 1, file->comm);
    *offset = base[0] + upto - mine;
    if (error_class || !base[1])
        return error_class;
    if (file->rank < file->size - 1)
        (void)file_wrong(error, 0, "the shared file pointer of '%.160s' cannot be reached", file->name);
    return (int)base[1];
}

static int place(struct io_file *file, const struct io_access *what, MPI_Offset etypes,
                 MPI_Offset *offset, struct io_error *error)
{
    switch (what->pointer) {
    case IO_AT: *offset = what->offset; break;
    case IO_INDIVIDUAL:
        pthread_mutex_lock(&file->lock);
        *offset = file->position;
        file->position += etypes;
        pthread_mutex_unlock(&file->lock);
        break;
    case IO_SHARED: return pointer_move(&file->shared, etypes, offset, error);
    case IO_ORDERED: break; /* order() */
    }
    return MPI_SUCCESS;
}

static void set_status(MPI_Status *status, MPI_Count bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements_c(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

/* An access is done at once when it begins; its outcome is kept for the end. */
static int begin(struct io_file *file, const struct io_access *what, struct transfer *op,
                 int error_class)
{
    file->is_split = true;
    file->split = *what;
    file->split_class = perform(file, op, error_class, &file->split_bytes, &file->split_error);
    return MPI_SUCCESS;
}

int access_run(struct io_file *file, MPI_File handle, const struct io_access *what,
               struct io_error *error)
{
    struct transfer op = {what->write, what->collective, 0, what->buf, what->count, what->type, 0};
    MPI_Offset etypes;
    MPI_Count bytes;
    int rc = check(file, what, &op, &etypes, error);
    if (!rc)
        rc = place(file, what, etypes, &op.offset, error);
    if (rc && !what->collective)
        return rc;
    if (what->form == IO_NONBLOCKING)
        return queue_access(file, handle, what, &op, rc, error);
    if (what->collective)
        queue_drain(&file->queue);
    if (what->pointer == IO_ORDERED)
        rc = order(file, etypes, rc, &op.offset, error);
    if (what->form == IO_BEGIN && !rc)
        return begin(file, what, &op, rc);
    rc = perform(file, &op, rc, &bytes, error);
    if (what->form == IO_BLOCKING && !rc)
        set_status(what->status, bytes);
    return rc;
}

int access_end(struct io_file *file, const struct io_access *begun, struct io_error *error)
{
    const struct io_access *split = &file->split;
    if (!file->is_split)
        return file_wrong(error, MPI_ERR_OTHER, "file '%.160s': no split access was begun",
                          file->name);
    if (split->write != begun->write || split->pointer != begun->pointer ||
        split->buf != begun->buf)
        return file_wrong(error, MPI_ERR_OTHER,
                          "file '%.160s': another split access was begun, or with another buffer",
                          file->name);
    file->is_split = false;
    if (file->split_class)
        *error = file->split_error;
    else
        set_status(begun->status, file->split_bytes);
    return file->split_class;
}
