/* SPDX-License-Identifier: BSD-3-Clause */

/* A job over several machines, at mpiexec; see wide.h. */
#include "bnr/wide/wide.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/tree/message.h"
#include "bnr/host/order.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide_ends.h"
#include "bnr/wide/wide_job.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_reach.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wide/wide_tree.h"
#include "bnr/wide/wide_words.h"
#include "bnr/wire/launch_tags.h"
#include "os/clock.h"
#include "os/cpu/cpus.h"
#include "os/log.h"
#include "os/random.h"

enum {
    END_MS = 3000 /* until daemons that were told to end are killed with their commands */
};

const struct wide_plan *wide_get_plan(const struct wide *w)
{
    return &w->plan;
}

bool wide_is_elsewhere(const struct wide *w, int rank)
{
    return w->plan.node_of[rank] != NODE_ROOT;
}

/* ---- life ---- */

static int fill_nodes(struct wide *w)
{
    w->nodes = calloc(w->plan.count, sizeof(*w->nodes));
    if (!w->nodes)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->plan.count; i++) {
        w->nodes[i].wide = w;
        w->nodes[i].node = i;
    }
    char id[HOST_ID_MAX];
    host_id(id);
    snprintf(w->nodes[0].id, sizeof(w->nodes[0].id), "%.160s.0", id);
    snprintf(w->nodes[0].name, sizeof(w->nodes[0].name), "%.200s", os_host_name());
    w->nodes[0].cpus = (uint32_t)os_cpus_usable();
    return 0;
}

/* The id of the job, which may be given, and its secret. Returns 0 or -errno. */
static int choose_keys(struct wide *w)
{
    int rc = order_gid(w->job) ? 0 : os_random(w->job, sizeof(w->job));
    return rc ? rc : os_random(w->secret, sizeof(w->secret));
}

int wide_create(struct wide **made, struct wide_plan *plan)
{
    *made = NULL;
    if (plan->count == 1)
        return 0;
    struct wide *w = calloc(1, sizeof(*w));
    if (!w || wide_reach_create(w)) {
        free(w);
        return -ENOMEM;
    }
    *made = w;
    w->plan = *plan;
    *plan = (struct wide_plan){0};
    return 0;
}

uint32_t wide_count(const struct wide *w)
{
    return w->plan.count;
}

int wide_start(struct wide *w, uv_loop_t *loop, const struct wide_settings *settings,
               const struct wide_hooks *hooks)
{
    w->loop = loop;
    w->hooks = *hooks;
    w->is_piped = settings->is_piped;
    w->last_order = &w->orders;
    wide_ends_begin(w);
    int rc = fill_nodes(w);
    if (!rc)
        rc = wide_words_begin(w);
    if (!rc)
        rc = choose_keys(w);
    if (!rc)
        rc = wide_tree_start(w);
    if (rc)
        return rc;
    return wide_reach_start(w, settings);
}

void wide_end(struct wide *w)
{
    struct packing nothing = {0};
    uint64_t until = os_now_ns() + END_MS * 1000000ull;
    w->is_ending = true;
    wide_tree_expect_end(w);
    if (w->is_up)
        wide_orders_give(w, LAUNCH_TAG_END, &nothing);
    wide_reach_end(w, until);
}

void wide_close(struct wide *w)
{
    serve_stop(w->serve);
    wide_reach_stop(w);
    wide_ends_stop(w);
    wide_tree_stop(w);
}

void wide_destroy(struct wide *w)
{
    if (!w)
        return;
    wide_words_free(w);
    wide_orders_free(w);
    bytes_unref(w->ended.bytes);
    wide_reach_free(w);
    wide_tree_free(w);
    wide_job_free(w);
    free(w->nodes);
    wide_plan_fini(&w->plan);
    free(w);
}
