/* SPDX-License-Identifier: BSD-3-Clause */

/* The start of a daemon's ranks, a slice of time after the other; see daemon_start.h. */
#include "bnr/daemon/daemon_start.h"

#include "bnr/core/job.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/words.h"
#include "bnr/io/debugger.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/launch.h"
#include "bnr/streams/pipes.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/serve.h"
#include "bnr/wire/launch_message.h"
#include "os/clock.h"

enum { WATCH_MS = 100 };

bool daemon_is_here(const struct daemon *d, uint32_t rank)
{
    return d->job->hosts[d->job->host_of[rank]].node == mesh_self(d->mesh);
}

int daemon_first_here(const struct daemon *d)
{
    int first = 0;
    while (!daemon_is_here(d, (uint32_t)first))
        first++;
    return first;
}

/* Ranks that are not started count as ended, for everybody to know. */
void daemon_skip_rest(struct daemon *d, int status)
{
    const struct job_facts facts = {.status = status};
    uv_idle_stop(&d->starting);
    for (; d->next < d->job->world_size; d->next++) {
        int r = (int)d->next;
        if (!daemon_is_here(d, d->next) || (d->has_job && ranks_lives(&d->ranks->table, r)))
            continue;
        pipes_skip(d->pipes, r);
        const struct rollup_run run = serve_run(r, &facts);
        (void)mesh_ended(d->mesh, SERVE_GROUP, &run);
    }
}

/* The next rank cannot be started: so the job ends. */
void daemon_give_up(struct daemon *d, int code, const char *why)
{
    while (d->next < d->job->world_size && !daemon_is_here(d, d->next))
        d->next++;
    if (d->next < d->job->world_size)
        words_tell_number(d->words, RECORD_FAILED, (int)d->next, (uint32_t)code, why);
    daemon_skip_rest(d, code << 8);
}

/* Tell mpiexec once all ranks here have a debugger. */
static void on_watch(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    const struct table *t = &d->ranks->table;
    if (d->next < d->job->world_size)
        return;
    for (int r = 0; r < t->world_size; r++)
        if (ranks_lives(t, r) && !debugger_has(t->rank[r].pid))
            return;
    uv_timer_stop(timer);
    for (int r = 0; r < t->world_size; r++)
        if (table_slot(t, r) >= 0)
            words_tell(d->words, RECORD_DEBUGGED, r, "", 0);
}

/* Start ranks for a slice of time. */
static void on_starting(uv_idle_t *idle)
{
    struct daemon *d = idle->data;
    uint64_t until = ranks_slice();
    const char *step;
    char why[512];
    for (; d->next < d->job->world_size && os_now_ns() < until; d->next++) {
        int r = (int)d->next;
        int rc = daemon_is_here(d, d->next) ? ranks_start(d->ranks, r, &step) : 0;
        if (!rc)
            continue;
        int code = launch_explain(d->apps[d->job->app_of[r]].path, rc, step, why, sizeof(why));
        daemon_give_up(d, code, why);
        return;
    }
    if (d->next == d->job->world_size)
        uv_idle_stop(idle);
}

void daemon_start_ranks(struct daemon *d)
{
    ranks_watch_groups(d->ranks, &d->loop, d->job->hold_ms);
    if (d->job->flags & LAUNCH_HOLD) {
        ranks_hold(d->ranks);
        uv_timer_start(&d->watch, on_watch, WATCH_MS, WATCH_MS);
    }
    uv_idle_start(&d->starting, on_starting);
    on_starting(&d->starting);
}

void daemon_stop_starting(struct daemon *d)
{
    uv_idle_stop(&d->starting);
}

void daemon_go_on_starting(struct daemon *d)
{
    if (d->next < d->job->world_size)
        uv_idle_start(&d->starting, on_starting);
}
