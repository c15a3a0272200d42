/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Carrying out what a node's engine asks for; see mesh.h. A call of the engine appends effects,
 * which are carried out one after the other; what that leads to is appended behind them.
 */
#include "bnr/wide/mesh.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/wide/mesh_state.h"
#include "os/clock.h"
#include "os/replay.h"
#include "os/settings.h"

enum {
    STRANGERS_MAX = 256,
    BACKLOG = 1024,
    UNSENT_MAX = 512,                  /* messages that wait for one link, and */
    UNSENT_BYTES = 2 * MESSAGE_DATA_MAX, /* their bytes: any excess is lost, and said again */
    AGAIN_MS = 100 /* until all addresses of a node are tried again */
};

#define STRANGER_NS 5000000000LL /* in which a connection has to prove itself */
#define REFUSED_NS  1000000000LL /* without a link, and nobody listens: the node is gone */

/* A message that waits for the first link to its node. */
struct mesh_unsent {
    struct mesh_unsent *next;
    struct core_message message;
};

/* Another node as far as it is known, and how to reach it. */
struct mesh_peer {
    struct mesh *mesh;
    uint32_t node;
    bool is_wanted;  /* the engine wants a link */
    bool is_refused; /* nobody listens: as seen in this round of dialing */
    bool has_timer;
    struct addresses addresses;
    struct daemon_link *links; /* up; the first one carries messages */
    struct daemon_link *tries[DIALING_ADDRESSES_MAX];
    struct dialing dialing;
    bool is_dialing;
    uv_timer_t *timer;
    int64_t wanted_ns; /* since when there is no link */
    uint64_t number;   /* of the last HELLO to it */
    struct os_replay seen;
    struct mesh_unsent *unsent;
    int unsent_count;
    size_t unsent_bytes;
};

static int64_t now_ns(void)
{
    return (int64_t)os_now_ns();
}

static void run_effects(struct mesh *m);

/* ---- messages waiting for a link ---- */

static void keep_unsent(struct mesh_peer *p, const struct core_message *message)
{
    size_t len = message->data ? message->data->len : 0;
    struct mesh_unsent **end = &p->unsent;
    if (p->unsent_count == UNSENT_MAX || p->unsent_bytes + len > UNSENT_BYTES)
        return;
    struct mesh_unsent *unsent = malloc(sizeof(*unsent));
    if (!unsent)
        return;
    *unsent = (struct mesh_unsent){NULL, *message};
    bytes_ref(message->data);
    while (*end)
        end = &(*end)->next;
    *end = unsent;
    p->unsent_count++;
    p->unsent_bytes += len;
}

/* A message that a link cannot take is lost with the link, and said again over a new one. */
static void send_over(struct daemon_link *link, const struct core_message *message)
{
    int rc = daemon_link_send(link, message);
    if (rc)
        daemon_link_close(link, rc);
}

/* Send the waiting messages over link, or drop them if that is NULL. */
static void settle_unsent(struct mesh_peer *p, struct daemon_link *link)
{
    struct mesh_unsent *next, *unsent = p->unsent;
    p->unsent = NULL;
    p->unsent_count = 0;
    p->unsent_bytes = 0;
    for (; unsent; unsent = next) {
        next = unsent->next;
        if (link)
            send_over(link, &unsent->message);
        bytes_unref(unsent->message.data);
        free(unsent);
    }
}

/* ---- links ---- */

static bool unlist(struct daemon_link **list, struct daemon_link *link)
{
    for (; *list; list = &(*list)->next)
        if (*list == link) {
            *list = link->next;
            return true;
        }
    return false;
}

static void tell_link(struct mesh *m, uint32_t node, enum link_event event)
{
    if (!m->is_begun || m->is_over)
        return;
    (void)node_link(&m->node, node, event, now_ns(), &m->effects);
    run_effects(m);
}

static void drop_try(struct mesh_peer *p, int address)
{
    struct daemon_link *link = p->tries[address];
    p->tries[address] = NULL;
    if (link)
        daemon_link_close(link, -ECANCELED);
}

/* The other tries to reach the node are needless. */
static void stop_dialing(struct mesh_peer *p)
{
    p->is_dialing = false;
    if (p->timer)
        uv_timer_stop(p->timer);
    for (int i = 0; i < DIALING_ADDRESSES_MAX; i++)
        drop_try(p, i);
}

