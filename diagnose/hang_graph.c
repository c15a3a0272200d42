/* SPDX-License-Identifier: BSD-3-Clause */

/* What can go on, and what cannot; see hang_graph.h. */
#include "diagnose/hang_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool ends_mpi(const char *function)
{
    return !strcmp(function, "MPI_Finalize") || !strcmp(function, "MPI_Session_finalize");
}

/* Whether a thread waits for something that other ranks bring about. */
static bool is_waiting(const struct hang *h, const struct hang_told *told,
                       const struct hang_thread *thread)
{
    bool waits = false;
    for (int i = 0; i < thread->count; i++) {
        enum hang_what what = told->items[thread->first + i].what;
        if (what == HANG_READY)
            return false;
        waits |= what != HANG_CLOSE;
    }
    return waits && !graph_goes_on(h, thread);
}

static bool is_closing(const struct hang_told *told, const struct hang_thread *thread)
{
    if (thread->count && told->items[thread->first].what == HANG_CLOSE)
        return true;
    return ends_mpi(thread->function) && thread->mode != HANG_POLL;
}

static void classify(const struct hang *h, struct node *node, const struct hang_rank *rank)
{
    const struct hang_told *told = &node->told;
    bool free = !told->thread_count || told->others.computing, waits = false;
    switch (rank->state) {
    case DIAGNOSE_ENDED:
    case DIAGNOSE_FINALIZED: node->kind = NODE_GONE; return;
    case DIAGNOSE_SILENT:
    case DIAGNOSE_NOT_INIT: node->kind = NODE_FREE; return;
    case DIAGNOSE_ANSWERED: break;
    }
    for (int i = 0; i < told->thread_count; i++) {
        const struct hang_thread *thread = &told->threads[i];
        node->finalizing |= is_closing(told, thread);
        if (is_waiting(h, told, thread))
            waits = true;
        else if (!is_closing(told, thread))
            free = true;
    }
    if (free && !node->finalizing)
        node->kind = NODE_FREE;
    else
        node->kind = waits ? NODE_WAITS : NODE_GONE;
}

/* ---- targets ---- */

const struct hang_comm *graph_collective(const struct hang_told *told, uint32_t context)
{
    const struct hang_comm *comm = hang_text_comm(told, context);
    if (!comm)
        return NULL;
    uint32_t use = context - comm->context;
    return use == HANG_USE_COLLECTIVE || use == HANG_USE_INSIDE ? comm : NULL;
}

bool graph_is_users(const struct hang_told *told, uint32_t context)
{
    const struct hang_comm *comm = hang_text_comm(told, context);
    uint32_t use = comm ? context - comm->context : 0;
    return use == 0 || use == HANG_USE_PARTITIONED;
}

bool graph_targets(const struct hang *h, int rank, const struct hang_item *item,
                   bool (*visit)(void *arg, int target), void *arg)
{
    if (item->peer >= 0)
        return item->peer < h->count && visit(arg, item->peer);
    const struct hang_comm *comm = hang_text_comm(&h->nodes[rank].told, item->context);
    const char *list = comm ? (*comm->remote ? comm->remote : comm->members) : "";
    int first, last;
    while ((list = hang_text_range(list, &first, &last)))
        for (int i = first; i <= last && i < h->count; i++)
            if (i != rank && visit(arg, i))
                return true;
    return false;
}

bool graph_all_targets(const struct hang *h, int rank, bool (*visit)(void *arg, int target),
                       void *arg)
{
    const struct hang_told *told = &h->nodes[rank].told;
    int i = 0;
    while (i < told->item_count && !graph_targets(h, rank, &told->items[i], visit, arg))
        i++;
    return i < told->item_count;
}

/* ---- what can go on ---- */

bool graph_can_come(const struct hang *h, int rank)
{
    return h->nodes[rank].live && (h->hopeful || !h->nodes[rank].finalizing);
}

static bool can_come(void *arg, int target)
{
    return graph_can_come(arg, target);
}

/* What nobody is known for may come from somewhere. */
static bool has_targets(void *arg, int target)
{
    (void)arg;
    (void)target;
    return true;
}

static bool item_can_end(struct hang *h, int rank, const struct hang_item *item)
{
    if (item->what == HANG_CLOSE || !strcmp(item->state, "moving"))
        return true;
    return !graph_targets(h, rank, item, has_targets, NULL) ||
           graph_targets(h, rank, item, can_come, h);
}

