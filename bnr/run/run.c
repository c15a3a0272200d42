/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job from launch to end; see run.h. One loop hears of signals, of ended
 * ranks, of timers and of drained streams; job.c decides the next step.
 */
#include "bnr/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bnr/core/stream/lines.h"
#include "bnr/host/order.h"
#include "bnr/io/amend.h"
#include "bnr/io/aside.h"
#include "bnr/io/ranks_pipes.h"
#include "bnr/stdio/json_lines.h"
#include "bnr/stdio/prefix.h"
#include "bnr/stdio/xml_lines.h"
#include "bnr/stdio/terminal.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_plan.h"
#include "bnr/io/tell.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/sweep.h"
#include "bnr/plan/plan.h"
#include "os/clock.h"
#include "os/cpu/cpus.h"
#include "os/log.h"
#include "os/settings.h"

enum {
    EXIT_FAILED = 1,
    EXIT_TIMEOUT = 124,
    LATE_MS = 1000,    /* for output that nobody takes, after --timeout */
    REMINDER_MS = 2000 /* after the first Ctrl-C */
};

/* ---- ending ---- */

static void on_grace(uv_timer_t *timer);

static bool is_in_grace(const struct run *run)
{
    return run->job.state == JOB_INTERRUPTED || run->job.state == JOB_LEAVING ||
           run->job.state == JOB_TERMINATING;
}

/* Have the timer run out when ranks have had as long, and not later than it would anyway. */
static void arm_grace(struct run *run, enum job_grace grace)
{
    uint64_t ms = (uint64_t)os_setting(grace == JOB_GRACE_LONG ? OS_SETTING_LEAVE_LIMIT_MS
                                                               : OS_SETTING_KILL_AFTER_MS);
    uv_update_time(&run->loop); /* a report may have held the loop up */
    if (!uv_is_active((uv_handle_t *)&run->grace) || uv_timer_get_due_in(&run->grace) > ms)
        uv_timer_start(&run->grace, on_grace, ms, 0);
}

/* Signal all ranks, wherever they run. */
static void signal_all(struct run *run, int number)
{
    if (run->has_table)
        ranks_signal(&run->ranks, number);
    if (run->wide)
        wide_signal(run->wide, -1, number);
    run_spawn_signal(run, number);
}

/* End processes that ranks have left behind here. */
static void sweep(struct run *run)
{
    uint32_t living = run->wide ? wide_commands(run->wide, NULL, 0) : 0, count = 0;
    pid_t *keep = calloc(living + RANKS_GUARDS + run_spawn_pids(run, NULL) + 1, sizeof(*keep));
    count += keep ? ranks_guards(&run->ranks, keep) : 0;
    count += keep ? run_spawn_pids(run, keep + count) : 0;
    if (keep && living)
        wide_commands(run->wide, keep + count, living);
    if (keep)
        sweep_children(keep);
    free(keep);
}

void run_follow(struct run *run, struct job_step step)
{
    run->ranks.is_in_grace = is_in_grace(run);
    if (step.signal) {
        signal_all(run, step.signal);
        if (step.signal != SIGKILL)
            ranks_signal(&run->ranks, SIGCONT); /* a stopped process hears nothing */
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
        run_say_killed(run);
    run_follow(run, step);
}

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
    if (run->job.state == JOB_ENDED || (!run->has_table && run->is_ready)) {
        run->abandoned = true;
        run->job.exit_code = EXIT_TIMEOUT;
        return;
    }
    if (run->is_late)
        return;
    run->is_late = true;
    if (!run->has_table) {
        stdio_say(run->stdio, "mpiexec: the daemons were not all there within %g s\n",
                  run->plan->timeout_s);
        run->is_ready = true;
        run->is_good = false;
        run->job.exit_code = EXIT_TIMEOUT;
        return;
    }
    table_name_hosts(&run->ranks.table, hosts, sizeof(hosts));
    run_list_running(run, ranks, sizeof(ranks));
    stdio_say(run->stdio,
              "mpiexec: the job did not end within %g s; still running on %s: %s %s "
              "of %d\n",
              run->plan->timeout_s, hosts, run->job.alive > 1 ? "ranks" : "rank", ranks,
              run->plan->nranks);
    if (!ask_has_ranks(&run->ask) || !ask_report(&run->ask, end_late_job, run))
        run_follow(run, job_end(&run->job, JOB_TERMINATE, EXIT_TIMEOUT));
}