static void on_up(void *arg, struct daemon_link *link)
{
    struct mesh *m = arg;
    struct mesh_peer *p = &m->peers[link->peer];
    bool is_first = !p->links;
    m->stranger_count -= unlist(&m->strangers, link);
    (void)unlist(&m->opened, link);
    for (int i = 0; i < DIALING_ADDRESSES_MAX; i++)
        if (p->tries[i] == link)
            p->tries[i] = NULL;
    p->is_wanted = false;
    struct daemon_link **end = &p->links;
    while (*end)
        end = &(*end)->next;
    link->next = NULL;
    *end = link;
    stop_dialing(p);
    if (!m->is_begun && p->node != NODE_ROOT && m->settings.self != NODE_ROOT)
        daemon_link_pause(link);
    if (!is_first)
        return;
    settle_unsent(p, link);
    if (p->links != link)
        return;
    m->hooks.linked(m->hooks.arg, p->node);
    tell_link(m, p->node, LINK_MADE);
    m->hooks.moved(m->hooks.arg);
}

static void step_dialing(struct mesh_peer *p, enum dialing_event event, int address);

/* Whether all addresses of a node are this machine's too: then it runs here. */
static bool is_neighbour_here(const struct mesh_peer *p)
{
    for (uint32_t i = 0; i < p->addresses.count; i++)
        if (!addresses_has(&p->mesh->own, &p->addresses.items[i]))
            return false;
    return true;
}

/* A try has failed: the address did not answer, or somebody else did. An address that every machine
 * has, as of loopback, says nothing of the node. */
static void end_try(struct mesh_peer *p, struct daemon_link *link, int rc)
{
    for (int i = 0; i < DIALING_ADDRESSES_MAX; i++) {
        if (p->tries[i] != link)
            continue;
        p->tries[i] = NULL;
        if (rc == UV_ECONNREFUSED)
            p->is_refused |=
                !addresses_has(&p->mesh->own, &p->addresses.items[i]) || is_neighbour_here(p);
        step_dialing(p, DIALING_FAILED, i);
        return;
    }
}

static void on_down(void *arg, struct daemon_link *link, int rc)
{
    struct mesh *m = arg;
    struct mesh_peer *p = &m->peers[link->peer];
    if (!link->was_up) {
        m->stranger_count -= unlist(&m->strangers, link);
        (void)unlist(&m->opened, link);
        if (link->is_dialer)
            end_try(p, link, rc);
        return;
    }
    bool was_first = p->links == link;
    unlist(&p->links, link);
    if (!was_first)
        return;
    if (!m->is_begun && p->node == NODE_ROOT && !m->is_over)
        m->hooks.alone(m->hooks.arg);
    if (!m->is_begun && m->settings.self == NODE_ROOT && !m->is_over && !p->links)
        m->hooks.lost(m->hooks.arg, p->node);
    tell_link(m, p->node, LINK_BROKEN);
    if (p->links)
        tell_link(m, p->node, LINK_MADE);
}

static int on_message(void *arg, struct daemon_link *link, struct core_message *message)
{
    struct mesh *m = arg;
    int rc = 0;
    bool is_running = m->is_begun && !m->is_over;
    if (is_running && message->kind == MESSAGE_GET && message->to == m->settings.self)
        m->hooks.look(m->hooks.arg);
    if (message->kind == MESSAGE_CONTACT)
        m->hooks.contact(m->hooks.arg, link->peer, unpack_begin(message->data));
    else if (is_running)
        rc = node_message(&m->node, link->peer, message, now_ns(), &m->effects);
    bytes_unref(message->data);
    run_effects(m);
    if (m->is_begun && (message->kind == MESSAGE_HAVE || message->kind == MESSAGE_XCAST))
        m->hooks.look(m->hooks.arg);
    return rc;
}

/* A long message is on its way, for longer than the time of liveness on a slow line. */
static void on_heard(void *arg, struct daemon_link *link)
{
    struct mesh *m = arg;
    if (m->is_begun && !m->is_over)
        node_heard(&m->node, link->peer, now_ns());
}

static bool may_enter(void *arg, uint32_t node, uint64_t number)
{
    struct mesh *m = arg;
    return !os_replay_take(&m->peers[node].seen, number);
}

/* ---- listening ---- */

