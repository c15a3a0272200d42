/* SPDX-License-Identifier: BSD-3-Clause */

/* A job as options describe it, placed and run; see placed.h. */
#include "bnr/tools/placed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/io/amend.h"
#include "bnr/io/debugger.h"
#include "bnr/io/place.h"
#include "bnr/io/tell.h"
#include "bnr/launch/limit.h"
#include "bnr/options/options.h"
#include "bnr/run/run.h"
#include "bnr/tools/complain.h"
#include "bnr/tools/programs.h"
#include "bnr/wide/survey.h"
#include "bnr/wide/wide_plan.h"
#include "os/settings.h"

enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_TIMEOUT = 124,
    PROCESSES_OWN = 5 /* the wardens, the program that writes a report, and two threads that write */
};

/* The bytes of the arguments, which lie one after the other. */
static size_t arguments_size(int argc, char **argv)
{
    char *end = argv[0];
    for (int i = 0; i < argc && argv[i] == end; i++)
        end += strlen(argv[i]) + 1;
    return (size_t)(end - argv[0]);
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
    int each = LIMIT_FILES_OF_RANK + (o->plan.start.stdin_to && strcmp(o->plan.start.stdin_to, "0")) + programs_need_pmi(o, paths);
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

int placed_ask_hosts(struct survey *survey, const struct options *o, char why[512])
{
    return survey_make(survey,
                       &(struct survey_wish){.hosts = &o->plan.hosts,
                                             .start = &o->plan.start,
                                             .remote = plan_remote(&o->plan),
                                             .prefix = o->plan.remote.prefix,
                                             .timeout_s = o->plan.timeout_s},
                       why);
}

int placed_code(int rc)
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
        rc = placed_ask_hosts(survey, o, why);
    if (!rc)
        rc = wide_plan(plan, &wide, why);
    return placed_code(rc ? rc : check_several(o, plan, why));
}

int placed_run(const struct options *o, char **paths, struct survey *survey, int argc,
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
