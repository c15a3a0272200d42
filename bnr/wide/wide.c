/* SPDX-License-Identifier: BSD-3-Clause */

/* A job over several machines, at mpiexec; see wide.h. */
#include "bnr/wide/wide.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/core/stream/hub.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/core/tree/tree.h"
#include "bnr/host/order.h"
#include "bnr/io/ranks.h"
#include "bnr/wide/party_link.h"
#include "bnr/wide/post.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wire/field.h"
#include "bnr/wire/launch_message.h"
#include "bnr/wire/name_message.h"
#include "os/clock.h"
#include "os/cpu/cpus.h"
#include "os/log.h"
#include "os/random.h"
#include "os/settings.h"

enum {
    TELL_MS = 2,      /* until daemons are told that ranks have ended well */
    ENDED_LEN = 1 << 16, /* bytes of ends that wait at most */
    REACH_MS = 100, /* in which a daemon that was found reaches this node, if it can */
    END_MS = 3000 /* until daemons that were told to end are killed with their commands */
};

/* A node as far as it is known, and the streams between it and this one. */
struct wide_node {
    struct wide *wide;
    uint32_t node, cpus;
    char id[HOST_ID_MAX], name[256];
    bool is_known, is_lost;
    bool is_tolerant; /* some rank there goes on after failures, or did when it was lost */
    bool is_found; /* we know its address, and dial it if it does not dial us */
    struct stream_in words;
    struct party_link parties; /* messages between its ends and the hub */
};

/* An xcast that waits. */
struct wide_order {
    struct wide_order *next;
    uint32_t tag;
    struct bytes *data;
};

/* ---- orders ---- */

/* Submit the waiting orders, as far as there is room. Returns 0 or -errno: an order could not be
 * sent. */
static int flush_orders(struct wide *w)
{
    int failed = 0;
    while (w->orders && w->mesh.is_begun) {
        struct wide_order *o = w->orders;
        const struct xcast_input input = {o->tag, XCAST_BY_SIZE, bytes_ref(o->data)};
        int rc = mesh_submit(&w->mesh, &input);
        if (rc == XCAST_AGAIN)
            break;
        failed = rc ? rc : failed;
        w->orders = o->next;
        if (!w->orders)
            w->last_order = &w->orders;
        bytes_unref(o->data);
        free(o);
    }
    return failed;
}

/* Without an order daemons cannot know what to do: they, and the job, end. */
static void take_failure(struct wide *w, int rc)
{
    if (rc && !w->is_ending)
        w->hooks.broken(w->hooks.arg, rc);
}

/* Say something to all daemons; p is taken over. Returns 0 or -errno. */
static int try_order(struct wide *w, uint32_t tag, struct packing *p)
{
    struct bytes *payload = pack_end(p);
    struct bytes *data = payload ? xcast_address(NULL, 0, payload->at, payload->len) : NULL;
    struct wide_order *o = data ? malloc(sizeof(*o)) : NULL;
    bytes_unref(payload);
    if (!o) {
        bytes_unref(data);
        return -ENOMEM;
    }
    *o = (struct wide_order){NULL, tag, data};
    *w->last_order = o;
    w->last_order = &o->next;
    return flush_orders(w);
}

static void order(struct wide *w, uint32_t tag, struct packing *p)
{
    take_failure(w, try_order(w, tag, p));
}

static void order_number(struct wide *w, uint32_t tag, uint32_t number)
{
    struct packing p = {0};
    pack_u32(&p, number);
    order(w, tag, &p);
}

void wide_signal(struct wide *w, int rank, int number)
{
    struct packing p = {0};
    pack_u32(&p, (uint32_t)number);
    pack_u32(&p, (uint32_t)rank);
    order(w, LAUNCH_TAG_SIGNAL, &p);
}

void wide_ask(struct wide *w, uint32_t number)
{
    order_number(w, LAUNCH_TAG_ASK, number);
}

void wide_tell(struct wide *w, int rank, uint32_t tag, const void *data, size_t len)
{
    struct packing p = {0};
    post_pack(&p, rank, tag, data, len);
    order(w, LAUNCH_TAG_LETTER, &p);
}