/* Cut off strangers without a proof for long; is_full: the oldest one too. */
static void cut_slow_strangers(struct mesh *m, bool is_full)
{
    for (struct daemon_link *link = m->strangers, *next; link; link = next) {
        next = link->next;
        if ((is_full && !next) || now_ns() - link->begun_ns > STRANGER_NS)
            daemon_link_close(link, -ETIMEDOUT);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct mesh *m = listener->data;
    if (status)
        return;
    if (m->stranger_count >= STRANGERS_MAX)
        cut_slow_strangers(m, true);
    struct daemon_link *link = daemon_link_accept(&m->owner, listener);
    if (!link)
        return;
    link->next = m->strangers;
    m->strangers = link;
    m->stranger_count++;
}

static int bind_listener(struct mesh *m)
{
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    int rc = uv_tcp_bind(&m->listener, (const struct sockaddr *)&any6, 0);
    if (rc)
        rc = uv_tcp_bind(&m->listener, (const struct sockaddr *)&any4, 0);
    return rc ? rc : uv_listen((uv_stream_t *)&m->listener, BACKLOG, on_connection);
}

int mesh_listen(struct mesh *m)
{
    struct sockaddr_storage name;
    int len = sizeof(name);
    int rc = uv_tcp_init(m->loop, &m->listener);
    if (rc)
        return rc;
    m->listener.data = m;
    m->is_listening = true;
    rc = bind_listener(m);
    if (!rc)
        rc = uv_tcp_getsockname(&m->listener, (struct sockaddr *)&name, &len);
    if (rc)
        return rc;
    /* The port stands at the same place in both families. */
    addresses_own(&m->own, &m->networks, ntohs(((struct sockaddr_in *)(void *)&name)->sin_port));
    return 0;
}

/* ---- dialing ---- */

static void on_timer(uv_timer_t *timer);

static void arm(struct mesh_peer *p, int64_t at_ns)
{
    if (!p->timer) {
        p->timer = malloc(sizeof(*p->timer));
        if (!p->timer)
            return;
        uv_timer_init(p->mesh->loop, p->timer);
        p->timer->data = p;
    }
    int64_t left = at_ns - now_ns();
    uv_update_time(p->mesh->loop);
    uv_timer_start(p->timer, on_timer, left > 0 ? (uint64_t)(left / 1000000 + 1) : 0, 0);
}

static void carry_dialing(struct mesh_peer *p, const struct dialing_effects *effects)
{
    struct mesh *m = p->mesh;
    for (int i = 0; i < effects->count && p->is_dialing; i++) {
        int address = effects->items[i].address;
        struct daemon_link *link;
        switch (effects->items[i].action) {
        case DIALING_TRY:
            link =
                daemon_link_dial(&m->owner, (const struct sockaddr *)&p->addresses.items[address],
                                 p->node, ++p->number);
            p->tries[address] = link;
            if (!link)
                step_dialing(p, DIALING_FAILED, address);
            break;
        case DIALING_DROP: drop_try(p, address); break;
        case DIALING_LOST: p->is_dialing = false; break;
        default: break; /* a link that is up ends dialing by itself */
        }
    }
}

/* All addresses have been tried, and the node is not reached: tell, or begin again soon. */
static void end_round(struct mesh_peer *p)
{
    struct mesh *m = p->mesh;
    if (p->is_refused && now_ns() - p->wanted_ns >= REFUSED_NS) {
        p->is_wanted = false;
        settle_unsent(p, NULL);
        if (!m->is_begun && p->node == NODE_ROOT)
            m->hooks.alone(m->hooks.arg);
        tell_link(m, p->node, LINK_REFUSED);
    } else {
        arm(p, now_ns() + AGAIN_MS * 1000000LL);
    }
}

static void settle_dialing(struct mesh_peer *p, const struct dialing_effects *effects)
{
    carry_dialing(p, effects);
    if (p->links || !p->is_wanted)
        return;
    if (p->is_dialing)
        arm(p, dialing_next(&p->dialing));
    else
        end_round(p);
}

static void step_dialing(struct mesh_peer *p, enum dialing_event event, int address)
{
    struct dialing_effects effects = {0};
    if (!p->is_dialing)
        return;
    dialing_step(&p->dialing, event, address, now_ns(), &effects);
    settle_dialing(p, &effects);
}

static void begin_round(struct mesh_peer *p)
{
    struct dialing_effects effects = {0};
    if (p->links || !p->is_wanted || p->is_dialing || !p->addresses.count)
        return;
    p->is_dialing = true;
    p->is_refused = false;
    dialing_begin(&p->dialing, (int)p->addresses.count, now_ns(), &effects);
    settle_dialing(p, &effects);
}

static void on_timer(uv_timer_t *timer)
{
    struct mesh_peer *p = timer->data;
    if (p->is_dialing)
        step_dialing(p, DIALING_TIME, 0);
    else
        begin_round(p);
}

void mesh_dial(struct mesh *m, uint32_t node)
{
    struct mesh_peer *p = &m->peers[node];
    if (m->is_over || p->links)
        return;
    if (!p->is_wanted)
        p->wanted_ns = now_ns();
    p->is_wanted = true;
    if (m->is_ending) /* most likely it has just ended, too */
        arm(p, now_ns() + AGAIN_MS * 1000000LL);
    else
        begin_round(p);
}

void mesh_expect_end(struct mesh *m)
{
    m->is_ending = true;
}

int mesh_open(struct mesh *m, uint32_t node, int in_fd, int out_fd, bool is_dialer)
{
    uint64_t number = is_dialer ? ++m->peers[node].number : 0;
    struct daemon_link *link = daemon_link_open(&m->owner, in_fd, out_fd, node, number);
    if (!link)
        return -ENOMEM;
    link->next = m->opened;
    m->opened = link;
    return 0;
}

bool mesh_is_linked(const struct mesh *m, uint32_t node)
{
    return m->peers[node].links != NULL;
}

void mesh_know(struct mesh *m, uint32_t node, const struct addresses *addresses)
{
    struct mesh_peer *p = &m->peers[node];
    if (p->is_dialing || node == m->settings.self)
        return;
    p->addresses = *addresses;
    addresses_sort(&p->addresses, &m->networks);
    begin_round(p);
}

const struct addresses *mesh_addresses(const struct mesh *m, uint32_t node)
{
    return node == m->settings.self ? &m->own : &m->peers[node].addresses;
}

/* ---- effects ---- */

static void send_to(struct mesh *m, uint32_t node, const struct core_message *message)
{
    struct mesh_peer *p = &m->peers[node];
    if (p->links || message->kind == MESSAGE_EXPELLED) {
        if (p->links)
            send_over(p->links, message);
        return;
    }
    keep_unsent(p, message); /* its engine says lost ones again */
    mesh_dial(m, node);
}

static void connect_to(struct mesh *m, uint32_t node)
{
    if (m->peers[node].links)
        tell_link(m, node, LINK_MADE);
    else
        mesh_dial(m, node);
}

static void disconnect(struct mesh *m, uint32_t node)
{
    struct mesh_peer *p = &m->peers[node];
    p->is_wanted = false;
    settle_unsent(p, NULL);
    stop_dialing(p);
}

static void deliver(struct mesh *m, const struct core_message *message)
{
    bool is_addressed;
    struct unpacking payload;
    if (!xcast_open(message->data, m->settings.self, &is_addressed, &payload) && is_addressed)
        m->hooks.deliver(m->hooks.arg, message, payload);
}

static void carry_out(struct mesh *m, const struct effect *e)
{
    const struct mesh_hooks *h = &m->hooks;
    switch (e->kind) {
    case EFFECT_SEND: send_to(m, e->node, &e->message); break;
    case EFFECT_CONNECT: connect_to(m, e->node); break;
    case EFFECT_DISCONNECT: disconnect(m, e->node); break;
    case EFFECT_LOST: h->lost(h->arg, e->node); break;
    case EFFECT_DELIVER: deliver(m, &e->message); break;
    case EFFECT_RELEASED:
    case EFFECT_VALUE: h->answer(h->arg, &e->message); break;
    case EFFECT_RANKS_ENDED: h->ranks_ended(h->arg, &e->message); break;
    case EFFECT_ARRIVED: h->stream(h->arg, &e->message); break;
    case EFFECT_ALONE: h->alone(h->arg); break;
    case EFFECT_DECIDED: break; /* stays inside the engine */
    }
}

/* A delivery may take long: the messages behind it, by which it is passed on, go first. */
static void put_sends_first(struct effects *effects, size_t at)
{
    for (; at + 1 < effects->count && effects->items[at].kind == EFFECT_DELIVER &&
           effects->items[at + 1].kind == EFFECT_SEND;
         at++) {
        struct effect sent = effects->items[at + 1];
        effects->items[at + 1] = effects->items[at];
        effects->items[at] = sent;
    }
}

/* Carry out all effects, and what they lead to. */
static void run_effects(struct mesh *m)
{
    if (m->is_running)
        return;
    m->is_running = true;
    while (m->next_effect < m->effects.count) {
        put_sends_first(&m->effects, m->next_effect);
        struct effect e = m->effects.items[m->next_effect++];
        bytes_ref(e.message.data);
        carry_out(m, &e);
        bytes_unref(e.message.data);
    }
    m->next_effect = 0;
    effects_clear(&m->effects);
    m->is_running = false;
}

/* ---- events of this host ---- */

static int done(struct mesh *m, struct bytes *data, int rc)
{
    bytes_unref(data);
    run_effects(m);
    return rc;
}

int mesh_add_group(struct mesh *m, const struct rank_map *group)
{
    return done(m, NULL, node_add_group(&m->node, group, now_ns(), &m->effects));
}

int mesh_submit(struct mesh *m, const struct xcast_input *input)
{
    int rc = input->data ? node_submit(&m->node, input, now_ns(), &m->effects) : -ENOMEM;
    return done(m, input->data, rc);
}

int mesh_put(struct mesh *m, const struct keys_name *name, struct bytes *value)
{
    int rc = value ? node_put(&m->node, name, value, KEYS_REPLACE, now_ns(), &m->effects) : -ENOMEM;
    return done(m, value, rc);
}

int mesh_get(struct mesh *m, const struct keys_name *name, uint64_t cookie, unsigned flags)
{
    const struct node_getter getter = {cookie, flags};
    return done(m, NULL, node_get(&m->node, name, &getter, now_ns(), &m->effects));
}

bool mesh_knows(struct mesh *m, const struct keys_name *name)
{
    return keys_knows(&m->node.keys, name);
}

int mesh_fence(struct mesh *m, uint64_t group, const struct tree_fence_entry *entry)
{
    return done(m, NULL, node_fence(&m->node, group, entry, now_ns(), &m->effects));
}

int mesh_ended(struct mesh *m, uint64_t group, const struct rollup_run *run)
{
    return done(m, NULL, node_ended(&m->node, group, run, now_ns(), &m->effects));
}

void mesh_route(struct mesh *m, struct effects *effects)
{
    for (size_t i = 0; m->is_begun && i < effects->count; i++)
        (void)node_route(&m->node, &effects->items[i].message, now_ns(), &m->effects);
    effects_clear(effects);
    run_effects(m);
}

int mesh_contact(struct mesh *m, uint32_t node, struct bytes *data)
{
    struct core_message message = {
        .kind = MESSAGE_CONTACT, .origin = m->settings.self, .to = node, .data = data};
    int rc = !data                   ? -ENOMEM
             : !m->peers[node].links ? -ENOTCONN
                                     : daemon_link_send(m->peers[node].links, &message);
    bytes_unref(data);
    return rc;
}

bool mesh_has_children(const struct mesh *m)
{
    return m->is_begun && m->node.links.count > (m->settings.self != NODE_ROOT);
}

void mesh_refuse(struct mesh *m, uint32_t node)
{
    if (!m->peers[node].links)
        tell_link(m, node, LINK_REFUSED);
}

void mesh_expel_all(struct mesh *m)
{
    struct core_message message = {.kind = MESSAGE_EXPELLED, .origin = m->settings.self};
    for (uint32_t i = 0; i < m->settings.count; i++)
        if (m->peers[i].links)
            (void)daemon_link_send(m->peers[i].links, &message);
    mesh_write(m); /* the next steps may take time */
}

void mesh_write(struct mesh *m)
{
    daemon_links_write(&m->owner);
}

size_t mesh_waiting(const struct mesh *m)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < m->settings.count; i++)
        for (struct daemon_link *link = m->peers[i].links; link; link = link->next)
            bytes += daemon_link_waiting(link);
    return bytes;
}

