/* SPDX-License-Identifier: BSD-3-Clause */

/* Which rank runs on which machine; see wide_plan.h. */
#include "bnr/wide/wide_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bnr/core/placement.h"

bool wide_plan_uses(const struct wide_plan *plan, uint32_t node)
{
    for (uint32_t r = 0; r < plan->ranks; r++)
        if (plan->node_of[r] == node)
            return true;
    return false;
}

/* Number the machines that have ranks: this one is node 0, whether it has some or not. */
static int number_nodes(struct wide_plan *plan, const struct hosts *hosts)
{
    uint32_t *number = calloc(hosts->count, sizeof(*number));
    plan->hosts = calloc(hosts->count + 1, sizeof(const struct hosts_entry *));
    if (!number || !plan->hosts) {
        free(number);
        return -ENOMEM;
    }
    plan->count = 1;
    for (uint32_t h = 0; h < hosts->count; h++) {
        if (hosts->items[h].is_here) {
            plan->hosts[0] = &hosts->items[h];
        } else if (wide_plan_uses(plan, h)) {
            number[h] = plan->count;
            plan->hosts[plan->count++] = &hosts->items[h];
        }
    }
    for (uint32_t r = 0; r < plan->ranks; r++)
        plan->node_of[r] = number[plan->node_of[r]];
    free(number);
    return 0;
}

/* Which host of the list each rank is on. */
static int place(struct wide_plan *plan, const struct wide_wish *wish, char why[512])
{
    static const struct placement_cpu some = {0};
    static const struct placement_machine unknown = {.cpus = &some,
                                                     .count = 1}; /* nothing is bound to it */
    const struct hosts *hosts = wish->hosts;
    struct placement made = {0};
    struct placement_host *list = calloc(hosts->count, sizeof(*list));
    if (!list)
        return -ENOMEM;
    for (size_t h = 0; h < hosts->count; h++)
        list[h] = (struct placement_host){hosts->items[h].name,
                                          hosts->items[h].slots ? hosts->items[h].slots : 1,
                                          hosts->items[h].max_slots, &unknown};
    struct placement_request request = {.hosts = list,
                                        .host_count = (uint32_t)hosts->count,
                                        .ranks = plan->ranks,
                                        .map = wish->is_by_node ? PLACEMENT_NODE : PLACEMENT_SLOT,
                                        .rank_by = PLACEMENT_SLOT,
                                        .bind = PLACEMENT_NONE,
                                        .ppn = wish->per_host};
    int rc = placement_make(&made, &request);
    for (uint32_t r = 0; !rc && r < plan->ranks; r++)
        plan->node_of[r] = made.ranks[r].host;
    if (rc)
        snprintf(why, 512, "%s", made.problem);
    placement_fini(&made);
    free(list);
    return rc;
}

int wide_plan(struct wide_plan *plan, const struct wide_wish *wish, char why[512])
{
    const struct hosts *hosts = wish->hosts;
    bool is_elsewhere = false;
    *plan = (struct wide_plan){.count = 1, .ranks = wish->ranks};
    for (size_t h = 0; h < hosts->count; h++)
        is_elsewhere |= !hosts->items[h].is_here;
    if (!is_elsewhere)
        return 0;
    snprintf(why, 512, "out of memory");
    plan->node_of = calloc(wish->ranks, sizeof(*plan->node_of));
    if (!plan->node_of)
        return -ENOMEM;
    int rc = place(plan, wish, why);
    return rc ? rc : number_nodes(plan, hosts);
}

void wide_plan_fini(struct wide_plan *plan)
{
    free(plan->hosts);
    free(plan->node_of);
    *plan = (struct wide_plan){0};
}
