/* SPDX-License-Identifier: BSD-3-Clause */

/* mpiexec: start a parallel program, carry its streams, and end with it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/host/order.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/start_signals.h"
#include "bnr/options/options.h"
#include "bnr/stdio/forward.h"
#include "bnr/tools/attach_info.h"
#include "bnr/tools/complain.h"
#include "bnr/tools/placed.h"
#include "bnr/tools/programs.h"
#include "bnr/wide/survey.h"
#include "include/version.h"
#include "os/settings.h"

enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2
};

/* The settings of --set hold for mpiexec as for the ranks. Returns 0, or -errno with a sentence. */
static int load_settings(const struct options *o, char why[512])
{
    snprintf(why, 512, "out of memory");
    for (char **s = o->plan.settings; s && *s; s++)
        if (putenv(*s))
            return -ENOMEM;
    return os_settings_load(why, 512) ? -EINVAL : 0;
}

/* Show every setting, and which have another value than they begin with. */
static void show_settings(void)
{
    for (int i = 0; i < OS_SETTING_COUNT; i++) {
        const char *text = os_setting_text((enum os_setting_id)i);
        fprintf(stderr, "mpiexec: setting %s=%s%s\n", os_settings[i].name, text,
                strcmp(text, os_settings[i].initial) ? "" : " (default)");
    }
}

/* The number of processes follows from the processors of other hosts; arg: the survey. */
static int count_objects(void *arg, const struct options *o, uint64_t *count, char why[512])
{
    struct survey *survey = arg;
    int rc = load_settings(o, why);
    if (!rc)
        rc = placed_ask_hosts(survey, o, why);
    return rc ? rc : survey_objects(survey, &o->plan.hosts, o->plan.start.map, count, why);
}

static int run_programs(const struct options *o, struct survey *survey, int argc, char **argv)
{
    char **paths = calloc((size_t)o->plan.napps, sizeof(*paths));
    if (!paths)
        return 1;
    int code = programs_find(o, paths);
    if (!code)
        code = placed_run(o, paths, survey, argc, argv);
    for (int a = 0; a < o->plan.napps; a++)
        free(paths[a]);
    free(paths);
    return code;
}

/* Read a file in the place of stdin. */
static int use_stdin(const char *name)
{
    char why[PATH_MAX + 128];
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    int rc = name && (fd < 0 || dup2(fd, 0) < 0) ? -errno : 0;
    if (fd > 0)
        close(fd);
    if (!rc)
        return 0;
    snprintf(why, sizeof(why), "cannot read '%s' for --stdin: %s; name another file", name,
             strerror(-rc));
    complain(why);
    return rc;
}

/* Run this command line again, without -tv, under TotalView. Returns only if that is not
 * possible. */
static int run_under_totalview(int argc, char **argv)
{
    char own[PATH_MAX], path[PATH_MAX], why[512];
    char **words = calloc((size_t)argc + 4, sizeof(*words));
    ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
    int n = 0, code = words && len > 0 ? 0 : EXIT_FAILED;
    bool is_left_out = false;
    snprintf(why, sizeof(why), "cannot tell where mpiexec is; start totalview on it");
    if (!code)
        code = launch_resolve("totalview", NULL, getenv("PATH"), path, sizeof(path), why);
    if (!code) {
        own[len] = 0;
        words[n++] = "totalview";
        words[n++] = own;
        words[n++] = "-a";
        for (int i = 1; i < argc; i++)
            if (is_left_out || (strcmp(argv[i], "-tv") && strcmp(argv[i], "--tv")))
                words[n++] = argv[i];
            else
                is_left_out = true;
        execv(path, words);
        code = LAUNCH_NOT_EXECUTABLE;
        snprintf(why, sizeof(why), "cannot run '%.400s': %s", path, strerror(errno));
    }
    free(words);
    complain(why);
    return code;
}

static const char *variable(const char *name)
{
    return getenv(name);
}

/* Warn of two signs that the user wanted another job: hosts that nothing names, and another
 * launcher that has started several of mpiexec. A rank of this library's may well start a job of
 * its own, or spawn one. */
static void tell_doubts(const struct options *o)
{
    char why[512];
    if (o->doubt)
        fprintf(stderr, "mpiexec: %s\n", o->doubt);
    if (!getenv("BNR_RANK") && !getenv("BNR_NOTE") && single_is_first(variable) && single_is_doubtful(variable, why, sizeof(why)))
        fprintf(stderr,
                "mpiexec: %s, and each of them starts a job of its own; for one job start mpiexec once, "
                "without that\n",
                why);
}

static __attribute__((noinline)) int run_command(int argc, char **argv)
{
    struct options o;
    struct survey survey = {0};
    const struct options_ask ask = {count_objects, &survey};
    char why[512];
    int rc = options_parse_asking(&o, argc, argv, &ask, why), code = 0;
    if (rc) {
        complain(why);
        survey_fini(&survey);
        return rc == -ENOMEM ? EXIT_USAGE : placed_code(rc);
    }
    if (o.help)
        options_print_help(o.help, stdout);
    else if (o.version)
        printf("mpiexec (Vireo MPI) %s\n", VIREO_VERSION);
    else if (o.attaches)
        code = attach_info(o.attach_job, o.plan.json);
    else if (o.has_totalview)
        code = run_under_totalview(argc, argv);
    else if (load_settings(&o, why)) {
        complain(why);
        code = EXIT_USAGE;
    } else if (use_stdin(o.stdin_file))
        code = EXIT_USAGE;
    else {
        tell_doubts(&o);
        if (o.shows_settings)
            show_settings();
        code = run_programs(&o, &survey, argc, argv);
    }
    survey_fini(&survey);
    options_free(&o);
    return code;
}

int main(int argc, char **argv)
{
    char why[512];
    start_signals_take();
    stdio_guard();
    order_take_note();
    if (limit_raise_stack(why))
        return run_command(argc, argv);
    complain(why);
    return 1;
}
