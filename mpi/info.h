/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects: ordered (key, value) pairs of text. */
#ifndef MPI_INFO_H
#define MPI_INFO_H

#include <mpi.h>

struct info;

struct info *info_from(MPI_Info handle); /* NULL: none, and MPI_INFO_NULL */
MPI_Info info_handle(struct info *info);
struct info *info_create(void);
struct info *info_copy(const struct info *info); /* accepts NULL: an empty one */
void info_destroy(struct info *info);            /* accepts NULL */
const char *info_get(const struct info *info, const char *key); /* NULL: no such key */
int info_set(struct info *info, const char *key, const char *value);
int info_init(int argc, char **argv); /* MPI_INFO_ENV */
void info_fini(void);

#endif
