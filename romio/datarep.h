/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Data representations: native, internal, external32, and the user's. Internal is as native, but in a job of network byte
 * order, where it has that order and the sizes of memory. Data that are not native are converted here, in memory, on their way to and from the file; ROMIO sees
 * bytes.
 */
#ifndef ROMIO_DATAREP_H
#define ROMIO_DATAREP_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/hooks.h"

enum datarep_kind {
    DATAREP_NATIVE,
    DATAREP_INTERNAL,
    DATAREP_EXTERNAL,
    DATAREP_USER
};

struct datarep {
    struct datarep *next;
    char name[MPI_MAX_DATAREP_STRING];
    enum datarep_kind kind;
    struct io_datarep user;
};

/* Takes library_lock() itself. */
int datarep_register(const char *name, const struct io_datarep *user, struct io_error *error);
const struct datarep *datarep_find(const char *name); /* NULL: there is none */
extern const struct datarep *const datarep_native;

/* Whether data are converted. */
bool datarep_converts(const struct datarep *rep);
/* Extent of a type in the file; -1: unknown, and error says the reason. */
MPI_Count datarep_extent(const struct datarep *rep, MPI_Datatype type, struct io_error *error);
/* Data bytes of one element in the file; -1 likewise. */
MPI_Count datarep_size(const struct datarep *rep, MPI_Datatype type, struct io_error *error);

/* Convert count elements of memory into their bytes in the file, or back. Return MPI_SUCCESS or an
 * error class. */
int datarep_pack(const struct datarep *rep, const void *from, MPI_Count count, MPI_Datatype type,
                 void *to, struct io_error *error);
int datarep_unpack(const struct datarep *rep, const void *from, MPI_Count count, MPI_Datatype type,
                   void *to, struct io_error *error);

#endif
