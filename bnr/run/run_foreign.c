/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks with another MPI library; see run_foreign.h. */
#include "bnr/run/run_foreign.h"

#include "bnr/io/foreign_watch.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/launch.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_end.h"
#include "bnr/run/run_state.h"
#include "bnr/stdio/forward.h"

static void on_found(void *arg, int rank, const char *what)
{
    struct run *run = arg;
    if (run->job.state != JOB_RUNNING)
        return;
    stdio_say(run->stdio, "mpiexec: rank %d %s\n", rank, what);
    run_follow(run, job_end(&run->job, JOB_TERMINATE, LAUNCH_NOT_EXECUTABLE));
}

void run_foreign_start(struct run *run)
{
    if (run->plan->nranks > 1)
        run->foreign = foreign_watch_start(&run->loop, run->ranks, on_found, run);
}

void run_foreign_stop(struct run *run)
{
    foreign_watch_stop(run->foreign);
    run->foreign = NULL;
}
