/* SPDX-License-Identifier: BSD-3-Clause */

/* Operations on a file as a whole: sizes, pointers, views, hints; see file.h. */
#include "romio/file.h"

#include <adio.h>
#include <adio_extern.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "romio/datarep.h"
#include "romio/library.h"
#include "romio/plan.h"
#include "romio/romio.h"
#include "romio/types.h"

/* ---- errors ---- */

int file_wrong(struct io_error *error, int error_class, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(error->text, sizeof(error->text), fmt, args);
    va_end(args);
    error->is_of_others = false;
    return error_class;
}

/* Report an errno of a system call on the file, in words. Returns its class. */
static int say_errno(struct io_file *file, const char *of, int number, struct io_error *error)
{
    struct failure failure = {.number = number, .of = of};
    failure_say(&failure, file->name, error);
    return failure_class(number);
}

int file_agree_same(struct io_file *file, int error_class, const int64_t *values, int count,
                    const char *what, struct io_error *error)
{
    int64_t in[9] = {error_class}, out[9];
    if (file->size == 1)
        return error_class;
    for (int i = 0; i < count; i++) {
        in[1 + 2 * i] = values[i];
        in[2 + 2 * i] = -values[i];
    }
    if (PMPI_Allreduce(in, out, 1 + 2 * count, MPI_INT64_T, MPI_MAX, file->comm))
        return file_wrong(error, MPI_ERR_PROC_ABORTED,
                          "file '%.160s': a process that has it open has ended", file->name);
    if (!error_class && out[0]) {
        error_class = file_wrong(error, (int)out[0],
                                 "file '%.160s': it has failed in another process, which says more",
                                 file->name);
        error->is_of_others = true;
        return error_class;
    }
    for (int i = 0; i < count && !error_class; i++)
        if (out[1 + 2 * i] != -out[2 + 2 * i])
            return file_wrong(error, MPI_ERR_NOT_SAME,
                              "%s must be the same in all processes of file '%.160s'", what,
                              file->name);
    return error_class;
}

int file_agree(struct io_file *file, int error_class, struct io_error *error)
{
    return file_agree_same(file, error_class, NULL, 0, "", error);
}

int file_descriptor(struct io_file *file, struct io_error *error)
{
    int rc = MPI_SUCCESS;
    if (!file->fd->is_open) { /* ROMIO has put that off */
        failure_begin(false);
        ADIO_ImmediateOpen(file->fd, &rc);
        struct failure failure;
        failure_end(&failure);
    }
    if (!rc)
        return file->fd->fd_sys;
    (void)file_wrong(error, rc, "file '%.160s' cannot be opened in this process", file->name);
    return -1;
}

/* ---- closing and deleting ---- */

int file_close(struct io_file *file, struct io_error *error)
{
    int rc = MPI_SUCCESS, more;
    queue_drain(&file->queue);
    access_settle(file);
    if (file->is_split)
        rc = file_wrong(error, MPI_ERR_OTHER, "file '%.160s': a split access was begun and not ended",
                        file->name);
    /* Closed by this library, not ROMIO, so that all processes get the system's error before the
     * communicator goes. */
    if (file->fd->is_open && close(file->fd->fd_sys) && !rc && errno != EINTR)
        rc = say_errno(file, "close", errno, error);
    file->fd->is_open = 0;
    file->fd->hints->deferred_open = 0; /* or it closes again */
    rc = file_agree(file, rc, error);
    failure_begin(false);
    more = ROMIO_File_close(&file->fd);
    struct failure failure;
    failure_end(&failure);
    if (!rc && more)
        rc = file_wrong(error, more, "file '%.160s' cannot be closed in good order", file->name);
    pointer_fini(&file->shared);
    view_fini(&file->view);
    queue_fini(&file->queue);
    pthread_mutex_destroy(&file->lock);
    pthread_cond_destroy(&file->settled);
    pthread_mutex_destroy(&file->change);
    free(file->name);
    free(file);
    return rc;
}

int file_delete(const char *name, struct io_error *error)
{
    const char *path = plan_path(name);
    if (!unlink(path))
        return MPI_SUCCESS;
    struct failure failure = {.number = errno, .of = "delete"};
    failure_say(&failure, path, error);
    return failure_class(failure.number);
}

