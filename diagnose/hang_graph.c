/* SPDX-License-Identifier: BSD-3-Clause */

/* What can go on, and what cannot; see hang_graph.h. */
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

bool graph_any_of_all(const struct hang *h, int rank, bool (*is)(const struct hang *h, int rank))
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    int i = 0;
    while (i < answer->item_count && !graph_any(h, &answer->items[i], is))
        i++;
    return i < answer->item_count;
}

/* ---- what can go on ---- */

/* Whether a rank may go on and do more, as far as it is found yet. */
static bool can_come(const struct hang *h, int rank)
{
    return h->nodes[rank].live && !h->nodes[rank].finalizing;
}

/* A wait that names no rank may be ended from somewhere. */
static bool can_end(const struct hang *h, const struct hang_item *item)
{
    struct targets targets = graph_targets(h, item);
    return item->what == HANG_CLOSE || !strcmp(item->state, "moving") || !graph_next(&targets) ||
           graph_any(h, item, can_come);
}

/* Whether all that are late in a thread's collective may come to it. Between two calls of
 * find_live() ranks only become able to go on. */
static bool all_can_come(const struct hang *h, int rank, const struct hang_thread *thread)
{
    struct meeting *m = graph_meeting_of_all(h, rank, thread);
    while (m && m->live < m->late_count && can_come(h, m->late[m->live]))
        m->live++;
    return !m || m->live == m->late_count;
}

static bool thread_can_go_on(const struct hang *h, int rank, const struct hang_thread *thread)
{
    bool any = false, all = all_can_come(h, rank, thread);
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
        node->live = thread_can_go_on(h, rank, &node->answer.threads[i]);
    return node->live;
}

/* Change ranks until none changes any more: up and down in turns, so that long chains take few
 * rounds. */
static void spread(struct hang *h, bool (*changes)(struct hang *h, int rank))
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int r = 0; r < h->count; r++)
            changed |= changes(h, r);
        for (int r = h->count - 1; changed && r >= 0; r--)
            (void)changes(h, r);
    }
}

/* Find what can go on, all but one rank, which stays where it is; -1: none does. */
static void find_live(struct hang *h, int still)
{
    for (int i = 0; i < h->meeting_count; i++)
        h->meetings[i].live = 0;
    for (int r = 0; r < h->count; r++)
        h->nodes[r].live = h->nodes[r].kind == NODE_FREE && r != still;
    h->still = still;
    spread(h, becomes_live);
}

bool graph_may_come_alone(struct hang *h, const struct hang_item *item)
{
    find_live(h, item->owner);
    bool may = graph_any(h, item, can_come);
    find_live(h, -1);
    return may;
}

/* ---- where waits lead ---- */

/* Put a rank on the path that has not been there. Returns the length. */
static int step_on(struct hang *h, int len, int rank)
{
    if (!h->seen[rank])
        h->path[len++] = rank;
    h->seen[rank] = true;
    return len;
}

/* Put the ranks on the path for which one waits. Of several of which one would do, a rank that can
 * go on waits for none. */
static int step_from(struct hang *h, int len, int rank)
{
    const struct node *node = &h->nodes[rank];
    for (int i = 0; node->kind == NODE_WAITS && i < node->answer.item_count; i++) {
        const struct hang_item *item = &node->answer.items[i];
        const struct meeting *m = graph_meeting_of_all(h, rank, item->thread);
        if (node->live && (item->thread->mode == HANG_ANY || item->peer < 0))
            continue;
        for (struct targets t = graph_targets(h, item); graph_next(&t);)
            len = step_on(h, len, t.rank);
        for (int j = 0; m && j < m->late_count; j++)
            len = step_on(h, len, m->late[j]);
    }
    return len;
}

bool graph_depends(struct hang *h, int rank, int on)
{
    memset(h->seen, 0, (size_t)h->count * sizeof(*h->seen));
    int len = step_on(h, 0, rank);
    for (int i = 0; i < len && !h->seen[on]; i++)
        len = step_from(h, len, h->path[i]);
    return h->seen[on];
}

static bool leads_on(const struct hang *h, int rank)
{
    return h->nodes[rank].culprit || h->nodes[rank].leads;
}

static bool becomes_leading(struct hang *h, int rank)
{
    struct node *node = &h->nodes[rank];
    if (node->leads || !graph_is_stuck(h, rank))
        return false;
    node->leads = graph_any_of_all(h, rank, leads_on);
    return node->leads;
}

void graph_mark_leads(struct hang *h)
{
    spread(h, becomes_leading);
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
    h->seen = memory_take(&h->memory, count);
    read_answers(h);
    graph_meet(h);
    if (!find_stuck(h, false) && !find_stuck(h, true))
        (void)find_stuck(h, false);
}

void graph_fini(struct hang *h)
{
    memory_free(&h->memory);
}
