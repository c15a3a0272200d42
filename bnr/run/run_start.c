/* SPDX-License-Identifier: BSD-3-Clause */

/* The start of the ranks here; see run_start.h. */
#include "bnr/run/run_start.h"

#include <errno.h>
#include <signal.h>
#include <uv.h>

#include "bnr/io/ranks.h"
#include "bnr/launch/launch.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_end.h"
#include "bnr/run/run_foreign.h"
#include "bnr/run/run_processes.h"
#include "bnr/run/run_ranks.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_terminal.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/streams/pipes.h"
#include "os/clock.h"
#include "os/settings.h"

/* Ranks of this machine from this one on are not started: they count as ended. */
static void skip_rest(struct run *run, int rank, int status)
{
    const struct job_facts facts = {.status = status};
    for (int r = rank; r < run->plan->nranks; r++)
        if (!run_is_elsewhere(run, r) && !ranks_lives(&run->ranks->table, r))
            run_ranks_ended(run, r, &facts);
}

/* A rank could not be started: end those that run. */
static void give_up(struct run *run, int rank, int rc, const char *step)
{
    char why[512];
    const char *path = run->paths[run->ranks->table.rank[rank].app];
    int code = launch_explain(path, rc, step, why, sizeof(why));
    stdio_say(run->stdio, "mpiexec: cannot start rank %d (%s) on %s: %s\n", rank, path,
              run_host_of(run, rank), why);
    if (run->wide) {
        run_follow(run, job_end(&run->job, JOB_BROKEN, code));
        skip_rest(run, rank, code << 8);
        return;
    }
    int started = ranks_lives(&run->ranks->table, rank) ? rank + 1 : rank;
    run->job.alive = started;
    run_follow(run, job_end(&run->job, JOB_BROKEN, code));
    if (!started)
        run_follow(run, job_event(&run->job, JOB_LAST));
}

/* Hear of daemons, to which silence would mean that this process is gone. Returns whether the job is to
 * go on. */
static bool look_up(struct run *run, uint64_t *until)
{
    if (!run->wide || os_now_ns() < *until)
        return run->job.state == JOB_RUNNING;
    uv_run(&run->loop, UV_RUN_NOWAIT);
    *until = ranks_slice();
    return run->job.state == JOB_RUNNING;
}

/* Start all ranks of this machine, or on a failure end those that run. */
void run_start(struct run *run)
{
    const char *step;
    uint64_t until = ranks_slice(), hold_ms = (uint64_t)os_setting(OS_SETTING_KILL_AFTER_MS);
    ranks_watch_groups(run->ranks, &run->loop, hold_ms);
    for (int r = 0; r < run->plan->nranks; r++) {
        int rc = look_up(run, &until) ? 0 : -ECANCELED;
        if (!rc && !run_is_elsewhere(run, r))
            rc = ranks_start(run->ranks, r, &step);
        if (!rc)
            continue;
        if (rc == -ECANCELED)
            skip_rest(run, r, run->job.user_signal ? run->job.user_signal : SIGKILL);
        else
            give_up(run, r, rc, step);
        break;
    }
    for (int r = 0; r < run->plan->nranks; r++)
        if (!run_is_elsewhere(run, r))
            pipes_skip(run->pipes, r);
    run_processes_publish(run);
    stdio_begin(run->stdio);
    run_terminal_begin(run);
    run_foreign_start(run);
    run->started_ns = os_now_ns();
}

void run_start_stop(struct run *run)
{
    run_foreign_stop(run);
}
