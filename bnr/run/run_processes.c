/* SPDX-License-Identifier: BSD-3-Clause */

/* The ranks' processes; see run_processes.h. */
#include "bnr/run/run_processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bnr/io/aside.h"
#include "bnr/io/mpir.h"
#include "bnr/io/ranks.h"
#include "bnr/io/tell.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_debugger.h"
#include "bnr/run/run_keepalive.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/wide/wide_orders.h"

struct run_processes {
    int started;     /* how many */
    bool is_telling; /* of them, to a file */
    struct tell_process list[]; /* by rank; pid 0: it has not been started yet */
};

int run_processes_begin(struct run *run)
{
    run->processes = calloc(1, sizeof(*run->processes) + (size_t)run->plan->nranks * sizeof(run->processes->list[0]));
    run->holds = mpir_is_debugged() || run->debugger || run->plan->start.stop == START_STOP_INIT;
    if (run->holds)
        ranks_hold(run->ranks);
    return run->processes ? 0 : -ENOMEM;
}

void run_processes_note(struct run *run, int rank)
{
    struct tell_process *p = &run->processes->list[rank];
    run->processes->started += !p->pid;
    *p = (struct tell_process){run_host_of(run, rank), run->paths[run->ranks->table.rank[rank].app],
                               run_pid_of(run, rank)};
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
    list->rc = tell_processes(plan->proctable, list->run->processes->list, plan->nranks, list->why);
}

static void on_told(struct aside_work *work)
{
    struct process_list *list = (struct process_list *)work;
    list->run->processes->is_telling = false;
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
    run->processes->is_telling = true;
    aside_start(&run->loop, &list->work);
}

/* Stop for a debugger. No daemon takes that for mpiexec's death. */
static void stop_for_debugger(struct run *run)
{
    bool is_watched = run->wide && run->holds;
    if (is_watched)
        wide_pause(run->wide, true);
    mpir_publish(run->processes->list, run->plan->nranks);
    if (is_watched)
        wide_pause(run->wide, false);
}

void run_processes_publish(struct run *run)
{
    if (!run->processes || run->processes->started < run->plan->nranks || run->is_published)
        return;
    run->is_published = true;
    run_keepalive_tell_started(run, run->processes->started);
    stop_for_debugger(run);
    if (run->debugger || run->plan->start.stop) {
        run_debugger_start(run);
    } else if (run->holds) {
        ranks_release(run->ranks);
        if (run->wide)
            wide_go(run->wide);
    }
    if (run->plan->proctable)
        start_telling(run);
}

bool run_processes_are_told(const struct run *run)
{
    return run->processes && run->processes->is_telling;
}

char *run_processes_list(const struct run *run)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return NULL;
    for (int r = 0; r < run->plan->nranks; r++) {
        const struct tell_process *p = &run->processes->list[r];
        if (p->pid)
            fprintf(to, "%d\t%d\t%s\t%s\n", r, p->pid, p->host, p->program);
    }
    return fclose(to) ? NULL : text;
}

void run_processes_stop(struct run *run)
{
    run_debugger_stop(run);
    free(run->processes);
    run->processes = NULL;
}
