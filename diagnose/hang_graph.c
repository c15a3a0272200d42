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
static bool is_waiting(const struct hang *h, const struct hang_answer *answer,
                       const struct hang_thread *thread)
{
    bool waits = false;
    for (int i = 0; i < thread->count; i++) {
        enum hang_what what = answer->items[thread->first + i].what;
        if (what == HANG_READY)
            return false;
        waits |= what != HANG_CLOSE;
    }
    return waits && !graph_goes_on(h, thread);
}

static bool is_closing(const struct hang_answer *answer, const struct hang_thread *thread)
{
    if (thread->count && answer->items[thread->first].what == HANG_CLOSE)
        return true;
    return ends_mpi(thread->function) && thread->mode != HANG_POLL;
}

static void classify(const struct hang *h, struct node *node, const struct hang_rank *rank)
{
    const struct hang_answer *answer = &node->answer;
    bool others = answer->others.computing || (answer->others.asleep && !h->strict);
    bool free = !answer->thread_count || others, waits = false;
    node->finalizing = false;
    switch (rank->state) {
    case DIAGNOSE_ENDED:
    case DIAGNOSE_FINALIZED: node->kind = NODE_GONE; return;
    case DIAGNOSE_SILENT:
    case DIAGNOSE_NOT_INIT: node->kind = NODE_FREE; return;
    case DIAGNOSE_ANSWERED: break;
    }
    for (int i = 0; i < answer->thread_count; i++) {
        const struct hang_thread *thread = &answer->threads[i];
        node->finalizing |= is_closing(answer, thread);
        if (is_waiting(h, answer, thread))
            waits = true;
        else if (!is_closing(answer, thread))
            free = true;
    }
    if (free && !node->finalizing)
        node->kind = NODE_FREE;
    else
        node->kind = waits ? NODE_WAITS : NODE_GONE;
}

/* ---- targets ---- */

const struct hang_comm *graph_collective(const struct hang_answer *answer, uint32_t context)
{
    const struct hang_comm *comm = hang_text_comm(answer, context);
    if (!comm)
        return NULL;
    uint32_t use = context - comm->context;
    return use == HANG_USE_COLLECTIVE || use == HANG_USE_INSIDE ? comm : NULL;
}

bool graph_is_users(const struct hang_answer *answer, uint32_t context)
{
    const struct hang_comm *comm = hang_text_comm(answer, context);
    uint32_t use = comm ? context - comm->context : 0;
    return use == 0 || use == HANG_USE_PARTITIONED;
}

struct targets graph_targets(const struct hang *h, int rank, const struct hang_item *item)
{
    if (item->peer >= 0)
        return (struct targets){"", item->peer, item->peer, h->count, -1};
    const struct hang_comm *comm = hang_text_comm(&h->nodes[rank].answer, item->context);
    const char *list = comm ? (*comm->remote ? comm->remote : comm->members) : "";
    return (struct targets){list, 0, -1, h->count, rank};
}

int graph_next(struct targets *t)
{
    for (; t->list; t->list = hang_text_range(t->list, &t->next, &t->last))
        while (t->next <= t->last && t->next < t->count)
            if (t->next++ != t->self)
                return t->next - 1;
    return -1;
}

bool graph_any(const struct hang *h, int rank, const struct hang_item *item,
               bool (*is)(const struct hang *h, int rank))
{
    struct targets targets = graph_targets(h, rank, item);
    int target;
    while ((target = graph_next(&targets)) >= 0)
        if (is(h, target))
            return true;
    return false;
}

bool graph_any_of_all(const struct hang *h, int rank, bool (*is)(const struct hang *h, int rank))
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    int i = 0;
    while (i < answer->item_count && !graph_any(h, rank, &answer->items[i], is))
        i++;
    return i < answer->item_count;
}

/* ---- what can go on ---- */

/* Whether a rank may go on and do more, as far as it is found yet. */
static bool can_come(const struct hang *h, int rank)
{
    return h->nodes[rank].live && !h->nodes[rank].finalizing;
}