void wide_ask_name(struct wide *w, const struct name_ask *ask)
{
    struct packing p = {0};
    name_ask_pack(&p, ask);
    order(w, LAUNCH_TAG_NAME, &p);
}

bool wide_answers(const struct wide *w, uint32_t node)
{
    return node != NODE_ROOT && !w->nodes[node].is_lost && !w->is_ending;
}

void wide_unread(struct wide *w, int fd)
{
    order_number(w, LAUNCH_TAG_UNREAD, (uint32_t)fd);
}

void wide_go(struct wide *w)
{
    order_number(w, LAUNCH_TAG_GO, 0);
}

void wide_resize(struct wide *w, const struct winsize *size)
{
    struct packing p = {0};
    pack_u32(&p, size->ws_row);
    pack_u32(&p, size->ws_col);
    order(w, LAUNCH_TAG_WINDOW, &p);
}

void wide_pause(struct wide *w, bool is_paused)
{
    mesh_pause(&w->mesh, is_paused);
    order_number(w, LAUNCH_TAG_PAUSE, is_paused);
    uint64_t until = os_now_ns() + 100000000u;
    while (is_paused && mesh_waiting(&w->mesh) && os_now_ns() < until)
        uv_run(w->loop, UV_RUN_NOWAIT);
}

/* ---- words of daemons ---- */

static void keep_text(char **to, const struct record *r)
{
    free(*to);
    *to = strndup((const char *)r->at, r->len);
}

/* Keep a list of numbers, and nothing else. */
static void keep_list(char **to, const struct record *r)
{
    keep_text(to, r);
    if (*to)
        (*to)[strspn(*to, "0123456789,-")] = 0;
}

static void take_number(struct wide *w, const struct record *r)
{
    struct unpacking u = {.at = r->at, .left = r->len};
    uint32_t number = unpack_u32(&u);
    char why[512];
    if (u.failed)
        return;
    if (r->kind == RECORD_STARTED) {
        w->told[r->rank].pid = (int)number;
        w->hooks.started(w->hooks.arg, (int)r->rank, (int)number);
        return;
    }
    if (r->kind == RECORD_TOLERANT) {
        w->nodes[w->plan.node_of[r->rank]].is_tolerant = number != 0;
        return;
    }
    if (r->kind == RECORD_MISSED) {
        if (number < w->plan.ranks)
            w->hooks.missed(w->hooks.arg, (int)number);
        return;
    }
    snprintf(why, sizeof(why), "%.*s", (int)(u.left < 500 ? u.left : 500), (const char *)u.at);
    w->hooks.failed(w->hooks.arg, (int)r->rank, (int)number, why);
}

/* A daemon's words for people: lines of text, and nothing else. */
static void take_text(struct wide *w, const struct record *r)
{
    static const char own[] = "mpiexec: "; /* say() puts it before each line */
    char *text = strndup((const char *)r->at, r->len), *rest = text, *line;
    for (char *c = text; c && *c; c++)
        if (*c != '\n' && (*c < ' ' || *c > '~'))
            *c = '?';
    while ((line = strsep(&rest, "\n")))
        if (*line)
            w->hooks.say(w->hooks.arg,
                         line + (strncmp(line, own, sizeof(own) - 1) ? 0 : sizeof(own) - 1));
    free(text);
}

static void take_name(struct wide *w, const struct wide_node *n, const struct record *r)
{
    struct name_answer answer;
    if (!name_answer_unpack((struct unpacking){r->at, r->len, false}, &answer))
        w->hooks.name(w->hooks.arg, n->node, &answer);
    name_answer_fini(&answer);
}

