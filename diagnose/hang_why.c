/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why ranks are stuck; see hang_why.h.
 *
 * Each kind of cause is looked for in turn, from the sure to the likely. Where edges lead out of a
 * part of the graph, the cause is elsewhere; of the other parts, the first kind that applies names
 * the culprits.
 */
#include "diagnose/hang_why.h"

#include <string.h>

#include "diagnose/hang_words.h"

enum {
    LINES_MAX = 12,
    LONG_MS = 800,
    CYCLE_SHOWN = 8,
    LONG_CYCLE_SHOWN = 3 /* of its ranks' waits, which are mostly alike */
};

bool why_tell(struct why *w, const char *format, ...)
{
    if (w->lines == LINES_MAX) {
        w->left_out++;
        return false;
    }
    va_list args;
    va_start(args, format);
    vfprintf(w->h->to, format, args);
    va_end(args);
    w->lines++;
    return true;
}

const char *why_next(struct why *w, int *rank)
{
    struct hang *h = w->h;
    while (*rank < h->count && !w->said[*rank])
        ++*rank;
    const char *this = *rank < h->count ? w->said[*rank] : NULL;
    memset(h->set, 0, (size_t)h->count);
    for (int r = *rank; r < h->count; r++)
        if (w->said[r] && !strcmp(w->said[r], this)) {
            h->set[r] = true;
            w->said[r] = NULL;
        }
    return this;
}

/* ---- culprits ---- */

bool why_is_open(const struct why *w, int vertex)
{
    int part = w->h->vertices[vertex].part;
    return part >= 0 && !w->h->leaves[part] && !w->settled[part];
}

void why_blame(struct why *w, int rank)
{
    w->h->nodes[rank].culprit = w->h->nodes[rank].named = true;
    if (w->h->vertices[rank].part >= 0)
        w->settled[w->h->vertices[rank].part] = true;
}

void why_pair(struct why *w, int a, int b)
{
    w->pairs = memory_grow(&w->h->memory, w->pairs, w->pair_count, sizeof(*w->pairs));
    w->pairs[w->pair_count++] = (struct pair){a, b};
}

static void blame_pairs(struct why *w)
{
    int *others = memset(w->h->path, 0, (size_t)w->h->count * sizeof(*others));
    for (const struct pair *p = w->pairs; p < w->pairs + w->pair_count; p++) {
        others[p->a]++;
        others[p->b] += p->a != p->b;
    }
    for (const struct pair *p = w->pairs; p < w->pairs + w->pair_count; p++) {
        w->h->nodes[p->a].named = w->h->nodes[p->b].named = true;
        if (others[p->a] >= others[p->b])
            why_blame(w, p->a);
        if (others[p->b] >= others[p->a])
            why_blame(w, p->b);
    }
    w->pair_count = 0;
}

/* ---- cycles of messages ---- */

static void write_cycle(struct why *w, const int *ranks, int n)
{
    struct hang *h = w->h;
    const char *text = n == 1 ? "A rank waits for itself:" : "A cycle of waits:";
    for (int i = 0; i < n && i < CYCLE_SHOWN; i++)
        text = words(h, "%s %d ->", text, ranks[i]);
    if (n > CYCLE_SHOWN)
        text = words(h, "%s ... (%d ranks) ->", text, n);
    if (!why_tell(w, "  %s %d\n", text, ranks[0]))
        return;
    for (int i = 0; i < (n > CYCLE_SHOWN ? LONG_CYCLE_SHOWN : n); i++)
        fprintf(h->to, "    rank %d %s\n", ranks[i], words_state(h, ranks[i], false));
}

/* The next rank on a way from a vertex of the part of rank, or rank itself if there is no other;
 * -1: none. */
static int next_rank(const struct hang *h, int vertex, int rank)
{
    const struct vertex *v = &h->vertices[vertex];
    int found = -1;
    for (int e = v->first; e < v->first + v->count && (found < 0 || found == rank); e++) {
        int to = h->edges[e].to;
        if (graph_is_one_part(h, to, rank))
            found = to < h->count ? to : next_rank(h, to, rank);
    }
    return found;
}

