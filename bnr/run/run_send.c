/* SPDX-License-Identifier: BSD-3-Clause */

/* The job as its daemons get it; see run_send.h. */
#include "bnr/run/run_send.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/io/ranks.h"
#include "bnr/io/resources.h"
#include "bnr/launch/start_signals.h"
#include "bnr/launch/warden.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/stdio/terminal.h"
#include "bnr/wide/wide_job.h"
#include "bnr/wire/launch_message.h"
#include "os/settings.h"

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

int run_send_job(struct run *run)
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
        job.app_of[r] = run->ranks->table.rank[r].app;
    if (!rc)
        rc = wide_launch(run->wide, &job, run->ranks);
    run->serve = wide_serve(run->wide);
    for (int a = 0; job.apps && a < plan->napps; a++)
        free(job.apps[a].wdir);
    free(job.apps);
    free(job.app_of);
    return rc;
}