static void on_drained(void *arg)
{
    struct run *run = arg;
    run->drained = true;
}

/* Act on an end, on whichever host. */
void run_take_end(struct run *run, int rank, const struct job_facts *facts)
{
    int status = facts->status;
    enum job_cause cause;
    struct job_step step = job_rank_ended(&run->job, facts, &cause);
    run->has_tolerated |= facts->tolerant;
    run_explain_end(run, rank, facts, cause);
    if (run->plan->verbose)
        stdio_say(run->stdio, "mpiexec: rank %d (pid %d) %s %d\n", rank, run_pid_of(run, rank),
                  WIFSIGNALED(status) ? "was killed by signal" : "has ended with exit code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (run->is_over)
        run->is_over[rank] = true;
    run_terminal_ended(run, rank);
    run_names_rank_ended(run, rank);
    run_keepalive_tell(run, ORDER_TOLD_EXIT, rank, facts->status);
    run_follow(run, step);
}

/* Send a rank (-1: all) a signal, wherever it runs. */
static void signal_rank(struct run *run, int rank, int number)
{
    if (run->job.state != JOB_RUNNING)
        return;
    if (rank < 0)
        signal_all(run, number);
    else if (!run_is_elsewhere(run, rank))
        ranks_signal_one(&run->ranks, rank, number);
    else
        wide_signal(run->wide, rank, number);
}

void run_take_missed(struct run *run, int rank)
{
    const struct job_facts facts = {.is_missed = true};
    enum job_cause cause;
    struct job_step step = job_missed(&run->job, &cause);
    run_explain_end(run, rank, &facts, cause);
    run_follow(run, step);
}

static void rank_ended(void *arg, int rank, const struct job_facts *facts)
{
    struct run *run = arg;
    pipes_rank_ended(&run->pipes, rank);
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
    if (ranks_guard_again(&run->ranks, pid))
        stdio_say(run->stdio, "mpiexec: a warden was killed, and no other can be started\n");
}

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

/* Stand still while hosts are started; their commands go on, and the daemons wait. */
static void stop_early(struct run *run)
{
    uint64_t begin = os_now_ns();
    if (!can_stop(run))
        return;
    progress_clear(&run->progress);
    raise(SIGSTOP);
    wide_stood_still(run->wide, os_now_ns() - begin);
}

/* A user's signal before there are ranks. */
static void on_early_signal(struct run *run, int number)
{
    if (number == SIGCHLD) {
        reap_commands(run);
    } else if (number == SIGTSTP) {
        stop_early(run);
    } else if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
        run->abandoned |= run->is_ready; /* nor does the user want to wait for pending output */
        run->is_ready = true;
        run->is_good = false;
        run->job.exit_code = 128 + number;
    }
}

/* mpiexec stands still with its ranks, and no daemon takes that for its death. */
static void stop_all(struct run *run)
{
    if (!can_stop(run))
        return;
    signal_all(run, SIGTSTP);
    if (run->wide)
        wide_pause(run->wide, true);
    run_terminal_pause(run);
    raise(SIGSTOP);
    run_terminal_go_on(run);
    if (run->wide)
        wide_pause(run->wide, false);
}

static void reap(struct run *run)
{
    if (ranks_reap(&run->ranks))
        signals_again(&run->signals, SIGCHLD);
}

/* A signal of the user's that is to end the job. */
static void take_signal(struct run *run, int number)
{
    if (!run->asked_ns)
        run->asked_ns = os_now_ns();
    run_follow(run, job_signal(&run->job, number));
}

