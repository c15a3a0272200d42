/* SPDX-License-Identifier: BSD-3-Clause */

/* mpiexec: start a parallel program, carry its streams, and end with it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/host/order.h"
#include "bnr/io/amend.h"
#include "bnr/io/debugger.h"
#include "bnr/io/place.h"
#include "bnr/run/run.h"
#include "bnr/stdio/forward.h"
#include "bnr/io/tell.h"
#include "bnr/wide/survey.h"
#include "bnr/wide/wide_plan.h"
#include "bnr/launch/foreign.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/library.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/start_signals.h"
#include "bnr/tools/attach_info.h"
#include "bnr/options/options.h"
#include "include/version.h"
#include "os/log.h"
#include "os/settings.h"

extern char **environ;

enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_TIMEOUT = 124,
    PROCESSES_OWN = 5 /* the wardens, the program that writes a report, and two threads that write */
};

/* Tell why nothing is started; why may hold the user's own words. */
static void complain(char *why)
{
    os_one_line(why);
    fprintf(stderr, "mpiexec: %s\n", why);
}

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

/* Find every program before anything starts. Returns 0 or what to exit with. */
static int find_programs(const struct options *o, char **paths)
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

/* The bytes of the arguments, which lie one after the other. */
static size_t arguments_size(int argc, char **argv)
{
    char *end = argv[0];
    for (int i = 0; i < argc && argv[i] == end; i++)
        end += strlen(argv[i]) + 1;
    return (size_t)(end - argv[0]);
}

/* Whether ranks of some program have a socket for PMI-1. */
static bool needs_pmi(const struct options *o, char **paths)
{
    for (int a = 0; a < o->plan.napps; a++)
        if (!library_is_needed(paths[a]))
            return true;
    return false;
}

/* Ranks here, and other hosts. */
struct job_size {
    uint32_t ranks, others;
};

/* The loop's library ends the process where files run out: so they are counted before, for the ranks
 * here and the other hosts, and processes with them. */
static int check_limits(const struct options *o, char **paths, const struct job_size *size, char why[512])
{
    uint32_t ranks = size->ranks, others = size->others;
    int each = LIMIT_FILES_OF_RANK + (o->plan.start.stdin_to && strcmp(o->plan.start.stdin_to, "0")) + needs_pmi(o, paths);
    int files = LIMIT_FILES_OWN + each * (int)ranks + LIMIT_FILES_OF_HOST * (int)others;
    limit_remember();
    limit_raise();
    if (limit_check_files(files, why) || limit_check_processes(PROCESSES_OWN + (int)(ranks + others), why) ||
        outfile_prepare(&o->plan.files, why, 512))
        return EXIT_FAILED;
    if (ranks && limit_lacks_files((uint32_t)o->plan.nranks - ranks, why))
        complain(why);
    return 0;
}

