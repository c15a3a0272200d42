/* SPDX-License-Identifier: BSD-3-Clause */

/* The ranks of this machine; see run_ranks.h. */
#include "bnr/run/run_ranks.h"

#include "bnr/io/amend.h"
#include "bnr/io/ranks.h"
#include "bnr/io/ranks_pipes.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_end.h"
#include "bnr/run/run_output.h"
#include "bnr/run/run_processes.h"
#include "bnr/run/run_spawn.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_table.h"
#include "bnr/stdio/forward.h"
#include "bnr/streams/pipes.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide_reach.h"

/* Have a rank started as the options say. */
static int amend(void *arg, int rank, struct launch *l)
{
    const struct run *run = arg;
    return amend_launch(run->amend, rank, (int)run->ranks->table.rank[rank].local_rank, l);
}

static int attach(void *arg, int rank, const struct ranks_pipes *p)
{
    struct run *run = arg;
    const struct table *t = &run->ranks->table;
    if (run->plan->verbose)
        stdio_say(run->stdio, "mpiexec: rank %d is %s, pid %d on %s\n", rank,
                  run->paths[t->rank[rank].app], t->rank[rank].pid, table_host(t, rank)->name);
    run_processes_note(run, rank);
    return pipes_attach(run->pipes, rank, p->pipe[0][1], p->pipe[1][0], p->pipe[2][0]);
}

void run_ranks_ended(void *arg, int rank, const struct job_facts *facts)
{
    struct run *run = arg;
    pipes_rank_ended(run->pipes, rank);
    serve_rank_ended(run->serve, rank, facts);
    run_take_end(run, rank, facts);
}

/* A descendant that lost its parent, a warden, or a child from before the job, is reaped. */
static void other_ended(void *arg, int pid, int status)
{
    struct run *run = arg;
    int failed;
    if (run->wide && wide_reaped(run->wide, pid, status))
        return;
    if (run_spawn_reaped(run, pid, status, &failed)) {
        if (failed)
            run_follow(run, job_end(&run->job, JOB_TERMINATE, failed));
        return;
    }
    if (ranks_guard_again(run->ranks, pid))
        stdio_say(run->stdio, "mpiexec: a warden was killed, and no other can be started\n");
}

int run_ranks_make(struct run *run, const char **step)
{
    const struct ranks_hooks hooks = {run_output_open, attach, amend, run_ranks_ended, other_ended, run};
    int rc = run_table_make(run, &hooks, step);
    if (!rc)
        rc = run_processes_begin(run);
    return rc ? rc : ranks_make_folder(run->ranks, step);
}

int run_ranks_guard(struct run *run, char *name, size_t name_size, const char **step)
{
    return ranks_guard(run->ranks, name, name_size, step);
}

void run_ranks_unguard(struct run *run)
{
    ranks_unguard(run->ranks);
}

int run_ranks_serve(struct run *run)
{
    return serve_start(&run->serve, &run->loop, NULL, NULL, run->ranks);
}

static void take_missed(void *arg, int rank, int waiting)
{
    (void)waiting;
    run_take_missed(arg, rank);
}

void run_ranks_hear(struct run *run)
{
    serve_hear_missed(run->serve, take_missed, run);
}

bool run_ranks_reap(struct run *run)
{
    return ranks_reap(run->ranks);
}

void run_ranks_stop(struct run *run)
{
    if (!run->wide)
        serve_stop(run->serve);
    ranks_unwatch_groups(run->ranks);
}

void run_ranks_free(struct run *run)
{
    if (!run->wide)
        serve_free(run->serve);
}
