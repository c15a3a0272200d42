/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Parameters of Open MPI's modular architecture, by --mca and its kin, by variables, by files: a
 * parameter with an equivalent does the same here; one that only tunes parts that are not here
 * changes nothing; any other is refused. A variable without an equivalent is ignored: it is meant
 * for another MPI.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bnr/options/option_reader.h"

extern char **environ;

enum parameter_kind {
    PARAMETER_WORDS,    /* stands for options */
    PARAMETER_SWITCH,   /* does so if true */
    PARAMETER_CHANNELS, /* a list of transports */
    PARAMETER_AGENT,    /* programs in place of ssh */
    PARAMETER_SSH_MORE, /* options more of ssh */
    PARAMETER_SRUN_MORE,
    PARAMETER_PLM,      /* ssh or srun */
    PARAMETER_RMAPS,    /* which mapper: the policy says it, but of one */
    PARAMETER_RAS,      /* which scheduler's hosts */
    PARAMETER_DAEMON,   /* only if it names Open MPI's own daemon */
    PARAMETER_NOTHING,  /* tunes, or asks for our default */
    PARAMETER_OFF,      /* only if false; words are the cure */
    PARAMETER_ON,       /* only if true; words are the cure */
    PARAMETER_NEVER     /* decides something that has no like; words are the cure */
};

