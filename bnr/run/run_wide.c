/* SPDX-License-Identifier: BSD-3-Clause */

/* The part of a job that is on other machines; see run_wide.h. */
#include "bnr/run/run_wide.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/launch/limit.h"
#include "bnr/launch/remote.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_ask.h"
#include "bnr/run/run_end.h"
#include "bnr/run/run_names.h"
#include "bnr/run/run_processes.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_streams.h"
#include "bnr/run/run_table.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/stdio/progress.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_job.h"
#include "bnr/wide/wide_reach.h"
#include "os/clock.h"
#include "os/log.h"

enum {
    EXIT_FAILED = 1
};

struct run_daemons {
    struct progress progress;
    bool is_ready, is_good; /* all have been heard of; all are there */
    char why[512];          /* a rank could not be started; "": all could */
};

static void wide_say(void *arg, const char *text)
{
    struct run *run = arg;
    progress_clear(&run->daemons->progress);
    stdio_say(run->stdio, "mpiexec: %s\n", text);
}

static void wide_ready(void *arg, bool is_good)
{
    struct run *run = arg;
    if (run->daemons->is_ready) /* a signal, or --timeout, has ended the job before */
        return;
    run->daemons->is_ready = true;
    run->daemons->is_good = is_good;
}

static void wide_started(void *arg, int rank, int pid)
{
    struct run *run = arg;
    if (run->plan->verbose)
        stdio_say(run->stdio, "mpiexec: rank %d is %s, pid %d on %s\n", rank,
                  run_table_program(run, rank), pid,
                  run_host_of(run, rank));
    run_processes_note(run, rank);
}

static void wide_failed(void *arg, int rank, int code, const char *why)
{
    struct run *run = arg;
    char *said = run->daemons->why;
    if (strncmp(said, why, sizeof(run->daemons->why) - 1)) /* many hosts may say the same */
        stdio_say(run->stdio, "mpiexec: cannot start rank %d (%s) on %s: %s\n", rank,
                  run_table_program(run, rank), run_host_of(run, rank), why);
    snprintf(said, sizeof(run->daemons->why), "%s", why);
    run_follow(run, job_end(&run->job, JOB_BROKEN, code));
}

/* A rank on another machine has ended, or was lost. */
static void wide_ended(void *arg, int rank, const struct job_facts *told, bool is_lost)
{
    struct run *run = arg;
    struct job_facts facts = *told;
    if (run_is_over(run, rank))
        return;
    if (is_lost) { /* nobody knows what it had asked for: some rank has, or not */
        facts.status = SIGKILL;
        facts.tolerant = run_has_tolerated(run) || run_some_tolerate(run);
    }
    run_take_end(run, rank, &facts);
}

/* A rank has ended without MPI_Init, somewhere, and others wait for it. */
static void wide_missed(void *arg, int rank)
{
    run_take_missed(arg, rank);
}

static void wide_lost(void *arg, uint32_t node)
{
    struct run *run = arg;
    run_note_lost(run, node);
    run_streams_lost(run, node);
    run_names_lost(run, node);
}

/* Daemons cannot be told what to do: they end, and their ranks, when they lose this process. */
static void wide_broken(void *arg, int rc)
{
    struct run *run = arg;
    if (run->abandoned)
        return;
    fprintf(stderr, "mpiexec: the job ends, as its daemons cannot be told what to do: %s%s\n",
            strerror(-rc), limit_of_error(rc));
    (void)job_end(&run->job, JOB_BROKEN, EXIT_FAILED);
    run_kill_here(run);
    run->daemons->is_ready = run->abandoned = true;
}

/* Wait until all daemons are there, or it is known that they will not be. */
static void wait_for_daemons(struct run *run)
{
    progress_init(&run->daemons->progress, run->plan->shows_progress);
    while (!run->daemons->is_ready) {
        if (run->daemons->progress.is_on && stdio_is_idle(run->stdio)) /* not over pending output */
            progress_show(&run->daemons->progress, wide_up_count(run->wide), wide_count(run->wide));
        uv_run(&run->loop, UV_RUN_ONCE);
    }
    progress_clear(&run->daemons->progress);
}

bool run_wide_bring_up(struct run *run)
{
    const struct wide_hooks hooks = {wide_say,   wide_ready,  wide_started, wide_failed,
                                     wide_ended, wide_missed, wide_lost,    wide_broken,
                                     run_ask_take, run_names_answer, run_streams_far, run};
    const struct remote remote = plan_remote(run->plan);
    const struct wide_settings settings = {.remote = &remote,
                                           .prefix = run->plan->remote.prefix,
                                           .is_piped = run->plan->remote.is_piped};
    int rc = wide_start(run->wide, &run->loop, &settings, &hooks);
    if (rc)
        fprintf(stderr, "mpiexec: cannot prepare to start daemons on %s: %s\n", os_host_name(),
                strerror(-rc));
    run->job.exit_code = EXIT_FAILED;
    if (!rc)
        wait_for_daemons(run);
    if (run->daemons->is_good)
        run->job.exit_code = 0;
    return run->daemons->is_good && !wide_list_hosts(run->wide);
}

int run_wide_settle_order(struct run *run)
{
    static char name[] = "VIREO_BYTE_ORDER", variable[] = "VIREO_BYTE_ORDER=network";
    if (!wide_has_both_orders(run->wide))
        return 0;
    if (setenv(name, strchr(variable, '=') + 1, false)) /* for jobs that this one starts */
        return -ENOMEM;
    return run_table_set(run, variable);
}

int run_wide_create(struct run *run, struct wide_plan *plan)
{
    int rc = wide_create(&run->wide, plan);
    run->daemons = calloc(1, sizeof(*run->daemons));
    return rc || run->daemons ? rc : -ENOMEM;
}

bool run_wide_is_ready(const struct run *run)
{
    return run->daemons && run->daemons->is_ready;
}

void run_wide_give_up(struct run *run, int code)
{
    run->daemons->is_ready = true;
    run->daemons->is_good = false;
    run->job.exit_code = code;
}

void run_wide_stand_still(struct run *run)
{
    uint64_t begin = os_now_ns();
    progress_clear(&run->daemons->progress);
    raise(SIGSTOP);
    wide_stood_still(run->wide, os_now_ns() - begin);
}

void run_wide_end(struct run *run)
{
    if (run->wide)
        wide_end(run->wide);
}

void run_wide_end_early(struct run *run)
{
    if (run->wide && wide_is_up(run->wide))
        wide_end(run->wide);
}

void run_wide_stop(struct run *run)
{
    if (run->wide)
        wide_close(run->wide);
}

void run_wide_free(struct run *run)
{
    wide_destroy(run->wide);
    free(run->daemons);
}