static void on_signal(void *arg, int number)
{
    struct run *run = arg;
    if (!run->has_table) {
        on_early_signal(run, number);
        return;
    }
    switch (number) {
    case SIGCHLD: reap(run); break;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        if (run->job.state == JOB_ENDED)
            run->abandoned = true;
        else
            take_signal(run, number);
        if (run->job.state == JOB_INTERRUPTED)
            uv_timer_start(&run->reminder, on_reminder, REMINDER_MS, 0);
        break;
    case SIGQUIT: (void)ask_report(&run->ask, say_asked, run); break;
    case SIGTSTP: stop_all(run); break;
    case SIGWINCH: run_terminal_resize(run); break;
    case SIGCONT:
        run_debugger_go_on(run);
        run_terminal_go_on(run);
        run_terminal_resize(run); /* a stopped process is not told of that */
        signal_all(run, number);
        break;
    default: signal_all(run, number); break;
    }
}

/* ---- starting ---- */

/* Make what a rank writes stream i to: a pipe, its file, or the pipe of its stdout. */
static int open_output(struct run *run, int rank, int i, struct ranks_pipes *p)
{
    const char *from = run->plan->start.output_from;
    if (from && !amend_lists(from, rank))
        return ranks_pipes_open(p, i, RANKS_OUTPUT_NONE);
    if (i == 2 && run->plan->merge)
        return ranks_pipes_open(p, i, RANKS_OUTPUT_STDOUT);
    if (!run->plan->files.pattern[i - 1] || run->plan->files.is_copied)
        return ranks_pipes_open(p, i, RANKS_OUTPUT_PIPE);
    p->pipe[i][1] = run_open_file(run, i - 1, rank);
    return p->pipe[i][1] < 0 ? p->pipe[i][1] : 0;
}

static int input_for(struct run *run, int rank, const struct ranks_pipes *p)
{
    switch (stdio_input_of(run->stdio, rank)) {
    case STDIO_INPUT_PIPE: return p->pipe[0][0];
    case STDIO_INPUT_INHERIT: return 0;
    case STDIO_INPUT_NULL: break;
    }
    return run->null_fd;
}

static int open_pipes(void *arg, int rank, struct ranks_pipes *p)
{
    struct run *run = arg;
    bool has_input = stdio_input_of(run->stdio, rank) == STDIO_INPUT_PIPE;
    if (run_has_terminal(run, rank)) {
        struct winsize size = terminal_size();
        return ranks_pipes_open_terminal(p, has_input, &size);
    }
    int rc = has_input && pipe2(p->pipe[0], O_CLOEXEC) ? -errno : 0;
    for (int i = 1; i < 3 && !rc; i++)
        rc = open_output(run, rank, i, p);
    p->in = input_for(run, rank, p);
    return rc;
}

static int attach(void *arg, int rank, const struct ranks_pipes *p)
{
    struct run *run = arg;
    const struct table *t = &run->ranks.table;
    if (run->plan->verbose)
        stdio_say(run->stdio, "mpiexec: rank %d is %s, pid %d on %s\n", rank,
                  run->paths[t->rank[rank].app], t->rank[rank].pid, table_host(t, rank)->name);
    run_processes_note(run, rank);
    return pipes_attach(&run->pipes, rank, p->pipe[0][1], p->pipe[1][0], p->pipe[2][0]);
}

/* Ranks of this machine from this one on are not started: they count as ended. */
static void skip_rest(struct run *run, int rank, int status)
{
    const struct job_facts facts = {.status = status};
    for (int r = rank; r < run->plan->nranks; r++)
        if (!run_is_elsewhere(run, r) && !ranks_lives(&run->ranks.table, r))
            rank_ended(run, r, &facts);
}

/* A rank could not be started: end those that run. */
static void give_up(struct run *run, int rank, int rc, const char *step)
{
    char why[512];
    const char *path = run->paths[run->ranks.table.rank[rank].app];
    int code = launch_explain(path, rc, step, why, sizeof(why));
    stdio_say(run->stdio, "mpiexec: cannot start rank %d (%s) on %s: %s\n", rank, path,
              run_host_of(run, rank), why);
    if (run->wide) {
        run_follow(run, job_end(&run->job, JOB_BROKEN, code));
        skip_rest(run, rank, code << 8);
        return;
    }
    int started = ranks_lives(&run->ranks.table, rank) ? rank + 1 : rank;
    run->job.alive = started;
    run_follow(run, job_end(&run->job, JOB_BROKEN, code));
    if (!started)
        run_follow(run, job_event(&run->job, JOB_LAST));
}

