/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How much processor time the ranks of this machine have had since they were asked. On a loaded
 * machine a rank may not run at all while others wait for its answer: then it is not known what it
 * does, and nobody may conclude that it computes.
 */
#ifndef BNR_PATIENCE_H
#define BNR_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "bnr/host/table.h"
#include "include/diagnose.h"

struct patience_rank;

struct patience {
    const struct table *table;
    struct patience_rank *ranks; /* by slot; NULL: unknown */
    uint64_t begun_ns;
};

/* The ranks of a table are asked now. */
void patience_begin(struct patience *p, const struct table *t);
void patience_end(struct patience *p);

/* As answer_state(), but that a rank is DIAGNOSE_LATE if it is silent, and mostly waited for a processor.
 * The rank has a slot in the table. */
enum diagnose_state patience_state(const struct patience *p, int rank);

/* Whether there is such a rank. */
bool patience_is_due(const struct patience *p);

#endif