/* Ranks here are to write this file, and others beside it. */
static int check_file(const char *name, const char *what, char why[512])
{
    struct stat st;
    char folder[PATH_MAX];
    if (!*name || *name != '/') /* nothing, or a word such as 1 */
        return 0;
    snprintf(folder, sizeof(folder), "%s", name);
    *(strrchr(folder, '/') + 1) = 0;
    bool is_there = !stat(name, &st);
    if (is_there && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (!access(folder, W_OK | X_OK) && (!is_there || !access(name, W_OK)))
        return 0;
    snprintf(why, 512, "cannot write the %s to '%.300s': %s; name a file in a folder that is there", what,
             name, strerror(errno));
    return EXIT_FAILED;
}

static int check_files(uint32_t ranks_here, char why[512])
{
    int code = ranks_here ? check_file(os_setting_text(OS_SETTING_TRACE), "trace", why) : 0;
    if (!code && ranks_here)
        code = check_file(os_setting_text(OS_SETTING_SUMMARY), "summary", why);
    return code;
}

/* Programs start on other hosts in a folder of the same name, so it needs to have one. */
static int check_here(const struct options *o, char why[512])
{
    char here[PATH_MAX];
    bool is_needed = false;
    for (int a = 0; a < o->plan.napps; a++)
        is_needed |= !o->plan.apps[a].wdir || *o->plan.apps[a].wdir != '/';
    if (!is_needed || getcwd(here, sizeof(here)))
        return 0;
    snprintf(why, 512, "cannot tell the name of the working folder: %s; enter one that exists, or say -wdir",
             strerror(errno));
    return -EINVAL;
}

/* The options of a job on several hosts have to go together, and to fit. */
static int check_several(const struct options *o, const struct wide_plan *plan, char why[512])
{
    const struct start_wish *wish = &o->plan.start;
    uint64_t slots = 0;
    for (size_t i = 0; i < o->plan.hosts.count; i++)
        slots += o->plan.hosts.items[i].slots;
    if (plan->count == 1)
        return 0;
    bool has_no_objects = (wish->is_spread && wish->map == PLACEMENT_SLOT) ||
                          (wish->is_spanning && wish->rank_by == PLACEMENT_SLOT);
    if (has_no_objects) {
        snprintf(why, 512,
                 "span deals ranks out to objects of all hosts in turn, and slots are none%s; say "
                 "which, as --map-by package:span, or leave it out",
                 wish->pe ? " (with pe=N ranks take cores slot by slot)" : "");
        return -EINVAL;
    }
    if (wish->is_limited && (uint64_t)o->plan.nranks > slots) {
        snprintf(why, 512,
                 "%d ranks, but the hosts have %u slots; leave out nooversubscribe, or name more "
                 "hosts",
                 o->plan.nranks, (unsigned)slots);
        return -EINVAL;
    }
    return check_here(o, why);
}

/* The numbers of the ranks that run here, to free(); NULL: all do. */
static uint32_t *own_ranks(const struct wide_plan *plan, uint32_t *count)
{
    uint32_t *numbers = plan->count > 1 ? calloc(plan->ranks, sizeof(*numbers)) : NULL;
    *count = numbers ? 0 : plan->ranks;
    for (uint32_t r = 0; numbers && r < plan->ranks; r++)
        if (!plan->node_of[r])
            numbers[(*count)++] = r;
    return numbers;
}

/* Show where the ranks are to run. */
static void show_plan(const struct options *o, const struct place *place,
                      const struct place_job *job, const struct wide_plan *plan)
{
    const struct placement_file *file = &o->plan.start.file;
    struct place_job shown = *job;
    shown.hosts = &o->plan.hosts;
    place_show(place, &shown, stderr);
    for (uint32_t node = 1; o->plan.start.shows_map && node < plan->count; node++)
        fprintf(stderr, "mpiexec: host %s: %u slots, %u ranks\n", plan->hosts[node]->name,
                plan->hosts[node]->slots, wide_plan_ranks_on(plan, node));
    if (!o->plan.start.is_dry || plan->count == 1)
        return;
    for (uint32_t r = 0; r < plan->ranks; r++) {
        const struct placement_line *line = r < file->room ? &file->lines[r] : NULL;
        uint32_t node = plan->node_of[r];
        if (!node)
            continue;
        if (plan->machines[node]) {
            place_show_rank(&(struct place_line){.number = r,
                                                 .host = plan->hosts[node]->name,
                                                 .machine = plan->machines[node],
                                                 .rank = &plan->placement.ranks[r]},
                            stderr);
            continue;
        }
        fprintf(stderr, "mpiexec: rank %u on %s", r, plan->hosts[node]->name);
        if (line)
            fprintf(stderr, " is to have cores %.*s", (int)line->cores_len, line->cores);
        fputc('\n', stderr);
    }
}

/* Go to the background: the process that was started ends well, and its terminal's keys are no
 * concern of this one. */
static int go_background(char why[512])
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid > 0)
        _exit(0);
    int null_fd = pid < 0 || !isatty(0) ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (pid < 0 || setsid() < 0 || (null_fd > 0 && dup2(null_fd, 0) < 0)) {
        snprintf(why, 512, "cannot go to the background: %s; leave --daemonize out",
                 strerror(errno));
        return EXIT_FAILED;
    }
    if (null_fd > 0)
        close(null_fd);
    return 0;
}

/* Do what the user wants before ranks start. */
static int begin(const struct options *o, char why[512])
{
    int code = o->is_background && !o->plan.start.is_dry ? go_background(why) : 0;
    if (!code && o->report_pid && tell_pid(o->report_pid, why))
        code = EXIT_FAILED;
    return code;
}