/* What nobody is known for may come from somewhere. */
static bool can_end(const struct hang *h, int rank, const struct hang_item *item)
{
    struct targets targets = graph_targets(h, rank, item);
    return item->what == HANG_CLOSE || !strcmp(item->state, "moving") || graph_next(&targets) < 0 ||
           graph_any(h, rank, item, can_come);
}

/* Whether all that are late in a thread's collective may come to it. Between two calls of
 * find_live() ranks only become able to go on. */
static bool all_can_come(const struct hang *h, int rank, const struct hang_thread *thread)
{
    struct meeting *m = graph_meeting_of_all(h, rank, thread);
    while (m && m->live < m->late_count && can_come(h, h->late[m->first_late + m->live]))
        m->live++;
    return !m || m->live == m->late_count;
}

static bool thread_can_go_on(const struct hang *h, int rank, const struct hang_thread *thread)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    bool any = false, all = all_can_come(h, rank, thread);
    for (int i = 0; i < thread->count; i++) {
        bool can = can_end(h, rank, &answer->items[thread->first + i]);
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

bool graph_may_come_alone(struct hang *h, int rank, const struct hang_item *item)
{
    find_live(h, rank);
    bool may = graph_any(h, rank, item, can_come);
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
        const struct hang_thread *thread = &node->answer.threads[item->thread];
        struct targets targets = graph_targets(h, rank, item);
        const struct meeting *m = graph_meeting_of_all(h, rank, thread);
        int target;
        if (node->live && (thread->mode == HANG_ANY || item->peer < 0))
            continue;
        while ((target = graph_next(&targets)) >= 0)
            len = step_on(h, len, target);
        for (int j = 0; m && j < m->late_count; j++)
            len = step_on(h, len, h->late[m->first_late + j]);
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

/* Find what can go on. Returns how many ranks are stuck. */
static int find_stuck(struct hang *h)
{
    for (int r = 0; r < h->count; r++)
        classify(h, &h->nodes[r], &h->ranks[r]);
    find_live(h, -1);
    h->stuck = 0;
    for (int r = 0; r < h->count; r++)
        h->stuck += graph_is_stuck(h, r);
    return h->stuck;
}

static bool have_sleepers(const struct hang *h)
{
    for (int r = 0; r < h->count; r++)
        if (h->nodes[r].answer.others.asleep)
            return true;
    return false;
}

int graph_init(struct hang *h, const struct hang_question *question)
{
    h->question = question;
    h->ranks = question->ranks;
    h->count = question->count;
    h->nodes = calloc((size_t)h->count + 1, sizeof(*h->nodes));
    h->set = calloc((size_t)h->count + 1, sizeof(*h->set));
    h->path = calloc((size_t)h->count + 1, sizeof(*h->path));
    h->seen = calloc((size_t)h->count + 1, sizeof(*h->seen));
    if (!h->nodes || !h->set || !h->path || !h->seen)
        return -ENOMEM;
    for (int r = 0; r < h->count; r++) {
        const struct hang_rank *rank = &h->ranks[r];
        struct node *node = &h->nodes[r];
        node->meeting = -1;
        if (rank->state == DIAGNOSE_ANSWERED &&
            hang_text_read(&node->answer, rank->text, rank->len) == -ENOMEM)
            return -ENOMEM;
    }
    int rc = graph_meet(h);
    if (!rc && !find_stuck(h) && have_sleepers(h)) {
        h->strict = true;
        h->strict = find_stuck(h) > 0;
        if (!h->strict)
            (void)find_stuck(h);
    }
    return rc;
}

void graph_fini(struct hang *h)
{
    for (int r = 0; h->nodes && r < h->count; r++)
        hang_text_free(&h->nodes[r].answer);
    free(h->nodes);
    free(h->entries);
    free(h->meetings);
    free(h->late);
    free(h->path);
    free(h->seen);
    free(h->set);
}
