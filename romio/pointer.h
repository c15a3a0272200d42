/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The shared file pointer: a number that all processes of a file move. On one host it is a word of
 * memory without a name, which leaves nothing behind however processes end, and needs no lock of
 * the file system; the first process of the file owns it; the others find it by that process'
 * number and descriptor. Across hosts, or without such memory, rank 0 keeps the number, and the
 * others ask it by messages (mpi/io/file_counter.h).
 */
#ifndef ROMIO_POINTER_H
#define ROMIO_POINTER_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/hooks.h"

struct pointer {
    int64_t pid, fd;            /* of the owner of the memory; fd -1: there is none */
    int own;                    /* this process's descriptor, if it is the owner, or -1 */
    struct io_counter *counter; /* of rank 0, without shared memory; or NULL */
    int64_t *_Atomic at;        /* mapped on first use */
    pthread_mutex_t lock; /* guards mapping */
};

/* Before the file is open: make the memory if this process is to own it (else pid and fd are -1).
 */
void pointer_init(struct pointer *pointer, bool has_it);
/* Set the place on which all processes have agreed. */
void pointer_at(struct pointer *pointer, int64_t pid, int64_t fd);
/* The same without shared memory: rank 0 of comm keeps the number. Returns false where memory is
 * out. */
bool pointer_by_messages(struct pointer *pointer, MPI_Comm comm);
void pointer_fini(struct pointer *pointer);

/* Move it by some etypes, and get its former place. These return MPI_SUCCESS or an error class. */
int pointer_move(struct pointer *pointer, int64_t by, MPI_Offset *was, struct io_error *error);
/* By rank 0. */
int pointer_set(struct pointer *pointer, MPI_Offset to, struct io_error *error);

#endif
