/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a job, as the ranks here start them. */
#include <errno.h>
#include <stdlib.h>

#include "bnr/launch/library.h"
#include "bnr/run/run_state.h"
#include "bnr/tools/options.h"

extern char **environ;

/* Its environment, in which it finds its library. */
static int prepare_environment(const struct options *o, const struct option_app *app,
                               struct ranks_app *start)
{
    start->environment = options_environ(o, app, environ, NULL);
    if (!start->environment)
        return -ENOMEM;
    int rc = library_settings(start->path, start->environment, start->library);
    if (rc || !start->library[0])
        return rc;
    free(start->environment);
    start->environment = options_environ(o, app, environ, start->library);
    return start->environment ? 0 : -ENOMEM;
}

int run_apps_prepare(struct run *run)
{
    const struct options *o = run->o;
    run->apps = calloc((size_t)o->napps, sizeof(*run->apps));
    for (int a = 0; run->apps && a < o->napps; a++) {
        const struct option_app *app = &o->apps[a];
        run->apps[a] = (struct ranks_app){.path = run->paths[a],
                                          .argv = app->argv,
                                          .wdir = app->wdir,
                                          .has_pmi = !library_is_needed(run->paths[a]),
                                          .in_session = app->in_session && !app->wdir};
        int rc = prepare_environment(o, app, &run->apps[a]);
        if (rc)
            return rc;
    }
    return run->apps ? 0 : -ENOMEM;
}

void run_apps_free(struct run *run)
{
    for (int a = 0; run->apps && a < run->o->napps; a++) {
        free(run->apps[a].environment);
        library_settings_free(run->apps[a].library);
    }
    free(run->apps);
}
