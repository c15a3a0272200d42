/* SPDX-License-Identifier: BSD-3-Clause */

/* What processes do that did not answer, by /proc. */
#ifndef DIAGNOSE_PROCESS_H
#define DIAGNOSE_PROCESS_H

#include "diagnose/hang.h"

/* Fill in what /proc tells of the ranks that run and did not answer. Takes up to 15 ms more where
 * some seem to compute: they are looked at several times. */
void process_look_up(struct hang_rank *ranks, int count);

#endif
