/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Windows in a trace: the target and the bytes of each operation, and epochs, from the end of the call
 * that begins one to the begin of the call that ends it.
 */
#include <stdlib.h>

#include "profile/profile.h"

struct epoch {
    struct epoch *next;
    MPI_Win win;
    enum profile_epoch kind;
    int target; /* of a lock; otherwise -1 */
    uint64_t begun_ns, id;
};

static struct epoch *epochs; /* open; guarded by profile_lock() */
static uint64_t ids;

void profile_operated(struct profile_span *span, int target, int64_t count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (target < 0 || !trace_is_open()) /* only a trace shows them */
        return;
    PMPI_Type_size_c(type, &size);
    span->peer = target;
    span->bytes = count * size;
}

static void end(MPI_Win win, enum profile_epoch kind, int target, uint64_t at_ns)
{
    for (struct epoch **link = &epochs; *link;) {
        struct epoch *epoch = *link;
        bool all = kind == PROFILE_ANY_EPOCH;
        if (epoch->win != win || (!all && (epoch->kind != kind || epoch->target != target))) {
            link = &epoch->next;
            continue;
        }
        *link = epoch->next;
        trace_epoch(epoch->kind, epoch->target, epoch->id, (uint64_t[]){epoch->begun_ns, at_ns},
                    profile_thread());
        free(epoch);
    }
}

/* Without memory an epoch is not shown. */
void profile_epoch_begins(MPI_Win win, enum profile_epoch kind, int target)
{
    uint64_t now = profile_now_ns();
    struct epoch *epoch;
    profile_lock();
    if (kind != PROFILE_EXPOSURE)
        end(win, PROFILE_FENCE, -1, now);
    if (trace_is_open() && (epoch = malloc(sizeof(*epoch)))) {
        *epoch = (struct epoch){epochs, win, kind, target, now, ++ids};
        epochs = epoch;
    }
    profile_unlock();
}

void profile_epoch_ends(const struct profile_span *span, MPI_Win win, enum profile_epoch kind,
                        int target)
{
    profile_lock();
    end(win, kind, target, span->begun_ns);
    profile_unlock();
}