static void take_record(struct wide *w, const struct wide_node *n, const struct record *r)
{
    if (r->rank >= w->plan.ranks || w->plan.node_of[r->rank] != n->node)
        return;
    switch (r->kind) {
    case RECORD_STARTED:
    case RECORD_FAILED:
    case RECORD_TOLERANT:
    case RECORD_MISSED: take_number(w, r); break;
    case RECORD_REPORT: keep_text(&w->told[r->rank].report, r); break;
    case RECORD_CPUS: keep_list(&w->told[r->rank].cpus, r); break;
    case RECORD_ANSWER:
        w->hooks.answer(w->hooks.arg, (int)r->rank, (struct unpacking){r->at, r->len, false});
        break;
    case RECORD_NAME: take_name(w, n, r); break;
    case RECORD_ABORT: keep_text(&w->told[r->rank].abort, r); break;
    case RECORD_TEXT: take_text(w, r); break;
    case RECORD_DEBUGGED: w->told[r->rank].is_debugged = true; break;
    default: break;
    }
}

static void take_words(struct wide *w, const struct core_message *message)
{
    struct wide_node *n = &w->nodes[message->origin];
    struct unpacking u = unpack_begin(message->data);
    struct effects effects = {0};
    struct record r;
    bool is_next = !stream_in_take(&n->words, message);
    struct core_message credit = stream_in_credit(&n->words, message, n->words.taken);
    effects_add(&effects, EFFECT_SEND, credit.to, &credit);
    mesh_route(&w->mesh, &effects);
    effects_fini(&effects);
    while (is_next && record_next(&u, &r))
        take_record(w, n, &r);
}

static void on_stream(void *arg, const struct core_message *message)
{
    struct wide *w = arg;
    if (message->tag == LAUNCH_STREAM_PARTY)
        party_link_take(&w->nodes[message->origin].parties, message);
    else if (message->kind == MESSAGE_STREAM && message->tag == LAUNCH_STREAM_WORDS)
        take_words(w, message);
}

/* ---- the tree ---- */

static void on_linked(void *arg, uint32_t node)
{
    (void)arg;
    (void)node; /* it says who it is next */
}

