/* SPDX-License-Identifier: BSD-3-Clause */

/* What interrupts a job; see run_interrupt.h. */
#include "bnr/run/run_interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bnr/host/table.h"
#include "bnr/io/signals.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_ask.h"
#include "bnr/run/run_debugger.h"
#include "bnr/run/run_end.h"
#include "bnr/run/run_keepalive.h"
#include "bnr/run/run_ranks.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_table.h"
#include "bnr/run/run_terminal.h"
#include "bnr/run/run_wide.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_reach.h"

enum {
    EXIT_TIMEOUT = 124,
    LATE_MS = 1000,    /* for output that nobody takes, after --timeout */
    REMINDER_MS = 2000 /* after the first Ctrl-C */
};

struct run_interrupt {
    struct signals signals;
    uv_timer_t timeout, reminder;
    bool is_late; /* --timeout has passed */
};

/* ---- reports ---- */

static void say_report(void *arg, const char *report)
{
    struct run *run = arg;
    stdio_say(run->stdio, "%s", report);
}

/* The report at SIGQUIT: a user who typed it learns that it ended nothing. */
static void say_asked(void *arg, const char *report)
{
    struct run *run = arg;
    if (isatty(STDERR_FILENO))
        stdio_say(run->stdio, "\n"); /* behind what the terminal shows of the key */
    say_report(run, report);
    stdio_say(run->stdio, "mpiexec: the job goes on\n");
}

/* ---- the time limit ---- */

/* The report of a job whose time is up has come. */
static void end_late_job(void *arg, const char *report)
{
    struct run *run = arg;
    if (run->job.state == JOB_ENDED)
        return;
    say_report(run, report);
    run_follow(run, job_end(&run->job, JOB_TERMINATE, EXIT_TIMEOUT));
}

/* The time is up; called again each second after, for output that nobody takes. */
static void on_timeout(uv_timer_t *timer)
{
    struct run *run = timer->data;
    char ranks[200], hosts[256];
    if (run->job.state == JOB_ENDED || (!run->has_table && run_wide_is_ready(run))) {
        run->abandoned = true;
        run->job.exit_code = EXIT_TIMEOUT;
        return;
    }
    if (run->interrupt->is_late)
        return;
    run->interrupt->is_late = true;
    if (!run->has_table) {
        stdio_say(run->stdio, "mpiexec: the daemons were not all there within %g s\n",
                  run->plan->timeout_s);
        run_wide_give_up(run, EXIT_TIMEOUT);
        return;
    }
    table_name_hosts(run_table(run), hosts, sizeof(hosts));
    run_list_running(run, ranks, sizeof(ranks));
    stdio_say(run->stdio,
              "mpiexec: the job did not end within %g s; still running on %s: %s %s "
              "of %d\n",
              run->plan->timeout_s, hosts, run->job.alive > 1 ? "ranks" : "rank", ranks,
              run->plan->nranks);
    if (!run_ask_has_ranks(run) || !run_ask_report(run, end_late_job))
        run_follow(run, job_end(&run->job, JOB_TERMINATE, EXIT_TIMEOUT));
}

/* ---- signals ---- */

/* Ranks that do not end at Ctrl-C: say what the user can do. */
static void on_reminder(uv_timer_t *timer)
{
    struct run *run = timer->data;
    char ranks[200];
    if (run->job.state != JOB_INTERRUPTED)
        return;
    run_list_running(run, ranks, sizeof(ranks));
    stdio_say(run->stdio,
              "mpiexec: waiting for %s %s to end after SIGINT; send it again (Ctrl-C) to end %s\n",
              run->job.alive > 1 ? "ranks" : "rank", ranks, run->job.alive > 1 ? "them" : "it");
}

/* Before there are ranks, all children are commands that start daemons. */
static void reap_commands(struct run *run)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        (void)wide_reaped(run->wide, (int)pid, status);
}

/* Whether this process can stand still. Process 1 of a container cannot, and its ranks would never go
 * on: there is no shell that has them do so. */
static bool can_stop(struct run *run)
{
    if (getpid() != 1)
        return true;
    stdio_say(run->stdio, "mpiexec: the first process of a container cannot be stopped; the job goes "
                          "on, and the container itself can be paused\n");
    return false;
}

/* A user's signal before there are ranks. */
static void on_early_signal(struct run *run, int number)
{
    if (number == SIGCHLD) {
        reap_commands(run);
    } else if (number == SIGTSTP) {
        if (can_stop(run))
            run_wide_stand_still(run);
    } else if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
        run->abandoned |= run_wide_is_ready(run); /* nor does the user want to wait for pending output */
        run_wide_give_up(run, 128 + number);
    }
}

/* mpiexec stands still with its ranks, and no daemon takes that for its death. */
static void stop_all(struct run *run)
{
    if (!can_stop(run))
        return;
    run_signal_all(run, SIGTSTP);
    if (run->wide)
        wide_pause(run->wide, true);
    run_terminal_pause(run);
    raise(SIGSTOP);
    run_terminal_go_on(run);
    if (run->wide)
        wide_pause(run->wide, false);
}

void run_interrupt_reap(struct run *run)
{
    if (run_ranks_reap(run))
        signals_again(&run->interrupt->signals, SIGCHLD);
}

static void on_signal(void *arg, int number)
{
    struct run *run = arg;
    if (!run->has_table) {
        on_early_signal(run, number);
        return;
    }
    switch (number) {
    case SIGCHLD: run_interrupt_reap(run); break;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        if (run->job.state == JOB_ENDED)
            run->abandoned = true;
        else
            run_end_by_signal(run, number);
        if (run->job.state == JOB_INTERRUPTED)
            uv_timer_start(&run->interrupt->reminder, on_reminder, REMINDER_MS, 0);
        break;
    case SIGQUIT: (void)run_ask_report(run, say_asked); break;
    case SIGTSTP: stop_all(run); break;
    case SIGWINCH: run_terminal_resize(run); break;
    case SIGCONT:
        run_debugger_go_on(run);
        run_terminal_go_on(run);
        run_terminal_resize(run); /* a stopped process is not told of that */
        run_signal_all(run, number);
        break;
    default: run_signal_all(run, number); break;
    }
}

/* ---- life ---- */

int run_interrupt_start(struct run *run)
{
    const struct run_keepalive_hooks hooks = {on_signal, run_signal_rank, run};
    struct run_interrupt *i = run->interrupt = calloc(1, sizeof(*i));
    if (!i)
        return -ENOMEM;
    uv_timer_init(&run->loop, &i->timeout);
    uv_timer_init(&run->loop, &i->reminder);
    i->timeout.data = i->reminder.data = run;
    int rc = signals_start(&i->signals, &run->loop, on_signal, run);
    return rc ? rc : run_keepalive_start(run, &hooks);
}

void run_interrupt_limit(struct run *run)
{
    if (run->plan->timeout_s > 0)
        uv_timer_start(&run->interrupt->timeout, on_timeout, (uint64_t)(run->plan->timeout_s * 1000), LATE_MS);
}

void run_interrupt_stop(struct run *run)
{
    signals_stop(&run->interrupt->signals);
    uv_close((uv_handle_t *)&run->interrupt->timeout, NULL);
    uv_close((uv_handle_t *)&run->interrupt->reminder, NULL);
    run_keepalive_stop(run);
}

void run_interrupt_free(struct run *run)
{
    free(run->interrupt);
}
