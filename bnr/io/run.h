/* SPDX-License-Identifier: BSD-3-Clause */

/* Run a job on this host, from its parsed command line to its exit status. */
#ifndef BNR_RUN_H
#define BNR_RUN_H

#include <stddef.h>

struct options;

/* paths: each program's file, as launch_resolve() found it. name: see
 * wardens_start(). Returns what mpiexec is to exit with. */
int run_job(const struct options *o, char *const *paths, char *name, size_t name_size);

#endif
