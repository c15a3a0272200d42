/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks that wait for debuggers; see run_debugger.h. */
#include "bnr/run/run_debugger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/io/debugger.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/remote.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_words.h"
#include "bnr/wide/wide_plan.h"

enum {
    LOOK_MS = 100,
    REMIND_LOOKS = 100 /* of these */
};

struct run_look {
    uv_timer_t timer;
    int count;
};

static void go_on(struct run *run)
{
    if (run->look)
        uv_timer_stop(&run->look->timer);
    run->holds = false;
    ranks_release(run->ranks);
    if (run->wide)
        wide_go(run->wide);
}

/* Whether a rank runs without a debugger. */
static bool lacks_one(struct run *run, int rank)
{
    if (run_is_elsewhere(run, rank))
        return !run_is_over(run, rank) && !wide_is_debugged(run->wide, rank);
    return ranks_lives(&run->ranks->table, rank) && !debugger_has(run_pid_of(run, rank));
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
    else if (++run->look->count == REMIND_LOOKS && run->debugger)
        stdio_say(run->stdio,
                  "mpiexec: the ranks wait until a debugger has attached to each, and rank %d (pid "
                  "%d on %s) has none; its window may say why\n",
                  missing, run_pid_of(run, missing), run_host_of(run, missing));
}

/* Say where each rank waits, and how it goes on. */
static void say_waiting(struct run *run)
{
    bool at_start = run->plan->start.stop == START_STOP_EXEC;
    for (int r = 0; r < run->plan->nranks; r++)
        stdio_say(run->stdio, "mpiexec: rank %d waits %s on %s; to debug it: gdb -p %d%s\n", r,
                  at_start ? "at the start of its program" : "in MPI_Init", run_host_of(run, r),
                  run_pid_of(run, r),
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
    struct debugger_target target = {.rank = rank, .pid = run_pid_of(run, rank)};
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
    run->look = calloc(1, sizeof(*run->look));
    if (!run->look) { /* nobody would see when all have their debugger */
        go_on(run);
        return;
    }
    uv_timer_init(&run->loop, &run->look->timer);
    run->look->timer.data = run;
    uv_timer_start(&run->look->timer, on_look, LOOK_MS, LOOK_MS);
}

static void on_closed(uv_handle_t *timer)
{
    free(timer); /* it is the first member */
}

void run_debugger_stop(struct run *run)
{
    if (run->look)
        uv_close((uv_handle_t *)&run->look->timer, on_closed);
    run->look = NULL;
}
