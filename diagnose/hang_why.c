/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why ranks are stuck; see hang_why.h.
 *
 * Each kind of cause is looked for in turn, from the sure to the likely: messages under another tag
 * or communicator, requests that were not started, cycles of messages alone, collectives that do
 * not fit together, peers that are gone, members that have not come to a collective, cycles. A
 * cause further down makes culprits only of ranks whose waits do not lead to a culprit already, and
 * a cycle is told only where none of its ranks has been explained.
 */
#include "diagnose/hang_why.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_words.h"

enum {
    LINES_MAX = 12,
    CYCLE_SHOWN = 8,
    LONG_CYCLE_SHOWN = 3 /* of its ranks' waits, which are mostly alike */
};

/* Two ranks that do not fit together. */
struct pair {
    int rank[2];
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

void why_end_kind(struct why *w)
{
    if (w->left_out)
        fprintf(w->h->to, "  ... and %d more of the kind.\n", w->left_out);
    w->lines = w->left_out = 0;
}

int why_alike(struct why *w, const char *const *said, int rank)
{
    struct hang *h = w->h;
    memset(h->set, 0, (size_t)h->count);
    for (int r = rank; r < h->count; r++)
        h->set[r] = said[r] && !strcmp(said[r], said[rank]);
    return words_count(h, h->set);
}

/* ---- culprits ---- */

void why_blame(struct why *w, int rank)
{
    w->h->nodes[rank].culprit = w->h->nodes[rank].named = true;
}

void why_pair(struct why *w, int a, int b)
{
    w->pairs = memory_grow(&w->h->memory, w->pairs, w->pair_count, sizeof(*w->pairs));
    w->pairs[w->pair_count++] = (struct pair){{a < b ? a : b, a < b ? b : a}};
}

static int by_ranks(const void *va, const void *vb)
{
    const struct pair *a = va, *b = vb;
    int order = (a->rank[0] > b->rank[0]) - (a->rank[0] < b->rank[0]);
    return order ? order : (a->rank[1] > b->rank[1]) - (a->rank[1] < b->rank[1]);
}

void why_blame_pairs(struct why *w, bool *set)
{
    int n = 0, *others = w->h->path;
    memset(others, 0, (size_t)w->h->count * sizeof(*others));
    if (w->pair_count)
        qsort(w->pairs, (size_t)w->pair_count, sizeof(*w->pairs), by_ranks);
    for (int i = 0; i < w->pair_count; i++) {
        if (i && !by_ranks(&w->pairs[i], &w->pairs[i - 1]))
            continue;
        w->pairs[n] = w->pairs[i];
        for (int j = 0; j < 2; j++)
            others[w->pairs[n].rank[j]]++;
        n++;
    }
    for (int i = 0; i < 2 * n; i++) {
        int rank = w->pairs[i / 2].rank[i % 2], other = w->pairs[i / 2].rank[!(i % 2)];
        w->h->nodes[rank].named = true;
        if (others[rank] < others[other])
            continue;
        why_blame(w, rank);
        if (set)
            set[rank] = true;
    }
    w->pair_count = 0;
}

/* ---- peers that are gone ---- */

static bool is_there(const struct hang *h, int rank)
{
    return !graph_is_gone(h, rank);
}

/* Put the ranks for which a stuck rank waits in vain, as all that could end that wait are gone,
 * into set. Returns whether peer is one of them. */
static bool note_gone(const struct hang *h, int rank, bool *set, int peer)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    bool waits = false;
    for (int i = 0; i < answer->item_count && graph_is_stuck(h, rank); i++) {
        const struct hang_item *item = &answer->items[i];
        if (item->what == HANG_CLOSE || graph_any(h, item, is_there))
            continue;
        for (struct targets t = graph_targets(h, item); graph_next(&t);) {
            waits |= t.rank == peer;
            if (set)
                set[t.rank] = true;
        }
    }
    return waits;
}

static void explain_gone(struct why *w)
{
    struct hang *h = w->h;
    memset(h->late, 0, (size_t)h->count);
    for (int r = 0; r < h->count; r++)
        if (!h->nodes[r].sure)
            (void)note_gone(h, r, h->late, -1);
    for (int p = 0; p < h->count; p++) {
        bool named = h->nodes[p].named; /* in a collective: the waiters are told of there */
        if (!h->late[p])
            continue;
        why_blame(w, p);
        for (int r = 0; r < h->count && !named && w->lines < LINES_MAX; r++)
            h->set[r] = note_gone(h, r, NULL, p);
        if (!named)
            (void)why_tell(w, "  Rank %d %s, but is waited for by %s\n", p,
                           words_state(h, p, false), words_ranks(h, h->set));
    }
    why_end_kind(w);
}

/* ---- cycles ---- */

