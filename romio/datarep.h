/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Data representations: native (and internal, which is the same), external32, and the user's. What is
 * not native is converted here, in memory, on its way to and from the file; ROMIO sees bytes.
 */
#ifndef ROMIO_DATAREP_H
#define ROMIO_DATAREP_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/hooks.h"

enum datarep_kind {
    DATAREP_NATIVE,
    DATAREP_EXTERNAL,
    DATAREP_USER
};

struct datarep {
    struct datarep *next;
    char name[MPI_MAX_DATAREP_STRING];
    enum datarep_kind kind;
    struct io_datarep user;
};

/* In library_lock() by itself. */
int datarep_register(const char *name, const struct io_datarep *user, struct io_error *error);
const struct datarep *datarep_find(const char *name); /* NULL: there is none */
extern const struct datarep *const datarep_native;

/* Whether data are converted. */
bool datarep_converts(const struct datarep *rep);
/* Extent of a type in the file; -1: not known, where error says why. */
MPI_Count datarep_extent(const struct datarep *rep, MPI_Datatype type, struct io_error *error);
/* Data bytes of one element in the file; -1 likewise. */
MPI_Count datarep_size(const struct datarep *rep, MPI_Datatype type, struct io_error *error);

/* Convert count elements of memory into as many bytes as they take in the file, or back. Return
 * MPI_SUCCESS or an error class. */
int datarep_pack(const struct datarep *rep, const void *from, MPI_Count count, MPI_Datatype type,
                 void *to, struct io_error *error);
int datarep_unpack(const struct datarep *rep, const void *from, MPI_Count count, MPI_Datatype type,
                   void *to, struct io_error *error);

#endif