/* A daemon says who it is. */
static void on_contact(void *arg, uint32_t node, struct unpacking u)
{
    struct wide *w = arg;
    struct wide_node *n = &w->nodes[node];
    struct addresses addresses;
    if (!node || n->is_known || addresses_unpack(&u, &addresses))
        return;
    n->cpus = unpack_u32(&u);
    char *id = unpack_text(&u, LAUNCH_ID_MAX - 16), *name = unpack_text(&u, LAUNCH_ID_MAX);
    if (id && name && n->cpus) {
        n->is_known = true;
        snprintf(n->id, sizeof(n->id), "%s.%u", id, (unsigned)node);
        snprintf(n->name, sizeof(n->name), "%s", name);
        mesh_know(&w->mesh, node, &addresses);
        bringup_dialed(&w->bringup, node - 1);
    }
    free(id);
    free(name);
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

static void tell_ended(struct wide *w)
{
    struct packing ended = w->ended;
    w->ended = (struct packing){0};
    uv_timer_stop(&w->tell);
    if (w->is_ending)
        bytes_unref(ended.bytes);
    else
        order(w, LAUNCH_TAG_ENDED, &ended);
}

static void on_tell(uv_timer_t *timer)
{
    tell_ended(timer->data);
}

/* Daemons are told at once of an end that others must not wait behind; of good ones together, a
 * moment later, and when the job ends with them, not at all. */
static void note_ended(struct wide *w, const struct bytes *runs)
{
    struct unpacking u = unpack_begin(runs);
    struct rollup_run run;
    bool is_good = true;
    if (!runs)
        return;
    pack_raw(&w->ended, runs->at, runs->len);
    while (rollup_unpack(&u, &run)) {
        uint32_t flags = run.flags & (ROLLUP_INITIALIZED | ROLLUP_FINALIZED);
        is_good &= !run.status && !(run.flags & (ROLLUP_ABORTED | ROLLUP_NODE_LOST)) &&
                   flags != ROLLUP_INITIALIZED;
    }
    if (!is_good || w->ended.failed || w->ended.bytes->len > ENDED_LEN)
        tell_ended(w);
    else if (!uv_is_active((uv_handle_t *)&w->tell))
        uv_timer_start(&w->tell, on_tell, TELL_MS, 0);
}

static void on_ranks_ended(void *arg, const struct core_message *message)
{
    struct wide *w = arg;
    struct unpacking u = unpack_begin(message->data);
    struct rollup_run run;
    note_ended(w, message->data);
    while (rollup_unpack(&u, &run)) {
        serve_note_ended(&w->ranks->table, &run);
        for (uint32_t r = run.first; r - run.first < run.count && r < w->plan.ranks; r++)
            if (w->plan.node_of[r] != NODE_ROOT)
                w->hooks.ended(w->hooks.arg, (int)r, &run);
        if (serve_are_missed(&run) && ranks_communicating(w->ranks) >= 0 &&
            run.first < w->plan.ranks)
            w->hooks.missed(w->hooks.arg, (int)run.first);
    }
    if (w->is_serving)
        serve_look(w->serve);
}

static void on_lost(void *arg, uint32_t node)
{
    struct wide *w = arg;
    if (!w->mesh.is_begun) {
        if (!w->is_ending)
            bringup_lost(&w->bringup, node - 1);
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
        mesh_dial(&w->mesh, i);
    }
    if (!are_missing)
        uv_timer_stop(timer);
}

static void look_at_ranks(void *arg)
{
    struct wide *w = arg;
    take_failure(w, flush_orders(w));
    if (w->is_serving)
        serve_look(w->serve);
}

static void on_moved(void *arg)
{
    struct wide *w = arg;
    take_failure(w, flush_orders(w));
    for (uint32_t i = 1; i < w->plan.count; i++)
        party_link_tick(&w->nodes[i].parties, false);
}

void wide_say_party(struct wide *w, uint32_t node, uint32_t party, const struct hub_message *m)
{
    if (node < w->plan.count && !w->nodes[node].is_lost)
        party_link_say(&w->nodes[node].parties, party, m);
}

/* ---- bringing up ---- */

static void pack_contact(struct wide *w, struct packing *p, uint32_t node)
{
    pack_u32(p, node);
    addresses_pack(p, mesh_addresses(&w->mesh, node));
}

/* Tell a node where its neighbours are. */
static int introduce(struct wide *w, uint32_t node)
{
    struct tree tree;
    struct node_list list = {0};
    struct packing p = {0};
    tree_init(&tree, node, w->plan.count, w->mesh.settings.radix);
    uint32_t parent = tree_parent(&tree, node);
    int rc = tree_children(&tree, TREE_RADIX, node, &list);
    if (!rc && parent != NODE_ROOT)
        rc = node_list_add(&list, parent);
    for (size_t i = 0; i < list.count; i++)
        pack_contact(w, &p, list.items[i]);
    node_list_fini(&list);
    tree_fini(&tree);
    struct bytes *all = pack_end(&p);
    return rc ? rc : mesh_contact(&w->mesh, node, all);
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
        rc = mesh_begin(&w->mesh);
    if (rc) {
        char why[128];
        snprintf(why, sizeof(why), "cannot tell the daemons of each other: %s", strerror(-rc));
        w->hooks.say(w->hooks.arg, why);
    }
    mesh_write(&w->mesh); /* daemons link to one another while the job is made */
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
                             .radix = w->mesh.settings.radix,
                             .liveness_ns = (uint64_t)w->mesh.settings.liveness_ns,
                             .limit_ns = (uint64_t)w->bringup.launching.settings.limit_ns,
                             .is_piped = w->is_piped};
    memcpy(o.job, w->mesh.settings.job, sizeof(o.job));
    memcpy(o.secret, w->mesh.settings.secret, sizeof(o.secret));
    order_pack(&p, &o);
    addresses_pack(&p, &w->mesh.own);
    return order_end(&p);
}

