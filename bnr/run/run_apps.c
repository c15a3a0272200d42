/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a job, as the ranks here start them. */
#include <errno.h>
#include <stdlib.h>

#include "bnr/launch/library.h"
#include "bnr/run/run_state.h"
#include "bnr/plan/plan.h"

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

int run_apps_prepare(struct run *run)
{
    const struct plan *plan = run->plan;
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

void run_apps_free(struct run *run)
{
    for (int a = 0; run->apps && a < run->plan->napps; a++) {
        free(run->apps[a].environment);
        library_settings_free(run->apps[a].library);
    }
    free(run->apps);
}
