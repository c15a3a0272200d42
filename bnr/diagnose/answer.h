/* SPDX-License-Identifier: BSD-3-Clause */

/* The answers of this machine's ranks to the question for what they wait: mpiexec reads them, and
 * daemons pass them on. */
#ifndef BNR_ANSWER_H
#define BNR_ANSWER_H

#include <stddef.h>

#include "bnr/host/table.h"
#include "include/diagnose.h"

/* The rank has a slot in the table. */
enum diagnose_state answer_state(const struct table *t, int rank);

/* The process that is the rank: under a wrapper not the one that was started; 0 if unknown. */
int answer_process(const struct table *t, int rank);

/* Copy the answer, for the rank may still write there, and say how long it is. */
size_t answer_copy(const struct table *t, int rank, uint8_t text[TABLE_ANSWER]);

#endif
