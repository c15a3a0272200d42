/* SPDX-License-Identifier: BSD-3-Clause */

/* The job on its hosts; see wide_job.h. */
#include "bnr/wide/wide_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/tree/rank_map.h"
#include "bnr/host/table.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_reach.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wire/launch_message.h"

struct table_wide wide_table(const struct wide *w)
{
    struct table_wide t = {.hosts = w->table_hosts,
                           .host_of = w->host_of,
                           .self = -1,
                           .gid = w->job,
                           .secret = w->secret};
    for (uint32_t h = 0; h < w->host_count; h++)
        if (!w->node_of_host[h])
            t.self = (int)h;
    return t;
}

/* The machines that have ranks, as the job's table lists them. */
static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct wide_node *const *)a)->name, (*(struct wide_node *const *)b)->name);
}

/* Several machines may call themselves alike, as copies of one image do: then each but mpiexec's own is
 * called as the user has named it. */
static int name_apart(struct wide *w)
{
    uint32_t count = w->plan.count, alike;
    struct wide_node **nodes = calloc(count, sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = &w->nodes[i];
    qsort(nodes, count, sizeof(*nodes), by_name);
    for (uint32_t i = 0; i < count; i += alike) {
        for (alike = 1; i + alike < count && !by_name(&nodes[i], &nodes[i + alike]); alike++)
            ;
        for (uint32_t k = 0; alike > 1 && k < alike; k++)
            if (nodes[i + k]->node)
                snprintf(nodes[i + k]->name, sizeof(nodes[i + k]->name), "%.200s",
                         w->plan.hosts[nodes[i + k]->node]->name);
    }
    free(nodes);
    return 0;
}

int wide_list_hosts(struct wide *w)
{
    w->table_hosts = calloc(w->plan.count, sizeof(*w->table_hosts));
    w->node_of_host = calloc(w->plan.count, sizeof(*w->node_of_host));
    w->host_of = calloc(w->plan.ranks, sizeof(*w->host_of));
    if (!w->table_hosts || !w->node_of_host || !w->host_of || name_apart(w))
        return -ENOMEM;
    int rc = wide_plan_hosts(&w->plan, w->node_of_host, w->host_of, &w->host_count);
    for (uint32_t i = 0; !rc && i < w->host_count; i++) {
        const struct wide_node *n = &w->nodes[w->node_of_host[i]];
        struct table_host *h = &w->table_hosts[i];
        h->cpus = n->cpus;
        memcpy(h->id, n->id, sizeof(h->id));
        memcpy(h->name, n->name, sizeof(h->name));
    }
    return rc;
}

int wide_launch(struct wide *w, struct launch_message *job, struct ranks *ranks)
{
    struct packing p = {0};
    struct launch_host *hosts = calloc(w->host_count, sizeof(*hosts));
    w->ranks = ranks;
    w->map = calloc(1, sizeof(*w->map));
    int rc = hosts && w->map ? rank_map_make(w->map, SERVE_GROUP, w->plan.node_of, w->plan.ranks) : -ENOMEM;
    if (!rc)
        rc = mesh_add_group(w->mesh, w->map);
    if (!rc)
        rc = serve_start(&w->serve, w->loop, w->mesh, w->map, ranks);
    w->is_serving = !rc;
    for (uint32_t h = 0; !rc && h < w->host_count; h++)
        hosts[h] = (struct launch_host){w->node_of_host[h], w->table_hosts[h].cpus,
                                        w->table_hosts[h].id, w->table_hosts[h].name};
    if (!rc) {
        job->hosts = hosts;
        job->host_count = w->host_count;
        job->host_of = w->host_of;
        launch_pack(&p, job);
        for (uint32_t i = 0; i < w->plan.count; i++)
            wide_reach_pack(w, &p, i);
        rc = wide_orders_try(w, LAUNCH_TAG_JOB, &p);
        mesh_write(w->mesh);
    }
    free(hosts);
    return rc;
}

uint32_t wide_host_count(const struct wide *w)
{
    return w->host_count;
}

const char *wide_name(const struct wide *w, int rank)
{
    return w->nodes[w->plan.node_of[rank]].name;
}

struct serve *wide_serve(const struct wide *w)
{
    return w->serve;
}

void wide_job_free(struct wide *w)
{
    serve_free(w->serve);
    if (w->map)
        free((void *)w->map->blocks);
    free(w->map);
    free(w->table_hosts);
    free(w->host_of);
    free(w->node_of_host);
}
