/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files as objects: the handle, its error handler, and the door to the I/O library, which is loaded
 * when it is first needed (mpi/hooks.h).
 */
#ifndef MPI_IO_FILE_H
#define MPI_IO_FILE_H

#include <mpi.h>

#include "mpi/errh.h"
#include "mpi/handle.h"
#include "mpi/hooks.h"

struct file {
    struct object object;
    struct errh_slot errhandler;
    struct io_file *io;
};

/* The file of a handle, or NULL where it is none. */
struct file *file_from(MPI_File handle);
/* One that has the error handler of MPI_FILE_NULL, and no io_file yet. NULL: no memory. */
struct file *file_create(void);
void file_destroy(struct file *file);

/* Report an error on a file (NULL: on MPI_FILE_NULL). These return the code for the caller to
 * return. */
int file_raise(struct file *file, int error_class, const struct io_error *error,
               const char *function);
/* A handle that is no file. */
int file_bad(MPI_File handle, const char *function) __attribute__((cold));
/* A pointer argument that is NULL. */
int file_no_pointer(struct file *file, const char *which, const char *function)
    __attribute__((cold));

/* The I/O library, loaded now if it is not yet. NULL: it cannot be, and error says why. */
const struct io_library *file_library(struct io_error *error);
/* The same, once there is a file. */
extern const struct io_library *file_io;

#endif