/* Hear of daemons, to which silence would mean that this process is gone. Returns whether the job is to
 * go on. */
static bool look_up(struct run *run, uint64_t *until)
{
    if (!run->wide || os_now_ns() < *until)
        return run->job.state == JOB_RUNNING;
    uv_run(&run->loop, UV_RUN_NOWAIT);
    *until = ranks_slice();
    return run->job.state == JOB_RUNNING;
}

/* Start all ranks of this machine, or on a failure end those that run. */
static void start_ranks(struct run *run)
{
    const char *step;
    uint64_t until = ranks_slice(), hold_ms = (uint64_t)os_setting(OS_SETTING_KILL_AFTER_MS);
    ranks_watch_groups(&run->ranks, &run->loop, hold_ms);
    for (int r = 0; r < run->plan->nranks; r++) {
        int rc = look_up(run, &until) ? 0 : -ECANCELED;
        if (!rc && !run_is_elsewhere(run, r))
            rc = ranks_start(&run->ranks, r, &step);
        if (!rc)
            continue;
        if (rc == -ECANCELED)
            skip_rest(run, r, run->job.user_signal ? run->job.user_signal : SIGKILL);
        else
            give_up(run, r, rc, step);
        break;
    }
    for (int r = 0; r < run->plan->nranks; r++)
        if (!run_is_elsewhere(run, r))
            pipes_skip(&run->pipes, r);
    run_processes_publish(run);
    stdio_begin(run->stdio);
    run_terminal_begin(run);
    run_foreign_start(run);
}

/* ---- the whole ---- */

/* Have a rank started as the options say. */
static int amend(void *arg, int rank, struct launch *l)
{
    const struct run *run = arg;
    return amend_launch(run->amend, rank, (int)run->ranks.table.rank[rank].local_rank, l);
}

static int create_ranks(struct run *run, const char **step)
{
    const struct plan *plan = run->plan;
    const struct ranks_hooks hooks = {open_pipes, attach, amend, rank_ended, other_ended, run};
    int *apps = malloc(sizeof(*apps) * (size_t)plan->nranks);
    *step = "remember the programs";
    if (!apps)
        return -ENOMEM;
    int r = 0;
    for (int a = 0; a < plan->napps; a++)
        for (int i = 0; i < plan->apps[a].count; i++)
            apps[r++] = a;
    struct table_spec spec = {
        .world_size = plan->nranks,
        .app_count = plan->napps,
        .cpus = os_cpus_usable(),
        .apps = apps,
        .universe_size = plan->universe_size,
        .hosts = plan->pretend_hosts,
    };
    struct table_wide wide;
    if (run->wide) {
        wide = wide_table(run->wide);
        spec.wide = &wide;
        spec.hosts = (int)wide_host_count(run->wide);
    }
    int rc = ranks_create(&run->ranks, &spec, &hooks, step);
    run->has_table = !rc;
    free(apps);
    run->ranks.apps = run->apps;
    return rc;
}

