/* SPDX-License-Identifier: BSD-3-Clause */

/* Reaching the daemons; see wide_reach.h. */
#include "bnr/wide/wide_reach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/core/tree/tree.h"
#include "bnr/wide/addresses.h"
#include "bnr/wide/bringup.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wire/field.h"
#include "bnr/wire/launch_message.h"
#include "os/clock.h"
#include "os/settings.h"

enum {
    REACH_MS = 100 /* in which a daemon that was found reaches this node, if it can */
};

void wide_reach_pack(struct wide *w, struct packing *p, uint32_t node)
{
    pack_u32(p, node);
    addresses_pack(p, mesh_addresses(w->mesh, node));
}

/* A daemon says who it is. */
void wide_reach_contact(struct wide *w, uint32_t node, struct unpacking u)
{
    struct wide_node *n = &w->nodes[node];
    struct addresses addresses;
    if (!node || n->is_known || addresses_unpack(&u, &addresses))
        return;
    n->cpus = unpack_u32(&u);
    char *id = unpack_text(&u, LAUNCH_ID_MAX - 16), *name = unpack_text(&u, LAUNCH_ID_MAX);
    n->is_big_endian = unpack_u32(&u);
    if (id && name && n->cpus) {
        n->is_known = true;
        snprintf(n->id, sizeof(n->id), "%s.%u", id, (unsigned)node);
        snprintf(n->name, sizeof(n->name), "%s", name);
        mesh_know(w->mesh, node, &addresses);
        bringup_dialed(w->bringup, node - 1);
    }
    free(id);
    free(name);
}

/* Daemons that cannot connect to this machine may still be reached from it: where their own dialing
 * takes long. */
static void dial_found(uv_timer_t *timer)
{
    struct wide *w = timer->data;
    bool are_missing = false;
    for (uint32_t i = 1; i < w->plan.count; i++) {
        if (!w->nodes[i].is_found || w->nodes[i].is_known)
            continue;
        are_missing = true;
        mesh_dial(w->mesh, i);
    }
    if (!are_missing)
        uv_timer_stop(timer);
}

/* Tell a node where its neighbours are. */
static int introduce(struct wide *w, uint32_t node)
{
    struct tree tree;
    struct node_list list = {0};
    struct packing p = {0};
    tree_init(&tree, node, w->plan.count, mesh_radix(w->mesh));
    uint32_t parent = tree_parent(&tree, node);
    int rc = tree_children(&tree, TREE_RADIX, node, &list);
    if (!rc && parent != NODE_ROOT)
        rc = node_list_add(&list, parent);
    for (size_t i = 0; i < list.count; i++)
        wide_reach_pack(w, &p, list.items[i]);
    node_list_fini(&list);
    tree_fini(&tree);
    struct bytes *all = pack_end(&p);
    return rc ? rc : mesh_contact(w->mesh, node, all);
}

bool wide_has_both_orders(const struct wide *w)
{
    bool is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    for (uint32_t i = 1; i < w->plan.count; i++)
        if (w->nodes[i].is_known && w->nodes[i].is_big_endian != is_big_endian)
            return true;
    return false;
}

uint32_t wide_up_count(const struct wide *w)
{
    uint32_t count = 1;
    for (uint32_t i = 1; i < w->plan.count; i++)
        count += w->nodes[i].is_known;
    return count;
}

static void on_complete(void *arg, bool are_all_up)
{
    struct wide *w = arg;
    int rc = 0;
    for (uint32_t i = 1; are_all_up && !rc && i < w->plan.count; i++)
        rc = introduce(w, i);
    if (are_all_up && !rc)
        rc = mesh_begin(w->mesh);
    if (rc) {
        char why[128];
        snprintf(why, sizeof(why), "cannot tell the daemons of each other: %s", strerror(-rc));
        w->hooks.say(w->hooks.arg, why);
    }
    mesh_write(w->mesh); /* daemons link to one another while the job is made */
    uv_timer_stop(&w->reach);
    w->is_up = are_all_up && !rc;
    w->hooks.ready(w->hooks.arg, w->is_up);
}

