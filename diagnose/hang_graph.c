/* SPDX-License-Identifier: BSD-3-Clause */

/* The graph of waits, its live vertices, and its parts; see hang_graph.h. */
#include "diagnose/hang_graph.h"

#include <limits.h>
#include <string.h>

/* ---- ranks ---- */

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

/* ---- vertices and edges ---- */

static int add_vertex(struct hang *h, int needed)
{
    h->vertices = memory_grow(&h->memory, h->vertices, h->vertex_count, sizeof(*h->vertices));
    h->vertices[h->vertex_count] =
        (struct vertex){.owner = -1, .needed = needed, .part = -1, .waiters = -1};
    return h->vertex_count++;
}

static void add_edge(struct hang *h, int from, int to)
{
    h->edges = memory_grow(&h->memory, h->edges, h->edge_count, sizeof(*h->edges));
    h->edges[h->edge_count] = (struct edge){from, to, h->vertices[to].waiters};
    h->vertices[to].waiters = h->edge_count;
    if (!h->vertices[from].count++)
        h->vertices[from].first = h->edge_count;
    h->edge_count++;
}

/* Whom a wildcard stands for; "": unknown. */
static const char *wild_list(const struct hang_comm *comm)
{
    return !comm ? "" : *comm->remote ? comm->remote : comm->members;
}

/* The vertex of what a wildcard stands for, or -1: nobody. */
static int find_wild(struct hang *h, const struct hang_comm *comm)
{
    int first, last;
    const char *list = wild_list(comm);
    if (hang_text_has_others(list)) /* any of these may do it */
        return -1;
    if (!hang_text_range(list, &first, &last) || first >= h->count)
        return -1;
    for (int i = h->wild_count - 1; i >= 0; i--)
        if (!strcmp(wild_list(h->wilds[i].comm), list) &&
            !*h->wilds[i].comm->remote == !*comm->remote)
            return h->wilds[i].vertex;
    h->wilds = memory_grow(&h->memory, h->wilds, h->wild_count, sizeof(*h->wilds));
    h->wilds[h->wild_count] = (struct wild){comm, add_vertex(h, 1)};
    return h->wilds[h->wild_count++].vertex;
}

/* The vertex that an item waits for, or -1: its wait can end, as far as is known. */
static int awaited_by(struct hang *h, const struct hang_item *item)
{
    if (item->meeting >= 0 && h->meetings[item->meeting].is_of_all)
        return h->count + item->meeting;
    if (item->what == HANG_CLOSE || !strcmp(item->state, "moving") || item->peer >= h->count)
        return -1;
    if (item->what == HANG_LOCK && item->rank == item->tag)
        return -1; /* only its target knows who has it */
    return item->peer >= 0 ? item->peer : find_wild(h, item->comm);
}

static void link_thread(struct hang *h, const struct hang_thread *thread)
{
    int from = thread->vertex, needed = 0;
    for (int i = 0; i < thread->count; i++) {
        int to = awaited_by(h, &thread->items[i]);
        needed += to >= 0;
        if (to >= 0)
            add_edge(h, from, to);
    }
    bool is_any = thread->mode == HANG_ANY;
    h->vertices[from].needed = is_any ? needed && needed == thread->count : needed;
}

static void link_rank(struct hang *h, int rank)
{
    struct hang_answer *answer = &h->nodes[rank].answer;
    bool waits = h->nodes[rank].kind == NODE_WAITS;
    for (int t = 0; t < answer->thread_count; t++) {
        struct hang_thread *thread = &answer->threads[t];
        thread->vertex = waits ? add_vertex(h, 0) : -1;
        if (!waits)
            continue;
        h->vertices[thread->vertex].thread = thread;
        h->vertices[thread->vertex].owner = rank;
        add_edge(h, rank, thread->vertex);
    }
    for (int t = 0; t < answer->thread_count && waits; t++)
        link_thread(h, &answer->threads[t]);
}

/* A wildcard stands for those that are not gone; or for all, where no other than the one that
 * waits is there. */
static void link_wild(struct hang *h, const struct wild *wild)
{
    int there = 0;
    memset(h->set, 0, (size_t)h->count);
    (void)graph_list(h, wild_list(wild->comm), h->set);
    for (int r = 0; r < h->count; r++)
        there += h->set[r] && !graph_is_gone(h, r);
    for (int r = 0; r < h->count; r++)
        if (h->set[r] && (!graph_is_gone(h, r) || there <= !*wild->comm->remote))
            add_edge(h, wild->vertex, r);
}

