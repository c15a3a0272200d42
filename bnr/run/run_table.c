/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a job, and the table of its ranks; see run_table.h. */
#include "bnr/run/run_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/io/ranks.h"
#include "bnr/launch/library.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/wide_job.h"
#include "os/cpu/cpus.h"

extern char **environ;

/* Its environment, in which it finds its library. */
static int prepare_environment(const struct plan *plan, const struct plan_app *app,
                               struct ranks_app *start)
{
    start->environment = plan_environ(plan, app, environ, NULL);
    if (!start->environment)
        return -ENOMEM;
    int rc = library_settings(start->path, start->environment, start->library);
    if (rc || !start->library[0])
        return rc;
    free(start->environment);
    start->environment = plan_environ(plan, app, environ, start->library);
    return start->environment ? 0 : -ENOMEM;
}

int run_table_prepare(struct run *run)
{
    const struct plan *plan = run->plan;
    run->ranks = calloc(1, sizeof(*run->ranks));
    if (!run->ranks)
        return -ENOMEM;
    run->apps = calloc((size_t)plan->napps, sizeof(*run->apps));
    for (int a = 0; run->apps && a < plan->napps; a++) {
        const struct plan_app *app = &plan->apps[a];
        run->apps[a] = (struct ranks_app){.path = run->paths[a],
                                          .argv = app->argv,
                                          .wdir = app->wdir,
                                          .has_pmi = !library_is_needed(run->paths[a]),
                                          .in_session = app->in_session && !app->wdir};
        int rc = prepare_environment(plan, app, &run->apps[a]);
        if (rc)
            return rc;
    }
    return run->apps ? 0 : -ENOMEM;
}

int run_table_set(struct run *run, char *variable)
{
    size_t len = strcspn(variable, "=") + 1;
    for (int a = 0; a < run->plan->napps; a++) {
        char **list = run->apps[a].environment;
        size_t n = 0;
        while (list[n] && strncmp(list[n], variable, len))
            n++;
        if (list[n])
            continue;
        list = realloc(list, (n + 2) * sizeof(*list));
        if (!list)
            return -ENOMEM;
        list[n] = variable;
        list[n + 1] = NULL;
        run->apps[a].environment = list;
    }
    return 0;
}

/* By rank, which program it runs; NULL: no memory. */
static int *list_apps(const struct plan *plan)
{
    int *apps = malloc(sizeof(*apps) * (size_t)plan->nranks), r = 0;
    for (int a = 0; apps && a < plan->napps; a++)
        for (int i = 0; i < plan->apps[a].count; i++)
            apps[r++] = a;
    return apps;
}

int run_table_make(struct run *run, const struct ranks_hooks *hooks, const char **step)
{
    const struct plan *plan = run->plan;
    int *apps = list_apps(plan);
    *step = "remember the programs";
    if (!apps)
        return -ENOMEM;
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
    int rc = ranks_create(run->ranks, &spec, hooks, step);
    run->has_table = !rc;
    free(apps);
    run->ranks->apps = run->apps;
    return rc;
}

const struct table *run_table(const struct run *run)
{
    return &run->ranks->table;
}

const char *run_table_program(const struct run *run, int rank)
{
    return run->plan->apps[run->ranks->table.rank[rank].app].argv[0];
}

void run_table_free(struct run *run)
{
    if (run->has_table)
        ranks_destroy(run->ranks);
    for (int a = 0; run->apps && a < run->plan->napps; a++) {
        free(run->apps[a].environment);
        library_settings_free(run->apps[a].library);
    }
    free(run->apps);
    free(run->ranks);
}
