/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Accesses run by run: each run of a view is read or written by a system call of its own, without
 * sieving and without other processes. Data that are scattered in memory are collected in a buffer
 * of a bounded size.
 */
#ifndef ROMIO_DIRECT_H
#define ROMIO_DIRECT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct io_file;

struct direct_access {
    bool write;
    char *buf;
    MPI_Datatype type; /* of memory, committed */
    int64_t at, bytes; /* data bytes of the view: the first, and how many */
};

/* Move the data of a file that is open. Returns the bytes that were moved: fewer at the end of the
 * file, or where an error was noted by failure_add(). */
int64_t direct_move(struct io_file *file, const struct direct_access *access);

#endif