static int open_loop(struct run *run)
{
    const struct plan *plan = run->plan;
    run->prefix = (struct prefix){plan->prefix, plan->nranks, &run->ranks.table};
    run->labels = (struct lines_labels){prefix_write, &run->prefix,
                                        plan->json  ? json_lines_record
                                        : plan->xml ? xml_lines_record
                                                 : NULL};
    struct stdio_config cfg = {
        .ranks = plan->nranks,
        .label = plan->prefix || plan->json || plan->xml,
        .records_fd = run->records_fd,
        .labels = &run->labels,
        .ends_unread = os_setting(OS_SETTING_OUTPUT_UNREAD) == 0,
        .stdin_to = plan->start.stdin_to,
        .drained = on_drained,
        .unread = run_streams_unread,
        .arg = run,
        .is_elsewhere = run->wide ? run_is_elsewhere : NULL,
        .files = &plan->files,
        .file_failed = run_file_failed,
        .has_terminal = plan->start.terminals ? run_has_terminal : NULL,
        .say = run_streams_say,
    };
    int rc = uv_loop_init(&run->loop);
    if (rc)
        return rc;
    uv_timer_init(&run->loop, &run->grace);
    uv_timer_init(&run->loop, &run->timeout);
    uv_timer_init(&run->loop, &run->reminder);
    if (!run->wide)
        run_ask_start(run);
    rc = run_streams_start(run);
    uv_timer_init(&run->loop, &run->look);
    uv_timer_init(&run->loop, &run->foreign_look);
    run->grace.data = run->timeout.data = run->reminder.data = run->look.data = run;
    run->foreign_look.data = run;
    if (!rc)
        rc = signals_start(&run->signals, &run->loop, on_signal, run);
    if (!rc)
        rc = run_keepalive_start(run, on_signal);
    if (!rc)
        rc = stdio_create(&run->stdio, &run->loop, &cfg);
    if (!rc && plan->timeout_s > 0)
        uv_timer_start(&run->timeout, on_timeout, (uint64_t)(plan->timeout_s * 1000), LATE_MS);
    return rc;
}

/* Lines from before the ranks come out, unless the user does not want to wait. */
static void settle(struct run *run)
{
    while (!run->abandoned && !stdio_is_idle(run->stdio))
        uv_run(&run->loop, UV_RUN_ONCE);
    run->drained = !run->abandoned;
    if (run->drained)
        stdio_end(run->stdio);
}

static int finish(struct run *run)
{
    int code = run->job.exit_code;
    terminal_release();
    if (stdio_error(run->stdio))
        fprintf(stderr, "mpiexec: output was lost: %s\n", strerror(-stdio_error(run->stdio)));
    if (!code && (stdio_error(run->stdio) || stdio_has_lost(run->stdio)))
        code = EXIT_FAILED;
    if (run->wide)
        wide_end(run->wide);
    if (run->plan->report && run->has_table)
        run_print_report(run);
    if (run->plan->tells_codes)
        tell_codes(&run->ranks.table);
    if (run->plan->tells_times)
        fprintf(stderr, "mpiexec: %d ranks were started in %.3f s, and ran for %.3f s\n",
                run->plan->nranks, (double)(run->started_ns - run->begun_ns) / 1e9,
                (double)(os_now_ns() - run->started_ns) / 1e9);
    ranks_unguard(&run->ranks);
    fflush(NULL);
    if (!run->drained || run->is_telling)
        _exit(code ? code : 128 + SIGINT); /* a thread still writes to an output that is stuck */
    signals_stop(&run->signals);
    if (!run->wide)
        serve_stop(run->serve);
    if (run->wide)
        wide_close(run->wide);
    exchange_stop(&run->exchange);
    if (run->has_ask)
        ask_stop(&run->ask);
    uv_close((uv_handle_t *)&run->grace, NULL);
    uv_close((uv_handle_t *)&run->timeout, NULL);
    uv_close((uv_handle_t *)&run->reminder, NULL);
    uv_close((uv_handle_t *)&run->look, NULL);
    run_keepalive_stop(run);
    run_names_stop(run);
    run_spawn_stop(run);
    run_foreign_stop(run);
    ranks_unwatch_groups(&run->ranks);
    pipes_close(&run->pipes);
    stdio_destroy(run->stdio);
    aside_stop();
    uv_run(&run->loop, UV_RUN_DEFAULT);
    uv_loop_close(&run->loop);
    if (run->has_table)
        ranks_destroy(&run->ranks);
    if (!run->wide)
        serve_free(run->serve);
    wide_destroy(run->wide);
    free(run->is_over);
    free(run->processes);
    run_apps_free(run);
    free(run);
    return code;
}

/* Wait for the next event. When a rank has failed, its earlier output is read first. */
static void turn(struct run *run)
{
    uv_run(&run->loop, UV_RUN_ONCE);
    run_processes_publish(run);
    if (!run->last_words[0])
        return;
    uv_run(&run->loop, UV_RUN_NOWAIT);
    stdio_say(run->stdio, "%s\n", run->last_words);
    run->last_words[0] = 0;
}

