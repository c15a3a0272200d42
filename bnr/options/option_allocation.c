/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The hosts that a batch system has allocated: each tells them in variables of its own, as a list or as
 * the name of a file. mpiexec uses them where no option names hosts, and reaches hosts of the allocation
 * by the command that the system has for that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/options/option_reader.h"

enum {
    SOURCES_MAX = 3
};

/* A variable that tells the hosts. */
struct option_allocation_source {
    const char *variable; /* NULL: no more */
    bool is_file;         /* it names a file with them */
    enum hosts_form form;
};

static const struct option_allocation_system {
    const char *words; /* of -rmk, and of Open MPI's ras */
    const char *name;
    const char *job; /* a variable that each of its jobs with a list of hosts has; NULL: there is none */
    struct option_allocation_source sources[SOURCES_MAX];
    const char *command; /* that starts a program on a host of the allocation; NULL: ssh does */
} systems[] = {
    {"slurm", "Slurm", "SLURM_JOB_ID", {{0}}, NULL},
    {"pbs tm torque", "PBS", "PBS_JOBID", {{"PBS_NODEFILE", true, HOSTS_WORDS}}, NULL},
    {"lsf",
     "LSF",
     "LSB_JOBID",
     {{"LSB_MCPU_HOSTS", false, HOSTS_PAIRS},
      {"LSB_DJOB_HOSTFILE", true, HOSTS_WORDS},
      {"LSB_HOSTS", false, HOSTS_WORDS}},
     "blaunch %h"},
    {"sge gridengine", "Grid Engine", NULL, {{"PE_HOSTFILE", true, HOSTS_ROWS}}, "qrsh -inherit -V %h"},
    {"ll loadleveler",
     "LoadLeveler",
     "LOADL_STEP_ID",
     {{"LOADL_HOSTFILE", true, HOSTS_WORDS}, {"LOADL_PROCESSOR_LIST", false, HOSTS_WORDS}},
     NULL},
    {"cobalt", "Cobalt", "COBALT_JOBID", {{"COBALT_NODEFILE", true, HOSTS_WORDS}}, NULL},
    {"oar",
     "OAR",
     "OAR_JOB_ID",
     {{"OAR_NODEFILE", true, HOSTS_WORDS}, {"OAR_NODE_FILE", true, HOSTS_WORDS}},
     NULL},
};

enum {
    SYSTEMS = sizeof(systems) / sizeof(systems[0])
};

static const char *value_of(const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    return value && *value ? value : NULL;
}

/* ---- which of them may be asked ---- */

/* The system that a word of len bytes means; SYSTEMS: none. */
static int system_of(const char *word, size_t len)
{
    int i = 0;
    while (i < SYSTEMS && !reader_is_word(systems[i].words, word, len))
        i++;
    return i;
}

int option_allocation_rmk(struct reader *r, const char *option, const char *name)
{
    size_t len = strlen(name);
    int i = system_of(name, len);
    if (i == SYSTEMS && !reader_is_word("user none", name, len))
        return reader_refuse(r,
                             "'%s' takes slurm, pbs, lsf, sge, ll, cobalt or oar, or user for none of "
                             "them, not '%s'",
                             option, name);
    r->not_asked = i == SYSTEMS ? ~0u : ~(1u << i);
    r->rmk = i == SYSTEMS ? NULL : systems[i].words;
    return 0;
}

int option_allocation_ras(struct reader *r, const char *option, const char *names)
{
    bool is_without = *names == '^';
    unsigned named = 0;
    for (const char *at = names + is_without; *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        int i = system_of(at, len);
        if (i == SYSTEMS && !is_without)
            return reader_refuse(r, "'%s' takes slurm, tm, lsf or gridengine, not '%.*s'", option,
                                 (int)len, at);
        named |= i < SYSTEMS ? 1u << i : 0;
        at += len;
    }
    r->not_asked = is_without ? named : ~named;
    return 0;
}

/* ---- what they tell ---- */

static int refuse_hosts(struct reader *r, const char *variable, int rc)
{
    return rc == -EPROTO ? reader_refuse(r, "%s: %s; -host or -hostfile names hosts instead", variable,
                                         r->allocated.problem)
                         : rc;
}

/* The slots of the hosts. Within a step SLURM_TASKS_PER_NODE is the step's, which may have fewer hosts; then, and without
 * it, each host has a slot for each processor. */