/* In an open part without a collective every walk ends in a cycle. */
static void explain_cycles(struct why *w)
{
    struct hang *h = w->h;
    bool *skip = memory_take(&h->memory, (size_t)h->part_count + 1);
    for (int i = 0; i < h->item_count; i++)
        if (h->items[i]->meeting >= 0 && graph_part_of(h, h->items[i]->thread) >= 0)
            skip[graph_part_of(h, h->items[i]->thread)] = true;
    for (int start = 0; start < h->count; start++) {
        int part = h->vertices[start].part, n = 0, begin = 0, at = start;
        if (!why_is_open(w, start) || skip[part] || next_rank(h, start, start) < 0)
            continue;
        memset(h->set, 0, (size_t)h->count);
        for (; !h->set[at]; at = next_rank(h, at, at))
            h->set[h->path[n++] = at] = true;
        while (h->path[begin] != at)
            begin++;
        for (int i = begin; i < n; i++)
            h->nodes[h->path[i]].explained = true;
        write_cycle(w, h->path + begin, n - begin);
        for (int r = start; r < h->count; r++)
            if (h->vertices[r].part == part)
                why_blame(w, r);
    }
}

/* ---- peers that are gone ---- */

/* Put into h->set the stuck ranks that wait for a vertex. */
static void add_waiters(struct hang *h, int vertex)
{
    for (int e = h->vertices[vertex].waiters; e >= 0; e = h->edges[e].waiters) {
        const struct vertex *from = &h->vertices[h->edges[e].from];
        if (!from->thread)
            add_waiters(h, h->edges[e].from);
        else if (graph_is_stuck(h, from->owner))
            h->set[from->owner] = true;
    }
}

static void explain_gone(struct why *w)
{
    struct hang *h = w->h;
    for (int p = 0; p < h->count; p++) {
        bool named = h->nodes[p].named; /* in a collective: the waiters are told of there */
        if (!graph_is_gone(h, p) || !why_is_open(w, p))
            continue;
        why_blame(w, p);
        memset(h->set, 0, (size_t)h->count);
        if (!named && w->lines < LINES_MAX)
            add_waiters(h, p);
        if (!named)
            (void)why_tell(w, "  Rank %d %s, but is waited for by %s\n", p,
                           words_state(h, p, false), words_ranks(h, h->set));
    }
}

/* ---- ranks that are elsewhere ---- */

/* Whether a rank has begun to wait since the question was asked. */
static bool is_lively(const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    bool lively = false;
    for (int t = 0; t < answer->thread_count; t++)
        lively |= answer->threads[t].mode != HANG_POLL && graph_goes_on(h, &answer->threads[t]);
    return lively;
}

/* If nobody is stuck, ranks that others wait for, and that do not wait, are the cause; but in a job
 * that goes on all wait now and then. */
static void explain_free(struct why *w)
{
    struct hang *h = w->h;
    int64_t *ms = memory_take(&h->memory, (size_t)h->vertex_count * sizeof(*ms));
    for (const struct edge *e = h->edges; e < h->edges + h->edge_count; e++) {
        const struct hang_thread *thread = h->vertices[e->from].thread;
        int64_t waited = thread ? thread->ms + 1 : ms[e->from];
        ms[e->to] = waited > ms[e->to] ? waited : ms[e->to];
    }
    for (int r = 0; r < h->count; r++) {
        struct node *node = &h->nodes[r];
        if (node->kind != NODE_FREE || !ms[r])
            continue;
        bool is_late = h->ranks[r].state == DIAGNOSE_LATE; /* nobody knows what it does */
        node->culprit |= !h->stuck && ms[r] > LONG_MS && !is_late && !is_lively(h, r);
        if (!node->named)
            (void)why_tell(w, "  Others wait for rank %d, which %s\n", r, words_state(h, r, false));
    }
}

/* ---- the whole ---- */

void why_write(struct hang *h)
{
    static void (*const causes[])(struct why *w) = {why_messages,    explain_cycles, why_different,
                                                    why_missing, why_collectives, explain_gone,
                                                    explain_free};
    struct why w = {.h = h};
    w.settled = memory_take(&h->memory, (size_t)h->part_count + 1);
    w.late = memory_take(&h->memory, (size_t)h->count);
    w.said = memory_take(&h->memory, (size_t)h->count * sizeof(*w.said));
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        memset(w.said, 0, (size_t)h->count * sizeof(*w.said));
        causes[i](&w);
        blame_pairs(&w);
        if (w.left_out)
            fprintf(h->to, "  ... and %d more of the kind.\n", w.left_out);
        w.lines = w.left_out = 0;
    }
}
