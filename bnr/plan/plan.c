/* SPDX-License-Identifier: BSD-3-Clause */

/* The plan of a job, and what it owns; see plan.h. */
#include "bnr/plan/plan.h"

#include <stdlib.h>
#include <string.h>

void plan_init(struct plan *plan)
{
    memset(plan, 0, sizeof(*plan));
    plan->start.map = plan->start.rank_by = PLACEMENT_SLOT;
    plan->start.bind = PLACEMENT_NONE;
    plan->start.stdin_to = "0";
}

void plan_free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

void plan_free_env(struct plan_env *env)
{
    plan_free_list(env->list);
    plan_free_list(env->without);
    plan_free_list(env->set);
}

void plan_free_app(struct plan_app *app)
{
    free(app->argv);
    plan_free_env(&app->env);
}

void plan_fini(struct plan *plan)
{
    for (int i = 0; i < plan->napps; i++)
        plan_free_app(&plan->apps[i]);
    free(plan->apps);
    plan_free_env(&plan->env);
    hosts_fini(&plan->hosts);
    placement_file_fini(&plan->start.file);
    plan_free_list(plan->settings);
    free(plan->files.pattern[0]);
    free(plan->files.pattern[1]);
    memset(plan, 0, sizeof(*plan));
}
