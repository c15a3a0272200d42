/* SPDX-License-Identifier: BSD-3-Clause */

/* Ends of ranks, wherever they run, at a daemon. */
#ifndef BNR_DAEMON_ENDS_H
#define BNR_DAEMON_ENDS_H

#include "bnr/core/bytes.h"

struct daemon;

/* Note the ends that mpiexec tells of, for the ranks here; u: rollups. A rank that has ended without MPI_Init, and that a
 * rank here waits for, is told to mpiexec. */
void daemon_note_ended(struct daemon *d, struct unpacking u);

#endif
