/* SPDX-License-Identifier: BSD-3-Clause */

/* The steps of a job towards its end; see run_end.h. */
#include "bnr/run/run_end.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <uv.h>

#include "bnr/io/ranks.h"
#include "bnr/launch/sweep.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_keepalive.h"
#include "bnr/run/run_names.h"
#include "bnr/run/run_spawn.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_terminal.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_reach.h"
#include "os/clock.h"
#include "os/settings.h"

struct run_end {
    uv_timer_t grace;  /* until ranks must have obeyed the last signal */
    uint64_t asked_ns; /* when the user has first asked the job to end; 0: not yet */
};

static void on_grace(uv_timer_t *timer);

static bool is_in_grace(const struct run *run)
{
    return run->job.state == JOB_INTERRUPTED || run->job.state == JOB_LEAVING ||
           run->job.state == JOB_TERMINATING;
}

/* Have the timer run out when ranks have had as long, and not later than it would anyway. */
static void arm_grace(struct run *run, enum job_grace grace)
{
    uv_timer_t *timer = &run->end->grace;
    uint64_t ms = (uint64_t)os_setting(grace == JOB_GRACE_LONG ? OS_SETTING_LEAVE_LIMIT_MS
                                                               : OS_SETTING_KILL_AFTER_MS);
    uv_update_time(&run->loop); /* a report may have held the loop up */
    if (!uv_is_active((uv_handle_t *)timer) || uv_timer_get_due_in(timer) > ms)
        uv_timer_start(timer, on_grace, ms, 0);
}

void run_signal_all(struct run *run, int number)
{
    if (run->has_table)
        ranks_signal(run->ranks, number);
    if (run->wide)
        wide_signal(run->wide, -1, number);
    run_spawn_signal(run, number);
}

void run_signal_rank(void *arg, int rank, int number)
{
    struct run *run = arg;
    if (run->job.state != JOB_RUNNING)
        return;
    if (rank < 0)
        run_signal_all(run, number);
    else if (!run_is_elsewhere(run, rank))
        ranks_signal_one(run->ranks, rank, number);
    else
        wide_signal(run->wide, rank, number);
}

void run_kill_here(struct run *run)
{
    if (run->has_table)
        ranks_signal(run->ranks, SIGKILL);
}

/* End processes that ranks have left behind here. */
static void sweep(struct run *run)
{
    uint32_t living = run->wide ? wide_commands(run->wide, NULL, 0) : 0, count = 0;
    pid_t *keep = calloc(living + RANKS_GUARDS + run_spawn_pids(run, NULL) + 1, sizeof(*keep));
    count += keep ? ranks_guards(run->ranks, keep) : 0;
    count += keep ? run_spawn_pids(run, keep + count) : 0;
    if (keep && living)
        wide_commands(run->wide, keep + count, living);
    if (keep)
        sweep_children(keep);
    free(keep);
}

void run_follow(struct run *run, struct job_step step)
{
    run->ranks->is_in_grace = is_in_grace(run);
    if (step.signal) {
        run_signal_all(run, step.signal);
        if (step.signal != SIGKILL)
            ranks_signal(run->ranks, SIGCONT); /* a stopped process hears nothing */
    }
    if (step.grace != JOB_GRACE_SAME)
        arm_grace(run, step.grace);
    if (run->job.state == JOB_ENDED)
        sweep(run);
}

static void on_grace(uv_timer_t *timer)
{
    struct run *run = timer->data;
    struct job_step step = job_event(&run->job, JOB_GRACE);
    if (step.signal == SIGKILL && run->job.user_signal)
        run_say_killed(run, run->end->asked_ns);
    run_follow(run, step);
}

void run_end_by_signal(struct run *run, int number)
{
    if (!run->end->asked_ns)
        run->end->asked_ns = os_now_ns();
    run_follow(run, job_signal(&run->job, number));
}

void run_take_end(struct run *run, int rank, const struct job_facts *facts)
{
    int status = facts->status;
    enum job_cause cause;
    struct job_step step = job_rank_ended(&run->job, facts, &cause);
    run_explain_end(run, rank, facts, cause);
    if (run->plan->verbose)
        stdio_say(run->stdio, "mpiexec: rank %d (pid %d) %s %d\n", rank, run_pid_of(run, rank),
                  WIFSIGNALED(status) ? "was killed by signal" : "has ended with exit code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    run_note_over(run, rank, facts->tolerant);
    run_terminal_ended(run, rank);
    run_names_rank_ended(run, rank);
    run_keepalive_tell_exit(run, rank, facts->status);
    run_follow(run, step);
}

void run_take_missed(struct run *run, int rank)
{
    const struct job_facts facts = {.is_missed = true};
    enum job_cause cause;
    if (run->job.state != JOB_RUNNING || run->job.has_code)
        return;
    struct job_step step = job_missed(&run->job, &cause);
    run_explain_end(run, rank, &facts, cause);
    run_follow(run, step);
}

int run_end_prepare(struct run *run)
{
    run->end = calloc(1, sizeof(*run->end));
    (void)sweep_prepare(); /* without it, only the job's process groups are cleaned up */
    return run->end ? 0 : -ENOMEM;
}

void run_end_start(struct run *run)
{
    uv_timer_init(&run->loop, &run->end->grace);
    run->end->grace.data = run;
}

void run_end_stop(struct run *run)
{
    uv_close((uv_handle_t *)&run->end->grace, NULL);
}

void run_end_free(struct run *run)
{
    free(run->end);
}
