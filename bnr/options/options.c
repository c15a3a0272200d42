/* SPDX-License-Identifier: BSD-3-Clause */

/* Parsing mpiexec's command line by the table of options; see options.h. */
#include "bnr/options/options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <strings.h>
#include <time.h>

#include "bnr/options/option_reader.h"
#include "bnr/options/option_table.h"
#include "os/cpu/cpus.h"
#include "os/settings.h"

enum {
    UNIVERSE_SYSTEM = -1, /* as many as there are processors */
    PSET_LEN_MAX = 255
};

static int parse_seconds(struct reader *r, const char *option, const char *text, double *value)
{
    char *end;
    double v = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || *end || !(v >= 0 && v <= 1e9))
        return reader_refuse(r, "'%s' takes a number of seconds, not '%s'", option, text);
    *value = v;
    return 0;
}

static int add_setting(struct reader *r, const char *option, const char *text)
{
    char name[64], why[256], *line;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof(name))
        return reader_refuse(r, "'%s' takes NAME=VALUE, not '%s'; --help=settings lists the names",
                             option, text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    if (os_setting_check(name, equals + 1, why, sizeof(why)))
        return reader_refuse(r, "%s", why);
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return asprintf(&line, "VIREO_%s=%s", name, equals + 1) < 0
               ? -ENOMEM
               : reader_push(&r->o->plan.settings, line);
}

/* A file that ranks write, wherever they run. */
static int set_file(struct reader *r, const char *setting, const char *name)
{
    char folder[PATH_MAX] = "", *line;
    if (!*name)
        return reader_refuse(r, "the file's name is empty");
    if (*name != '/' && !getcwd(folder, sizeof(folder) - 1))
        return reader_refuse(r, "the folder of %s is gone: give the whole path", name);
    if (*folder)
        strcat(folder, "/");
    return asprintf(&line, "VIREO_%s=%s%s", setting, folder, name) < 0
               ? -ENOMEM
               : reader_push(&r->o->plan.settings, line);
}

/* Make a setting of the program's: what the standard has an option for. */
static int set_own(struct reader *r, const char *setting, const char *value)
{
    char *line;
    return asprintf(&line, "VIREO_%s=%s", setting, value) < 0 ? -ENOMEM
                                                              : reader_push(&r->app.env.set, line);
}

static int set_on_failure(struct reader *r, const char *option, const char *what)
{
    bool notifies = !strcmp(what, "notify");
    if (!notifies && strcmp(what, "abort") != 0)
        return reader_refuse(r, "'%s' takes abort or notify, not '%s'", option, what);
    r->o->plan.goes_on = notifies;
    r->o->plan.is_strict = !notifies;
    return 0;
}

static int set_errhandler(struct reader *r, const char *option, const char *name)
{
    static const char prefix[] = "mpi_errors_";
    size_t skip = sizeof(prefix) - 1;
    if (strncasecmp(name, prefix, skip) ||
        os_setting_check("initial_errhandler", name + skip, NULL, 0))
        return reader_refuse(
            r,
            "'%s' takes mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, "
            "not '%s'",
            option, name);
    return set_own(r, "INITIAL_ERRHANDLER", name + skip);
}

/* A name that no other set has, and that fits into the list of names. */
static int set_pset(struct reader *r, const char *option, const char *name)
{
    if (!*name || strlen(name) > PSET_LEN_MAX || strpbrk(name, ", \t\n") ||
        !strncasecmp(name, "mpi://", 6) || !strncasecmp(name, "vireo://", 8))
        return reader_refuse(r,
                             "'%s' takes a name without blanks and commas, of at most %d bytes, that "
                             "does not begin with mpi:// or vireo://, not '%s'",
                             option, PSET_LEN_MAX, name);
    for (int i = 0; i < r->o->plan.napps; i++)
        if (r->o->plan.apps[i].pset && !strcmp(r->o->plan.apps[i].pset, name))
            return reader_refuse(r, "'%s %s': another program's processes have that name already",
                                 option, name);
    r->app.pset = name;
    return 0;
}

