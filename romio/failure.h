/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What goes wrong with the system during one call of ROMIO's, by thread.
 *
 * ROMIO leaves a collective access in the midst when a process cannot read or write, and the others
 * wait for ever; and it forgets its memory then. So between failure_begin() and failure_end() what
 * fails first is kept here and looks to ROMIO as if it were done, and nothing is read or written any
 * more. The caller of ROMIO tells the user, and other processes.
 */
#ifndef ROMIO_FAILURE_H
#define ROMIO_FAILURE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/hooks.h"

struct failure {
    bool keeps;     /* between begin and end */
    bool inner;     /* ROMIO reads into memory of its own, or maybe so */
    int number;     /* errno of the first failure; 0: none */
    const char *of; /* what was done: "write", "read", "lock" */
    int64_t offset, len;
};

/* A call of ROMIO's begins in this thread. */
void failure_begin(bool inner);
/* It ends; *failure says what has happened. */
void failure_end(struct failure *failure);

/* Something has failed, by errno. Returns what ROMIO is to be told: MPI_SUCCESS or a class. */
int failure_add(const char *of, int number, int64_t offset, int64_t len);
/* The one of this thread, to look at. */
const struct failure *failure_now(void);
/* ROMIO makes an error code: of a failed system call where its message says so. */
void failure_note_errno(const char *message);

/* The error class of an errno. */
int failure_class(int number);
/* Say in words what has failed with a file, and what helps. */
void failure_say(const struct failure *failure, const char *name, struct io_error *error);

#endif
