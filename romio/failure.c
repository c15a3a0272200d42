/* SPDX-License-Identifier: BSD-3-Clause */

/* Errors of the system; see failure.h. */
#include "romio/failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct failure now;

void failure_begin(bool inner)
{
    now = (struct failure){.keeps = true, .inner = inner};
    errno = 0;
}

void failure_end(struct failure *failure)
{
    *failure = now;
    now = (struct failure){0};
}

const struct failure *failure_now(void)
{
    return &now;
}

int failure_add(const char *of, int number, int64_t offset, int64_t len)
{
    if (!now.number) {
        now.number = number;
        now.of = of;
        now.offset = offset;
        now.len = len;
    }
    return now.keeps ? MPI_SUCCESS : failure_class(number);
}

void failure_note_errno(const char *message)
{
    bool is_system = message && (!strcmp(message, "**io") || strstr(message, "file") ||
                                 strstr(message, "System"));
    if (is_system && errno && !now.number)
        now.number = errno;
}

int failure_class(int number)
{
    static const struct {
        int number, error_class;
    } classes[] = {
        {ENOENT, MPI_ERR_NO_SUCH_FILE}, {EEXIST, MPI_ERR_FILE_EXISTS}, {EACCES, MPI_ERR_ACCESS},
        {EPERM, MPI_ERR_ACCESS},        {EROFS, MPI_ERR_READ_ONLY},    {ENOSPC, MPI_ERR_NO_SPACE},
        {EDQUOT, MPI_ERR_QUOTA},        {EISDIR, MPI_ERR_BAD_FILE},    {ENAMETOOLONG, MPI_ERR_BAD_FILE},
        {ENOTDIR, MPI_ERR_BAD_FILE},    {ELOOP, MPI_ERR_BAD_FILE},     {ETXTBSY, MPI_ERR_FILE_IN_USE},
        {EBUSY, MPI_ERR_FILE_IN_USE},   {ENOMEM, MPI_ERR_NO_MEM},
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (classes[i].number == number)
            return classes[i].error_class;
    return number ? MPI_ERR_IO : MPI_SUCCESS;
}

/* The cure for an error, if known. */
static const char *cure(const struct failure *failure)
{
    if (failure->of && !strcmp(failure->of, "lock"))
        return "; where the file system has no locks, give the hint romio_ds_write=disable";
    switch (failure->number) {
    case ENOENT: return "; is its folder there? MPI_MODE_CREATE makes a file that is not";
    case EEXIST: return "; without MPI_MODE_EXCL it is opened as it is";
    case EACCES:
    case EPERM: return "; look at the permissions of the file and of its folder";
    case ENOSPC:
    case EDQUOT: return "; make room, or write elsewhere";
    case EFBIG: return "; raise the limit on file sizes (ulimit -f), or use another file system";
    case EIO: return "; the storage or its server has failed: see the system's log";
    case ESTALE: return "; the file was removed or replaced on its server: open it again";
    case EMFILE:
    case ENFILE: return "; close files, or raise the limit on open files (ulimit -n)";
    case EROFS: return "; the file system is mounted for reading alone";
    default: return "";
    }
}

void failure_say(const struct failure *failure, const char *name, struct io_error *error)
{
    char where[64] = "";
    error->is_of_others = false;
    if (failure->len)
        snprintf(where, sizeof(where), " of %" PRId64 " bytes at %" PRId64, failure->len,
                 failure->offset);
    snprintf(error->text, sizeof(error->text), "%s%s: file '%.140s': %.50s%s",
             failure->of ? failure->of : "access", where, name, strerror(failure->number),
             cure(failure));
}

void failure_no_memory(const char *what)
{
    fprintf(stderr, "vireo: no memory for %s\n", what);
    PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    abort();
}
