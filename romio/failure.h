/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Errors of the system during one call of ROMIO, by thread.
 *
 * When a process cannot read or write, ROMIO leaves a collective access in the middle: the others
 * wait for ever, and memory is lost. So between failure_begin() and failure_end() the first error
 * is kept here and looks to ROMIO like success, and nothing more is read or written. The caller of
 * ROMIO tells the user, and the other processes.
 */
#ifndef ROMIO_FAILURE_H
#define ROMIO_FAILURE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/hooks.h"

struct failure {
    bool keeps;     /* between begin and end */
    bool inner;     /* ROMIO reads, or may read, into memory of its own */
    int number;     /* errno of the first failure; 0: none */
    const char *of; /* the operation that failed: "write", "read", "lock" */
    int64_t offset, len;
};

/* A call of ROMIO's begins in this thread. */
void failure_begin(bool inner);
/* The call ends; *failure is the failure. */
void failure_end(struct failure *failure);

/* Note an error by its errno. Returns the code for ROMIO: MPI_SUCCESS or a class. */
int failure_add(const char *of, int number, int64_t offset, int64_t len);
/* This thread's failure, to look at. */
const struct failure *failure_now(void);
/* ROMIO makes an error code: of a failed system call where its message says so. */
void failure_note_errno(const char *message);

/* The error class of an errno. */
int failure_class(int number);
/* End the job for want of memory for something, where ROMIO goes on without a look. */
_Noreturn void failure_no_memory(const char *what);
/* Describe a file's failure in words, and the cure. */
void failure_say(const struct failure *failure, const char *name, struct io_error *error);

#endif
