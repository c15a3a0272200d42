/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a job, on this host; see programs.h. */
#include "bnr/tools/programs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The file of a program, to free(). */
static int take_path(const struct options *o, const struct plan_app *app, char **to)
{
    char why[512], path[PATH_MAX];
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
    *to = app->wdir || app->in_session ? absolute(path) : strdup(path);
    if (!*to)
        fprintf(stderr, "mpiexec: cannot tell where '%s' is: %s; enter a folder that exists, or give "
                        "the whole path\n", path, strerror(errno));
    return *to ? 0 : 1;
}

/* A program of ranks elsewhere keeps its name. But most clusters have the same files on all hosts, so the one here is
 * looked at, if there is one: a job that cannot be is refused before anything starts. Daemons look at theirs. */
static int take_name(const struct plan_app *app, char **to, char **here)
{
    char why[512], path[PATH_MAX];
    *to = strdup(app->argv[0]);
    *here = find_program(app, getenv("PATH"), path, why) ? NULL : strdup(path);
    return *to ? 0 : 1;
}

/* Check that the libraries of these files (NULL: not known) fit into one job. Returns 0 or an exit code. */
static int check_libraries(const struct options *o, char *const *files)
{
    struct library_use use = {NULL, NULL};
    char why[512];
    int rc = 0;
    for (int a = 0; a < o->plan.napps && !rc; a++)
        rc = files[a] ? library_check(&use, files[a], o->plan.nranks, why) : 0;
    if (rc)
        complain(why);
    return rc;
}

static int find_elsewhere(const struct options *o, char **paths)
{
    char **here = calloc((size_t)o->plan.napps, sizeof(*here));
    int rc = here ? 0 : 1;
    for (int a = 0; a < o->plan.napps && !rc; a++)
        rc = take_name(&o->plan.apps[a], &paths[a], &here[a]);
    rc = rc ? rc : check_libraries(o, here);
    for (int a = 0; here && a < o->plan.napps; a++)
        free(here[a]);
    free(here);
    return rc;
}

int programs_find(const struct options *o, char **paths)
{
    int rc = 0;
    if (is_all_elsewhere(o))
        return find_elsewhere(o, paths);
    for (int a = 0; a < o->plan.napps && !rc; a++)
        rc = take_path(o, &o->plan.apps[a], &paths[a]);
    return rc ? rc : check_libraries(o, paths);
}

bool programs_need_pmi(const struct options *o, char *const *paths)
{
    for (int a = 0; a < o->plan.napps; a++)
        if (!library_is_needed(paths[a]))
            return true;
    return false;
}