/* Run the job; if all output becomes XML, within an element. */
static int run_recorded(const struct options *o, struct run_job *job)
{
    char why[PATH_MAX + 128];
    if (!o->plan.xml)
        return run_job(&o->plan, job);
    int fd = o->xml_file ? open(o->xml_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : 1;
    if (fd < 0) {
        snprintf(why, sizeof(why), "cannot write '%s' for --xml-file: %s; name another file",
                 o->xml_file, strerror(errno));
        complain(why);
        return EXIT_FAILED;
    }
    job->records_fd = fd;
    bool is_written = dprintf(fd, "<mpirun>\n") > 0;
    int code = run_job(&o->plan, job);
    is_written &= dprintf(fd, "</mpirun>\n") > 0;
    if (is_written || errno == EPIPE)
        return code;
    fprintf(stderr, "mpiexec: output was lost: %s\n", strerror(errno));
    return code ? code : EXIT_FAILED;
}

/* Ask the hosts of the job for their processors. */
static int ask_hosts(struct survey *survey, const struct options *o, char why[512])
{
    return survey_make(survey,
                       &(struct survey_wish){.hosts = &o->plan.hosts,
                                             .start = &o->plan.start,
                                             .remote = plan_remote(&o->plan),
                                             .prefix = o->plan.remote.prefix,
                                             .timeout_s = o->plan.timeout_s},
                       why);
}

/* The number of processes follows from the processors of other hosts; arg: the survey. */
static int count_objects(void *arg, const struct options *o, uint64_t *count, char why[512])
{
    struct survey *survey = arg;
    int rc = load_settings(o, why);
    if (!rc)
        rc = ask_hosts(survey, o, why);
    return rc ? rc : survey_objects(survey, &o->plan.hosts, o->plan.start.map, count, why);
}

static int code_of(int rc)
{
    return !rc ? 0 : rc == -EINVAL ? EXIT_USAGE : rc == -ETIMEDOUT ? EXIT_TIMEOUT : EXIT_FAILED;
}

/* Work out which rank runs on which host. Returns 0, or what to exit with. */
static int plan_ranks(struct wide_plan *plan, const struct options *o, struct survey *survey,
                      char why[512])
{
    const struct wide_wish wide = {.hosts = &o->plan.hosts,
                                   .ranks = (uint32_t)o->plan.nranks,
                                   .per_host = (uint32_t)o->plan.remote.per_host,
                                   .start = &o->plan.start,
                                   .survey = survey};
    *plan = (struct wide_plan){0};
    int rc = 0;
    if (!survey->count && survey_is_needed(&o->plan.start, &o->plan.hosts))
        rc = ask_hosts(survey, o, why);
    if (!rc)
        rc = wide_plan(plan, &wide, why);
    return code_of(rc ? rc : check_several(o, plan, why));
}

/* Say where the ranks run, and run them there. */
static int run_placed(const struct options *o, char **paths, struct survey *survey, int argc,
                      char **argv)
{
    struct place place = {0};
    struct amend amend = {0};
    struct debugger debugger = {0};
    struct wide_plan plan;
    char why[512];
    struct start_wish wish = o->plan.start; /* of the ranks here */
    int code = plan_ranks(&plan, o, survey, why);
    wish.is_limited &= plan.count == 1;
    struct place_job job = {.wish = &wish, .hosts = plan.count > 1 ? NULL : &o->plan.hosts};
    uint32_t *numbers = code ? NULL : own_ranks(&plan, &job.ranks);
    job.number_of = numbers;
    if (!code && !o->plan.start.is_dry)
        code = check_limits(o, paths, &(struct job_size){job.ranks, plan.count - 1}, why);
    if (!code && !o->plan.start.is_dry)
        code = check_files(job.ranks, why);
    if (!code && place_make(&place, &job, why))
        code = EXIT_USAGE;
    if (!code)
        code = amend_prepare(&amend, &wish, &place, why);
    if (!code && o->debugger)
        code = debugger_prepare(&debugger, o->debugger, why);
    if (!code)
        code = begin(o, why);
    if (code)
        complain(why);
    else
        show_plan(o, &place, &job, &plan);
    if (!code && !o->plan.start.is_dry)
        code = run_recorded(o, &(struct run_job){.paths = paths,
                                                 .wide = &plan,
                                                 .amend = &amend,
                                                 .debugger = o->debugger ? &debugger : NULL,
                                                 .name = argv[0],
                                                 .name_size = arguments_size(argc, argv)});
    wide_plan_fini(&plan);
    amend_fini(&amend);
    debugger_fini(&debugger);
    place_fini(&place);
    free(numbers);
    return code;
}

static int run_programs(const struct options *o, struct survey *survey, int argc, char **argv)
{
    char **paths = calloc((size_t)o->plan.napps, sizeof(*paths));
    if (!paths)
        return 1;
    int code = find_programs(o, paths);
    if (!code)
        code = run_placed(o, paths, survey, argc, argv);
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
        return rc == -ENOMEM ? EXIT_USAGE : code_of(rc);
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
