/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects: ordered (key, value) pairs of text. */
#ifndef MPI_INFO_H
#define MPI_INFO_H

#include <mpi.h>
#include <stdbool.h>

struct info;

struct info *info_from(MPI_Info handle); /* NULL: none, and MPI_INFO_NULL */
MPI_Info info_handle(struct info *info);
struct info *info_create(void);
struct info *info_copy(const struct info *info); /* accepts NULL: an empty one */
void info_destroy(struct info *info);            /* accepts NULL */
const char *info_get(const struct info *info, const char *key); /* NULL: no such key */
int info_set(struct info *info, const char *key, const char *value);

/* Remove a key. Returns whether there was one. */
bool info_delete(struct info *info, const char *key);
int info_count(const struct info *info);
const char *info_key(const struct info *info, int n); /* NULL: fewer than n + 1 keys */

/* Whether a user may not change it. */
bool info_is_fixed(const struct info *info);
/* Guards infos against other threads; they may be used before MPI_Init. */
void info_lock(void);
void info_unlock(void);

/* Add what MPI_INFO_ENV says; argv may be NULL: then the system is asked.
 * Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int info_describe(struct info *info, int argc, char **argv);
int info_init(int argc, char **argv); /* MPI_INFO_ENV */
void info_fini(void);

#endif
