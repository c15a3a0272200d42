/* SPDX-License-Identifier: BSD-3-Clause */

/* The ranks' processes, wherever they run, for debuggers and users; see run_state.h. */
#include <errno.h>
#include <stdlib.h>

#include "bnr/host/order.h"
#include "bnr/io/aside.h"
#include "bnr/io/mpir.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/wide.h"
#include "bnr/plan/plan.h"

int run_processes_begin(struct run *run)
{
    run->processes = calloc((size_t)run->plan->nranks, sizeof(*run->processes));
    run->holds = mpir_is_debugged() || run->debugger || run->plan->start.stop == START_STOP_INIT;
    if (run->holds)
        ranks_hold(&run->ranks);
    return run->processes ? 0 : -ENOMEM;
}

void run_processes_note(struct run *run, int rank)
{
    run->started_count += !run->processes[rank].pid;
    run->processes[rank] = (struct tell_process){
        run_host_of(run, rank), run->paths[run->ranks.table.rank[rank].app], run_pid_of(run, rank)};
}

/* A list of processes on its way to where the user wants it. */
struct process_list {
    struct aside_work work;
    struct run *run;
    int rc;
    char why[512];
};

static void tell_all(struct aside_work *work)
{
    struct process_list *list = (struct process_list *)work;
    const struct plan *plan = list->run->plan;
    list->rc = tell_processes(plan->proctable, list->run->processes, plan->nranks, list->why);
}

static void on_told(struct aside_work *work)
{
    struct process_list *list = (struct process_list *)work;
    list->run->is_telling = false;
    if (list->rc)
        stdio_say(list->run->stdio, "mpiexec: %s\n", list->why);
    free(list);
}

/* The list does not change any more. */
static void start_telling(struct run *run)
{
    struct process_list *list = calloc(1, sizeof(*list));
    if (!list)
        return;
    list->work.run = tell_all;
    list->work.done = on_told;
    list->run = run;
    run->is_telling = true;
    aside_start(&run->loop, &list->work);
}

/* Stop for a debugger. No daemon takes that for mpiexec's death. */
static void stop_for_debugger(struct run *run)
{
    bool is_watched = run->wide && run->holds;
    if (is_watched)
        wide_pause(run->wide, true);
    mpir_publish(run->processes, run->plan->nranks);
    if (is_watched)
        wide_pause(run->wide, false);
}

void run_processes_publish(struct run *run)
{
    if (run->started_count < run->plan->nranks || run->is_published)
        return;
    run->is_published = true;
    run_keepalive_tell(run, ORDER_TOLD_STARTED, run->started_count, 0);
    stop_for_debugger(run);
    if (run->debugger || run->plan->start.stop) {
        run_debugger_start(run);
    } else if (run->holds) {
        ranks_release(&run->ranks);
        if (run->wide)
            wide_go(run->wide);
    }
    if (run->plan->proctable)
        start_telling(run);
}
