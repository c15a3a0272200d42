/* SPDX-License-Identifier: BSD-3-Clause */

/* Answers to the orders of ranks (bnr/host/order.h), wherever these run. */
#ifndef BNR_RUN_ORDERS_H
#define BNR_RUN_ORDERS_H

#include <stdint.h>

struct run;

/* Answer the rank's order with this id. */
void run_orders_answer(struct run *run, int rank, uint32_t id, int status, const char *text);

#endif
