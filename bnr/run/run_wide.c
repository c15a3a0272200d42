/* SPDX-License-Identifier: BSD-3-Clause */

/* The part of a job that is on other machines; see run_state.h. What its daemons tell becomes
 * events of the job. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/io/amend.h"
#include "bnr/io/resources.h"
#include "bnr/run/run.h"
#include "bnr/run/run_state.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/core/bytes.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_plan.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/remote.h"
#include "bnr/launch/start_signals.h"
#include "bnr/launch/warden.h"
#include "bnr/stdio/terminal.h"
#include "bnr/wire/launch_message.h"
#include "bnr/plan/plan.h"
#include "os/log.h"
#include "os/settings.h"

enum {
    EXIT_FAILED = 1
};

static void wide_say(void *arg, const char *text)
{
    struct run *run = arg;
    progress_clear(&run->progress);
    stdio_say(run->stdio, "mpiexec: %s\n", text);
}

static void wide_ready(void *arg, bool is_good)
{
    struct run *run = arg;
    if (run->is_ready) /* a signal, or --timeout, has ended the job before */
        return;
    run->is_ready = true;
    run->is_good = is_good;
}

static void wide_started(void *arg, int rank, int pid)
{
    struct run *run = arg;
    if (run->plan->verbose)
        stdio_say(run->stdio, "mpiexec: rank %d is %s, pid %d on %s\n", rank,
                  run->plan->apps[run->ranks.table.rank[rank].app].argv[0], pid,
                  run_host_of(run, rank));
    run_processes_note(run, rank);
}

static void wide_failed(void *arg, int rank, int code, const char *why)
{
    struct run *run = arg;
    stdio_say(run->stdio, "mpiexec: cannot start rank %d (%s) on %s: %s\n", rank,
              run->plan->apps[run->ranks.table.rank[rank].app].argv[0], run_host_of(run, rank), why);
    run_follow(run, job_end(&run->job, JOB_BROKEN, code));
}

bool run_some_tolerate(const struct run *run)
{
    return ranks_some_tolerate(&run->ranks) || (run->wide && wide_some_tolerate(run->wide));
}

/* A rank on another machine has ended, or was lost. */
static void wide_ended(void *arg, int rank, const struct rollup_run *end)
{
    struct run *run = arg;
    struct job_facts facts = {.status = (int)end->status,
                              .initialized = (end->flags & ROLLUP_INITIALIZED) != 0,
                              .finalized = (end->flags & ROLLUP_FINALIZED) != 0,
                              .aborted = (end->flags & ROLLUP_ABORTED) != 0,
                              .tolerant = (end->flags & ROLLUP_TOLERANT) != 0};
    if (run->is_over[rank])
        return;
    if (facts.aborted) {
        facts.abort_code = (int)end->status;
        facts.status = 0;
    }
    if (end->flags & ROLLUP_NODE_LOST) { /* nobody knows what it had asked for: some rank has, or not */
        facts.status = SIGKILL;
        facts.tolerant = run->has_tolerated || run_some_tolerate(run);
    }
    run_take_end(run, rank, &facts);
}

/* A rank has ended without MPI_Init, somewhere, and others wait for it. */
static void wide_missed(void *arg, int rank)
{
    struct run *run = arg;
    if (run->job.state == JOB_RUNNING)
        run_take_missed(run, rank);
}

/* A host is lost: its ranks write no more, and those that have not begun to never will. */
static void wide_lost(void *arg, uint32_t node)
{
    struct run *run = arg;
    uint64_t pipes = exchange_party(node, EXCHANGE_RANKS);
    const struct wide_plan *plan = wide_get_plan(run->wide);
    run->lost_node = (int)node;
    for (int r = 0; r < run->plan->nranks; r++)
        for (int fd = 1; fd < 3 && plan->node_of[r] == node; fd++)
            exchange_say(&run->exchange, pipes,
                         &(struct hub_message){.kind = HUB_PUBLISH,
                                               .id = UINT32_MAX - 2 * (uint32_t)r - (uint32_t)fd,
                                               .rank = r,
                                               .tag = fd});
    exchange_node_lost(&run->exchange, node);
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
    if (run->has_table)
        ranks_signal(&run->ranks, SIGKILL);
    run->is_ready = run->abandoned = true;
}

