/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files as objects: the handle, its error handler, and access to the I/O library, which is loaded
 * on first use (mpi/hooks.h).
 */
#ifndef MPI_IO_FILE_H
#define MPI_IO_FILE_H

#include <mpi.h>

#include "mpi/errh_handler.h"
#include "mpi/handle.h"
#include "mpi/hooks.h"

struct comm;

struct file {
    struct object object;
    struct errh_slot errhandler;
    struct io_file *io;
    struct comm *comm; /* of the file alone; referenced */
};

/* The file of a handle, or NULL for a bad one. */
struct file *file_from(MPI_File handle);
/* Make a file with the error handler of MPI_FILE_NULL and no io_file so far. NULL: no memory. */
struct file *file_create(void);
void file_destroy(struct file *file);

/* Take the file that the I/O library has opened. */
void file_opened(struct file *file, struct io_file *io);
/* Whether a member has revoked it, as far as is known here: then MPI_SUCCESS or the code of an error. */
bool file_is_revoked(const struct file *file);
int file_check_revoked(struct file *file, const char *function);

/* Report an error on a file (NULL: on MPI_FILE_NULL). These return the code for the caller to
 * return. */
int file_raise(struct file *file, int error_class, const struct io_error *error,
               const char *function);
/* The end of a call, of a file or of none (NULL): rc is what the I/O library has returned. */
int file_end(struct file *file, int rc, const struct io_error *error, const char *function);
/* A handle that is no file. */
int file_bad(MPI_File handle, const char *function) __attribute__((cold));
/* Make an error of a sentence of our own. */
void file_say(struct io_error *error, const char *text);
/* Report a pointer argument that is NULL. */
int file_no_pointer(struct file *file, const char *which, const char *function)
    __attribute__((cold));

/* Return the I/O library, loading it on first use. NULL: it cannot be loaded, and error says the
 * reason. */
const struct io_library *file_library(struct io_error *error);
/* The same, once a file exists. */
extern const struct io_library *file_io;

/* Whether the I/O library has threads; have it finish nonblocking accesses and end them. */
bool file_has_threads(void);
void file_end_threads(void);

#endif