static int on_piped(void *arg, uint32_t host, int in_fd, int out_fd)
{
    struct wide *w = arg;
    return mesh_open(&w->mesh, host + 1, in_fd, out_fd, false);
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
        mesh_know(&w->mesh, host + 1, &addresses);
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

/* ---- the job ---- */

struct table_wide wide_table(const struct wide *w)
{
    struct table_wide t = {.hosts = w->table_hosts,
                           .host_of = w->host_of,
                           .self = -1,
                           .gid = w->mesh.settings.job,
                           .secret = w->mesh.settings.secret};
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
    int rc = hosts ? rank_map_make(&w->map, SERVE_GROUP, w->plan.node_of, w->plan.ranks) : -ENOMEM;
    if (!rc)
        rc = mesh_add_group(&w->mesh, &w->map);
    if (!rc)
        rc = serve_start(&w->serve, w->loop, &w->mesh, &w->map, ranks);
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
            pack_contact(w, &p, i);
        rc = try_order(w, LAUNCH_TAG_JOB, &p);
        mesh_write(&w->mesh);
    }
    free(hosts);
    return rc;
}

const struct wide_plan *wide_get_plan(const struct wide *w)
{
    return &w->plan;
}

bool wide_is_elsewhere(const struct wide *w, int rank)
{
    return w->plan.node_of[rank] != NODE_ROOT;
}

uint32_t wide_host_count(const struct wide *w)
{
    return w->host_count;
}

bool wide_is_up(const struct wide *w)
{
    return w->is_up;
}

uint32_t wide_commands(const struct wide *w, pid_t *pids, uint32_t max)
{
    return max ? bringup_pids(&w->bringup, pids, max) : bringup_living(&w->bringup);
}

void wide_stood_still(struct wide *w, uint64_t ns)
{
    bringup_paused(&w->bringup, ns);
}

bool wide_reaped(struct wide *w, int pid, int status)
{
    return bringup_ended(&w->bringup, pid, status);
}

const char *wide_name(const struct wide *w, int rank)
{
    return w->nodes[w->plan.node_of[rank]].name;
}

int wide_pid(const struct wide *w, int rank)
{
    return w->told[rank].pid;
}

const char *wide_cpus(const struct wide *w, int rank)
{
    return w->told[rank].cpus;
}

const char *wide_report(const struct wide *w, int rank)
{
    return w->told[rank].report;
}

const char *wide_abort(const struct wide *w, int rank)
{
    return w->told[rank].abort ? w->told[rank].abort : "";
}

/* ---- life ---- */

static int fill_nodes(struct wide *w)
{
    w->nodes = calloc(w->plan.count, sizeof(*w->nodes));
    w->hosts = calloc(w->plan.count, sizeof(*w->hosts));
    w->told = calloc(w->plan.ranks, sizeof(*w->told));
    if (!w->nodes || !w->hosts || !w->told)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->plan.count; i++) {
        w->nodes[i].wide = w;
        w->nodes[i].node = i;
        party_link_init(&w->nodes[i].parties, &w->mesh, i, w->hooks.party, w->hooks.arg);
        if (i)
            w->hosts[i - 1] = (struct bringup_host){w->plan.hosts[i]->name, w->plan.hosts[i]->user};
    }
    char id[HOST_ID_MAX];
    host_id(id);
    snprintf(w->nodes[0].id, sizeof(w->nodes[0].id), "%.160s.0", id);
    snprintf(w->nodes[0].name, sizeof(w->nodes[0].name), "%.200s", os_host_name());
    w->nodes[0].cpus = (uint32_t)os_cpus_usable();
    return 0;
}

static int start_mesh(struct wide *w)
{
    const struct mesh_hooks hooks = {on_linked,      on_contact, on_deliver, on_answer,
                                     on_ranks_ended, on_stream,  on_lost,    on_alone,
                                     on_moved,       look_at_ranks, w};
    struct mesh_settings settings = {.count = w->plan.count};
    settings.liveness_ns = os_setting(OS_SETTING_LIVENESS_MS) * 1000000;
    settings.choice = mesh_choice();
    settings.radix = (uint32_t)os_setting(OS_SETTING_TREE_RADIX);
    if (w->is_piped) { /* the pipes are all to this machine */
        settings.radix = w->plan.count < TREE_RADIX_MAX ? w->plan.count : TREE_RADIX_MAX;
        settings.choice.linear_nodes = UINT32_MAX;
        settings.choice.linear_bytes = UINT64_MAX;
    }
    int rc = order_gid(settings.job) ? 0 : os_random(settings.job, sizeof(settings.job));
    if (!rc)
        rc = os_random(settings.secret, sizeof(settings.secret));
    if (!rc)
        rc = mesh_create(&w->mesh, w->loop, &settings, &hooks);
    return rc ? rc : mesh_listen(&w->mesh);
}

