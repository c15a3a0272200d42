/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks that wait until a debugger has attached to each (--debugger, --stop-in-init), or lets it go on
 * (--stop-on-exec); see run_state.h. */
#include <string.h>
#include <unistd.h>

#include "bnr/io/debugger.h"
#include "bnr/launch/remote.h"
#include "bnr/run/run.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_plan.h"
#include "bnr/plan/plan.h"

enum {
    LOOK_MS = 100,
    REMIND_LOOKS = 100 /* of these */
};

static void go_on(struct run *run)
{
    uv_timer_stop(&run->look);
    run->holds = false;
    ranks_release(&run->ranks);
    if (run->wide)
        wide_go(run->wide);
}

/* Whether a rank runs without a debugger. */
static bool lacks_one(struct run *run, int rank)
{
    if (run_is_elsewhere(run, rank))
        return !run->is_over[rank] && !wide_is_debugged(run->wide, rank);
    return ranks_lives(&run->ranks.table, rank) && !debugger_has(run->processes[rank].pid);
}

/* Whether all ranks that run have their debugger; if not, *missing is one without. */
static bool all_have_one(struct run *run, int *missing)
{
    for (*missing = 0; *missing < run->plan->nranks; ++*missing)
        if (lacks_one(run, *missing))
            return false;
    return true;
}

static void on_look(uv_timer_t *timer)
{
    struct run *run = timer->data;
    int missing;
    if (all_have_one(run, &missing))
        go_on(run);
    else if (++run->looks == REMIND_LOOKS && run->debugger)
        stdio_say(run->stdio,
                  "mpiexec: the ranks wait until a debugger has attached to each, and rank %d (pid "
                  "%d on %s) has none; its window may say why\n",
                  missing, run->processes[missing].pid, run_host_of(run, missing));
}

/* Say where each rank waits, and how it goes on. */
static void say_waiting(struct run *run)
{
    bool at_start = run->plan->start.stop == START_STOP_EXEC;
    for (int r = 0; r < run->plan->nranks; r++)
        stdio_say(run->stdio, "mpiexec: rank %d waits %s on %s; to debug it: gdb -p %d%s\n", r,
                  at_start ? "at the start of its program" : "in MPI_Init", run_host_of(run, r),
                  run->processes[r].pid,
                  at_start ? " -ex 'handle SIGSTOP nostop nopass'" : "");
    stdio_say(run->stdio, "mpiexec: %s; all go on at: kill -CONT %d\n",
              at_start ? "each goes on when its debugger lets it"
                       : "they go on when a debugger has attached to each",
              (int)getpid());
}

void run_debugger_go_on(struct run *run)
{
    if (run->holds && run->is_published && run->plan->start.stop)
        go_on(run);
}

static int open_window(struct run *run, int rank)
{
    const struct remote remote = plan_remote(run->plan);
    struct debugger_target target = {.rank = rank, .pid = run->processes[rank].pid};
    if (run_is_elsewhere(run, rank)) {
        const struct wide_plan *plan = wide_get_plan(run->wide);
        const struct hosts_entry *host = plan->hosts[plan->node_of[rank]];
        target.remote = &remote;
        target.host = host->name;
        target.user = host->user;
    }
    return debugger_open(run->debugger, &target, run->null_fd);
}

void run_debugger_start(struct run *run)
{
    if (run->plan->start.stop)
        say_waiting(run);
    if (run->plan->start.stop == START_STOP_EXEC && !run->debugger)
        return;
    for (int r = 0; run->debugger && r < run->plan->nranks; r++) {
        int rc = open_window(run, r);
        if (rc) {
            stdio_say(run->stdio, "mpiexec: cannot open a window for rank %d: %s; the ranks go on\n",
                      r, strerror(-rc));
            go_on(run);
            return;
        }
    }
    uv_timer_start(&run->look, on_look, LOOK_MS, LOOK_MS);
}