static void build(struct hang *h)
{
    static const int needed[] = {[NODE_WAITS] = 1, [NODE_FREE] = 0, [NODE_GONE] = INT_MAX};
    h->vertex_count = h->edge_count = h->wild_count = 0;
    h->vertices = NULL;
    h->edges = NULL;
    h->wilds = NULL;
    for (int r = 0; r < h->count; r++) {
        classify(h, &h->nodes[r], h->ranks[r].state);
        (void)add_vertex(h, needed[h->nodes[r].kind]);
    }
    for (int i = 0; i < h->meeting_count; i++)
        (void)add_vertex(h, h->meetings[i].late_count);
    for (int r = 0; r < h->count; r++)
        link_rank(h, r);
    for (int i = 0; i < h->meeting_count; i++)
        for (int j = 0; h->meetings[i].is_of_all && j < h->meetings[i].member_count; j++)
            if (h->meetings[i].members[j].state == MEMBER_LATE)
                add_edge(h, h->count + i, h->meetings[i].members[j].rank);
    for (int i = 0; i < h->wild_count; i++)
        link_wild(h, &h->wilds[i]);
    h->path = memory_take(&h->memory, (size_t)h->vertex_count * sizeof(*h->path));
}

/* ---- live vertices ---- */

/* Whether those that wait for a vertex may get from it what they wait for. */
static bool can_come(const struct hang *h, int vertex)
{
    return h->vertices[vertex].live && (vertex >= h->count || !h->nodes[vertex].finalizing);
}

/* Find the vertices that can go on if one of them stands still; -1: none does. */
static void find_live(struct hang *h, int still)
{
    int n = 0;
    for (int v = 0; v < h->vertex_count; v++) {
        struct vertex *vertex = &h->vertices[v];
        vertex->missing = vertex->needed;
        vertex->live = !vertex->needed && v != still;
        if (vertex->live)
            h->path[n++] = v;
    }
    while (n) {
        int v = h->path[--n];
        int e = can_come(h, v) ? h->vertices[v].waiters : -1;
        for (; e >= 0; e = h->edges[e].waiters) {
            struct vertex *waiter = &h->vertices[h->edges[e].from];
            if (--waiter->missing || h->edges[e].from == still)
                continue;
            waiter->live = true;
            h->path[n++] = h->edges[e].from;
        }
    }
}

bool graph_may_come_alone(struct hang *h, const struct hang_item *item)
{
    bool may = false;
    memset(h->set, 0, (size_t)h->count);
    if (graph_is_rank(h, item->peer))
        h->set[item->peer] = true;
    else
        (void)graph_list(h, wild_list(item->comm), h->set);
    find_live(h, item->owner);
    for (int r = 0; r < h->count; r++)
        may |= h->set[r] && can_come(h, r);
    find_live(h, -1);
    return may;
}

/* ---- parts ---- */

/* Tarjan's search from a vertex on. open: those that have been met and are in no part yet. */
static void search_from(struct hang *h, int start, int *open, int *met)
{
    struct vertex *at = NULL, *to = &h->vertices[start];
    int n = 0;
    for (;;) {
        if (to && !to->order) {
            to->order = to->low = ++*met;
            to->next = to->first;
            to->back = at ? (int)(at - h->vertices) : -1;
            open[n++] = (int)(to - h->vertices);
            at = to;
        } else if (to && to->part < 0 && to->low < at->low) {
            at->low = to->low;
        }
        to = NULL;
        if (at->next < at->first + at->count) {
            int next = h->edges[at->next++].to;
            to = can_come(h, next) ? NULL : &h->vertices[next];
            continue;
        }
        while (at->low == at->order && at->part < 0)
            h->vertices[open[--n]].part = h->part_count;
        h->part_count += at->low == at->order;
        if (at->back < 0)
            return;
        to = at;
        at = &h->vertices[at->back];
    }
}

static void find_parts(struct hang *h)
{
    int met = 0;
    for (int r = 0; r < h->count; r++)
        if (graph_is_stuck(h, r) && !h->vertices[r].order)
            search_from(h, r, h->path, &met);
    h->leaves = memory_take(&h->memory, (size_t)h->part_count + 1);
    for (int e = 0; e < h->edge_count; e++) {
        int part = h->vertices[h->edges[e].from].part;
        if (part >= 0 && !can_come(h, h->edges[e].to))
            h->leaves[part] |= h->vertices[h->edges[e].to].part != part;
    }
}

/* ---- life ---- */

/* Find the vertices that can go on. Returns whether ranks are stuck. */
static bool find_stuck(struct hang *h, bool strict)
{
    h->strict = strict;
    build(h);
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
        if (rank->state == DIAGNOSE_ANSWERED)
            hang_text_read(&node->answer, &h->memory, r, rank->text, rank->len);
        for (int i = 0; i < node->answer.item_count; i++) {
            h->items = memory_grow(&h->memory, h->items, h->item_count, sizeof(*h->items));
            h->items[h->item_count++] = &node->answer.items[i];
        }
    }
}

void graph_init(struct hang *h, const struct hang_question *question)
{
    size_t count = (size_t)question->count;
    *h = (struct hang){.question = question, .ranks = question->ranks, .count = question->count};
    h->nodes = memory_take(&h->memory, count * sizeof(*h->nodes));
    h->set = memory_take(&h->memory, count);
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