static const char *slurm_slots(void)
{
    const char *tasks = getenv("SLURM_TASKS_PER_NODE"), *step = getenv("SLURM_STEP_TASKS_PER_NODE");
    const char *cpus = value_of("SLURM_JOB_CPUS_PER_NODE");
    bool is_of_step = tasks && step && !strcmp(tasks, step);
    return tasks && !(is_of_step && cpus) ? tasks : cpus;
}

static int take_slurm(struct reader *r)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    return !nodes ? 0
                  : refuse_hosts(r, "SLURM_JOB_NODELIST",
                                 hosts_add_slurm(&r->allocated, nodes, slurm_slots()));
}

static int take_source(struct reader *r, const struct option_allocation_source *source, const char *value)
{
    const char *text = value;
    if (source->is_file && access(value, R_OK))
        return reader_refuse(r, "%s names '%s': %s; -host or -hostfile names hosts instead",
                             source->variable, value, strerror(errno));
    int rc = source->is_file ? reader_file(r, source->variable, value, &text) : 0;
    return rc ? rc
              : refuse_hosts(r, source->variable,
                             hosts_add_batch(&r->allocated, source->form, text, strlen(text)));
}

/* Take the hosts of the first variable that tells some. */
static int take_system(struct reader *r, const struct option_allocation_system *system)
{
    if (system == systems)
        return value_of(system->job) ? take_slurm(r) : 0;
    for (int i = 0; i < SOURCES_MAX && system->sources[i].variable; i++) {
        const char *value = value_of(system->sources[i].variable);
        if (value)
            return take_source(r, &system->sources[i], value);
    }
    return 0;
}

/* A job of a batch system that names no hosts. */
static int note_silence(struct reader *r)
{
    for (int i = 0; i < SYSTEMS; i++) {
        char *text;
        if (r->not_asked >> i & 1 || !value_of(systems[i].job))
            continue;
        if (asprintf(&text,
                     "%s is set, as in a job of %s, and %s is not: this host alone is used; -host or "
                     "-hostfile names others",
                     systems[i].job, systems[i].name,
                     i ? systems[i].sources[0].variable : "SLURM_JOB_NODELIST") < 0)
            return -ENOMEM;
        r->o->doubt = text;
        return reader_push(&r->o->words, text);
    }
    return 0;
}

int option_allocation_read(struct reader *r)
{
    int rc = 0;
    for (int i = 0; !rc && !r->allocated.count && i < SYSTEMS; i++) {
        if (r->not_asked >> i & 1)
            continue;
        rc = take_system(r, &systems[i]);
        r->system = &systems[i];
    }
    if (rc || r->allocated.count)
        return rc;
    if (r->rmk)
        return reader_refuse(r,
                             "'-rmk %.*s': no variable of the environment tells hosts of such a job; "
                             "leave it out, or name hosts by -host or -hostfile",
                             (int)strcspn(r->rmk, " "), r->rmk);
    return note_silence(r);
}

/* ---- how they are reached ---- */

/* Whether each host of the job, but this one, is of the allocation, and reached as this user. Those get
 * the names that the system has for them. Returns 0, 1 or -ENOMEM. */
static int covers(struct reader *r)
{
    struct hosts *hosts = &r->o->plan.hosts;
    bool has_others = false;
    for (size_t i = 0; i < hosts->count; i++) {
        const struct hosts_entry *own = &hosts->items[i];
        has_others |= !own->is_here;
        if (!own->is_here && (own->user || !hosts_find(&r->allocated, own->name)))
            return 0;
    }
    for (size_t i = 0; i < hosts->count; i++) {
        struct hosts_entry *own = &hosts->items[i];
        const struct hosts_entry *entry = own->is_here ? NULL : hosts_find(&r->allocated, own->name);
        char *name = entry ? strdup(entry->name) : NULL;
        if (entry && !name)
            return -ENOMEM;
        if (name) {
            free(own->name);
            own->name = name;
        }
    }
    return has_others;
}

int option_allocation_settle(struct reader *r)
{
    struct plan_remote *remote = &r->o->plan.remote;
    if (remote->launcher != PLAN_LAUNCHER_ANY)
        return 0;
    remote->launcher = PLAN_LAUNCHER_SSH;
    int rc = r->allocated.count ? covers(r) : 0;
    if (rc <= 0)
        return rc;
    if (r->system == systems)
        remote->launcher = PLAN_LAUNCHER_SRUN;
    else if (r->system->command && !remote->command && !remote->program && !remote->agent &&
             option_remote_finds(r->system->command))
        remote->command = r->system->command;
    return 0;
}