struct wide *wide_create(struct wide_plan *plan)
{
    struct wide *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->plan = *plan;
    *plan = (struct wide_plan){0};
    return w;
}

int wide_start(struct wide *w, uv_loop_t *loop, const struct wide_settings *settings,
               const struct wide_hooks *hooks)
{
    struct launching_settings launching = launching_settings_default;
    w->loop = loop;
    w->hooks = *hooks;
    w->is_piped = settings->is_piped;
    w->last_order = &w->orders;
    uv_timer_init(loop, &w->reach);
    uv_timer_init(loop, &w->tell);
    w->reach.data = w->tell.data = w;
    w->daemon = remote_daemon(settings->prefix);
    int rc = w->daemon ? fill_nodes(w) : -ENOMEM;
    if (!rc)
        rc = start_mesh(w);
    if (rc)
        return rc;
    launching.fan_out = (uint32_t)os_setting(OS_SETTING_LAUNCH_FAN_OUT);
    launching.limit_ns = os_setting(OS_SETTING_LAUNCH_LIMIT_MS) * 1000000;
    w->bringup =
        (struct bringup){.remote = *settings->remote,
                         .is_piped = settings->is_piped,
                         .hosts = w->hosts,
                         .count = w->plan.count - 1,
                         .hooks = {make_order, on_piped, on_found, NULL, on_failed,
                                   isatty(STDERR_FILENO) ? on_waiting : NULL, on_complete, w}};
    w->bringup.remote.daemon = w->daemon;
    return bringup_start(&w->bringup, loop, &launching);
}

bool wide_some_tolerate(const struct wide *w)
{
    bool some = false;
    for (uint32_t i = 0; i < w->plan.count; i++)
        some |= w->nodes[i].is_tolerant;
    return some;
}

bool wide_is_debugged(const struct wide *w, int rank)
{
    return w->told[rank].is_debugged;
}

struct serve *wide_serve(const struct wide *w)
{
    return w->serve;
}

void wide_end(struct wide *w)
{
    struct packing nothing = {0};
    uint64_t until = os_now_ns() + END_MS * 1000000ull;
    w->is_ending = true;
    mesh_expect_end(&w->mesh);
    if (w->is_up)
        order(w, LAUNCH_TAG_END, &nothing);
    else
        bringup_kill(&w->bringup);
    while (bringup_living(&w->bringup) && os_now_ns() < until)
        uv_run(w->loop, UV_RUN_ONCE); /* the clock of the mesh ticks */
    bringup_kill(&w->bringup);
}

void wide_close(struct wide *w)
{
    serve_stop(w->serve);
    bringup_stop(&w->bringup);
    uv_close((uv_handle_t *)&w->reach, NULL);
    uv_close((uv_handle_t *)&w->tell, NULL);
    mesh_close(&w->mesh);
}

void wide_destroy(struct wide *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; w->nodes && i < w->plan.count; i++)
        party_link_fini(&w->nodes[i].parties);
    for (uint32_t r = 0; w->told && r < w->plan.ranks; r++) {
        free(w->told[r].report);
        free(w->told[r].abort);
        free(w->told[r].cpus);
    }
    for (struct wide_order *o = w->orders, *next; o; o = next) {
        next = o->next;
        bytes_unref(o->data);
        free(o);
    }
    bytes_unref(w->ended.bytes);
    serve_free(w->serve);
    bringup_destroy(&w->bringup);
    mesh_destroy(&w->mesh);
    free((void *)w->map.blocks);
    free(w->nodes);
    free(w->hosts);
    free(w->told);
    free(w->table_hosts);
    free(w->host_of);
    free(w->node_of_host);
    free(w->daemon);
    wide_plan_fini(&w->plan);
    free(w);
}