/* Tell the processes the names of all sets. */
static int settle_psets(struct options *o)
{
    char *text = NULL;
    size_t len;
    bool has_some = false;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return -ENOMEM;
    fprintf(to, "VIREO_PSETS=");
    for (int i = 0; i < o->plan.napps; i++) {
        fprintf(to, "%s%s", i ? "," : "", o->plan.apps[i].pset ? o->plan.apps[i].pset : "");
        has_some |= o->plan.apps[i].pset != NULL;
    }
    if (!fclose(to) && has_some)
        return reader_push(&o->plan.settings, text);
    free(text);
    return has_some ? -ENOMEM : 0;
}

/* "kind[:restrictor]...,...": names, some known to the library; or nothing. */
static int set_memory(struct reader *r, const char *option, const char *kinds)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const char *at = kinds;
    for (size_t n; *kinds; at++) {
        n = strspn(at, letters);
        at += n;
        if (!n || (*at && *at != ',' && *at != ':'))
            return reader_refuse(
                r,
                "'%s' takes kinds of memory separated by commas, such as mpi,system or "
                "mpi:alloc_mem, not '%s'",
                option, kinds);
        if (!*at)
            break;
    }
    return set_own(r, "MEMORY_ALLOC_KINDS", kinds);
}

static int parse_universe(struct reader *r, const char *option, const char *text)
{
    int *size = &r->o->plan.universe_size;
    if (!strcasecmp(text, "system"))
        *size = UNIVERSE_SYSTEM;
    else if (!strcasecmp(text, "infinite"))
        *size = READER_MAX;
    else
        return reader_number(r, option, text, 1, size);
    return 0;
}

static int set_gpus(struct reader *r, const char *option, const char *text)
{
    struct start_wish *wish = &r->o->plan.start;
    int number = 0;
    wish->limits_gpus = strcasecmp(text, "auto") != 0;
    int rc = wish->limits_gpus ? reader_number(r, option, text, 0, &number) : 0;
    wish->gpus = (uint32_t)number;
    return rc;
}

/* Have programs run by a command. A path from here stays that, wherever ranks start. */
static int set_agent(struct reader *r, const char *option, const char *command)
{
    char here[PATH_MAX], *text = NULL;
    command += strspn(command, " ");
    if (!*command || *command == '-')
        return reader_refuse(r, "'%s' needs the name of a program", option);
    r->o->plan.start.agent = command;
    if (*command == '/' || !memchr(command, '/', strcspn(command, " ")))
        return 0;
    if (!getcwd(here, sizeof(here)))
        return reader_refuse(r, "the folder of '%s' is gone: give the whole path", command);
    if (asprintf(&text, "%s/%s", here, command) < 0)
        return -ENOMEM;
    r->o->plan.start.agent = text;
    return reader_push(&r->o->words, text);
}

/* Whether the end of what a descriptor reads can be waited for: not of a file. */
static bool can_wait(int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC);
    bool can = set < 0 || !epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) || errno != EPERM;
    if (set >= 0)
        close(set);
    return can;
}

/* A descriptor, open in mpiexec, at whose end the job ends. */
static int set_keepalive(struct reader *r, const char *option, const char *text)
{
    int fd = 0, rc = reader_number(r, option, text, 0, &fd);
    if (rc)
        return rc;
    if (fcntl(fd, F_GETFD) < 0)
        return reader_refuse(r, "'%s %s': no such descriptor is open", option, text);
    if (!can_wait(fd))
        return reader_refuse(r, "'%s %s' has no end to wait for; give it a pipe or a socket", option, text);
    r->o->plan.has_keepalive = true;
    r->o->plan.keepalive_fd = fd;
    return 0;
}

