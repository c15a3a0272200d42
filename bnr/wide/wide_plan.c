/* SPDX-License-Identifier: BSD-3-Clause */

/* Which rank runs on which machine; see wide_plan.h. */
#include "bnr/wide/wide_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/io/place.h"
#include "bnr/wide/survey.h"
#include "os/log.h"

enum {
    NAMES_OWN = 2 /* of this host, beside those that options name */
};

uint32_t wide_plan_ranks_on(const struct wide_plan *plan, uint32_t node)
{
    return plan->ranks_on[node];
}

int wide_plan_hosts(const struct wide_plan *plan, uint32_t *node_of_host, uint32_t *host_of, uint32_t *count)
{
    uint32_t *number = calloc(plan->count, sizeof(*number));
    if (!number)
        return -ENOMEM;
    *count = 0;
    for (uint32_t node = 0; node < plan->count; node++) {
        if (!plan->ranks_on[node])
            continue;
        number[node] = *count;
        node_of_host[(*count)++] = node;
    }
    for (uint32_t r = 0; r < plan->ranks; r++)
        host_of[r] = number[plan->node_of[r]];
    free(number);
    return 0;
}

/* Number the machines that have ranks: this one is node 0, whether it has some or not. */
static int number_nodes(struct wide_plan *plan, const struct wide_wish *wish)
{
    const struct hosts *hosts = wish->hosts;
    const struct machine_told *told = wish->survey->machines;
    uint32_t *number = calloc(hosts->count, sizeof(*number));
    plan->hosts = calloc(hosts->count + 1, sizeof(const struct hosts_entry *));
    plan->machines = calloc(hosts->count + 1, sizeof(const struct placement_machine *));
    plan->ranks_on = calloc(hosts->count + 1, sizeof(*plan->ranks_on));
    if (!number || !plan->hosts || !plan->machines || !plan->ranks_on) {
        free(number);
        return -ENOMEM;
    }
    plan->count = 1;
    for (uint32_t r = 0; r < plan->ranks; r++)
        number[plan->node_of[r]] = 1; /* it has some */
    for (uint32_t h = 0; h < hosts->count; h++) {
        bool is_here = hosts->items[h].is_here;
        if (!is_here && !number[h])
            continue;
        number[h] = is_here ? 0 : plan->count++;
        plan->hosts[number[h]] = &hosts->items[h];
        if (told && told[h].cpus)
            plan->machines[number[h]] = &told[h].machine;
    }
    for (uint32_t r = 0; r < plan->ranks; r++) {
        plan->node_of[r] = number[plan->node_of[r]];
        plan->ranks_on[plan->node_of[r]]++;
    }
    free(number);
    return 0;
}

/* The hosts as a placement has them, and which of the list each is. With their machines, this one
 * counts once, whatever its names. Returns how many. */
static uint32_t describe_hosts(const struct wide_wish *wish, struct placement_host *list,
                               uint32_t *entry_of)
{
    static const struct placement_cpu some = {0};
    static const struct placement_machine unknown = {.cpus = &some,
                                                     .count = 1}; /* nothing is bound to it */
    const struct hosts *hosts = wish->hosts;
    const struct machine_told *told = wish->survey->machines;
    struct placement_host *own = NULL;
    uint32_t count = 0;
    for (uint32_t h = 0; h < hosts->count; h++) {
        const struct hosts_entry *e = &hosts->items[h];
        uint32_t slots = e->slots ? e->slots : 1;
        if (told && e->is_here && own) {
            own->slots += slots;
            own->max_slots = own->max_slots && e->max_slots ? own->max_slots + e->max_slots : 0;
            continue;
        }
        list[count] = (struct placement_host){e->name, slots, e->max_slots,
                                              told ? &told[h].machine : &unknown};
        if (e->is_here)
            own = &list[count];
        entry_of[count++] = h;
    }
    return count;
}

/* Which host of the list each rank is on. */
static int place(struct wide_plan *plan, const struct wide_wish *wish, char why[512])
{
    struct placement_host *list = calloc(wish->hosts->count, sizeof(*list));
    uint32_t *entry_of = calloc(wish->hosts->count, sizeof(*entry_of));
    struct placement_request request = place_request(wish->start);
    int rc = list && entry_of ? 0 : -ENOMEM;
    request.hosts = list;
    request.ranks = plan->ranks;
    request.ppn = wish->per_host;
    if (!wish->survey->count) { /* then objects do not matter, but in the order of ranks */
        request.map = request.map == PLACEMENT_NODE ? PLACEMENT_NODE : PLACEMENT_SLOT;
        request.bind = PLACEMENT_NONE;
        request.pe = request.width = request.ppr = 0;
    }
    if (!rc) {
        request.host_count = describe_hosts(wish, list, entry_of);
        rc = placement_make(&plan->placement, &request);
    }
    for (uint32_t r = 0; !rc && r < plan->ranks; r++)
        plan->node_of[r] = entry_of[plan->placement.ranks[r].host];
    if (rc == -EINVAL)
        snprintf(why, 512, "%s", plan->placement.problem);
    free(list);
    free(entry_of);
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
        if (!is_full && !(wish->start->is_limited && count[h] > e->slots))
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
    char problem[PLACEMENT_PROBLEM_LEN];
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
    int rc = placement_file_hosts(&wish->start->file, &known, plan->ranks, plan->node_of, problem);
    if (rc)
        snprintf(why, 512, "--rankfile: %s", problem);
    for (uint32_t r = 0; !rc && r < plan->ranks; r++)
        if (plan->node_of[r] >= listed)
            plan->node_of[r] = own;
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
    if (!is_elsewhere && !wish->start->rankfile)
        return 0;
    snprintf(why, 512, "out of memory");
    plan->node_of = calloc(wish->ranks, sizeof(*plan->node_of));
    if (!plan->node_of)
        return -ENOMEM;
    int rc = wish->start->rankfile ? place_by_file(plan, wish, why) : place(plan, wish, why);
    return rc ? rc : number_nodes(plan, wish);
}

void wide_plan_fini(struct wide_plan *plan)
{
    free(plan->hosts);
    free(plan->node_of);
    free(plan->ranks_on);
    free(plan->machines);
    placement_fini(&plan->placement);
    *plan = (struct wide_plan){0};
}
