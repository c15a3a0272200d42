/* SPDX-License-Identifier: BSD-3-Clause */

/* The ranks' processes, wherever they run, for debuggers and users; see run_state.h. */
#include <errno.h>
#include <stdlib.h>

#include "bnr/run/mpir.h"
#include "bnr/run/run_state.h"
#include "bnr/tools/options.h"

int run_processes_begin(struct run *run)
{
    run->processes = calloc((size_t)run->o->nranks, sizeof(*run->processes));
    run->holds = mpir_is_debugged() || run->debugger || run->o->start.stop == START_STOP_INIT;
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

/* Stop for a debugger. No daemon takes that for mpiexec's death. */
static void stop_for_debugger(struct run *run)
{
    bool is_watched = run->wide && run->holds;
    if (is_watched)
        wide_pause(run->wide, true);
    mpir_publish(run->processes, run->o->nranks);
    if (is_watched)
        wide_pause(run->wide, false);
}

void run_processes_publish(struct run *run)
{
    char why[512];
    if (run->started_count < run->o->nranks || run->is_published)
        return;
    run->is_published = true;
    stop_for_debugger(run);
    if (run->debugger || run->o->start.stop) {
        run_debugger_start(run);
    } else if (run->holds) {
        ranks_release(&run->ranks);
        if (run->wide)
            wide_go(run->wide);
    }
    const char *to = run->o->proctable;
    if (to && tell_processes(to, run->processes, run->o->nranks, why))
        stdio_say(run->stdio, "mpiexec: %s\n", why);
}
