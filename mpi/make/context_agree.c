/* SPDX-License-Identifier: BSD-3-Clause */

/* Agreeing on a context; see context_agree.h. */
#include "mpi/make/context_agree.h"

#include <mpi.h>
#include <string.h>

#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"

int context_settle(const struct agree *who, struct context_bid mine, struct context_bid best,
                   uint32_t *context)
{
    struct context_deal deal = {.mine = mine};
    uint64_t refused;
    if (!context_needs_vote(&best))
        return context_settle_in_order(&mine, &best, context);
    for (;;) {
        int rc = context_consider(&deal, &best, &refused);
        if (rc)
            return rc;
        rc = agree_max(who, &refused, 1);
        if (context_conclude(&deal, refused || rc)) {
            *context = deal.context;
            return MPI_SUCCESS;
        }
        if (!rc) {
            context_offer(&deal, &best);
            rc = agree_max(who, best.value, CONTEXT_VALUES);
        }
        if (rc)
            return rc;
    }
}

int context_agree_among(const struct agree *who, uint64_t *extra, int count, uint32_t *context)
{
    struct context_bid mine = context_bid(), best;
    uint64_t values[AGREE_VALUES];
    memcpy(values, mine.value, sizeof(mine.value));
    for (int i = 0; i < count; i++)
        values[CONTEXT_VALUES + i] = extra[i];
    int rc = agree_max(who, values, CONTEXT_VALUES + count);
    if (rc)
        return rc;
    memcpy(best.value, values, sizeof(best.value));
    for (int i = 0; i < count; i++)
        extra[i] = values[CONTEXT_VALUES + i];
    return context_settle(who, mine, best, context);
}

int context_agree(struct comm *comm, struct group *group, uint32_t *context)
{
    struct agree who = {
        .comm = comm,
        .group = group,
        .context = comm->context + CONTEXT_COLL,
        .tag = COMM_AGREE_TAG,
    };
    return context_agree_among(&who, NULL, 0, context);
}
