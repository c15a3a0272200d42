/* SPDX-License-Identifier: BSD-3-Clause */

/* The graph of waits, what can go on in it, and its parts; see hang_graph.h. */
#include "diagnose/hang_graph.h"

#include <string.h>

/* Whether a thread waits for something that other ranks bring about. */
static bool is_waiting(const struct hang *h, const struct hang_thread *thread)
{
    bool waits = false;
    for (int i = 0; i < thread->count; i++) {
        if (thread->items[i].what == HANG_READY)
            return false;
        waits |= thread->items[i].what != HANG_CLOSE;
    }
    return waits && !graph_goes_on(h, thread);
}

static bool is_closing(const struct hang_thread *thread)
{
    bool ends = !strcmp(thread->function, "MPI_Finalize") ||
                !strcmp(thread->function, "MPI_Session_finalize");
    return (thread->count && thread->items->what == HANG_CLOSE) ||
           (ends && thread->mode != HANG_POLL);
}

static void classify(const struct hang *h, struct node *node, enum diagnose_state state)
{
    const struct hang_answer *answer = &node->answer;
    bool others = answer->others.computing || (answer->others.asleep && !h->strict);
    bool free = !answer->thread_count || others, waits = false;
    node->finalizing = false;
    for (int i = 0; i < answer->thread_count; i++) {
        const struct hang_thread *thread = &answer->threads[i];
        bool closes = is_closing(thread), waiting = is_waiting(h, thread);
        node->finalizing |= closes;
        waits |= waiting;
        free |= !waiting && !closes;
    }
    if (state == DIAGNOSE_ENDED || state == DIAGNOSE_FINALIZED)
        node->kind = NODE_GONE;
    else if (state != DIAGNOSE_ANSWERED || (free && !node->finalizing))
        node->kind = NODE_FREE;
    else
        node->kind = waits ? NODE_WAITS : NODE_GONE;
}

/* ---- targets ---- */

struct targets graph_targets(const struct hang *h, const struct hang_item *item)
{
    const struct hang_comm *comm = item->comm;
    struct targets targets = {-1, "", item->peer, item->peer, h->count, -1};
    if (item->peer < 0) {
        targets.list = !comm ? "" : *comm->remote ? comm->remote : comm->members;
        targets.next = 0;
        targets.self = item->owner;
    }
    return targets;
}

bool graph_next(struct targets *t)
{
    for (; t->list; t->list = hang_text_range(t->list, &t->next, &t->last))
        while (t->next <= t->last && t->next < t->count)
            if ((t->rank = t->next++) != t->self)
                return true;
    return false;
}

bool graph_any(const struct hang *h, const struct hang_item *item,
               bool (*is)(const struct hang *h, int rank))
{
    for (struct targets t = graph_targets(h, item); graph_next(&t);)
        if (is(h, t.rank))
            return true;
    return false;
}

/* ---- what can go on ---- */

/* Whether a rank may go on and do more, as far as it is found yet. */
static bool can_come(const struct hang *h, int rank)
{
    return h->nodes[rank].live && !h->nodes[rank].finalizing;
}

/* Whether a wait can end. One that names no rank may be ended from somewhere; a collective of all
 * ends when those that are late come. Between two calls of find_live() ranks only become able to
 * go on, so those who can come are counted once. */
static bool can_end(const struct hang *h, const struct hang_item *item)
{
    struct meeting *m = item->meeting < 0 ? NULL : &h->meetings[item->meeting];
    if (m && m->is_of_all) {
        while (m->live < m->awaited_count && can_come(h, m->awaited[m->live]))
            m->live++;
        return m->live == m->awaited_count;
    }
    struct targets targets = graph_targets(h, item);
    return item->what == HANG_CLOSE || !strcmp(item->state, "moving") || !graph_next(&targets) ||
           graph_any(h, item, can_come);
}

static bool thread_can_go_on(const struct hang *h, const struct hang_thread *thread)
{
    bool any = false, all = true;
    for (int i = 0; i < thread->count; i++) {
        bool can = can_end(h, &thread->items[i]);
        any |= can;
        all &= can;
    }
    return thread->mode == HANG_ANY ? any : all;
}