/* ---- size ---- */

int file_get_size(struct io_file *file, MPI_Offset *size, struct io_error *error)
{
    struct stat what;
    int fd = file_descriptor(file, error);
    if (fd < 0)
        return MPI_ERR_IO;
    if (fstat(fd, &what))
        return say_errno(file, "stat", errno, error);
    *size = what.st_size;
    return MPI_SUCCESS;
}

/* Done by one process, for all. Returns errno. */
static int resize(struct io_file *file, int fd, MPI_Offset size, bool only_room)
{
    int rc;
    do {
        rc = only_room ? (size ? posix_fallocate(fd, 0, size) : 0)
                       : ftruncate(fd, size) ? errno : 0;
    } while (rc == EINTR);
    return rc;
}

int file_set_size(struct io_file *file, MPI_Offset size, bool only_room, struct io_error *error)
{
    int64_t values[] = {size};
    int rc = MPI_SUCCESS;
    queue_drain(&file->queue);
    if (size < 0)
        rc = file_wrong(error, MPI_ERR_ARG, "size %lld is negative", (long long)size);
    else if (file->amode & MPI_MODE_RDONLY)
        rc = file_wrong(error, only_room ? MPI_ERR_ACCESS : MPI_ERR_READ_ONLY, "file '%.160s' was opened with MPI_MODE_RDONLY",
                        file->name);
    else if (file->amode & MPI_MODE_SEQUENTIAL)
        rc = file_wrong(error, MPI_ERR_UNSUPPORTED_OPERATION,
                        "file '%.160s' was opened with MPI_MODE_SEQUENTIAL", file->name);
    rc = file_agree_same(file, rc, values, 1, "size", error);
    if (rc)
        return rc;
    if (file->rank == 0) {
        int fd = file_descriptor(file, error);
        int number = fd < 0 ? 0 : resize(file, fd, size, only_room);
        if (fd < 0)
            rc = MPI_ERR_IO;
        else if (number)
            rc = say_errno(file, only_room ? "preallocate" : "resize", number, error);
    }
    return file_agree(file, rc, error);
}

int file_sync(struct io_file *file, struct io_error *error)
{
    int rc = MPI_SUCCESS;
    queue_drain(&file->queue);
    if (file->is_split)
        rc = file_wrong(error, MPI_ERR_OTHER, "file '%.160s': a split access was begun and not ended",
                        file->name);
    while (!rc && file->fd->is_open && !(file->amode & MPI_MODE_RDONLY) && fsync(file->fd->fd_sys))
        if (errno != EINTR)
            rc = errno == EINVAL || errno == EROFS ? -1 : say_errno(file, "sync", errno, error);
    return file_agree(file, rc > 0 ? rc : MPI_SUCCESS, error); /* some files cannot be synced */
}

/* ---- pointers ---- */

static int not_sequential(struct io_file *file, struct io_error *error)
{
    if (!(file->amode & MPI_MODE_SEQUENTIAL))
        return MPI_SUCCESS;
    return file_wrong(error, MPI_ERR_UNSUPPORTED_OPERATION,
                      "file '%.160s' was opened with MPI_MODE_SEQUENTIAL: only the shared pointer "
                      "moves, by reading and writing", file->name);
}

/* The first etype of the view that is not before the end of the file. */
static int end_offset(struct io_file *file, MPI_Offset *offset, struct io_error *error)
{
    MPI_Offset size;
    int rc = file_get_size(file, &size, error);
    MPI_Count unit = file->view.unit ? file->view.unit : 1;
    if (!rc)
        *offset = (view_below(&file->view, size) + unit - 1) / unit;
    return rc;
}