static const struct parameter {
    const char *name, *words;
    enum parameter_kind kind;
} parameters[] = {
    {"btl", NULL, PARAMETER_CHANNELS},
    {"btl_tcp_if_include", "-iface %", PARAMETER_WORDS},
    {"btl_tcp_if_exclude", "-iface ^%", PARAMETER_WORDS},
    {"btl_tcp_disable_family", "-iface NETWORKS names those of one family", PARAMETER_OFF},
    {"plm", NULL, PARAMETER_PLM},
    {"plm_rsh_agent", NULL, PARAMETER_AGENT},
    {"plm_ssh_agent", NULL, PARAMETER_AGENT},
    {"pls_rsh_agent", NULL, PARAMETER_AGENT},
    {"orte_rsh_agent", NULL, PARAMETER_AGENT},
    {"plm_rsh_args", NULL, PARAMETER_SSH_MORE},
    {"plm_ssh_args", NULL, PARAMETER_SSH_MORE},
    {"plm_slurm_args", NULL, PARAMETER_SRUN_MORE},
    {"ras", NULL, PARAMETER_RAS},
    {"rmaps", "--map-by seq", PARAMETER_RMAPS},
    {"ras_base_display_alloc", "--display-map", PARAMETER_SWITCH},
    {"ras_base_display_devel_alloc", "--display-map", PARAMETER_SWITCH},
    {"rmaps_base_display_devel_map", "--display-map", PARAMETER_SWITCH},
    {"iof_base_redirect_app_stderr_to_stdout", "--merge-stderr-to-stdout", PARAMETER_SWITCH},
    {"hwloc_base_bind_to_core", "--bind-to core", PARAMETER_SWITCH},
    {"hwloc_base_bind_to_socket", "--bind-to package", PARAMETER_SWITCH},
    {"hwloc_base_slot_list", "--cpu-list %", PARAMETER_WORDS},
    {"hwloc_base_topo_file", "HWLOC_XMLFILE=FILE in the environment does so", PARAMETER_NEVER},
    {"hwloc_use_topo_file", "HWLOC_XMLFILE=FILE in the environment does so", PARAMETER_NEVER},
    {"rmaps_base_mapping_policy", "--map-by %", PARAMETER_WORDS},
    {"rmaps_default_mapping_policy", "--map-by %", PARAMETER_WORDS},
    {"rmaps_base_ranking_policy", "--rank-by %", PARAMETER_WORDS},
    {"rmaps_default_ranking_policy", "--rank-by %", PARAMETER_WORDS},
    {"hwloc_base_binding_policy", "--bind-to %", PARAMETER_WORDS},
    {"hwloc_default_binding_policy", "--bind-to %", PARAMETER_WORDS},
    {"hwloc_base_cpu_list", "--cpu-list %", PARAMETER_WORDS},
    {"hwloc_base_cpu_set", "--cpu-set %", PARAMETER_WORDS},
    {"hwloc_default_cpu_list", "--cpu-set %", PARAMETER_WORDS},
    {"hwloc_base_use_hwthreads_as_cpus", "--use-hwthread-cpus", PARAMETER_SWITCH},
    {"hwloc_base_report_bindings", "--report-bindings", PARAMETER_SWITCH},
    {"hwloc_report_bindings", "--report-bindings", PARAMETER_SWITCH},
    {"rmaps_base_oversubscribe", "--oversubscribe", PARAMETER_SWITCH},
    {"rmaps_base_no_oversubscribe", "--nooversubscribe", PARAMETER_SWITCH},
    {"rmaps_base_no_schedule_local", "--nolocal", PARAMETER_SWITCH},
    {"rmaps_base_display_map", "--display-map", PARAMETER_SWITCH},
    {"rmaps_base_cpus_per_rank", "--cpus-per-rank %", PARAMETER_WORDS},
    {"rmaps_base_cpus_per_proc", "--cpus-per-rank %", PARAMETER_WORDS},
    {"rmaps_ppr_n_pernode", "-npernode %", PARAMETER_WORDS},
    {"rmaps_ppr_n_persocket", "-npersocket %", PARAMETER_WORDS},
    {"rmaps_ppr_pattern", "--map-by ppr:%", PARAMETER_WORDS},
    {"rmaps_rank_file_path", "--rankfile %", PARAMETER_WORDS},
    {"orte_rankfile", "--rankfile %", PARAMETER_WORDS},
    {"orte_default_hostfile", "--default-hostfile %", PARAMETER_WORDS},
    {"prte_default_hostfile", "--default-hostfile %", PARAMETER_WORDS},
    {"orte_tag_output", "--tag-output", PARAMETER_SWITCH},
    {"orte_timestamp_output", "--timestamp-output", PARAMETER_SWITCH},
    {"orte_output_filename", "--output-filename %", PARAMETER_WORDS},
    {"orte_fork_agent", "--exec-agent %", PARAMETER_WORDS},
    {"prte_fork_agent", "--exec-agent %", PARAMETER_WORDS},
    {"odls_base_exec_agent", "--exec-agent %", PARAMETER_WORDS},
    {"orte_enable_recovery", "--enable-recovery", PARAMETER_SWITCH},
    {"orte_forward_job_control", NULL, PARAMETER_NOTHING},
    {"orte_base_help_aggregate", NULL, PARAMETER_NOTHING},
    {"orte_abort_on_non_zero_status", "--continuous lets ranks go on whatever becomes of one",
     PARAMETER_ON},
    {"orte_tmpdir_base", NULL, PARAMETER_NOTHING},
    {"orte_launch_agent", NULL, PARAMETER_DAEMON},
    {"orte_keep_fqdn_hostnames", NULL, PARAMETER_NOTHING},
    {"prte_keep_fqdn_hostnames", NULL, PARAMETER_NOTHING},
    {"prte_abort_on_non_zero_status", "--continuous lets ranks go on whatever becomes of one",
     PARAMETER_ON},
    {"prte_launch_agent", NULL, PARAMETER_DAEMON},
    {"prte_tmpdir_base", NULL, PARAMETER_NOTHING},
    {"mpi_yield_when_idle", NULL, PARAMETER_NOTHING},
    {"mpi_warn_on_fork", NULL, PARAMETER_NOTHING},
    {"mpi_param_check", NULL, PARAMETER_NOTHING},
    {"mpi_preconnect_all", NULL, PARAMETER_NOTHING},
    {"mpi_preconnect_mpi", NULL, PARAMETER_NOTHING},
    {"mpi_show_mca_params", "--show-settings", PARAMETER_SWITCH},
    {"mpi_show_handle_leaks", "--check names what is left at MPI_Finalize", PARAMETER_OFF},
    {"pml_monitoring_enable", "--summary counts messages and bytes", PARAMETER_OFF},
    {"mpi_leave_pinned", NULL, PARAMETER_NOTHING},
    {"mpi_leave_pinned_pipeline", NULL, PARAMETER_NOTHING},
    {"mpi_paffinity_alone", "--bind-to core", PARAMETER_SWITCH},
    {"mpi_abort_print_stack", NULL, PARAMETER_NOTHING}, /* a failure tells its place anyway */
    {"mpi_abort_delay", NULL, PARAMETER_OFF},
    {"rmaps_rank_file_physical", NULL, PARAMETER_OFF},
    {"mpi_add_procs_cutoff", NULL, PARAMETER_NOTHING},
    {"mpi_cuda_support", NULL, PARAMETER_OFF},
    {"opal_cuda_support", NULL, PARAMETER_OFF},
    {"opal_warn_on_missing_libcuda", NULL, PARAMETER_NOTHING},
    {"opal_common_ucx_opal_mem_hooks", NULL, PARAMETER_NOTHING},
    {"opal_event_include", NULL, PARAMETER_NOTHING},
    {"opal_set_max_sys_limits", "ulimit raises limits", PARAMETER_OFF},
};

