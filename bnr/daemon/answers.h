/* SPDX-License-Identifier: BSD-3-Clause */

/* The answers of a daemon's ranks to the question what they wait for: they are collected for a while,
 * and then go to mpiexec among the daemon's words. */
#ifndef BNR_WIDE_ANSWERS_H
#define BNR_WIDE_ANSWERS_H

#include <uv.h>

struct answers;
struct table;
struct words;

/* NULL: no memory. */
struct answers *answers_make(uv_loop_t *loop, struct words *words);

/* Ask the ranks of a table that are here, as question number. */
void answers_ask(struct answers *a, const struct table *t, uint32_t number);

#endif
