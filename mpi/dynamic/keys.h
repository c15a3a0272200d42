/* SPDX-License-Identifier: BSD-3-Clause */

/* Info keys of a program that is to be spawned: those of a file, and those without a meaning. */
#ifndef MPI_DYNAMIC_KEYS_H
#define MPI_DYNAMIC_KEYS_H

struct info;

/* The info with the keys of the file that its key "file" names: a line each, "key = value"; # begins a comment. What
 * stands in the info itself holds. To be destroyed; NULL: there is no memory. A file that cannot be read, and keys
 * without a meaning, are told of in mpiexec's report. command: of the program. */
struct info *keys_read(const struct info *info, const char *command);

#endif