/* Ports on which Open MPI listens. */
static const char ports[] =
    "btl_tcp_port_min_v4 btl_tcp_port_range_v4 btl_tcp_port_min_v6 btl_tcp_port_range_v6 "
    "oob_tcp_static_ipv4_ports oob_tcp_dynamic_ipv4_ports oob_tcp_static_ipv6_ports "
    "oob_tcp_dynamic_ipv6_ports";

/* Parts of it that have no like here, or whose likes choose by themselves: neither the choice of a
 * module nor its tuning shows in what a program gets. */
static const char parts[] =
    "pml mtl osc coll io topo op bml allocator mpool rcache memory memchecker patcher fbtl fcoll fs "
    "sharedfp hook crcp vprotocol plm ras ess oob rml routed grpcomm odls errmgr state filem iof "
    "schizo shmem dl if pmix pmdl psec preg ptl gds bfrops pnet plog pstrg pstat psensor psquash "
    "pcompress reachable timer event installdirs backtrace compress crs sec rtc regx opal_common "
    "ofi ucx common spml scoll memheap sshmem btl hwloc prteinstalldirs prtebacktrace prtereachable";

/* Whether a parameter is of one of these parts: PART or PART_anything. */
static bool is_of_part(const char *name)
{
    for (const char *at = parts; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        if (!strncmp(name, at, len) && (!name[len] || name[len] == '_'))
            return true;
        at += len;
    }
    return false;
}

static bool ends_in(const char *name, const char *end)
{
    size_t len = strlen(name), n = strlen(end);
    return len >= n && !strcmp(name + len - n, end);
}

static bool is_true(const char *value)
{
    return strcasecmp(value, "0") && strcasecmp(value, "false") && strcasecmp(value, "no") &&
           strcasecmp(value, "off") && strcasecmp(value, "disabled");
}

/* ---- transports to channels ---- */

enum {
    CHANNEL_LOOPBACK = 1,
    CHANNEL_SHM = 2,
    CHANNEL_TCP = 4,
    CHANNEL_ALL = 7
};

