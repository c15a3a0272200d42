/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a job, on this host; see programs.h. */
#include "bnr/tools/programs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/launch/foreign.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/library.h"
#include "bnr/options/options.h"
#include "bnr/tools/complain.h"
#include "os/log.h"

extern char **environ;

enum {
    EXIT_USAGE = 2
};

static int check_folder(const char *wdir)
{
    if (!wdir || !access(wdir, X_OK))
        return 0;
    char why[512];
    snprintf(why, sizeof(why), "cannot enter the working folder '%.300s': %s", wdir,
             strerror(errno));
    complain(why);
    return EXIT_USAGE;
}

/* The same path, whatever the working folder; symbolic links stay as they are. */
static char *absolute(const char *path)
{
    char here[PATH_MAX], *all = NULL;
    if (*path == '/')
        return strdup(path);
    return getcwd(here, sizeof(here)) && asprintf(&all, "%s/%s", here, path) > 0 ? all : NULL;
}

/* Several processes of a program of another MPI library would each be alone. */
static int check_library(const struct options *o, const char *path)
{
    char why[512], library[64];
    if (o->plan.nranks == 1 || !path || !foreign_library(path, library, sizeof(library)))
        return 0;
    snprintf(why, sizeof(why),
             "'%.200s' is built with another MPI library (%s), with which each process would be "
             "rank 0 of 1: it does not speak PMI-1, as MPICH does; start it with Open MPI's mpirun, or build it with "
             "this library's mpicc",
             path, library);
    complain(why);
    return LAUNCH_NOT_EXECUTABLE;
}

/* Tell which variables that -x and -envlist name do not exist. */
static void tell_unset(char *const *names, char *const *env)
{
    for (; names && *names; names++)
        if (!launch_variable(env, *names) && !strchr(*names, '*'))
            fprintf(stderr, "mpiexec: there is no variable '%s' to pass on\n", *names);
}

/* In the folders of --path, then in those of PATH. */
static int find_program(const struct plan_app *app, const char *search, char path[PATH_MAX],
                        char why[512])
{
    int rc = launch_seek(app->argv[0], app->wdir, app->path, search, path, why);
    if (rc == LAUNCH_NOT_FOUND && app->behind)
        snprintf(why, 512,
                 "there is no program '%.64s' on %.64s; a value of %.64s stands behind '=', as in "
                 "%.64s=%.64s",
                 app->argv[0], os_host_name(), app->behind, app->behind, app->argv[0]);
    return rc;
}

/* Whether no rank runs on this host: then the programs need not be here. */
static bool is_all_elsewhere(const struct options *o)
{
    for (size_t i = 0; i < o->plan.hosts.count; i++)
        if (o->plan.hosts.items[i].is_here)
            return false;
    return o->plan.hosts.count > 0;
}

int programs_find(const struct options *o, char **paths)
{
    if (is_all_elsewhere(o)) {
        for (int a = 0; a < o->plan.napps; a++)
            if (!(paths[a] = strdup(o->plan.apps[a].argv[0])))
                return 1;
        return 0;
    }
    char why[512], path[PATH_MAX];
    for (int a = 0; a < o->plan.napps; a++) {
        const struct plan_app *app = &o->plan.apps[a];
        int rc = check_folder(app->wdir);
        if (rc)
            return rc;
        char **env = plan_environ(&o->plan, app, environ, NULL);
        if (!env)
            return 1;
        tell_unset(app->env.list, env);
        rc = find_program(app, launch_variable(env, "PATH"), path, why);
        free(env);
        if (rc) {
            complain(why);
            return rc;
        }
        paths[a] = app->wdir || app->in_session ? absolute(path) : strdup(path);
        if (!paths[a])
            fprintf(stderr, "mpiexec: cannot tell where '%s' is: %s; enter a folder that exists, or give "
                            "the whole path\n", path, strerror(errno));
        rc = paths[a] ? check_library(o, paths[a]) : 1;
        if (rc)
            return rc;
    }
    return 0;
}

bool programs_need_pmi(const struct options *o, char *const *paths)
{
    for (int a = 0; a < o->plan.napps; a++)
        if (!library_is_needed(paths[a]))
            return true;
    return false;
}