static bool becomes_live(struct hang *h, int rank)
{
    struct node *node = &h->nodes[rank];
    if (node->kind != NODE_WAITS || node->live || rank == h->still)
        return false;
    for (int i = 0; i < node->answer.thread_count && !node->live; i++)
        node->live = thread_can_go_on(h, &node->answer.threads[i]);
    return node->live;
}

/* Find what can go on, all but one rank, which stays where it is; -1: none does. Up and down in
 * turns, so that long chains take few rounds. */
static void find_live(struct hang *h, int still)
{
    bool changed = true;
    for (int i = 0; i < h->meeting_count; i++)
        h->meetings[i].live = 0;
    for (int r = 0; r < h->count; r++)
        h->nodes[r].live = h->nodes[r].kind == NODE_FREE && r != still;
    h->still = still;
    while (changed) {
        changed = false;
        for (int r = 0; r < h->count; r++)
            changed |= becomes_live(h, r);
        for (int r = h->count - 1; changed && r >= 0; r--)
            (void)becomes_live(h, r);
    }
}

bool graph_may_come_alone(struct hang *h, const struct hang_item *item)
{
    find_live(h, item->owner);
    bool may = graph_any(h, item, can_come);
    find_live(h, -1);
    return may;
}

/* ---- parts ---- */

/* The vertices that one waits for. */
struct edges {
    const struct hang_answer *answer; /* of a rank; NULL: of a meeting */
    const struct meeting *meeting;
    struct targets targets; /* of the item before next */
    bool is_moot;           /* of that: those that are gone do not matter, as one of others would do */
    int next;
};

static struct edges edges_of(const struct hang *h, int vertex)
{
    struct edges e = {.targets.list = NULL};
    if (vertex < h->count)
        e.answer = &h->nodes[vertex].answer;
    else
        e.meeting = &h->meetings[vertex - h->count];
    return e;
}

static bool is_there(const struct hang *h, int rank)
{
    return !graph_is_gone(h, rank);
}

/* The next vertex that is waited for, or -1. */
static int next_edge(const struct hang *h, struct edges *e)
{
    if (e->meeting)
        return e->next < e->meeting->awaited_count ? e->meeting->awaited[e->next++] : -1;
    for (;;) {
        while (graph_next(&e->targets))
            if (!e->is_moot || is_there(h, e->targets.rank))
                return e->targets.rank;
        if (e->next == e->answer->item_count)
            return -1;
        const struct hang_item *item = &e->answer->items[e->next++];
        if (item->meeting >= 0)
            return h->count + item->meeting;
        if (item->what == HANG_CLOSE)
            continue;
        e->targets = graph_targets(h, item);
        e->is_moot = item->peer < 0 && graph_any(h, item, is_there);
    }
}

/* The same, of those that cannot go on. */
static int next_dead(const struct hang *h, struct edges *e)
{
    int to = next_edge(h, e);
    while (to >= 0 && to < h->count && !graph_is_stuck(h, to) && h->nodes[to].kind != NODE_GONE)
        to = next_edge(h, e);
    return to;
}

int graph_next_in_part(const struct hang *h, int rank)
{
    struct edges e = edges_of(h, rank);
    int to = next_dead(h, &e);
    while (to >= 0 && (to >= h->count || !graph_is_one_part(h, rank, to)))
        to = next_dead(h, &e);
    return to;
}

/* Tarjan's walk, of which path is the way to the vertex at hand, and open what is in no part yet. */
struct part_walk {
    int *order, *low; /* order: when a vertex was met first, from 1 on */
    int *path, *open;
    struct edges *edges;
    int met, path_len, open_len;
};

static void enter(const struct hang *h, struct part_walk *w, int vertex)
{
    w->order[vertex] = w->low[vertex] = ++w->met;
    w->path[w->path_len++] = w->open[w->open_len++] = vertex;
    w->edges[vertex] = edges_of(h, vertex);
}

