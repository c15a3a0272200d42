/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Published names on a daemon's host (bnr/host/names.h): mpiexec has each daemon publish what a rank of the job
 * publishes, and look for what is not on mpiexec's own host. The daemon answers among its words.
 */
#ifndef BNR_NAMES_FAR_H
#define BNR_NAMES_FAR_H

#include "bnr/core/bytes.h"

struct words;

/* Make a call of mpiexec's, and answer it. rank: any of this host. */
void names_far_take(struct words *words, int rank, struct unpacking u);

#endif
