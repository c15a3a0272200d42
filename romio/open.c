/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Opening a file. The arguments of all processes are compared first, so one with a different or
 * wrong argument leaves no other process waiting.
 */
#include <adio.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "romio/datarep.h"
#include "romio/file.h"
#include "romio/library.h"
#include "romio/plan.h"
#include "romio/romio.h"

enum {
    NFS_MAGIC = 0x6969
};

static int check_amode(int amode, struct io_error *error)
{
    const int all = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE |
                    MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                    MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    int kinds = !!(amode & MPI_MODE_RDONLY) + !!(amode & MPI_MODE_RDWR) + !!(amode & MPI_MODE_WRONLY);
    if ((amode & ~all) || kinds != 1)
        return file_wrong(error, MPI_ERR_AMODE,
                          "amode %d: must have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and "
                          "MPI_MODE_RDWR, and beside it only constants MPI_MODE_", amode);
    if ((amode & MPI_MODE_RDONLY) && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return file_wrong(error, MPI_ERR_AMODE,
                          "amode: MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY");
    if ((amode & MPI_MODE_RDWR) && (amode & MPI_MODE_SEQUENTIAL))
        return file_wrong(error, MPI_ERR_AMODE,
                          "amode: MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR");
    return MPI_SUCCESS;
}

/* The name for ROMIO, which takes the part before a colon for a driver. NULL: no memory. */
static char *romio_name(const char *name)
{
    struct statfs what;
    char *made, *folder = NULL;
    const char *driver = "";
    if (plan_path(name) == name && strchr(name, ':')) {
        folder = strdup(name);
        if (!folder)
            return NULL;
        bool is_nfs = !statfs(name, &what) || !statfs(dirname(folder), &what)
                          ? what.f_type == NFS_MAGIC : false;
        driver = is_nfs ? "nfs:" : "ufs:";
    }
    if (asprintf(&made, "%s%s", driver, name) < 0)
        made = NULL;
    free(folder);
    return made;
}

static struct io_file *create(MPI_Comm comm, const char *name, int amode)
{
    struct io_file *file = calloc(1, sizeof(*file));
    pthread_mutexattr_t attr;
    if (!file)
        return NULL;
    file->name = strdup(plan_path(name));
    if (!file->name) {
        free(file);
        return NULL;
    }
    PMPI_Comm_rank(comm, &file->rank);
    PMPI_Comm_size(comm, &file->size);
    file->comm = comm; /* until there is ROMIO's */
    file->amode = amode;
    file->view = (struct view){.etype = MPI_BYTE, .filetype = MPI_BYTE, .etype_size = 1, .unit = 1,
                               .size = 1, .extent = 1, .datarep = datarep_native};
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&file->change, &attr);
    pthread_mutexattr_destroy(&attr);
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->settled, NULL);
    queue_init(&file->queue, 1);
    pointer_init(&file->shared, file->rank == 0);
    return file;
}

static void destroy(struct io_file *file)
{
    pointer_fini(&file->shared);
    queue_fini(&file->queue);
    pthread_mutex_destroy(&file->lock);
    pthread_cond_destroy(&file->settled);
    pthread_mutex_destroy(&file->change);
    free(file->name);
    free(file);
}

static int open_romio(MPI_Comm comm, const char *name, MPI_Info info, struct io_file *file,
                      struct io_error *error)
{
    /* ROMIO needs to know nothing about these. */
    int amode = file->amode & ~(MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND);
    struct failure failure;
    MPI_Info hints = plan_hints(info);
    char *its_name = romio_name(name);
    int rc = its_name ? MPI_SUCCESS : file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
    rc = file_agree(file, rc, error);
    if (!rc) {
        failure_begin(false);
        rc = ROMIO_File_open(comm, its_name, amode, hints, &file->fd);
        failure_end(&failure);
        if (rc && failure.number) {
            failure.of = "open";
            failure_say(&failure, file->name, error);
        } else if (rc == MPI_ERR_NOT_SAME) {
            (void)file_wrong(error, rc, "amode must be the same in all processes");
        } else if (rc) {
            char text[MPI_MAX_ERROR_STRING];
            int len;
            (void)PMPI_Error_string(rc, text, &len);
            (void)file_wrong(error, rc, "file '%.160s' cannot be opened, here or in another process: "
                                        "%.120s", file->name, text);
            error->is_of_others = file->rank > 0;
        }
    }
    plan_hints_free(&hints);
    free(its_name);
    return rc;
}

/* Find out together what the file system offers: locks at all, one host, the shared pointer.
 * Returns MPI_SUCCESS or an error class. */
static int settle(struct io_file *file, MPI_Info info, struct io_error *error)
{
    int64_t host = (int64_t)(library_hooks->host_id() >> 1);
    int64_t in[] = {!plan_has_locks(file), host, -host, file->shared.pid, file->shared.fd}, out[5];
    memcpy(out, in, sizeof(out));
    if (file->size > 1)
        (void)PMPI_Allreduce(in, out, 5, MPI_INT64_T, MPI_MAX, file->comm);
    file->has_locks = !out[0];
    file->one_host = out[1] == -out[2];
    pointer_at(&file->shared, out[3], file->one_host ? out[4] : -1);
    plan_buffers(file, info);
    plan_settle(file);
    if (file->shared.fd >= 0 || pointer_by_messages(&file->shared, file->comm))
        return MPI_SUCCESS;
    return file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
}

int file_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, struct io_file **made,
              struct io_error *error)
{
    int64_t values[] = {amode};
    MPI_Offset end = 0;
    struct io_file *file = create(comm, name, amode);
    if (!file)
        return file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
    int rc = check_amode(amode, error);
    rc = file_agree_same(file, rc, values, 1, "amode", error);
    if (!rc)
        rc = open_romio(comm, name, info, file, error);
    if (rc) {
        destroy(file);
        return rc;
    }
    file->comm = file->fd->comm;
    file->fd->fs_ptr = file;
    PMPI_Comm_set_errhandler(file->comm, MPI_ERRORS_RETURN);
    rc = settle(file, info, error);
    if (!rc && amode & MPI_MODE_APPEND) {
        rc = file_get_size(file, &end, error);
        file->position = end;
        if (!rc && file->rank == 0)
            rc = pointer_set(&file->shared, end, error);
    }
    rc = file_agree(file, rc, error);
    plan_report(file);
    if (rc) {
        struct io_error ignored;
        (void)file_close(file, &ignored);
        return rc;
    }
    *made = file;
    return MPI_SUCCESS;
}
