/* SPDX-License-Identifier: BSD-3-Clause */

/* Answers to the orders of ranks; see run_orders.h. */
#include "bnr/run/run_orders.h"

#include <string.h>

#include "bnr/host/names.h"
#include "bnr/host/order.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide_orders.h"
#include "os/be.h"

void run_orders_answer(struct run *run, int rank, uint32_t id, int status, const char *text)
{
    uint8_t told[ORDER_HEAD + NAMES_MAX];
    size_t len = strnlen(text, NAMES_MAX);
    os_be32_put(told, id);
    os_be32_put(told + 4, (uint32_t)status);
    memcpy(told + ORDER_HEAD, text, len);
    if (run->wide) {
        wide_tell(run->wide, rank, ORDER_TAG, told, ORDER_HEAD + len);
        return;
    }
    serve_tell(run->serve, rank, ORDER_TAG, told, ORDER_HEAD + len);
}
