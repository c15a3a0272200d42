/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks with another MPI library; see run_foreign.h. */
#include "bnr/run/run_foreign.h"

#include <stdlib.h>

#include "bnr/launch/foreign.h"
#include "bnr/io/ranks.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"

enum {
    FIRST_LOOK_MS = 50, /* each later one after twice the time */
    LOOKS = 6
};

struct run_foreign {
    uv_timer_t timer;
    int looks;
};

/* The first rank that runs on this host; -1: there is none. */
static int first_here(struct run *run)
{
    for (int r = 0; r < run->plan->nranks; r++)
        if (!run_is_elsewhere(run, r))
            return r;
    return -1;
}

static void on_look(uv_timer_t *timer)
{
    struct run *run = timer->data;
    struct foreign_process found;
    int rank = first_here(run), pid = run_pid_of(run, rank);
    if (pid <= 0 || run->job.state != JOB_RUNNING || ranks_has_begun(run->ranks, rank))
        return;
    if (foreign_runs(pid, &found))
        stdio_say(run->stdio,
                  "mpiexec: rank %d runs %s (pid %d) with another MPI library (%s), with which each "
                  "process would be rank 0 of 1: it does not speak PMI-1, as MPICH does; start it with Open MPI's "
                  "mpirun, or build it with this library's mpicc\n",
                  rank, found.name, found.pid, found.library);
    else if (++run->foreign->looks < LOOKS)
        uv_timer_start(timer, on_look, FIRST_LOOK_MS << run->foreign->looks, 0);
}

void run_foreign_start(struct run *run)
{
    if (run->plan->nranks == 1 || first_here(run) < 0)
        return;
    run->foreign = calloc(1, sizeof(*run->foreign));
    if (!run->foreign)
        return;
    uv_timer_init(&run->loop, &run->foreign->timer);
    run->foreign->timer.data = run;
    uv_timer_start(&run->foreign->timer, on_look, FIRST_LOOK_MS, 0);
}

static void on_closed(uv_handle_t *timer)
{
    free(timer); /* it is the first member */
}

void run_foreign_stop(struct run *run)
{
    if (run->foreign)
        uv_close((uv_handle_t *)&run->foreign->timer, on_closed);
    run->foreign = NULL;
}
