/* SPDX-License-Identifier: BSD-3-Clause */

/* Which rank runs on which machine; see wide_plan.h. */
#include "bnr/wide/wide_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/placement.h"
#include "os/log.h"

enum {
    NAMES_OWN = 2 /* of this host, beside those that options name */
};

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

/* No host has more ranks of a rankfile than it may. */
static int check_room(const struct wide_plan *plan, const struct wide_wish *wish, char why[512])
{
    const struct hosts *hosts = wish->hosts;
    uint32_t *count = calloc(hosts->count + 1, sizeof(*count));
    int rc = count ? 0 : -ENOMEM;
    for (uint32_t r = 0; !rc && r < plan->ranks; r++)
        count[plan->node_of[r]]++;
    for (size_t h = 0; !rc && h < hosts->count; h++) {
        const struct hosts_entry *e = &hosts->items[h];
        bool is_full = e->max_slots && count[h] > e->max_slots;
        if (!is_full && !(wish->is_limited && count[h] > e->slots))
            continue;
        snprintf(why, 512,
                 "the rankfile puts %u ranks on %.200s, which has %s%u; raise that, or put fewer "
                 "there",
                 count[h], e->name, is_full ? "max_slots=" : "slots=",
                 is_full ? e->max_slots : e->slots);
        rc = -EINVAL;
    }
    free(count);
    return rc;
}

/* Which host of the list each rank is on, as a rankfile says: it may call this host by any of its
 * names. */
static int place_by_file(struct wide_plan *plan, const struct wide_wish *wish, char why[512])
{
    const struct hosts *hosts = wish->hosts;
    uint32_t listed = (uint32_t)hosts->count, own = listed;
    const char **names = calloc(hosts->count + NAMES_OWN, sizeof(*names));
    struct placement_file file;
    if (!names)
        return -ENOMEM;
    for (uint32_t h = 0; h < listed; h++) {
        names[h] = hosts->items[h].name;
        own = hosts->items[h].is_here && own == listed ? h : own;
    }
    names[listed] = os_host_name();
    names[listed + 1] = "localhost";
    const struct placement_names known = {names, own < listed ? listed + NAMES_OWN : listed,
                                          listed};
    int rc = placement_file_read(&file, wish->rankfile, strlen(wish->rankfile));
    if (!rc)
        rc = placement_file_hosts(&file, &known, plan->ranks, plan->node_of);
    if (rc == -EINVAL)
        snprintf(why, 512, "--rankfile: %s", file.problem);
    for (uint32_t r = 0; !rc && r < plan->ranks; r++)
        if (plan->node_of[r] >= listed)
            plan->node_of[r] = own;
    placement_file_fini(&file);
    free(names);
    return rc ? rc : check_room(plan, wish, why);
}

int wide_plan(struct wide_plan *plan, const struct wide_wish *wish, char why[512])
{
    const struct hosts *hosts = wish->hosts;
    bool is_elsewhere = false;
    *plan = (struct wide_plan){.count = 1, .ranks = wish->ranks};
    for (size_t h = 0; h < hosts->count; h++)
        is_elsewhere |= !hosts->items[h].is_here;
    if (!is_elsewhere && !wish->rankfile)
        return 0;
    snprintf(why, 512, "out of memory");
    plan->node_of = calloc(wish->ranks, sizeof(*plan->node_of));
    if (!plan->node_of)
        return -ENOMEM;
    int rc = wish->rankfile ? place_by_file(plan, wish, why) : place(plan, wish, why);
    return rc ? rc : number_nodes(plan, hosts);
}

void wide_plan_fini(struct wide_plan *plan)
{
    free(plan->hosts);
    free(plan->node_of);
    *plan = (struct wide_plan){0};
}
