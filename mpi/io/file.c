/* SPDX-License-Identifier: BSD-3-Clause */

/* Files as objects; see file.h. */
#include "mpi/io/file.h"

#include <stdio.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/errh.h"
#include "mpi/errh_code.h"
#include "mpi/store.h"
#include "mpi/world.h"
#include "os/settings.h"

const struct io_library *file_io;

static struct store store = {.lock = OS_LOCK_INIT};

/* ---- objects ---- */

struct file *file_from(MPI_File handle)
{
    /* Where MPI has ended, or in a forked child, there is no thread and no other process to do anything. */
    if (handle_is_constant(handle) || !handle_leads_to(handle, OBJECT_FILE) || mpi_state != MPI_STATE_READY)
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

void file_opened(struct file *file, struct io_file *io)
{
    file->io = io;
    file->comm = comm_any(file_io->comm(io));
    if (!file->comm)
        return;
    object_ref(&file->comm->object);
    file->comm->fails_whole = true; /* its collectives are made of messages */
    comm_list_check(file->comm);
}

void file_destroy(struct file *file)
{
    comm_unref(file->comm);
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

/* Call the error handler. Where it is MPI_ERRORS_RETURN, as of files at first, and the program looks at no
 * code, nobody would learn of the error: the report of VIREO_IO_REPORT has it. */
int file_raise(struct file *file, int error_class, const struct io_error *error,
               const char *function)
{
    struct errhandler *errhandler = errh_get(file ? &file->errhandler : &errh_file_default);
    bool is_told = errhandler->kind == ERRH_RETURN && !error->is_of_others &&
                   os_setting(OS_SETTING_IO_REPORT);
    char text[MPI_MAX_ERROR_STRING];
    int code = errh_on(errhandler, file ? (void *)file : MPI_FILE_NULL, error_class, function, "%s",
                       error->text);
    if (is_told && errh_string(code, text))
        fprintf(stderr, "vireo: %s\n", text);
    return code;
}

void file_say(struct io_error *error, const char *text)
{
    snprintf(error->text, sizeof(error->text), "%s", text);
    error->is_of_others = false;
}

bool file_is_revoked(const struct file *file)
{
    return file->comm && atomic_load_explicit(&file->comm->revoked, memory_order_relaxed);
}

int file_check_revoked(struct file *file, const char *function)
{
    struct io_error error;
    if (!file_is_revoked(file))
        return MPI_SUCCESS;
    file_say(&error, "a process that has the file open has revoked it");
    return file_raise(file, MPIX_ERR_REVOKED, &error, function);
}

int file_end(struct file *file, int rc, const struct io_error *error, const char *function)
{
    int revoked = rc && file ? file_check_revoked(file, function) : MPI_SUCCESS;
    if (revoked)
        return revoked;
    return rc ? file_raise(file, rc, error, function) : MPI_SUCCESS;
}

int file_bad(MPI_File handle, const char *function)
{
    struct io_error error = {.is_of_others = false};
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    snprintf(error.text, sizeof(error.text), "file %s is none, or was closed", errh_name(handle).text);
    return file_raise(NULL, MPI_ERR_FILE, &error, function);
}

int file_no_pointer(struct file *file, const char *which, const char *function)
{
    struct io_error error = {.is_of_others = false};
    snprintf(error.text, sizeof(error.text), "%s is NULL", which);
    return file_raise(file, MPI_ERR_ARG, &error, function);
}
