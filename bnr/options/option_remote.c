/* SPDX-License-Identifier: BSD-3-Clause */

/* Options that say how daemons are started on other hosts, and the parameters of Open MPI that do. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/launch/launch.h"
#include "bnr/launch/remote.h"
#include "bnr/options/option_reader.h"

static int set_command(struct reader *r, const char *option, const char *command)
{
    r->o->plan.remote.command = command;
    if (!remote_is_closed(command))
        return reader_refuse(r, "'%s': a quote in '%s' is not closed", option, command);
    return strstr(command, "%h")
               ? 0
               : reader_refuse(r, "'%s' needs %%h in its command, where the host goes", option);
}

static int set_launcher(struct reader *r, const char *option, const char *name)
{
    static const struct {
        const char *word;
        enum plan_launcher launcher;
        const char *agent; /* NULL: ssh */
    } launchers[] = {{"ssh", PLAN_LAUNCHER_SSH, NULL},
                     {"rsh", PLAN_LAUNCHER_SSH, "rsh"},
                     {"srun", PLAN_LAUNCHER_SRUN, NULL},
                     {"slurm", PLAN_LAUNCHER_SRUN, NULL}};
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
        if (!strcmp(name, launchers[i].word)) {
            r->o->plan.remote.launcher = launchers[i].launcher;
            r->o->plan.remote.agent = launchers[i].agent;
            return 0;
        }
    return reader_refuse(r,
                         "'%s' takes ssh, rsh or slurm, not '%s'; for other launchers say "
                         "--launcher-cmd 'COMMAND %%h'",
                         option, name);
}

bool option_remote_finds(const char *command)
{
    char name[PATH_MAX], path[PATH_MAX], why[512];
    const char *search = getenv("PATH");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, " \t"), command);
    return *name && !launch_resolve(name, NULL, search ? search : "/usr/bin:/bin", path, sizeof(path), why);
}

/* "ssh -q : rsh": the first one that is installed. If none is, take the first one: the start of a
 * daemon then tells the missing command. */
int option_remote_agent(struct reader *r, const char *option, const char *agents)
{
    const char *chosen = NULL;
    char *copy = strdup(agents), *rest = copy, *agent;
    int rc = reader_push(&r->o->words, copy);
    while (!rc && (agent = strsep(&rest, ":"))) {
        agent += strspn(agent, " \t");
        if (!*agent)
            continue;
        if (!remote_is_closed(agent))
            return reader_refuse(r, "'%s': a quote in '%s' is not closed", option, agent);
        chosen = chosen ? chosen : agent;
        if (option_remote_finds(agent)) {
            chosen = agent;
            break;
        }
    }
    if (!rc && !chosen)
        rc = reader_refuse(r, "'%s' needs the name of a program", option);
    if (!rc)
        r->o->plan.remote.agent = chosen;
    return rc;
}

int option_remote_more(struct reader *r, const char *option, const char *words, bool is_srun)
{
    if (!remote_is_closed(words))
        return reader_refuse(r, "'%s': a quote in '%s' is not closed", option, words);
    *(is_srun ? &r->o->plan.remote.srun_more : &r->o->plan.remote.ssh_more) = words;
    return 0;
}

int option_remote_take(struct reader *r, enum option_action action, const char *option,
                       const char *value)
{
    struct plan_remote *remote = &r->o->plan.remote;
    switch (action) {
    case PLAN_LAUNCHER_COMMAND: return set_command(r, option, value);
    case OPTION_LAUNCHER: return set_launcher(r, option, value);
    case PLAN_LAUNCHER_PROGRAM: remote->program = value; return 0;
    case OPTION_REMOTE_PREFIX: remote->prefix = value; return 0;
    default:
        remote->is_piped = !strcmp(value, "stdio");
        return remote->is_piped || !strcmp(value, "tcp")
                   ? 0
                   : reader_refuse(r, "'%s' takes tcp or stdio, not '%s'", option, value);
    }
}
