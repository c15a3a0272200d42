/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks that run programs of another MPI library; see foreign_watch.h. */
#include "bnr/io/foreign_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "bnr/core/bytes.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/foreign.h"

enum {
    FIRST_LOOK_MS = 20, /* each later one after twice the time */
    LOOKS = 8
};

struct foreign_watch {
    uv_timer_t timer;
    const struct ranks *ranks;
    foreign_watch_hook *found;
    void *arg;
    int looks;
    char job[2 * sizeof(((struct table_head *)0)->gid) + 1];
};

/* Look at a rank. Returns whether it has been told of. */
static bool look_at(struct foreign_watch *w, int rank)
{
    struct foreign_process process;
    char what[512];
    if (!ranks_lives(&w->ranks->table, rank) || ranks_has_begun(w->ranks, rank) ||
        !foreign_runs(w->ranks->table.rank[rank].pid, w->job, &process))
        return false;
    snprintf(what, sizeof(what),
             "runs %s (pid %d) with another MPI library (%s), with which each "
             "process would be rank 0 of 1: it does not speak PMI-1, as MPICH does; start it with Open MPI's "
             "mpirun, or build it with this library's mpicc",
             process.name, process.pid, process.library);
    w->found(w->arg, rank, what);
    return true;
}

static void on_look(uv_timer_t *timer)
{
    struct foreign_watch *w = timer->data;
    const struct table *t = &w->ranks->table;
    int64_t app = -1; /* of the last rank here */
    for (int r = 0; r < t->world_size; r++) {
        if (table_slot(t, r) < 0 || app == t->rank[r].app)
            continue;
        app = t->rank[r].app;
        if (look_at(w, r))
            return;
    }
    if (++w->looks < LOOKS)
        uv_timer_start(timer, on_look, FIRST_LOOK_MS << w->looks, 0);
}

struct foreign_watch *foreign_watch_start(uv_loop_t *loop, const struct ranks *ranks, foreign_watch_hook *found, void *arg)
{
    struct foreign_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->ranks = ranks;
    w->found = found;
    w->arg = arg;
    bytes_digits(w->job, ranks->table.head->gid, sizeof(ranks->table.head->gid));
    uv_timer_init(loop, &w->timer);
    w->timer.data = w;
    uv_timer_start(&w->timer, on_look, FIRST_LOOK_MS, 0);
    return w;
}

static void on_closed(uv_handle_t *timer)
{
    free(timer); /* it is the first member */
}

void foreign_watch_stop(struct foreign_watch *w)
{
    if (w)
        uv_close((uv_handle_t *)&w->timer, on_closed);
}
