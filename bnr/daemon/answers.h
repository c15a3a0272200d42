/* SPDX-License-Identifier: BSD-3-Clause */

/* The answers of a daemon's ranks to the question what they wait for: they are collected for a while,
 * and then go to mpiexec among the daemon's words. */
#ifndef BNR_WIDE_ANSWERS_H
#define BNR_WIDE_ANSWERS_H

#include <uv.h>

#include "bnr/diagnose/patience.h"

struct words;

struct answers {
    uv_timer_t timer;
    const struct table *table;
    struct words *words;
    struct patience patience;
    uint64_t until_ns;
};

void answers_init(struct answers *a, uv_loop_t *loop, struct words *words);

/* Ask the ranks of a table that are here, as question number. */
void answers_ask(struct answers *a, const struct table *t, uint32_t number);

#endif
