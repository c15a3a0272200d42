/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a job: found, before anything is started, on the host of mpiexec. */
#ifndef BNR_PROGRAMS_H
#define BNR_PROGRAMS_H

#include <stdbool.h>

struct options;

/* Find the file of every program, to free(); no file, if no rank runs on this host. Returns 0, or what to exit with,
 * which has been explained. */
int programs_find(const struct options *o, char **paths);
/* Whether ranks of some program have a socket for PMI-1. */
bool programs_need_pmi(const struct options *o, char *const *paths);

#endif