/* ---- time ---- */

static void on_tick(uv_timer_t *timer)
{
    struct mesh *m = timer->data;
    cut_slow_strangers(m, false);
    if (m->is_over)
        return;
    if (!m->is_begun) {
        m->hooks.moved(m->hooks.arg);
        return;
    }
    for (uint32_t i = 0; m->is_paused && i < m->settings.count; i++)
        (void)liveness_event(&m->node.liveness, LIVENESS_HEARD, i, now_ns());
    (void)node_tick(&m->node, now_ns(), &m->effects);
    run_effects(m);
    m->hooks.moved(m->hooks.arg);
}

static void before_sleep(uv_prepare_t *prepare)
{
    mesh_write(prepare->data);
}

void mesh_pause(struct mesh *m, bool is_paused)
{
    m->is_paused = is_paused;
}

int mesh_begin(struct mesh *m)
{
    const struct node_settings settings = {.self = m->settings.self,
                                           .count = m->settings.count,
                                           .radix = m->settings.radix,
                                           .liveness_ns = m->settings.liveness_ns,
                                           .choice = m->settings.choice};
    int rc = node_init(&m->node, &settings, now_ns(), &m->effects);
    m->is_begun = true;
    if (rc)
        return rc;
    for (uint32_t i = 0; i < m->settings.count; i++) {
        struct daemon_link *next;
        for (struct daemon_link *link = m->peers[i].links; link; link = next) {
            next = link->next;
            daemon_link_resume(link);
        }
    }
    run_effects(m);
    return 0;
}