static int choose_help(struct reader *r, const char *option, const char *topic)
{
    r->o->help = OPTIONS_HELP_TEXT;
    if (topic && !strcmp(topic, "all"))
        r->o->help = OPTIONS_HELP_ALL;
    else if (topic && !strcmp(topic, "man"))
        r->o->help = OPTIONS_HELP_MAN;
    else if (topic && !strcmp(topic, "settings"))
        r->o->help = OPTIONS_HELP_SETTINGS;
    else if (topic && !strcmp(topic, "table"))
        r->o->help = OPTIONS_HELP_TABLE;
    else if (topic)
        return reader_refuse(r, "'%s' knows all, man and settings, not '%s'", option, topic);
    return 0;
}

static int choose_xml(struct options *o, const char *file)
{
    o->plan.xml = true;
    o->xml_file = file ? file : o->xml_file;
    return 0;
}

static int choose_debugger(struct reader *r, const char *option, const char *name)
{
    if (strcmp(name, "gdb") && strcmp(name, "lldb"))
        return reader_refuse(r, "'%s' knows gdb and lldb, not '%s'; other debuggers find the ranks by "
                                "MPIR, or by --attach-info", option, name);
    r->o->debugger = name;
    return 0;
}

/* The job of --attach-info: after "=", or the next word if that is a number. */
static int choose_job(struct reader *r, const char *option, const char *value)
{
    char *end;
    bool follows = !value && r->at < r->argc && isdigit((unsigned char)*r->argv[r->at]);
    if (follows)
        value = r->argv[r->at++];
    long job = value ? strtol(value, &end, 10) : 0;
    r->o->attaches = true;
    if (value && (*end || job <= 0 || job > INT_MAX))
        return reader_refuse(r, "'%s' takes the process number of a job's mpiexec, not '%s'", option,
                             value);
    r->o->attach_job = (int)job;
    return 0;
}

static int check_foreign(struct reader *r, const struct option_row *row, const char *option,
                         const char *value)
{
    int number;
    switch (row->action) {
    case PLAN_LAUNCHER_COMMAND:
    case OPTION_LAUNCHER:
    case PLAN_LAUNCHER_PROGRAM:
    case OPTION_REMOTE_PREFIX:
    case OPTION_DAEMON_LINK: return option_remote_take(r, row->action, option, value);
    case OPTION_HOST: return option_hosts_take_list(r, option, value);
    case OPTION_ARCH: return option_hosts_check_arch(r, option, value);
    case OPTION_DEFAULT_HOSTFILE: return option_hosts_take_standard(r, option, value);
    case OPTION_HOSTFILE: return option_hosts_take_file(r, option, value);
    case OPTION_MORE_HOSTS: return option_hosts_take_more(r, value, false);
    case OPTION_MORE_HOSTS_FILE: return option_hosts_take_more(r, value, true);
    case OPTION_MCA: return option_mca(r, option, value);
    case OPTION_RMK: return option_allocation_rmk(r, option, value);
    case OPTION_DAEMON: return option_mca_daemon(r, option, value);
    case OPTION_REFUSED: return reader_refuse(r, "'%s': %s", option, row->about);
    default: /* ignored */
        return value && !strcmp(row->value, "N") ? reader_number(r, option, value, 1, &number) : 0;
    }
}

