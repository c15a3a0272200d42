/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job from launch to end; see run.h. One loop hears of signals, of ended
 * ranks, of timers and of drained streams; bnr/core/job.h decides the next step, and run_end.c carries it out. The
 * parts of a job are in run_state.h.
 */
#include "bnr/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "bnr/launch/limit.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_ask.h"
#include "bnr/run/run_end.h"
#include "bnr/run/run_interrupt.h"
#include "bnr/run/run_output.h"
#include "bnr/run/run_processes.h"
#include "bnr/run/run_ranks.h"
#include "bnr/run/run_report.h"
#include "bnr/run/run_send.h"
#include "bnr/run/run_spawn.h"
#include "bnr/run/run_start.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_streams.h"
#include "bnr/run/run_table.h"
#include "bnr/run/run_wide.h"
#include "bnr/run/run_words.h"
#include "os/clock.h"
#include "os/log.h"

enum {
    EXIT_FAILED = 1
};

/* ---- preparing ---- */

static int open_loop(struct run *run)
{
    int rc = uv_loop_init(&run->loop);
    if (rc)
        return rc;
    run_end_start(run);
    if (!run->wide)
        rc = run_ask_start(run);
    if (!rc)
        rc = run_streams_start(run);
    if (!rc)
        rc = run_interrupt_start(run);
    if (!rc)
        rc = run_output_start(run);
    if (!rc)
        run_interrupt_limit(run);
    return rc;
}

/* The ranks' table and folder, and the wardens. Returns 0, or -errno with the failed step. */
static int prepare_ranks(struct run *run, const struct run_job *what, const char **step)
{
    int rc = run_ranks_make(run, step);
    return rc ? rc : run_ranks_guard(run, what->name, what->name_size, step);
}

/* Everything that is there before the first rank, or before the daemons. Returns as above. */
static int prepare_job(struct run *run, const struct run_job *what, const char **step)
{
    int rc = run->wide ? 0 : prepare_ranks(run, what, step);
    if (rc)
        return rc;
    *step = "start the event loop, by epoll_create1(), epoll_ctl(), eventfd2(), ioctl() and pipe2()";
    rc = open_loop(run);
    return rc || run->wide ? rc : run_ranks_serve(run);
}

/* Prepare the parts that need the daemons, which start their ranks while the wardens here come
 * up. */
static int prepare_wide(struct run *run, const struct run_job *what, const char **step)
{
    int rc = run_ranks_make(run, step);
    if (!rc) {
        *step = "send the job to the daemons";
        rc = run_wide_settle_order(run);
    }
    if (!rc)
        rc = run_ask_start(run);
    if (!rc)
        rc = run_send_job(run);
    if (rc == -EMSGSIZE)
        *step = "send the job to the daemons: arguments and environments are more than 256 MiB in "
                "all; pass less, as by -envlist";
    return rc ? rc : run_ranks_guard(run, what->name, what->name_size, step);
}

/* ---- ending ---- */

/* Close what the job has open, and free it. */
static void close_all(struct run *run)
{
    run_interrupt_stop(run);
    run_wide_stop(run);
    run_ask_stop(run);
    run_streams_stop(run);
    run_end_stop(run);
    run_processes_stop(run);
    run_spawn_stop(run);
    run_start_stop(run);
    run_ranks_stop(run);
    run_output_stop(run);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    uv_loop_close(&run->loop);
    run_interrupt_free(run);
    run_ask_free(run);
    run_streams_free(run);
    run_end_free(run);
    run_ranks_free(run);
    run_output_free(run);
    run_words_free(run);
    run_table_free(run);
    run_wide_free(run);
    free(run);
}

static int finish(struct run *run)
{
    int code = run->job.exit_code, lost = run_output_judge(run);
    code = code ? code : lost;
    run_wide_end(run);
    run_report_print(run);
    run_ranks_unguard(run);
    fflush(NULL);
    if (!run->drained || run_processes_are_told(run))
        _exit(code ? code : 128 + SIGINT); /* a thread still writes to an output that is stuck */
    close_all(run);
    return code;
}

/* Wait for the next event. When a rank has failed, its earlier output is read first. */
static void turn(struct run *run)
{
    uv_run(&run->loop, UV_RUN_ONCE);
    run_processes_publish(run);
    if (!run_has_last_words(run))
        return;
    uv_run(&run->loop, UV_RUN_NOWAIT);
    run_say_last_words(run);
}

static int complain(const char *step, int rc)
{
    fprintf(stderr, "mpiexec: cannot prepare the job on %s: %s: %s%s\n", os_host_name(), step,
            strerror(-rc), limit_of_error(rc));
    return EXIT_FAILED;
}

/* Run a job whose daemons, if it has any, are there. */
static int go(struct run *run)
{
    run_spawn_begin(run);
    run_ranks_hear(run);
    run_start(run);
    run_interrupt_reap(run); /* a warden may have been killed before its end was listened for */
    while (!run->abandoned &&
           (run->job.state != JOB_ENDED || !run->drained || run_processes_are_told(run) ||
            run_spawn_has_some(run) || run_streams_linger(run)))
        turn(run);
    return finish(run);
}

/* Make a job without opening anything; find which of its ranks are elsewhere. Returns NULL without memory. */
static struct run *create(const struct plan *plan, const struct run_job *what)
{
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    run->plan = plan;
    run->paths = what->paths;
    run->amend = what->amend;
    run->debugger = what->debugger;
    run->records_fd = what->records_fd;
    run->begun_ns = os_now_ns();
    job_init(&run->job, plan->nranks);
    run->job.goes_on = plan->goes_on;
    run->job.is_strict = plan->is_strict;
    if (run_wide_create(run, what->wide) || run_words_begin(run) || run_spawn_prepare(run, run_signal_rank) ||
        run_end_prepare(run)) {
        free(run);
        return NULL;
    }
    return run;
}

int run_job(const struct plan *plan, const struct run_job *what)
{
    struct run *run = create(plan, what);
    const char *step = "open /dev/null";
    if (!run) {
        fprintf(stderr, "mpiexec: out of memory\n");
        return EXIT_FAILED;
    }
    run->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int rc = run->null_fd < 0 ? -errno : run_table_prepare(run);
    if (!rc)
        rc = prepare_job(run, what, &step);
    if (!rc && run->wide) {
        if (!run_wide_bring_up(run)) {
            run_output_settle(run);
            return finish(run);
        }
        rc = prepare_wide(run, what, &step);
    }
    if (!rc)
        return go(run);
    if (run->stdio)
        run_output_settle(run);
    rc = complain(step, rc);
    run_wide_end_early(run);
    if (run->ranks)
        run_ranks_unguard(run);
    return rc;
}