static void wide_answer(void *arg, int rank, struct unpacking u)
{
    struct run *run = arg;
    struct ask_far answer = {.number = unpack_u32(&u)};
    answer.state = (enum diagnose_state)unpack_u32(&u);
    answer.pid = (int)unpack_u32(&u);
    answer.text = (char *)u.at;
    answer.len = u.left;
    bool is_known = answer.state == DIAGNOSE_ANSWERED || answer.state == DIAGNOSE_SILENT ||
                    answer.state == DIAGNOSE_LATE || answer.state == DIAGNOSE_NOT_INIT || answer.state == DIAGNOSE_FINALIZED ||
                    answer.state == DIAGNOSE_ENDED;
    if (!u.failed && is_known && run->has_ask)
        ask_take(&run->ask, rank, &answer);
}

void run_wide_ask(void *arg, uint32_t number)
{
    struct run *run = arg;
    wide_ask(run->wide, number);
}

/* Wait until all daemons are there, or it is known that they will not be. */
static void wait_for_daemons(struct run *run)
{
    progress_init(&run->progress, run->plan->shows_progress);
    while (!run->is_ready) {
        if (run->progress.is_on && stdio_is_idle(run->stdio)) /* not over pending output */
            progress_show(&run->progress, wide_up_count(run->wide), wide_get_plan(run->wide)->count);
        uv_run(&run->loop, UV_RUN_ONCE);
    }
    progress_clear(&run->progress);
}

bool run_wide_bring_up(struct run *run)
{
    const struct wide_hooks hooks = {wide_say,   wide_ready,  wide_started, wide_failed,
                                     wide_ended, wide_missed, wide_lost,    wide_broken,
                                     wide_answer, run_names_answer, run_streams_far, run};
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
    if (run->is_good)
        run->job.exit_code = 0;
    return run->is_good && !wide_list_hosts(run->wide);
}

/* The programs, as daemons are told of them. */
static struct launch_app *describe_apps(struct run *run)
{
    struct launch_app *apps = calloc((size_t)run->plan->napps, sizeof(*apps));
    char here[PATH_MAX];
    if (!getcwd(here, sizeof(here))) /* then all programs have working folders of their own */
        strcpy(here, "/");
    for (int a = 0; apps && a < run->plan->napps; a++) {
        const struct plan_app *app = &run->plan->apps[a];
        char *wdir = NULL;
        if (app->wdir && *app->wdir == '/')
            wdir = strdup(app->wdir);
        else if (asprintf(&wdir, app->wdir ? "%s/%s" : "%s", here, app->wdir) < 0)
            wdir = NULL;
        apps[a] = (struct launch_app){.name = app->argv[0],
                                .wdir = wdir,
                                .path = (char *)app->path,
                                .in_session = run->apps[a].in_session,
                                .argv = (char **)app->argv,
                                .environment = run->apps[a].environment};
    }
    return apps;
}

int run_wide_send(struct run *run)
{
    const struct plan *plan = run->plan;
    const char *outer = getenv("BNR_JOB");
    struct winsize size = terminal_size();
    mode_t mask = umask(0);
    umask(mask);
    struct launch_message job = {
        .world_size = (uint32_t)plan->nranks,
        .app_count = (uint32_t)plan->napps,
        .universe_size = (uint32_t)(plan->universe_size ? plan->universe_size : plan->nranks),
        .umask = mask,
        .hold_ms = (uint32_t)os_setting(OS_SETTING_KILL_AFTER_MS),
        .flags = (plan->merge ? LAUNCH_MERGE : 0) | (plan->report ? LAUNCH_REPORT : 0) |
                 (run->holds ? LAUNCH_HOLD : 0),
        .outer = (char *)(outer && warden_is_list(outer) ? outer : ""),
        .wish = plan->start,
        .apps = describe_apps(run),
        .app_of = calloc((size_t)plan->nranks, sizeof(*job.app_of))};
    int rc = job.apps && job.app_of ? 0 : -ENOMEM;
    for (int a = 0; !rc && a < plan->napps; a++)
        rc = job.apps[a].wdir ? 0 : -ENOMEM;
    resources_get(job.limits);
    job.blocked = start_signals_get().blocked;
    job.ignored = start_signals_get().ignored;
    job.wish.rows = size.ws_row;
    job.wish.columns = size.ws_col;
    if (job.wish.map == PLACEMENT_NODE) /* each host has its ranks by now */
        job.wish.map = PLACEMENT_SLOT;
    for (int r = 0; !rc && r < plan->nranks; r++)
        job.app_of[r] = run->ranks.table.rank[r].app;
    if (!rc)
        rc = wide_launch(run->wide, &job, &run->ranks);
    for (int a = 0; job.apps && a < plan->napps; a++)
        free(job.apps[a].wdir);
    free(job.apps);
    free(job.app_of);
    return rc;
}