/* Act on the options that say where ranks run. */
static int apply_place(struct reader *r, enum option_action action, const char *option,
                       const char *value)
{
    struct start_wish *place = &r->o->plan.start;
    switch (action) {
    case OPTION_MAP: return option_place_map(r, option, value);
    case OPTION_RANK_BY: return option_place_rank(r, option, value);
    case OPTION_BIND: return option_place_bind(r, option, value);
    case OPTION_MEMBIND: return option_place_memory(r, option, value);
    case OPTION_CPU_SET: place->allowed = value; return 0;
    case OPTION_CPU_LIST: place->list = value; return 0;
    case OPTION_RANKFILE: return option_place_rankfile(r, option, value);
    case OPTION_LIMITED: place->is_limited = true; return 0;
    case OPTION_ELSEWHERE: r->is_elsewhere = true; return 0;
    case OPTION_OVERSUBSCRIBE:
        place->is_limited = false;
        place->may_overload = true;
        return 0;
    case OPTION_BY_THREAD: place->by_thread = true; return 0;
    case OPTION_SHOW_BINDINGS: place->shows_bindings = true; return 0;
    case OPTION_SHOW_MAP: place->shows_map = true; return 0;
    case OPTION_SHOW_HARDWARE: place->shows_hardware = true; return 0;
    default:
        place->is_dry = true;
        place->shows_map = true;
        return 0;
    }
}

static int read_line(struct reader *r, char *line);

/* Read programs with their options from a file, a line each. */
static int read_file(struct reader *r, const char *option, const char *name)
{
    const char *text = NULL;
    int rc = reader_file(r, option, name, &text);
    char *rest = (char *)text, *line;
    r->files++;
    while (!rc && (line = strsep(&rest, "\n")))
        rc = read_line(r, line);
    r->files--;
    r->has_file = true;
    return rc;
}

/* All ranks run under a debugger, and read the keyboard. */
static int debug_all(struct options *o)
{
    o->plan.start.debugs = o->label = true;
    o->plan.start.stdin_to = "all";
    return 0;
}

/* Act on the options about the surroundings of ranks. */
static int apply_around(struct reader *r, enum option_action action, const char *option,
                        const char *value)
{
    struct options *o = r->o;
    switch (action) {
    case OPTION_XTERM: return option_ranks_take(r, option, value, &o->plan.start.xterm);
    case OPTION_DEBUGGER: return choose_debugger(r, option, value);
    case OPTION_TOTALVIEW: o->has_totalview = true; return 0;
    case OPTION_STOP_EXEC: o->plan.start.stop = START_STOP_EXEC; return 0;
    case OPTION_STOP_INIT: o->plan.start.stop = START_STOP_INIT; return 0;
    case OPTION_AGENT: return set_agent(r, option, value);
    default: return debug_all(o);
    }
}