/* ---- life ---- */

/* A host is gone after as many probes, and one more pause, as fit into the time of liveness. */
static uint32_t probe_s(int64_t liveness_ns)
{
    int64_t seconds = liveness_ns / 4000000000LL;
    return seconds < 1 ? 1 : seconds > INT16_MAX ? INT16_MAX : (uint32_t)seconds;
}

int mesh_create(struct mesh **made, uv_loop_t *loop, const struct mesh_settings *settings,
                const struct mesh_hooks *hooks)
{
    struct mesh *m = *made = malloc(sizeof(*m));
    if (!m)
        return -ENOMEM;
    *m = (struct mesh){.loop = loop, .settings = *settings, .hooks = *hooks};
    m->owner = (struct daemon_link_owner){.loop = loop,
                                          .self = settings->self,
                                          .count = settings->count,
                                          .probe_s = probe_s(settings->liveness_ns),
                                          .may_enter = may_enter,
                                          .up = on_up,
                                          .message = on_message,
                                          .heard = on_heard,
                                          .down = on_down,
                                          .arg = m,
                                          .unsent = &m->unsent};
    memcpy(m->owner.job, settings->job, sizeof(m->owner.job));
    memcpy(m->owner.secret, settings->secret, sizeof(m->owner.secret));
    m->peers = calloc(settings->count, sizeof(*m->peers));
    if (!m->peers)
        return -ENOMEM;
    for (uint32_t i = 0; i < settings->count; i++) {
        m->peers[i].mesh = m;
        m->peers[i].node = i;
    }
    uv_timer_init(loop, &m->tick);
    uv_prepare_init(loop, &m->before_sleep);
    uv_prepare_start(&m->before_sleep, before_sleep);
    m->tick.data = m->before_sleep.data = m;
    uint64_t tick_ms = (uint64_t)(settings->liveness_ns / LIVENESS_TICKS / 1000000);
    return uv_timer_start(&m->tick, on_tick, tick_ms + !tick_ms, tick_ms + !tick_ms);
}

static void free_timer(uv_handle_t *handle)
{
    free(handle);
}

void mesh_close(struct mesh *m)
{
    if (!m->peers || m->is_over)
        return;
    m->is_over = true;
    while (m->strangers)
        daemon_link_close(m->strangers, -ECANCELED);
    while (m->opened)
        daemon_link_close(m->opened, -ECANCELED);
    for (uint32_t i = 0; i < m->settings.count; i++) {
        struct mesh_peer *p = &m->peers[i];
        p->is_wanted = false;
        settle_unsent(p, NULL);
        stop_dialing(p);
        while (p->links)
            daemon_link_close(p->links, -ECANCELED);
        if (p->timer)
            uv_close((uv_handle_t *)p->timer, free_timer);
        p->timer = NULL;
    }
    if (m->is_listening)
        uv_close((uv_handle_t *)&m->listener, NULL);
    uv_close((uv_handle_t *)&m->tick, NULL);
    uv_close((uv_handle_t *)&m->before_sleep, NULL);
}

void mesh_destroy(struct mesh *m)
{
    if (!m)
        return;
    if (m->is_begun)
        node_fini(&m->node);
    effects_fini(&m->effects);
    free(m->peers);
    free(m);
}