static void lower(struct part_walk *w, int vertex, int low)
{
    if (w->low[vertex] > low)
        w->low[vertex] = low;
}

/* Take a vertex off the path, and what belongs to it off what is open where it is the first of a
 * part. */
static void leave(struct hang *h, struct part_walk *w, int vertex)
{
    bool is_first = w->low[vertex] == w->order[vertex];
    if (--w->path_len)
        lower(w, w->path[w->path_len - 1], w->low[vertex]);
    while (is_first && h->part[vertex] < 0)
        h->part[w->open[--w->open_len]] = h->part_count;
    h->part_count += is_first;
}

static void walk_from(struct hang *h, struct part_walk *w, int vertex)
{
    enter(h, w, vertex);
    while (w->path_len) {
        int at = w->path[w->path_len - 1], to = next_dead(h, &w->edges[at]);
        if (to < 0)
            leave(h, w, at);
        else if (!w->order[to])
            enter(h, w, to);
        else if (h->part[to] < 0)
            lower(w, at, w->order[to]);
    }
}

static void find_parts(struct hang *h)
{
    size_t count = (size_t)(h->count + h->meeting_count), size = count * sizeof(int);
    struct memory *memory = &h->memory;
    struct part_walk w = {.order = memory_take(memory, size), .low = memory_take(memory, size),
                          .path = memory_take(memory, size), .open = memory_take(memory, size),
                          .edges = memory_take(memory, count * sizeof(*w.edges))};
    h->part = memset(memory_take(memory, size), -1, size);
    h->part_count = 0;
    for (int r = 0; r < h->count; r++)
        if (graph_is_stuck(h, r) && !w.order[r])
            walk_from(h, &w, r);
    h->leaves = memory_take(memory, (size_t)h->part_count + 1);
    for (int v = 0, to; v < (int)count; v++)
        for (struct edges e = edges_of(h, v); h->part[v] >= 0 && (to = next_dead(h, &e)) >= 0;)
            h->leaves[h->part[v]] |= h->part[to] != h->part[v];
}

/* ---- life ---- */

/* Find what can go on. Returns whether ranks are stuck. */
static bool find_stuck(struct hang *h, bool strict)
{
    h->strict = strict;
    for (int r = 0; r < h->count; r++)
        classify(h, &h->nodes[r], h->ranks[r].state);
    find_live(h, -1);
    h->stuck = 0;
    for (int r = 0; r < h->count; r++)
        h->stuck += graph_is_stuck(h, r);
    return h->stuck > 0;
}

static void read_answers(struct hang *h)
{
    for (int r = 0; r < h->count; r++) {
        const struct hang_rank *rank = &h->ranks[r];
        struct node *node = &h->nodes[r];
        node->meeting = -1;
        if (rank->state == DIAGNOSE_ANSWERED)
            hang_text_read(&node->answer, &h->memory, r, rank->text, rank->len);
        h->item_count += node->answer.item_count;
    }
    h->items = memory_take(&h->memory, (size_t)h->item_count * sizeof(h->items[0]));
    for (int r = 0, n = 0; r < h->count; r++)
        for (int i = 0; i < h->nodes[r].answer.item_count; i++)
            h->items[n++] = &h->nodes[r].answer.items[i];
}

void graph_init(struct hang *h, const struct hang_question *question)
{
    size_t count = (size_t)question->count;
    *h = (struct hang){.question = question, .ranks = question->ranks, .count = question->count};
    h->nodes = memory_take(&h->memory, count * sizeof(*h->nodes));
    h->set = memory_take(&h->memory, count);
    h->late = memory_take(&h->memory, count);
    h->path = memory_take(&h->memory, count * sizeof(*h->path));
    read_answers(h);
    graph_meet(h);
    if (!find_stuck(h, false) && !find_stuck(h, true))
        (void)find_stuck(h, false);
    find_parts(h);
}

void graph_fini(struct hang *h)
{
    memory_free(&h->memory);
}