/* Act on an option; value is NULL where its row has none. */
static int apply(struct reader *r, const struct option_row *row, const char *option,
                 const char *value)
{
    struct options *o = r->o;
    switch (row->action) {
    case OPTION_COUNT: return reader_number(r, option, value, 1, &r->app.count);
    case OPTION_PER_HOST: return reader_number(r, option, value, 1, &r->per_host);
    case OPTION_PER_NODE: return reader_number(r, option, value, 1, &r->app.per_node);
    case OPTION_WDIR: r->app.wdir = value; return 0;
    case OPTION_TIMEOUT: return parse_seconds(r, option, value, &o->plan.timeout_s);
    case OPTION_STDIN: return option_ranks_stdin(r, option, value);
    case OPTION_SET: return add_setting(r, option, value);
    case OPTION_HELP: return choose_help(r, option, value);
    case OPTION_LABEL: o->label = true; return 0;
    case OPTION_STAMP: o->stamps = true; return 0;
    case OPTION_PREFIX: return option_streams_prefix(r, option, value);
    case OPTION_REPORT: o->plan.report = true; return 0;
    case OPTION_CHECK: o->check = true; return 0;
    case OPTION_VERBOSE: o->plan.verbose = true; return 0;
    case OPTION_PROGRESS: o->plan.shows_progress = true; return 0;
    case OPTION_VERSION: o->version = true; return 0;
    case OPTION_ATTACH: return choose_job(r, option, value);
    case OPTION_ERRHANDLER: return set_errhandler(r, option, value);
    case OPTION_PSET: return set_pset(r, option, value);
    case OPTION_MEMORY: return set_memory(r, option, value);
    case OPTION_GO_ON: o->plan.goes_on = true; return 0;
    case OPTION_ON_FAILURE: return set_on_failure(r, option, value);
    case OPTION_UNIVERSE: return parse_universe(r, option, value);
    case OPTION_PRETEND: return reader_number(r, option, value, 1, &o->plan.pretend_hosts);
    case OPTION_MERGE: o->plan.merge = true; return 0;
    case OPTION_OUT_FOLDER: return option_streams_folder(r, option, value, strlen(value), true);
    case OPTION_OUT_FILE: return option_streams_file(r, option, 0, strdup(value));
    case OPTION_ERR_FILE: return option_streams_file(r, option, 1, strdup(value));
    case OPTION_XML: return choose_xml(o, value);
    case OPTION_SESSION: r->app.in_session = true; return 0;
    case OPTION_KEEPALIVE: return set_keepalive(r, option, value);
    case OPTION_BACKGROUND: o->is_background = true; return 0;
    case OPTION_SHOW_SETTINGS: o->shows_settings = true; return 0;
    case OPTION_OUTPUT: return option_streams_output(r, option, value);
    case OPTION_DISPLAY: return option_words_display(r, option, value);
    case OPTION_RUNTIME: return option_words_runtime(r, option, value);
    case OPTION_SIGNALS: return option_words_signals(r, option, value);
    case OPTION_OFF: return option_words_off(r, option, value);
    case OPTION_S: return option_ranks_short_stdin(r, option);
    case OPTION_IFACE: return option_iface(r, option, value);
    case OPTION_MCA_FILE: return option_mca_files(r, option, value);
    case OPTION_CONFIG: return read_file(r, option, value);
    case OPTION_PATH: r->app.path = value; return 0;
    case OPTION_PTY: return option_ranks_take(r, option, value ? value : "0", &o->plan.start.terminals);
    case OPTION_OUTPUT_FROM: return option_ranks_take(r, option, value, &o->plan.start.output_from);
    case OPTION_REPORT_PID: o->report_pid = value; return 0;
    case OPTION_PROCTABLE: o->plan.proctable = value ? value : "-"; return 0;
    case OPTION_SUMMARY: return value ? set_file(r, "SUMMARY", value)
                                      : reader_push(&o->plan.settings, strdup("VIREO_SUMMARY=1"));
    case OPTION_TRACE: return set_file(r, "TRACE", value);
    case OPTION_GPUS: return set_gpus(r, option, value);
    case OPTION_NAME_RANKS: o->plan.start.names_ranks = true; return 0;
    case OPTION_CODES: o->plan.tells_codes = true; return 0;
    case OPTION_TIMES: o->plan.tells_times = true; return 0;
    case OPTION_ENV:
    case OPTION_GENV:
    case OPTION_EXPORT:
    case OPTION_ENVLIST:
    case OPTION_GENVLIST:
    case OPTION_ENVALL:
    case OPTION_GENVALL:
    case OPTION_ENVNONE:
    case OPTION_GENVNONE:
    case OPTION_ENVEXCL:
    case OPTION_GENVEXCL:
    case OPTION_APPEND:
    case OPTION_PREPEND: return option_env_apply(r, row->action, option, value);
    default: break;
    }
    if (row->action >= OPTION_MAP && row->action <= OPTION_DRY)
        return apply_place(r, row->action, option, value);
    if (row->action >= OPTION_XTERM && row->action <= OPTION_AGENT)
        return apply_around(r, row->action, option, value);
    return check_foreign(r, row, option, value);
}

/* Take the next word as the value of an option, if it has one there. A word that is an option is no name
 * of a file: its user has forgotten that. */