static unsigned channel_of(const char *word, size_t len)
{
    static const struct {
        const char *words;
        unsigned channel;
    } rows[] = {{"self", CHANNEL_LOOPBACK},
                {"sm vader smcuda cma knem xpmem", CHANNEL_SHM},
                {"tcp", CHANNEL_TCP}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (reader_is_word(rows[i].words, word, len))
            return rows[i].channel;
    return 0;
}

/* self,vader,tcp or ^tcp,openib */
static int set_channels(struct reader *r, const char *option, const char *list)
{
    unsigned named = 0;
    char words[64] = "loopback"; /* a process always reaches itself */
    bool is_without = *list == '^';
    for (const char *at = list + is_without; *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        named |= channel_of(at, len);
        at += len;
    }
    unsigned chosen = is_without ? CHANNEL_ALL & ~named : named;
    if (!(chosen & (CHANNEL_SHM | CHANNEL_TCP)) && !(chosen & CHANNEL_LOOPBACK && !is_without))
        return reader_refuse(r,
                             "'%s btl %s' leaves none of the transports that there are: self, sm "
                             "(vader) and tcp",
                             option, list);
    if ((chosen | CHANNEL_LOOPBACK) == CHANNEL_ALL)
        return 0;
    if (chosen & CHANNEL_SHM)
        strcat(words, ",shm");
    if (chosen & CHANNEL_TCP)
        strcat(words, ",tcp");
    return reader_words(r, "--set channels=%", words);
}

/* ---- all of them ---- */

static int no_like(struct reader *r, const char *option, const char *name, const char *cure)
{
    return reader_refuse(r, "'%s %s' has no like here; %s", option, name,
                         cure ? cure : "--help=settings lists the settings of this MPI");
}

/* rsh, ssh or slurm; ^slurm for another one than that. */
static int set_plm(struct reader *r, const char *option, const char *value)
{
    enum plan_launcher *launcher = &r->o->plan.remote.launcher;
    if (reader_is_word("rsh ssh ^slurm", value, strlen(value)))
        *launcher = PLAN_LAUNCHER_SSH;
    else if (reader_is_word("slurm", value, strlen(value)))
        *launcher = PLAN_LAUNCHER_SRUN;
    else if (*value != '^' && !reader_is_word("isolated", value, strlen(value)))
        return reader_refuse(r, "'%s plm' takes rsh, ssh or slurm, not '%s'; for another launcher say "
                                "--launcher-cmd 'COMMAND %%h'", option, value);
    return 0;
}

/* Open MPI's daemon is not ours, and a wrapper around it is not run. */
int option_mca_daemon(struct reader *r, const char *option, const char *value)
{
    const char *slash = strrchr(value, '/'), *name = slash ? slash + 1 : value;
    if (reader_is_word("orted prted", name, strlen(name)))
        return 0;
    return reader_refuse(r, "'%s': what runs on other hosts is this library's vireod, not '%s'; --prefix DIR "
                            "says where it is, and --launcher-cmd 'COMMAND %%h' what runs it",
                         option, value);
}

static int set_row(struct reader *r, const char *option, const struct parameter *row, const char *value)
{
    switch (row->kind) {
    case PARAMETER_CHANNELS: return set_channels(r, option, value);
    case PARAMETER_WORDS: return reader_words(r, row->words, value);
    case PARAMETER_SWITCH: return is_true(value) ? reader_words(r, row->words, NULL) : 0;
    case PARAMETER_AGENT: return option_remote_agent(r, row->name, value);
    case PARAMETER_SSH_MORE: return option_remote_more(r, row->name, value, false);
    case PARAMETER_SRUN_MORE: return option_remote_more(r, row->name, value, true);
    case PARAMETER_PLM: return set_plm(r, option, value);
    case PARAMETER_RMAPS: return strcmp(value, "seq") ? 0 : reader_words(r, row->words, NULL);
    case PARAMETER_RAS: return option_allocation_ras(r, row->name, value);
    case PARAMETER_DAEMON: return option_mca_daemon(r, row->name, value);
    case PARAMETER_OFF: return is_true(value) ? no_like(r, option, row->name, row->words) : 0;
    case PARAMETER_ON: return is_true(value) ? 0 : no_like(r, option, row->name, row->words);
    case PARAMETER_NEVER: return no_like(r, option, row->name, row->words);
    default: return 0;
    }
}

static int set_parameter(struct reader *r, const char *option, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        if (!strcmp(parameters[i].name, name))
            return set_row(r, option, &parameters[i], value);
    if (reader_is_word(ports, name, strlen(name)))
        return no_like(r, option, name,
                       "the system chooses ports, of the range that net.ipv4.ip_local_port_range has");
    if (is_of_part(name) || ends_in(name, "_verbose"))
        return 0;
    return no_like(r, option, name, NULL);
}

int option_mca(struct reader *r, const char *option, const char *name)
{
    const char *value = NULL;
    int rc = reader_next(r, option, &value);
    return rc ? rc : set_parameter(r, option, name, value);
}

/* Parameters, and what Hydra reads from variables. */
int option_mca_environment(struct reader *r)
{
    static const char *const prefixes[] = {"OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_"};
    static const struct {
        const char *name, *words;
    } others[] = {{"HYDRA_BINDING", "--bind-to %"},
                  {"HYDRA_MAPPING", "--map-by %"},
                  {"HYDRA_MEMBIND", "-membind %"},
                  {"HYDRA_IFACE", "-iface %"},
                  {"HYDRA_HOST_FILE", "--default-hostfile %"},
                  {"HYDRA_LAUNCHER", "-launcher %"},
                  {"HYDRA_BOOTSTRAP", "-launcher %"},
                  {"HYDRA_LAUNCHER_EXEC", "-launcher-exec %"},
                  {"HYDRA_BOOTSTRAP_EXEC", "-launcher-exec %"},
                  {"HYDRA_RMK", "-rmk %"}};
    r->is_environment = true;
    for (char **e = environ; *e; e++) {
        struct start_wish before = r->o->plan.start;
        struct plan_remote remote = r->o->plan.remote;
        char name[128], *value = strchr(*e, '=');
        const char *parameter = NULL, *words = NULL;
        if (!strchr("HOP", **e)) /* none of those that count */
            continue;
        if (!value || value - *e >= (ptrdiff_t)sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(value - *e), *e);
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
            if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
                parameter = name + strlen(prefixes[i]);
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            if (!strcmp(name, others[i].name))
                words = others[i].words;
        if (parameter && !strcmp(parameter, "btl") && getenv("VIREO_CHANNELS"))
            continue;
        int rc = parameter ? set_parameter(r, name, parameter, value + 1)
                 : words   ? reader_words(r, words, value + 1)
                           : 0;
        if (rc == -ENOMEM)
            return rc;
        if (rc) {
            r->o->plan.start = before;
            r->o->plan.remote = remote;
        }
    }
    r->is_environment = false;
    return 0;
}

/* A line of a file: name = value, or options. */
static int read_line(struct reader *r, const char *option, char *line)
{
    line += strspn(line, " \t\r");
    size_t len = strlen(line);
    while (len && isspace((unsigned char)line[len - 1]))
        line[--len] = 0;
    if (!*line || *line == '#')
        return 0;
    if (*line == '-')
        return reader_words(r, line, NULL);
    char *value = strchr(line, '=');
    if (!value)
        return reader_refuse(r, "'%s': a line is 'NAME = VALUE' or options, not '%s'", option,
                             line);
    char *end = value;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    *end = 0;
    value++;
    return set_parameter(r, option, line, value + strspn(value, " \t"));
}

int option_mca_files(struct reader *r, const char *option, const char *names)
{
    int rc = 0;
    while (!rc && *names) {
        const char *text = NULL;
        size_t len = strcspn(names, ",:");
        char *name = strndup(names, len), *rest, *line;
        rc = name ? reader_file(r, option, name, &text) : -ENOMEM;
        free(name);
        rest = (char *)text;
        r->files++;
        while (!rc && (line = strsep(&rest, "\n")))
            rc = read_line(r, option, line);
        r->files--;
        names += len + (names[len] != 0);
    }
    return rc;
}

void option_mca_print(FILE *to)
{
    static const struct {
        const char *how, *about;
    } of_kind[] = {
        [PARAMETER_WORDS] = {"done", "The same as"},
        [PARAMETER_SWITCH] = {"done", "Where it is true, the same as"},
        [PARAMETER_CHANNELS] = {"done", "Channels: self is loopback, sm and vader are shm."},
        [PARAMETER_AGENT] = {"done", "The first of these that is installed stands for ssh."},
        [PARAMETER_SSH_MORE] = {"done", "Options more for ssh, or for what stands for it."},
        [PARAMETER_SRUN_MORE] = {"done", "Options more for srun."},
        [PARAMETER_PLM] = {"done", "Whether hosts are reached by ssh or by srun."},
        [PARAMETER_RMAPS] = {"done", "seq is --map-by seq; the others follow from the policy."},
        [PARAMETER_RAS] = {"done", "Which batch system's hosts are taken."},
        [PARAMETER_DAEMON] = {"ignored", "Accepted where it names Open MPI's daemon, which is not run."},
        [PARAMETER_NOTHING] = {"ignored", "It tunes, or asks for what happens anyway."},
        [PARAMETER_OFF] = {"ignored", "Accepted where it is false."},
        [PARAMETER_ON] = {"ignored", "Accepted where it is true, as that happens anyway."},
        [PARAMETER_NEVER] = {"refused", "It has no like here."},
    };
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        const struct parameter *row = &parameters[i];
        bool has_words = row->kind == PARAMETER_WORDS || row->kind == PARAMETER_SWITCH;
        fprintf(to, "mca:%s\t%s\t%s%s%s%s\n", row->name, of_kind[row->kind].how,
                of_kind[row->kind].about, has_words ? " " : "", has_words ? row->words : "",
                has_words ? "." : "");
    }
}
