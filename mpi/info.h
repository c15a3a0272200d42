/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects: ordered (key, value) pairs of text. */
#ifndef MPI_INFO_H
#define MPI_INFO_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct info;

struct info *info_from(MPI_Info handle); /* NULL: none, and MPI_INFO_NULL */
MPI_Info info_handle(struct info *info);
struct info *info_create(void);
struct info *info_copy(const struct info *info); /* accepts NULL: an empty one */
void info_destroy(struct info *info);            /* accepts NULL */
const char *info_get(const struct info *info, const char *key); /* NULL: no such key */
/* Copy a value, cut to size bytes with the 0 at its end. Takes the lock. Returns the length of the
 * whole value, or -1: no such key. */
int info_read(const struct info *info, const char *key, char *value, size_t size);
int info_set(struct info *info, const char *key, const char *value);

/* Remove a key. Returns whether there was one. */
bool info_delete(struct info *info, const char *key);
int info_count(const struct info *info);
const char *info_key(const struct info *info, int n); /* NULL: fewer than n + 1 keys */

/* Whether users may not change it. */
bool info_is_fixed(const struct info *info);
/* The lock of an info that other threads may use, even before MPI_Init. A fixed info needs none and
 * is not locked. */
void info_lock(const struct info *info);
void info_unlock(const struct info *info);

/* Add what MPI_INFO_ENV says. argv may be NULL; then the system is asked. Returns MPI_SUCCESS or
 * MPI_ERR_NO_MEM. */
int info_describe(struct info *info, int argc, char **argv);
/* Take this info over as MPI_INFO_ENV: from now on it is fixed. */
void info_init(struct info *info);
void info_fini(void);

#endif
