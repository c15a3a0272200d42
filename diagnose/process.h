/* SPDX-License-Identifier: BSD-3-Clause */

/* The state of processes that did not answer, from /proc. */
#ifndef DIAGNOSE_PROCESS_H
#define DIAGNOSE_PROCESS_H

#include "diagnose/hang.h"

/* Fill in the state of running ranks that did not answer, from /proc. Takes up to 15 ms more if
 * some seem to compute: they are looked at several times. */
void process_look_up(struct hang_rank *ranks, int count);

#endif