static int read_value(struct reader *r, const struct option_row *row, const char *option,
                      const char **value)
{
    bool is_folder = !strcmp(row->value, "DIR");
    if (row->value[0] == '[') {
        r->app.behind = r->argv[r->at - 1];
        return 0;
    }
    int rc = reader_next(r, option, value);
    const char *name = rc ? "" : *value + strspn(*value, "-");
    if (rc || (!is_folder && strcmp(row->value, "FILE")) || name == *value ||
        !option_find(name, strcspn(name, "=")))
        return rc;
    return reader_refuse(r, "'%s' needs the name of a %s, not the option '%s'; one of that name is ./%s",
                         option, is_folder ? "folder" : "file", *value, *value);
}

/* Read one option, which starts at argv[at]. */
static int read_option(struct reader *r)
{
    char option[64], near[64];
    const char *word = r->argv[r->at++];
    r->app.behind = NULL;
    const char *name = word + 1 + (word[1] == '-');
    const char *equals = strchr(name, '=');
    const char *value = equals ? equals + 1 : NULL;
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    snprintf(option, sizeof(option), "%.*s", (int)(name - word + (ptrdiff_t)len), word);
    const struct option_row *row = option_find(name, len);
    if (!row) {
        option_nearest(name, len, near, sizeof(near));
        if (near[0])
            return reader_refuse(r, "there is no option '%s'; did you mean '%s'?", option, near);
        return reader_refuse(r, "there is no option '%s'; mpiexec --help lists them", option);
    }
    if (row->action == OPTION_REFUSED)
        return check_foreign(r, row, option, NULL);
    if (!row->value && value)
        return reader_refuse(r, "'%s' takes no value", option);
    int rc = row->value && !value ? read_value(r, row, option, &value) : 0;
    if (rc)
        return rc;
    if (row->action == OPTION_ALIAS)
        return reader_words(r, option_alias(name, len), value);
    return apply(r, row, option, value);
}

/* Take the program at argv[at] with its arguments, up to ":" or the end. */
static int read_program(struct reader *r)
{
    struct options *o = r->o;
    int first = r->at;
    while (r->at < r->argc && strcmp(r->argv[r->at], ":"))
        r->at++;
    int n = r->at - first;
    r->app.argv = calloc((size_t)n + 1, sizeof(char *));
    struct plan_app *grown = realloc(o->plan.apps, ((size_t)o->plan.napps + 1) * sizeof(*grown));
    if (grown)
        o->plan.apps = grown;
    if (!grown || !r->app.argv)
        return -ENOMEM;
    memcpy(r->app.argv, r->argv + first, (size_t)n * sizeof(char *));
    o->plan.apps[o->plan.napps++] = r->app;
    r->app = (struct plan_app){0};
    return 0;
}

/* Read the options and the program up to the next ":" or the end. */
static int read_segment(struct reader *r)
{
    struct options *o = r->o;
    int rc = 0;
    while (!rc && r->at < r->argc) {
        const char *word = r->argv[r->at];
        if (word[0] != '-' || !word[1])
            break;
        if (!strcmp(word, "--")) {
            r->at++;
            break;
        }
        rc = read_option(r);
    }
    if (rc || o->help || o->version || o->attaches || (r->has_file && r->at >= r->argc))
        return rc;
    if (r->at >= r->argc || !strcmp(r->argv[r->at], ":"))
        return reader_refuse(r, "no program is named%s; for example: mpiexec -n 2 ./a.out",
                             o->plan.napps || r->at < r->argc ? " beside ':'" : "");
    return read_program(r);
}

/* Cut the next word off a line, in which quotes and backslashes are as in a shell. NULL at the end.
 */