/* The table of the ranks, and their folder. Returns 0, or -errno with the failed step. */
static int make_ranks(struct run *run, const char **step)
{
    int rc = create_ranks(run, step);
    if (!rc)
        rc = run_processes_begin(run);
    return rc ? rc : ranks_make_folder(&run->ranks, step);
}

/* The same, and the wardens. */
static int prepare_ranks(struct run *run, const struct run_job *what, const char **step)
{
    int rc = make_ranks(run, step);
    return rc ? rc : ranks_guard(&run->ranks, what->name, what->name_size, step);
}

/* Everything that is there before the first rank, or before the daemons. Returns as above. */
static int prepare_job(struct run *run, const struct run_job *what, const char **step)
{
    int rc = run->wide ? 0 : prepare_ranks(run, what, step);
    if (rc)
        return rc;
    *step = "start the event loop, by epoll_create1(), eventfd2() and pipe2()";
    rc = open_loop(run);
    if (!rc && !run->wide)
        rc = serve_start(&run->serve, &run->loop, NULL, NULL, &run->ranks);
    return rc;
}

/* Prepare the parts that need the daemons, which start their ranks while the wardens here come
 * up. */
static int prepare_wide(struct run *run, const struct run_job *what, const char **step)
{
    int rc = make_ranks(run, step);
    if (!rc) {
        *step = "send the job to the daemons";
        run_ask_start(run);
        rc = ask_reach(&run->ask, run_wide_ask, run);
    }
    if (!rc)
        rc = run_wide_send(run);
    run->serve = wide_serve(run->wide);
    if (rc == -EMSGSIZE)
        *step = "send the job to the daemons: arguments and environments are more than 256 MiB in "
                "all; pass less, as by -envlist";
    return rc ? rc : ranks_guard(&run->ranks, what->name, what->name_size, step);
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
    start_ranks(run);
    run->started_ns = os_now_ns();
    reap(run); /* a warden may have been killed before its end was listened for */
    while (!run->abandoned &&
           (run->job.state != JOB_ENDED || !run->drained || run->is_telling || run->spawned ||
            run_streams_linger(run)))
        turn(run);
    return finish(run);
}

/* Make a job without opening anything; find which of its ranks are elsewhere. */
static struct run *create(const struct plan *plan, const struct run_job *what)
{
    struct run *run = calloc(1, sizeof(*run));
    int rc = run ? 0 : -ENOMEM;
    if (!rc && what->wide->count > 1) {
        run->wide = wide_create(what->wide);
        run->is_over = calloc((size_t)plan->nranks, sizeof(*run->is_over));
        rc = run->wide && run->is_over ? 0 : -ENOMEM;
    }
    if (rc) {
        fprintf(stderr, "mpiexec: out of memory\n");
        free(run);
        return NULL;
    }
    run->plan = plan;
    run->paths = what->paths;
    run->amend = what->amend;
    run->debugger = what->debugger;
    run->records_fd = what->records_fd;
    run->begun_ns = os_now_ns();
    run->lost_node = -1;
    run->signal_rank = signal_rank;
    job_init(&run->job, plan->nranks);
    run->job.goes_on = plan->goes_on;
    run->job.is_strict = plan->is_strict;
    return run;
}

int run_job(const struct plan *plan, const struct run_job *what)
{
    struct run *run = create(plan, what);
    const char *step = "open /dev/null";
    if (!run)
        return EXIT_FAILED;
    (void)sweep_prepare(); /* without it, only the job's process groups are cleaned up */
    run->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int rc = run->null_fd < 0 ? -errno : run_apps_prepare(run);
    if (!rc)
        rc = prepare_job(run, what, &step);
    if (!rc && run->wide) {
        if (!run_wide_bring_up(run)) {
            settle(run);
            return finish(run);
        }
        rc = prepare_wide(run, what, &step);
    }
    if (!rc)
        return go(run);
    if (run->stdio)
        settle(run);
    rc = complain(step, rc);
    if (run->wide && wide_is_up(run->wide)) /* ranks may run elsewhere */
        wide_end(run->wide);
    ranks_unguard(&run->ranks);
    return rc;
}
