/* SPDX-License-Identifier: BSD-3-Clause */

/* How the daemons of a plan are started; see plan.h. */
#include "bnr/launch/remote.h"
#include "bnr/plan/plan.h"

struct remote plan_remote(const struct plan *plan)
{
    const struct plan_remote *r = &plan->remote;
    bool is_srun = r->launcher == PLAN_LAUNCHER_SRUN;
    return (struct remote){.kind = r->command ? REMOTE_COMMAND
                                   : is_srun  ? REMOTE_SRUN
                                              : REMOTE_SSH,
                           .command = r->command,
                           .program = r->program,
                           .agent = r->agent,
                           .more = is_srun ? r->srun_more : r->ssh_more};
}
