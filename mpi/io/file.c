/* SPDX-License-Identifier: BSD-3-Clause */

/* Files as objects; see file.h. */
#include "mpi/io/file.h"

#include <stdio.h>

#include "mpi/store.h"

const struct io_library *file_io;

static struct store store = {.lock = OS_LOCK_INIT};

/* ---- objects ---- */

struct file *file_from(MPI_File handle)
{
    if (handle_is_constant(handle) || !handle_leads_to(handle, OBJECT_FILE))
        return NULL;
    return (struct file *)handle;
}

struct file *file_create(void)
{
    struct file *file = store_make(&store, sizeof(*file), OBJECT_FILE);
    if (file)
        errh_start(&file->errhandler, errh_get(&errh_file_default));
    return file;
}

void file_destroy(struct file *file)
{
    errh_stop(&file->errhandler);
    store_free(&store, file);
}

/* ---- threads ---- */

bool file_has_threads(void)
{
    return file_io && file_io->has_threads();
}

void file_end_threads(void)
{
    if (file_io)
        file_io->end_threads();
}

/* ---- errors ---- */

int file_raise(struct file *file, int error_class, const struct io_error *error,
               const char *function)
{
    if (!file)
        return errh_no_file(error_class, function, "%s", error->text);
    return errh_on(errh_get(&file->errhandler), file, error_class, function, "%s", error->text);
}

int file_end(struct file *file, int rc, const struct io_error *error, const char *function)
{
    return rc ? file_raise(file, rc, error, function) : MPI_SUCCESS;
}

int file_bad(MPI_File handle, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    return errh_no_file(MPI_ERR_FILE, function, "file %s is none, or was closed",
                        errh_name(handle).text);
}

int file_no_pointer(struct file *file, const char *which, const char *function)
{
    struct io_error error;
    snprintf(error.text, sizeof(error.text), "%s is NULL", which);
    return file_raise(file, MPI_ERR_ARG, &error, function);
}