/* A stuck rank that this one waits for, or -1. */
static int next_of(const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count; i++)
        for (struct targets t = graph_targets(h, &answer->items[i]);
             answer->items[i].what != HANG_CLOSE && graph_next(&t);)
            if (graph_is_stuck(h, t.rank))
                return t.rank;
    return -1;
}

/* A rank of a cycle; and where one of several could end its wait, all of those. */
static void blame_in_cycle(struct why *w, int rank)
{
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    bool choice = answer->thread_count > 1 || answer->threads[0].mode == HANG_ANY;
    why_blame(w, rank);
    for (int i = 0; i < answer->item_count; i++)
        for (struct targets t = graph_targets(w->h, &answer->items[i]);
             (choice || answer->items[i].peer < 0) && graph_next(&t);)
            if (graph_is_stuck(w->h, t.rank))
                why_blame(w, t.rank);
}

/* Whether a rank waits for nothing but messages of known ranks: no collective, no choice. */
static bool is_plain(const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count; i++)
        if (answer->items[i].peer < 0 || hang_is_collective(answer->items[i].use))
            return false;
    return answer->thread_count == 1 && answer->threads[0].mode == HANG_ALL;
}

static bool has_culprit(const struct hang *h)
{
    for (int r = 0; r < h->count; r++)
        if (h->nodes[r].culprit)
            return true;
    return false;
}

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

static void explain_cycle(struct why *w, const int *ranks, int n, bool plain)
{
    struct hang *h = w->h;
    bool known = false, explained = false;
    for (int i = 0; i < n; i++) {
        struct node *node = &h->nodes[ranks[i]];
        if (plain && !is_plain(h, ranks[i]))
            return;
        known |= node->culprit || (!plain && node->leads);
        explained |= node->explained;
    }
    known |= explained && has_culprit(h);
    for (int i = 0; i < n; i++) {
        h->nodes[ranks[i]].explained = true;
        if (!known)
            blame_in_cycle(w, ranks[i]);
    }
    if (!explained)
        write_cycle(w, ranks, n);
}

/* Walk from each stuck rank along its waits; a walk that meets itself is a cycle. plain: only
 * cycles of plain waits. */
static void explain_cycles(struct why *w, bool plain)
{
    struct hang *h = w->h;
    /* the number of the walk that came by */
    int *walk = memory_take(&h->memory, (size_t)h->count * sizeof(*walk));
    for (int start = 0; start < h->count; start++) {
        int at = start, n = 0, begin = 0;
        if (!graph_is_stuck(h, start))
            continue;
        while (at >= 0 && !walk[at]) {
            walk[at] = start + 1;
            h->path[n++] = at;
            at = next_of(h, at);
        }
        if (at < 0 || walk[at] != start + 1 || !n)
            continue;
        while (h->path[begin] != at)
            begin++;
        explain_cycle(w, h->path + begin, n - begin, plain);
    }
    why_end_kind(w);
}

/* ---- ranks that are elsewhere ---- */

/* Ranks that do not wait, and for whom others do. Where nobody is stuck, they are the cause. */
static void explain_free(struct why *w)
{
    struct hang *h = w->h;
    memset(h->late, 0, (size_t)h->count);
    for (int i = 0; i < h->item_count; i++)
        for (struct targets t = graph_targets(h, h->items[i]);
             h->nodes[h->items[i]->owner].kind == NODE_WAITS && graph_next(&t);)
            h->late[t.rank] |= h->nodes[t.rank].kind == NODE_FREE;
    for (int r = 0; r < h->count; r++) {
        h->nodes[r].culprit |= h->late[r] && !h->stuck;
        if (h->late[r] && !h->nodes[r].named)
            (void)why_tell(w, "  Others wait for rank %d, which %s\n", r, words_state(h, r, false));
    }
    why_end_kind(w);
}

/* ---- the whole ---- */

static bool is_weak(const struct hang *h, int rank)
{
    return h->nodes[rank].weak;
}

/* Of those that may be to blame, blame those that wait for none of the others. */
static void blame_weak(struct why *w)
{
    struct hang *h = w->h;
    graph_mark_leads(h);
    for (int r = 0; r < h->count; r++) {
        bool open = h->nodes[r].weak && !h->nodes[r].leads && !h->nodes[r].culprit;
        h->late[r] = open && !graph_any_of_all(h, r, is_weak);
    }
    int left = words_count(h, h->late);
    for (int r = 0; r < h->count; r++)
        if (left ? h->late[r] : h->nodes[r].weak && !h->nodes[r].leads)
            why_blame(w, r);
    graph_mark_leads(h);
}

void why_write(struct hang *h)
{
    struct why w = {.h = h};
    why_messages(&w);
    explain_cycles(&w, true);
    why_collectives(&w);
    explain_gone(&w);
    blame_weak(&w);
    explain_cycles(&w, false);
    explain_free(&w);
}
