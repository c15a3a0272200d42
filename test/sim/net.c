/* SPDX-License-Identifier: BSD-3-Clause */

/* Simulated time, links and deaths; see sim.h. */
#include "test/sim/sim.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uthash.h>

#include "bnr/wire/frame.h"

struct pair {
    uint32_t low, high;
};

struct sim_link {
    struct pair pair;
    bool is_up, is_making;
    uint32_t epoch;
    int64_t last[2]; /* the latest arrival, by direction: what is sent later comes later */
    UT_hash_handle hh;
};

void sim_fail(const struct sim *s, uint32_t node, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "seed %llu, %u nodes, radix %u, %.6f s, node %u: not so: ",
            (unsigned long long)s->settings.seed, s->settings.count, s->settings.radix,
            (double)s->now / 1e9, node);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

uint64_t sim_random(struct sim *s, uint64_t below)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return below ? (s->random * 0x9e3779b97f4a7c15u >> 16) % below : 0;
}

/* ---- the order of events ---- */

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct sim *s, struct sim_event event)
{
    struct sim_heap *charged = heap_charge(NULL);
    if (s->heap_count == s->heap_room) {
        s->heap_room = s->heap_room ? 2 * s->heap_room : 1024;
        s->heap = realloc(s->heap, s->heap_room * sizeof(*s->heap));
        if (!s->heap)
            abort();
    }
    heap_charge(charged);
    event.order = s->order++;
    bytes_ref(event.message.data);
    size_t i = s->heap_count++;
    while (i && is_before(&event, &s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = event;
}

static struct sim_event pop(struct sim *s)
{
    struct sim_event first = s->heap[0], last = s->heap[--s->heap_count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->heap_count) {
        if (child + 1 < s->heap_count && is_before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (is_before(&last, &s->heap[child]))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

void sim_at(struct sim *s, int64_t at, enum sim_kind kind, uint32_t node)
{
    push(s, (struct sim_event){.at = at, .kind = kind, .node = node});
}

/* ---- links ---- */

static struct sim_link *link_of(struct sim *s, uint32_t a, uint32_t b)
{
    struct pair pair = {a < b ? a : b, a < b ? b : a};
    struct sim_link *link;
    HASH_FIND(hh, s->links, &pair, sizeof(pair), link);
    if (!link) {
        link = calloc(1, sizeof(*link));
        if (!link)
            abort();
        link->pair = pair;
        HASH_ADD(hh, s->links, pair, sizeof(pair), link);
    }
    return link;
}

static int64_t delay(struct sim *s)
{
    int64_t jitter = s->settings.jitter_ns;
    return s->settings.delay_ns + (jitter ? (int64_t)sim_random(s, (uint64_t)jitter) : 0) +
           (jitter && !sim_random(s, 50) ? 10 * jitter : 0); /* now and then much */
}

static bool is_there(const struct sim *s, uint32_t node)
{
    return s->nodes[node].state <= SIM_STOPPED && !s->nodes[node].is_alone;
}

bool sim_is_alive(const struct sim *s, uint32_t node)
{
    return is_there(s, node);
}

static void connect_nodes(struct sim *s, uint32_t from, uint32_t to)
{
    struct sim_link *link = link_of(s, from, to);
    if (s->nodes[to].state == SIM_VANISHED)
        return;
    if (!is_there(s, to)) {
        push(s, (struct sim_event){
                    .at = s->now + SIM_S, .kind = SIM_REFUSED, .node = from, .from = to});
    } else if (link->is_up) {
        push(s,
             (struct sim_event){
                 .at = s->now, .kind = SIM_MADE, .node = from, .from = to, .epoch = link->epoch});
    } else if (!link->is_making) {
        link->is_making = true;
        push(s, (struct sim_event){.at = s->now + 2 * delay(s),
                                   .kind = SIM_MADE,
                                   .node = from,
                                   .from = to,
                                   .epoch = link->epoch});
    }
}

/* The message through the bytes of the wire and back, as another daemon sees it. */
static struct core_message through_bytes(struct sim *s, uint32_t self,
                                         const struct core_message *message)
{
    static const uint8_t key[16] = "a key";
    struct frame_link out, in;
    struct core_message copy;
    frame_link_init(&out, key);
    frame_link_init(&in, key);
    struct bytes *bytes = frame_pack(&out, message);
    if (!bytes || frame_unpack(&in, bytes->at, bytes->len, &copy))
        sim_fail(s, self, "a message of kind %d survives its bytes", message->kind);
    bytes_unref(bytes);
    return copy;
}

/* A copy that a node has for itself: of what it has written, or read. */
static struct bytes *copy_for(struct sim_node *node, const struct bytes *data)
{
    struct sim_heap *charged = heap_charge(&node->heap);
    struct bytes *copy = data ? bytes_create(data->at, data->len) : NULL;
    heap_charge(charged);
    return copy;
}

static void drop_copy(struct sim_node *node, struct bytes *data)
{
    struct sim_heap *charged = heap_charge(&node->heap);
    bytes_unref(data);
    heap_charge(charged);
}

int64_t sim_work(struct sim *s, uint32_t node, int64_t ns)
{
    struct sim_node *n = &s->nodes[node];
    n->busy_until = (n->busy_until > s->now ? n->busy_until : s->now) + ns;
    return n->busy_until;
}

static size_t len_of(const struct core_message *message)
{
    return FRAME_HEAD_LEN + (message->data ? message->data->len : 0);
}

/* Note a message that a node sends or takes, which keeps it busy. Returns when that is over. */
static int64_t work_on(struct sim *s, uint32_t node, struct sim_traffic *traffic, int64_t ns,
                       const struct core_message *message)
{
    size_t len = len_of(message);
    traffic->messages++;
    traffic->bytes += len;
    return sim_work(s, node, ns + (int64_t)((double)len * s->settings.byte_ns));
}

static void send_message(struct sim *s, uint32_t self, const struct effect *effect)
{
    struct sim_node *node = &s->nodes[self];
    struct sim_link *link = link_of(s, self, effect->node);
    int direction = self > effect->node;
    int64_t at = work_on(s, self, &node->sent, s->settings.send_ns, &effect->message) + delay(s);
    if (at < link->last[direction])
        at = link->last[direction];
    link->last[direction] = at;
    struct sim_event event = {.at = at,
                              .kind = SIM_MESSAGE,
                              .node = effect->node,
                              .from = self,
                              .epoch = link->epoch,
                              .message = effect->message};
    if (s->settings.is_hostile)
        event.message = through_bytes(s, self, &effect->message);
    else if (s->settings.is_counted)
        event.message.data = copy_for(node, effect->message.data);
    if (is_there(s, effect->node))
        push(s, event);
    if (s->settings.is_hostile || s->settings.is_counted)
        drop_copy(node, event.message.data);
}

void sim_carry_out(struct sim *s, uint32_t self)
{
    struct effects effects = s->effects;
    s->effects = (struct effects){0};
    for (size_t i = 0; i < effects.count; i++) {
        const struct effect *effect = &effects.items[i];
        switch (effect->kind) {
        case EFFECT_SEND:
            s->settings.acts->effect(s, self, effect);
            send_message(s, self, effect);
            break;
        case EFFECT_CONNECT: connect_nodes(s, self, effect->node); break;
        case EFFECT_DISCONNECT: break; /* a lost node ends; messages of it are refused */
        default: s->settings.acts->effect(s, self, effect);
        }
    }
    struct sim_heap *charged = heap_charge(&s->nodes[self].heap);
    effects_clear(&effects);
    heap_charge(charged);
    free(s->effects.items);
    s->effects = effects;
}

/* ---- nodes ---- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * SIM_S + t.tv_nsec;
}

void sim_enter(struct sim *s, uint32_t node)
{
    heap_charge(&s->nodes[node].heap);
    if (s->settings.is_counted)
        s->entered_ns = now_ns();
}

void sim_leave(struct sim *s, uint32_t node, int rc)
{
    heap_charge(NULL);
    if (s->settings.is_counted)
        s->nodes[node].engine_ns += now_ns() - s->entered_ns;
    if (rc)
        sim_fail(s, node, "no call fails: %d", rc);
    sim_carry_out(s, node);
    s->steps++;
}

/* Something happens to a link of a node. */
static void tell_link(struct sim *s, uint32_t node, uint32_t peer, enum link_event event)
{
    sim_enter(s, node);
    sim_leave(s, node, node_link(&s->nodes[node].node, peer, event, s->now, &s->effects));
}

/* A link breaks: what is on it is lost, both ends know. */
static void break_link(struct sim *s, struct sim_link *link)
{
    uint32_t ends[2] = {link->pair.low, link->pair.high};
    if (!link->is_up)
        return;
    link->is_up = link->is_making = false;
    link->epoch++;
    for (int i = 0; i < 2; i++)
        if (is_there(s, ends[i]))
            tell_link(s, ends[i], ends[!i], LINK_BROKEN);
}

void sim_kill(struct sim *s, uint32_t node, bool vanishes)
{
    struct sim_link *link, *next;
    if (s->nodes[node].state >= SIM_KILLED)
        return;
    s->nodes[node].state = vanishes ? SIM_VANISHED : SIM_KILLED;
    s->dead_count++;
    s->died_at = s->now;
    if (!vanishes)
        HASH_ITER(hh, s->links, link, next)
        {
            if (link->pair.low == node || link->pair.high == node)
                break_link(s, link);
        }
}

static void break_some_link(struct sim *s)
{
    struct sim_link *link = s->links;
    for (uint64_t i = sim_random(s, HASH_COUNT(s->links)); link && i; i--)
        link = link->hh.next;
    if (link)
        break_link(s, link);
}

static void make_link(struct sim *s, const struct sim_event *event)
{
    struct sim_link *link = link_of(s, event->node, event->from);
    uint32_t ends[2] = {event->node, event->from};
    if (link->epoch != event->epoch || !is_there(s, ends[0]) || !is_there(s, ends[1]))
        return;
    bool is_news = !link->is_up;
    link->is_up = true;
    link->is_making = false;
    for (int i = 0; i < (is_news ? 2 : 1); i++)
        tell_link(s, ends[i], ends[!i], LINK_MADE);
}

/* ---- messages that come ---- */

struct sim_waiting {
    struct sim_waiting *next;
    struct sim_event event;
};

/* A node takes a message, and owns what it has read. */
static void take(struct sim *s, const struct sim_event *event)
{
    struct sim_node *node = &s->nodes[event->node];
    struct core_message message = event->message;
    if (link_of(s, event->node, event->from)->epoch != event->epoch)
        return;
    if (s->settings.is_counted)
        message.data = copy_for(node, message.data);
    sim_enter(s, event->node);
    sim_leave(s, event->node, node_message(&node->node, event->from, &message, s->now, &s->effects));
    if (s->settings.is_counted)
        drop_copy(node, message.data);
}

/* Begin with the next message that waits. */
static void take_next(struct sim *s, uint32_t self)
{
    struct sim_node *node = &s->nodes[self];
    node->is_taking = node->first != NULL;
    if (node->first)
        sim_at(s, work_on(s, self, &node->taken, s->settings.take_ns, &node->first->event.message), SIM_TAKE, self);
}

static void wait_for_turn(struct sim *s, const struct sim_event *event)
{
    struct sim_node *node = &s->nodes[event->node];
    struct sim_waiting *waiting = malloc(sizeof(*waiting));
    if (!waiting)
        abort();
    *waiting = (struct sim_waiting){NULL, *event};
    bytes_ref(event->message.data);
    if (!node->first)
        node->last = &node->first;
    *node->last = waiting;
    node->last = &waiting->next;
    if (!node->is_taking)
        take_next(s, event->node);
}

/* Forget the first message that waits; its sender had the bytes until now. */
static void forget_waiting(struct sim *s, struct sim_node *node)
{
    struct sim_waiting *waiting = node->first;
    node->first = waiting->next;
    drop_copy(&s->nodes[waiting->event.from], waiting->event.message.data);
    free(waiting);
}

static void take_turn(struct sim *s, uint32_t self)
{
    struct sim_node *node = &s->nodes[self];
    struct sim_event event = node->first->event;
    take(s, &event);
    forget_waiting(s, node);
    take_next(s, self);
}

static void handle(struct sim *s, struct sim_event *event)
{
    struct sim_node *node = &s->nodes[event->node];
    switch (event->kind) {
    case SIM_MESSAGE:
        if (s->settings.take_ns)
            wait_for_turn(s, event);
        else
            take(s, event);
        break;
    case SIM_TAKE: take_turn(s, event->node); break;
    case SIM_TICK:
        sim_enter(s, event->node);
        sim_leave(s, event->node, node_tick(&node->node, s->now, &s->effects));
        flow_tick(s, event->node);
        sim_at(s, s->now + s->settings.liveness_ns / LIVENESS_TICKS, SIM_TICK, event->node);
        break;
    case SIM_MADE: make_link(s, event); break;
    case SIM_REFUSED: tell_link(s, event->node, event->from, LINK_REFUSED); break;
    case SIM_STOP:
        if (node->stopped_until)
            break; /* twice in a row would be too long */
        node->state = SIM_STOPPED;
        node->stopped_until = s->now + s->settings.liveness_ns / 2;
        sim_at(s, node->stopped_until, SIM_RESUME, event->node);
        break;
    case SIM_STEP: s->settings.acts->step(s, event->node); break;
    default: break;
    }
}

void sim_run(struct sim *s, int64_t until, bool (*done)(const struct sim *s))
{
    while (s->heap_count && s->heap[0].at <= until && !(done && done(s))) {
        struct sim_event event = pop(s);
        s->now = event.at;
        enum sim_state state = s->nodes[event.node].state;
        if (event.kind == SIM_BREAK)
            break_some_link(s);
        else if (event.kind == SIM_DEATH && state <= SIM_STOPPED)
            sim_kill(s, event.node, sim_random(s, 2));
        else if (event.kind == SIM_RESUME && state == SIM_STOPPED)
            s->nodes[event.node].state = SIM_ALIVE;
        else if (state == SIM_STOPPED) { /* later, in the same order */
            event.at = s->nodes[event.node].stopped_until + 1;
            push(s, event);
        } else if (is_there(s, event.node))
            handle(s, &event);
        drop_copy(&s->nodes[event.from], event.message.data);
    }
    if (s->now < until && !done)
        s->now = until;
}

void sim_init(struct sim *s, const struct sim_settings *settings)
{
    *s = (struct sim){.settings = *settings, .random = settings->seed * 0x9e3779b97f4a7c15u + 1};
    for (int i = 0; i < 8; i++)
        sim_random(s, 2);
    s->nodes = calloc(settings->count, sizeof(*s->nodes));
    if (!s->nodes)
        abort();
    s->block = (struct rank_block){0, 0, settings->count, settings->ranks_each};
    s->group = (struct rank_map){7, settings->count * settings->ranks_each, &s->block, 1};
    for (uint32_t i = 0; i < settings->count; i++) {
        struct node_settings node = {i, settings->count, settings->radix, settings->liveness_ns,
                                     settings->choice};
        sim_enter(s, i);
        sim_leave(s, i, node_init(&s->nodes[i].node, &node, 0, &s->effects));
        sim_enter(s, i);
        sim_leave(s, i, node_add_group(&s->nodes[i].node, &s->group, 0, &s->effects));
        sim_at(s, (int64_t)sim_random(s, (uint64_t)settings->liveness_ns / LIVENESS_TICKS),
               SIM_TICK, i);
    }
}

void sim_fini(struct sim *s)
{
    struct sim_link *link, *next;
    for (uint32_t i = 0; i < s->settings.count; i++) {
        node_fini(&s->nodes[i].node);
        while (s->nodes[i].first)
            forget_waiting(s, &s->nodes[i]);
    }
    while (s->heap_count)
        bytes_unref(s->heap[--s->heap_count].message.data);
    HASH_ITER(hh, s->links, link, next)
    {
        HASH_DEL(s->links, link);
        free(link);
    }
    effects_fini(&s->effects);
    free(s->heap);
    free(s->nodes);
}