static char *cut_word(char **line)
{
    char *at = *line + strspn(*line, " \t\r"), *to = at, *word = at, quote = 0;
    if (!*at || *at == '#')
        return NULL;
    for (; *at && (quote || !strchr(" \t\r", *at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        else {
            at += *at == '\\' && at[1] && quote != '\'';
            *to++ = *at;
        }
    }
    *line = at + (*at != 0);
    *to = 0;
    return word;
}

/* Read a line of a file as a part of a command line. */
static int read_line(struct reader *r, char *line)
{
    char **argv = calloc(strlen(line) / 2 + 2, sizeof(*argv));
    struct reader outer = *r;
    int rc = argv ? 0 : -ENOMEM;
    r->argv = argv;
    r->argc = r->at = 0;
    r->has_file = false;
    for (char *word; !rc && (word = cut_word(&line));)
        argv[r->argc++] = word;
    while (!rc && r->at < r->argc) {
        rc = read_segment(r);
        r->at++; /* the ":" */
    }
    r->argv = outer.argv;
    r->argc = outer.argc;
    r->at = outer.at;
    free(argv);
    return rc;
}

/* Judge options that need the whole command line. */
static int finish(struct reader *r)
{
    struct options *o = r->o;
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    if (o->help || o->version || o->attaches)
        return 0;
    int rc = option_place_settle(r);
    if (!rc)
        rc = option_hosts_settle(r);
    if (!rc)
        rc = option_place_limit(r);
    if (!rc)
        rc = option_iface_settle(r);
    if (rc)
        return rc;
    rc = option_ranks_settle(r);
    if (rc)
        return rc;
    if (o->plan.timeout_s < 0) {
        o->plan.timeout_s = 0;
        if (limit && *limit && parse_seconds(r, "MPIEXEC_TIMEOUT", limit, &o->plan.timeout_s))
            return -EINVAL;
    }
    if (o->plan.universe_size == UNIVERSE_SYSTEM)
        o->plan.universe_size = os_cpus_usable() > o->plan.nranks ? os_cpus_usable() : o->plan.nranks;
    if (o->plan.universe_size && o->plan.universe_size < o->plan.nranks)
        return reader_refuse(
            r,
            "-usize %d leaves no room for the %d processes of the job; raise it, or "
            "leave it out",
            o->plan.universe_size, o->plan.nranks);
    o->plan.files.ranks = o->plan.nranks;
    o->plan.files.begun_s = (long)time(NULL);
    rc = option_streams_settle(r);
    if (rc)
        return rc;
    if (o->plan.merge) {
        free(o->plan.files.pattern[1]);
        o->plan.files.pattern[1] = NULL;
    }
    rc = settle_psets(o);
    if (!rc && o->check)
        rc = reader_push(&o->plan.settings, strdup("VIREO_CHECK=1"));
    return !rc && o->plan.report ? reader_push(&o->plan.settings, strdup("VIREO_REPORT=1")) : rc;
}

static int parse(struct reader *r)
{
    struct options *o = r->o;
    memset(o, 0, sizeof(*o));
    r->read = read_option;
    plan_init(&o->plan);
    o->plan.timeout_s = -1;
    int rc = option_mca_environment(r);
    if (!rc)
        rc = read_segment(r);
    while (!rc && !o->help && !o->version && !o->attaches && r->at < r->argc) {
        r->at++; /* the ":" */
        rc = read_segment(r);
    }
    if (!rc)
        rc = finish(r);
    plan_free_app(&r->app);
    option_hosts_release(r);
    if (rc) {
        if (rc == -ENOMEM)
            snprintf(r->why, r->size, "out of memory");
        options_free(o);
    }
    return rc;
}

int options_parse(struct options *o, int argc, char **argv, char *why, size_t size)
{
    struct reader r = {.o = o, .argv = argv, .argc = argc, .at = 1, .why = why, .size = size};
    return parse(&r);
}

int options_parse_asking(struct options *o, int argc, char **argv, const struct options_ask *ask,
                         char why[512])
{
    struct reader r = {
        .o = o, .argv = argv, .argc = argc, .at = 1, .ask = ask, .why = why, .size = 512};
    return parse(&r);
}

void options_free(struct options *o)
{
    plan_fini(&o->plan);
    plan_free_list(o->words);
    memset(o, 0, sizeof(*o));
}