static bool thread_can_go_on(struct hang *h, int rank, int number)
{
    const struct hang_told *told = &h->nodes[rank].told;
    const struct hang_thread *thread = &told->threads[number];
    bool any = false, all = graph_sync_can_end(h, rank, number);
    for (int i = 0; i < thread->count; i++) {
        bool can = item_can_end(h, rank, &told->items[thread->first + i]);
        any |= can;
        all &= can;
    }
    return thread->mode == HANG_ANY ? any : all;
}

static bool look_again(struct hang *h, int rank)
{
    struct node *node = &h->nodes[rank];
    if (node->kind != NODE_WAITS || node->live || rank == h->still)
        return false;
    for (int i = 0; i < node->told.thread_count && !node->live; i++)
        node->live = thread_can_go_on(h, rank, i);
    return node->live;
}

/* Up and down in turns, so that long chains take few rounds. */
static void spread(struct hang *h)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int r = 0; r < h->count; r++)
            changed |= look_again(h, r);
        for (int r = h->count - 1; changed && r >= 0; r--)
            (void)look_again(h, r);
    }
}

/* Find what can go on, all but one rank, which stays where it is; -1: none does. */
static void find_live(struct hang *h, int still)
{
    graph_sync_reset(h);
    for (int r = 0; r < h->count; r++)
        h->nodes[r].live = h->nodes[r].kind == NODE_FREE && r != still;
    h->still = still;
    spread(h);
}

bool graph_may_come_alone(struct hang *h, int rank, const struct hang_item *item)
{
    find_live(h, rank);
    bool may = graph_targets(h, rank, item, can_come, h);
    find_live(h, -1);
    return may;
}

/* Whether a rank that was thought to go on cannot. */
static bool lose_hope(struct hang *h, int rank)
{
    struct node *node = &h->nodes[rank];
    bool can = node->kind != NODE_WAITS || !node->live;
    for (int i = 0; i < node->told.thread_count && !can; i++)
        can = thread_can_go_on(h, rank, i);
    node->live &= can;
    return !can;
}

bool graph_depends(struct hang *h, int rank, int on)
{
    bool changed = true;
    for (int r = 0; r < h->count; r++)
        h->nodes[r].live = r != on;
    h->hopeful = true;
    while (changed && h->nodes[rank].live) {
        changed = false;
        graph_sync_reset(h);
        for (int r = 0; r < h->count; r++)
            changed |= lose_hope(h, r);
    }
    bool depends = !h->nodes[rank].live;
    h->hopeful = false;
    find_live(h, -1);
    return depends;
}

static bool leads_on(void *arg, int target)
{
    const struct hang *h = arg;
    return h->nodes[target].culprit || h->nodes[target].leads;
}

static bool look_ahead(struct hang *h, int rank)
{
    struct node *node = &h->nodes[rank];
    if (node->leads || !graph_is_stuck(h, rank))
        return false;
    node->leads = graph_all_targets(h, rank, leads_on, h);
    return node->leads;
}

void graph_mark_leads(struct hang *h)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int r = 0; r < h->count; r++)
            changed |= look_ahead(h, r);
        for (int r = h->count - 1; changed && r >= 0; r--)
            (void)look_ahead(h, r);
    }
}

/* ---- life ---- */

int graph_init(struct hang *h, const struct hang_question *question)
{
    h->question = question;
    h->ranks = question->ranks;
    h->count = question->count;
    h->nodes = calloc((size_t)h->count + 1, sizeof(*h->nodes));
    h->set = calloc((size_t)h->count + 1, sizeof(*h->set));
    if (!h->nodes || !h->set)
        return -ENOMEM;
    for (int r = 0; r < h->count; r++) {
        const struct hang_rank *rank = &h->ranks[r];
        struct node *node = &h->nodes[r];
        if (rank->state == DIAGNOSE_ANSWERED &&
            hang_text_read(&node->told, rank->text, rank->len) == -ENOMEM)
            return -ENOMEM;
        classify(h, node, rank);
    }
    int rc = graph_sync_init(h);
    if (rc)
        return rc;
    find_live(h, -1);
    for (int r = 0; r < h->count; r++)
        h->stuck += graph_is_stuck(h, r);
    return 0;
}

void graph_fini(struct hang *h)
{
    for (int r = 0; h->nodes && r < h->count; r++)
        hang_text_free(&h->nodes[r].told);
    graph_sync_fini(h);
    free(h->nodes);
    free(h->set);
}