/* Where a seek leads to. */
static int target(struct io_file *file, MPI_Offset now, MPI_Offset offset, int whence,
                  MPI_Offset *to, struct io_error *error)
{
    MPI_Offset from = 0;
    int rc = MPI_SUCCESS;
    if (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        return file_wrong(error, MPI_ERR_ARG,
                          "whence %d: must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
    if (whence == MPI_SEEK_CUR)
        from = now;
    if (whence == MPI_SEEK_END)
        rc = end_offset(file, &from, error);
    if (rc)
        return rc;
    if (__builtin_add_overflow(from, offset, to) || *to < 0)
        return file_wrong(error, MPI_ERR_ARG, "offset %lld leads before the beginning of the view",
                          (long long)offset);
    return MPI_SUCCESS;
}

static int seek_shared(struct io_file *file, MPI_Offset offset, int whence, struct io_error *error)
{
    int64_t values[] = {offset, whence};
    MPI_Offset now = 0, to = 0;
    queue_drain(&file->queue);
    int rc = not_sequential(file, error);
    if (!rc)
        rc = pointer_move(&file->shared, 0, &now, error);
    if (!rc)
        rc = target(file, now, offset, whence, &to, error);
    rc = file_agree_same(file, rc, values, 2, "offset and whence", error);
    if (!rc && file->rank == 0)
        rc = pointer_set(&file->shared, to, error);
    return rc ? rc : file_agree(file, rc, error);
}

int file_seek(struct io_file *file, enum io_pointer pointer, MPI_Offset offset, int whence,
              struct io_error *error)
{
    MPI_Offset to = 0;
    if (pointer == IO_SHARED)
        return seek_shared(file, offset, whence, error);
    int rc = not_sequential(file, error);
    if (rc)
        return rc;
    pthread_mutex_lock(&file->lock);
    rc = target(file, file->position, offset, whence, &to, error);
    if (!rc)
        file->position = to;
    pthread_mutex_unlock(&file->lock);
    return rc;
}

int file_get_position(struct io_file *file, enum io_pointer pointer, MPI_Offset *offset,
                      struct io_error *error)
{
    int rc = not_sequential(file, error);
    if (rc)
        return rc;
    if (pointer == IO_SHARED)
        return pointer_move(&file->shared, 0, offset, error);
    pthread_mutex_lock(&file->lock);
    *offset = file->position;
    pthread_mutex_unlock(&file->lock);
    return MPI_SUCCESS;
}

int file_get_byte_offset(struct io_file *file, MPI_Offset offset, MPI_Offset *disp,
                         struct io_error *error)
{
    int rc = not_sequential(file, error);
    if (rc)
        return rc;
    if (offset < 0)
        return file_wrong(error, MPI_ERR_ARG, "offset %lld is negative", (long long)offset);
    *disp = view_place(&file->view, offset * file->view.unit);
    return MPI_SUCCESS;
}

/* ---- views ---- */

static int check_type(MPI_Datatype type, const char *which, bool write, struct io_error *error)
{
    if (!library_hooks->is_committed(type))
        return file_wrong(error, MPI_ERR_TYPE, "%s is no datatype, or not committed", which);
    const ADIOI_Flatlist_node *flat = ADIOI_Flatten_and_find(type);
    if (flat->flag & ADIOI_TYPE_NEGATIVE)
        return file_wrong(error, MPI_ERR_IO, "%s has a negative displacement", which);
    if (flat->flag & ADIOI_TYPE_DECREASE)
        return file_wrong(error, MPI_ERR_IO, "%s: its displacements must not decrease", which);
    if (write && (flat->flag & ADIOI_TYPE_OVERLAP))
        return file_wrong(error, MPI_ERR_IO,
                          "%s has parts that overlap, which is for files that are only read", which);
    return MPI_SUCCESS;
}

static int check_view(struct io_file *file, const struct io_view *view, struct io_error *error)
{
    bool write = !(file->amode & MPI_MODE_RDONLY), sequential = file->amode & MPI_MODE_SEQUENTIAL;
    MPI_Count etype_size, filetype_size;
    if (!view->datarep)
        return file_wrong(error, MPI_ERR_ARG, "datarep is NULL");
    if (sequential != (view->disp == MPI_DISPLACEMENT_CURRENT))
        return file_wrong(error, MPI_ERR_ARG,
                          "displacement %lld: MPI_DISPLACEMENT_CURRENT is what files with "
                          "MPI_MODE_SEQUENTIAL take, and no others", (long long)view->disp);
    if (view->disp < 0 && !sequential)
        return file_wrong(error, MPI_ERR_ARG, "displacement %lld is negative",
                          (long long)view->disp);
    int rc = check_type(view->etype, "etype", write, error);
    if (!rc)
        rc = check_type(view->filetype, "filetype", write, error);
    if (rc)
        return rc;
    PMPI_Type_size_c(view->etype, &etype_size);
    PMPI_Type_size_c(view->filetype, &filetype_size);
    if (etype_size ? filetype_size % etype_size : filetype_size)
        return file_wrong(error, MPI_ERR_ARG,
                          "filetype has %lld bytes of data, which are no whole number of etypes of "
                          "%lld bytes", (long long)filetype_size, (long long)etype_size);
    if (!datarep_find(view->datarep))
        return file_wrong(error, MPI_ERR_UNSUPPORTED_DATAREP,
                          "there is no data representation '%.60s': there are native, internal, "
                          "external32, and those of MPI_Register_datarep", view->datarep);
    return MPI_SUCCESS;
}

/* A type as it is in the file, where data have another size there; otherwise the type itself, held.
 */
static MPI_Datatype in_file(const struct datarep *rep, MPI_Datatype type, struct io_error *error)
{
    MPI_Count size, there = datarep_size(rep, type, error), extent;
    MPI_Count lb, true_lb, true_extent;
    PMPI_Type_size_c(type, &size);
    if (there == size)
        return types_hold(type);
    PMPI_Type_get_extent_c(type, &lb, &extent);
    PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent);
    if (there < 0)
        return MPI_DATATYPE_NULL;
    if (extent == size && true_extent == size && lb == 0)
        return types_many(there, MPI_BYTE);
    (void)file_wrong(error, 0, "a type with gaps, whose data have another size in data representation "
                               "'%s', is not supported", rep->name);
    return MPI_DATATYPE_NULL;
}

/* Where a view begins that continues at the shared pointer. */
static int displacement(struct io_file *file, MPI_Offset *disp, struct io_error *error)
{
    MPI_Offset now;
    if (*disp != MPI_DISPLACEMENT_CURRENT)
        return MPI_SUCCESS;
    int rc = pointer_move(&file->shared, 0, &now, error);
    if (!rc)
        *disp = view_place(&file->view, now * file->view.unit);
    return rc;
}

/* The new view; the types in the file are for ROMIO. */
static int make_view(struct io_file *file, const struct io_view *view, struct view *made,
                     MPI_Datatype there[2], struct io_error *error)
{
    int rc = check_view(file, view, error);
    there[0] = there[1] = MPI_DATATYPE_NULL;
    *made = (struct view){.disp = view->disp, .etype = MPI_DATATYPE_NULL,
                          .filetype = MPI_DATATYPE_NULL};
    if (!rc)
        rc = displacement(file, &made->disp, error);
    if (rc)
        return rc;
    made->datarep = datarep_find(view->datarep);
    there[0] = in_file(made->datarep, view->etype, error);
    if (there[0] != MPI_DATATYPE_NULL)
        there[1] = in_file(made->datarep, view->filetype, error);
    if (there[1] == MPI_DATATYPE_NULL)
        return MPI_ERR_UNSUPPORTED_DATAREP;
    made->etype = types_hold(view->etype);
    made->filetype = types_hold(view->filetype);
    PMPI_Type_size_c(view->etype, &made->etype_size);
    PMPI_Type_size_c(there[0], &made->unit);
    if (made->filetype == MPI_DATATYPE_NULL || made->etype == MPI_DATATYPE_NULL ||
        !view_take_runs(made, there[1]))
        return file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
    return MPI_SUCCESS;
}

/* The same value in all processes that give the same. */
static int64_t name_hash(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (; name && *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return (int64_t)(hash >> 2);
}

int file_set_view(struct io_file *file, const struct io_view *view, struct io_error *error)
{
    struct view made;
    MPI_Datatype there[2];
    queue_drain(&file->queue);
    int rc = make_view(file, view, &made, there, error);
    int64_t same[] = {made.unit, rc ? 0 : name_hash(made.datarep->name)};
    rc = file_agree_same(file, rc, same, 2, "datarep, and the extent of etype,", error);
    if (!rc) {
        MPI_Info hints = plan_hints(view->info);
        rc = ROMIO_File_set_view(file->fd, made.disp, there[0], there[1], "native", hints);
        plan_hints_free(&hints);
        if (rc)
            rc = file_wrong(error, rc, "file '%.160s' does not take this view", file->name);
        rc = file_agree(file, rc, error);
    }
    types_release(&there[0]);
    types_release(&there[1]);
    if (rc) {
        view_fini(&made);
        return rc;
    }
    view_fini(&file->view);
    file->view = made;
    file->position = 0;
    plan_settle(file);
    plan_report_view(file);
    if (file->rank == 0)
        (void)pointer_set(&file->shared, 0, error);
    return file_agree(file, MPI_SUCCESS, error);
}

/* A copy for the user to free. */
static MPI_Datatype copy_of(MPI_Datatype type)
{
    MPI_Datatype copy = type;
    if (!types_is_predefined(type) && PMPI_Type_dup(type, &copy))
        return MPI_DATATYPE_NULL;
    return copy;
}

int file_get_view(struct io_file *file, struct io_view *view, char *datarep,
                  struct io_error *error)
{
    view->disp = file->view.disp;
    view->etype = copy_of(file->view.etype);
    view->filetype = copy_of(file->view.filetype);
    strcpy(datarep, file->view.datarep->name);
    if (view->etype != MPI_DATATYPE_NULL && view->filetype != MPI_DATATYPE_NULL)
        return MPI_SUCCESS;
    types_release(&view->etype);
    types_release(&view->filetype);
    return file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
}

int file_get_type_extent(struct io_file *file, MPI_Datatype type, MPI_Count *extent,
                         struct io_error *error)
{
    if (!library_hooks->is_committed(type))
        return file_wrong(error, MPI_ERR_TYPE, "datatype is none, or not committed");
    MPI_Count there = datarep_extent(file->view.datarep, type, error);
    if (there < 0)
        return MPI_ERR_UNSUPPORTED_DATAREP;
    *extent = there;
    return MPI_SUCCESS;
}

/* ---- the rest ---- */

int file_set_atomicity(struct io_file *file, bool flag, struct io_error *error)
{
    int64_t values[] = {flag};
    int rc = MPI_SUCCESS;
    queue_drain(&file->queue);
    if (flag && file->size > 1 && !file->has_locks)
        rc = file_wrong(error, MPI_ERR_UNSUPPORTED_OPERATION,
                        "the file system of '%.160s' has no locks, which atomic accesses need: order "
                        "accesses by MPI_File_sync and MPI_Barrier", file->name);
    rc = file_agree_same(file, rc, values, 1, "flag", error);
    if (!rc) {
        file->atomic = flag;
        file->fd->atomicity = flag;
    }
    return rc;
}

bool file_get_atomicity(struct io_file *file)
{
    return file->atomic;
}

int file_set_info(struct io_file *file, MPI_Info info, struct io_error *error)
{
    queue_drain(&file->queue);
    MPI_Info hints = plan_hints(info);
    int rc = ROMIO_File_set_info(file->fd, hints);
    plan_hints_free(&hints);
    plan_settle(file);
    if (rc)
        rc = file_wrong(error, rc, "file '%.160s' does not take these hints", file->name);
    return file_agree(file, rc, error);
}

int file_get_info(struct io_file *file, MPI_Info *info, struct io_error *error)
{
    int rc = ROMIO_File_get_info(file->fd, info);
    return rc ? file_wrong(error, rc, "out of memory") : MPI_SUCCESS;
}

MPI_Comm file_comm(struct io_file *file)
{
    return file->comm;
}

int file_get_group(struct io_file *file, MPI_Group *group, struct io_error *error)
{
    return PMPI_Comm_group(file->comm, group) ? file_wrong(error, MPI_ERR_NO_MEM, "out of memory")
                                              : MPI_SUCCESS;
}

int file_get_amode(struct io_file *file)
{
    return file->amode;
}
