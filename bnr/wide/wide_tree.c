/* SPDX-License-Identifier: BSD-3-Clause */

/* mpiexec as the root of the tree; see wide_tree.h. */
#include "bnr/wide/wide_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/wide/mesh.h"
#include "bnr/wide/mesh_settings.h"
#include "bnr/wide/party_link.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide_ends.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_reach.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wide/wide_words.h"
#include "bnr/wire/launch_tags.h"
#include "os/settings.h"

static void on_linked(void *arg, uint32_t node)
{
    (void)arg;
    (void)node; /* it says who it is next */
}

static void on_contact(void *arg, uint32_t node, struct unpacking u)
{
    wide_reach_contact(arg, node, u);
}

static void on_stream(void *arg, const struct core_message *message)
{
    struct wide *w = arg;
    if (message->tag == LAUNCH_STREAM_PARTY)
        party_link_take(&w->parties[message->origin], message);
    else if (message->kind == MESSAGE_STREAM && message->tag == LAUNCH_STREAM_WORDS)
        wide_words_take(w, message);
}

static void on_deliver(void *arg, const struct core_message *message, struct unpacking u)
{
    struct wide *w = arg;
    bool is_letter = message->tag == LAUNCH_TAG_LETTER || message->tag == LAUNCH_TAG_ORDER;
    if (is_letter && w->is_serving) /* all else is for daemons */
        serve_deliver(w->serve, message, u);
}

static void on_answer(void *arg, const struct core_message *message)
{
    struct wide *w = arg;
    if (w->is_serving)
        serve_answer(w->serve, message);
}

static void on_ranks_ended(void *arg, const struct core_message *message)
{
    wide_ends_take(arg, message);
}

static void on_lost(void *arg, uint32_t node)
{
    struct wide *w = arg;
    if (!mesh_is_begun(w->mesh)) {
        if (!w->is_ending)
            wide_reach_lost(w, node);
        return;
    }
    w->nodes[node].is_lost = true;
    if (!w->is_ending)
        w->hooks.lost(w->hooks.arg, node);
}

static void on_alone(void *arg)
{
    (void)arg; /* the root is never that */
}

static void look_at_ranks(void *arg)
{
    struct wide *w = arg;
    wide_orders_failed(w, wide_orders_flush(w));
    if (w->is_serving)
        serve_look(w->serve);
}

static void on_moved(void *arg)
{
    struct wide *w = arg;
    wide_orders_failed(w, wide_orders_flush(w));
    for (uint32_t i = 1; i < w->plan.count; i++)
        party_link_tick(&w->parties[i], false);
}

void wide_say_party(struct wide *w, uint32_t node, uint32_t party, const struct hub_message *m)
{
    if (node < w->plan.count && !w->nodes[node].is_lost)
        party_link_say(&w->parties[node], party, m);
}

/* How xcasts spread, as the settings say. */
static struct xcast_choice choose(void)
{
    static const enum tree_mode modes[] = {TREE_DIRECT, TREE_LINEAR, TREE_BINOMIAL, TREE_RADIX,
                                            TREE_BINARY};
    int64_t mode = os_setting(OS_SETTING_XCAST_MODE); /* 0: auto */
    return (struct xcast_choice){
        .is_forced = mode > 0,
        .mode = modes[mode > 0 ? mode - 1 : 0],
        .direct_nodes = (uint32_t)os_setting(OS_SETTING_XCAST_DIRECT_HOSTS),
        .linear_nodes = (uint32_t)os_setting(OS_SETTING_XCAST_LINEAR_HOSTS),
        .linear_bytes = (uint64_t)os_setting(OS_SETTING_XCAST_LINEAR_BYTES),
        .radix_bytes = (uint64_t)os_setting(OS_SETTING_XCAST_RADIX_BYTES),
        .binomial_bytes = (uint64_t)os_setting(OS_SETTING_XCAST_BINOMIAL_BYTES),
        .part_bytes = xcast_choice_default.part_bytes};
}

int wide_tree_start(struct wide *w)
{
    const struct mesh_hooks hooks = {on_linked,      on_contact, on_deliver, on_answer,
                                     on_ranks_ended, on_stream,  on_lost,    on_alone,
                                     on_moved,       look_at_ranks, w};
    struct mesh_settings settings = {.count = w->plan.count};
    settings.liveness_ns = os_setting(OS_SETTING_LIVENESS_MS) * 1000000;
    settings.choice = choose();
    settings.radix = (uint32_t)os_setting(OS_SETTING_TREE_RADIX);
    if (w->is_piped) { /* the pipes are all to this machine */
        settings.radix = w->plan.count < TREE_RADIX_MAX ? w->plan.count : TREE_RADIX_MAX;
        settings.choice.linear_nodes = UINT32_MAX;
        settings.choice.linear_bytes = UINT64_MAX;
    }
    memcpy(settings.job, w->job, sizeof(settings.job));
    memcpy(settings.secret, w->secret, sizeof(settings.secret));
    w->parties = calloc(w->plan.count, sizeof(*w->parties));
    int rc = w->parties ? 0 : -ENOMEM;
    if (!rc)
        rc = mesh_create(&w->mesh, w->loop, &settings, &hooks);
    for (uint32_t i = 0; !rc && i < w->plan.count; i++)
        party_link_init(&w->parties[i], w->mesh, i, w->hooks.party, w->hooks.arg);
    return rc ? rc : mesh_listen(w->mesh);
}

void wide_tree_expect_end(struct wide *w)
{
    if (w->mesh)
        mesh_expect_end(w->mesh);
}

void wide_tree_stop(struct wide *w)
{
    if (w->mesh)
        mesh_close(w->mesh);
}

void wide_tree_free(struct wide *w)
{
    for (uint32_t i = 0; w->parties && i < w->plan.count; i++)
        party_link_fini(&w->parties[i]);
    free(w->parties);
    mesh_destroy(w->mesh);
}