static struct bytes *make_order(void *arg, uint32_t host)
{
    struct wide *w = arg;
    struct packing p = {0};
    struct launch_order o = {.self = host + 1,
                             .count = w->plan.count,
                             .radix = mesh_radix(w->mesh),
                             .liveness_ns = (uint64_t)mesh_liveness_ns(w->mesh),
                             .limit_ns = (uint64_t)w->bringup->launching.settings.limit_ns,
                             .is_piped = w->is_piped};
    memcpy(o.job, w->job, sizeof(o.job));
    memcpy(o.secret, w->secret, sizeof(o.secret));
    order_pack(&p, &o);
    addresses_pack(&p, mesh_addresses(w->mesh, NODE_ROOT));
    return order_end(&p);
}

static int on_piped(void *arg, uint32_t host, int in_fd, int out_fd)
{
    struct wide *w = arg;
    return mesh_open(w->mesh, host + 1, in_fd, out_fd, false);
}

static void on_found(void *arg, uint32_t host, const char *digits)
{
    struct wide *w = arg;
    struct packing p = {0};
    struct addresses addresses;
    pack_digits(&p, digits);
    struct bytes *all = pack_end(&p);
    struct unpacking u = unpack_begin(all);
    if (all && !addresses_unpack(&u, &addresses)) {
        mesh_know(w->mesh, host + 1, &addresses);
        w->nodes[host + 1].is_found = true;
        if (!uv_is_active((uv_handle_t *)&w->reach))
            uv_timer_start(&w->reach, dial_found, REACH_MS, REACH_MS);
    }
    bytes_unref(all);
}

static void on_failed(void *arg, uint32_t host, const char *text)
{
    struct wide *w = arg;
    (void)host;
    w->hooks.say(w->hooks.arg, text);
}

static void on_waiting(void *arg, const char *text)
{
    struct wide *w = arg;
    w->hooks.say(w->hooks.arg, text);
}

bool wide_is_up(const struct wide *w)
{
    return w->is_up;
}

uint32_t wide_commands(const struct wide *w, pid_t *pids, uint32_t max)
{
    return max ? bringup_pids(w->bringup, pids, max) : bringup_living(w->bringup);
}

void wide_stood_still(struct wide *w, uint64_t ns)
{
    bringup_paused(w->bringup, ns);
}

bool wide_reaped(struct wide *w, int pid, int status)
{
    return bringup_ended(w->bringup, pid, status);
}

int wide_reach_create(struct wide *w)
{
    w->bringup = calloc(1, sizeof(*w->bringup));
    return w->bringup ? 0 : -ENOMEM;
}

int wide_reach_start(struct wide *w, const struct wide_settings *settings)
{
    struct launching_settings launching = launching_settings_default;
    w->hosts = calloc(w->plan.count, sizeof(*w->hosts));
    uv_timer_init(w->loop, &w->reach);
    w->reach.data = w;
    w->daemon = remote_daemon(settings->prefix);
    if (!w->hosts || !w->daemon)
        return -ENOMEM;
    for (uint32_t i = 1; i < w->plan.count; i++)
        w->hosts[i - 1] = (struct bringup_host){w->plan.hosts[i]->name, w->plan.hosts[i]->user};
    launching.fan_out = (uint32_t)os_setting(OS_SETTING_LAUNCH_FAN_OUT);
    launching.limit_ns = os_setting(OS_SETTING_LAUNCH_LIMIT_MS) * 1000000;
    *w->bringup =
        (struct bringup){.remote = *settings->remote,
                         .is_piped = settings->is_piped,
                         .hosts = w->hosts,
                         .count = w->plan.count - 1,
                         .hooks = {make_order, on_piped, on_found, NULL, on_failed,
                                   isatty(STDERR_FILENO) ? on_waiting : NULL, on_complete, w}};
    w->bringup->remote.daemon = w->daemon;
    return bringup_start(w->bringup, w->loop, &launching);
}

void wide_reach_lost(struct wide *w, uint32_t node)
{
    bringup_lost(w->bringup, node - 1);
}

void wide_reach_end(struct wide *w, uint64_t until_ns)
{
    if (!w->is_up)
        bringup_kill(w->bringup);
    while (bringup_living(w->bringup) && os_now_ns() < until_ns)
        uv_run(w->loop, UV_RUN_ONCE); /* the clock of the mesh ticks */
    bringup_kill(w->bringup);
}

void wide_reach_stop(struct wide *w)
{
    bringup_stop(w->bringup);
    uv_close((uv_handle_t *)&w->reach, NULL);
}

void wide_reach_free(struct wide *w)
{
    bringup_destroy(w->bringup);
    free(w->bringup);
    free(w->hosts);
    free(w->daemon);
}
