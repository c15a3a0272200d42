/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names that ranks publish, and look up: on this host at once, and then by the daemons on the job's other hosts
 * (bnr/daemon/names_far.h). So two jobs know each other's names if some host has processes, or the mpiexec, of both.
 */
#ifndef BNR_RUN_NAMES_H
#define BNR_RUN_NAMES_H

#include <stdint.h>

struct name_answer;
struct run;

/* An order about a name: ORDER_PUBLISH, ORDER_UNPUBLISH or ORDER_LOOKUP; its words end with NULL, or are NULL. */
struct run_named {
    uint32_t kind, id;
    char **words;
};

/* Be ready; no name is known. Returns 0 or -ENOMEM. */
int run_names_begin(struct run *run);
/* All names go. */
void run_names_stop(struct run *run);

/* Take an order of a rank: the name is published on all hosts of the job, and looked for on all. */
void run_names_take(struct run *run, int rank, const struct run_named *order);
/* A daemon has answered; arg is the run. */
void run_names_answer(void *arg, uint32_t node, const struct name_answer *answer);
/* A node is lost, and will not answer. */
void run_names_lost(struct run *run, uint32_t node);
/* A rank has ended: its names go. */
void run_names_rank_ended(struct run *run, int rank);

#endif
