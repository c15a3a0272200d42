/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why ranks are stuck; see hang_why.h.
 *
 * Each kind of cause is looked for in turn, from the sure to the likely. Where waits lead out of a
 * part of the graph, the cause is elsewhere; of the other parts, the first kind that applies names
 * the culprits.
 */
#include "diagnose/hang_why.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_words.h"

enum {
    LINES_MAX = 12,
    LONG_MS = 800,
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

int why_alike(struct why *w, const char **said, int rank)
{
    struct hang *h = w->h;
    const char *this = said[rank];
    memset(h->set, 0, (size_t)h->count);
    for (int r = rank; r < h->count; r++) {
        h->set[r] = said[r] && !strcmp(said[r], this);
        said[r] = h->set[r] ? NULL : said[r];
    }
    return words_count(h, h->set);
}

/* ---- culprits ---- */

bool why_is_open(const struct why *w, int vertex)
{
    int part = w->h->part[vertex];
    return part >= 0 && !w->h->leaves[part] && !w->settled[part];
}

void why_blame(struct why *w, int rank)
{
    w->h->nodes[rank].culprit = w->h->nodes[rank].named = true;
    if (w->h->part[rank] >= 0)
        w->settled[w->h->part[rank]] = true;
}

void why_pair(struct why *w, int a, int b)
{
    w->pairs = memory_grow(&w->h->memory, w->pairs, w->pair_count, sizeof(*w->pairs));
    w->pairs[w->pair_count++] = (struct pair){{a < b ? a : b, a < b ? b : a}};
}

static int by_ranks(const void *va, const void *vb)
{
    const struct pair *a = va, *b = vb;
    return a->rank[0] != b->rank[0] ? a->rank[0] - b->rank[0] : a->rank[1] - b->rank[1];
}

void why_blame_pairs(struct why *w)
{
    int n = 0, *others = w->h->path;
    memset(others, 0, (size_t)w->h->count * sizeof(*others));
    if (w->pair_count)
        qsort(w->pairs, (size_t)w->pair_count, sizeof(*w->pairs), by_ranks);
    for (int i = 0; i < w->pair_count; i++) {
        if (n && !by_ranks(&w->pairs[i], &w->pairs[n - 1]))
            continue;
        w->pairs[n++] = w->pairs[i];
        for (int j = 0; j < 2; j++)
            others[w->pairs[i].rank[j]]++;
    }
    for (int i = 0; i < 2 * n; i++) {
        int rank = w->pairs[i / 2].rank[i % 2], other = w->pairs[i / 2].rank[!(i % 2)];
        w->h->nodes[rank].named = true;
        if (others[rank] >= others[other])
            why_blame(w, rank);
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

/* In a part without a meeting every walk ends in a cycle. */
static void explain_cycles(struct why *w)
{
    struct hang *h = w->h;
    bool *skip = memory_take(&h->memory, (size_t)h->part_count + 1);
    for (int i = 0; i < h->meeting_count; i++)
        if (h->part[h->count + i] >= 0)
            skip[h->part[h->count + i]] = true;
    for (int start = 0; start < h->count; start++) {
        int part = h->part[start], n = 0, begin = 0;
        bool is_open = part >= 0 && why_is_open(w, start);
        if (part < 0 || skip[part] || graph_next_in_part(h, start) < 0)
            continue;
        skip[part] = true;
        memset(h->set, 0, (size_t)h->count);
        for (int at = start; !h->set[at]; at = graph_next_in_part(h, at))
            h->set[h->path[n++] = at] = true;
        for (int at = graph_next_in_part(h, h->path[n - 1]); h->path[begin] != at;)
            begin++;
        bool explained = false;
        for (int i = begin; i < n; i++) {
            explained |= h->nodes[h->path[i]].explained;
            h->nodes[h->path[i]].explained = true;
        }
        if (!explained)
            write_cycle(w, h->path + begin, n - begin);
        for (int r = start; r < h->count && is_open; r++)
            if (h->part[r] == part)
                why_blame(w, r);
    }
}

/* ---- peers that are gone ---- */

/* Whether a stuck rank waits for one that is gone and would have to come. */
static bool waits_in_vain(const struct hang *h, int rank, int gone)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count && graph_is_stuck(h, rank); i++)
        for (struct targets t = graph_targets(h, &answer->items[i]);
             answer->items[i].what != HANG_CLOSE && graph_next(&t);)
            if (t.rank == gone)
                return true;
    return false;
}

static void explain_gone(struct why *w)
{
    struct hang *h = w->h;
    for (int p = 0; p < h->count; p++) {
        bool named = h->nodes[p].named; /* in a collective: the waiters are told of there */
        if (!graph_is_gone(h, p) || !why_is_open(w, p) || graph_next_in_part(h, p) >= 0)
            continue;
        why_blame(w, p);
        for (int r = 0; r < h->count && !named && w->lines < LINES_MAX; r++)
            h->set[r] = waits_in_vain(h, r, p);
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

/* A rank that does not wait, and for which another does. */
static void note_free(struct hang *h, int rank, int64_t ms)
{
    bool is_free = h->nodes[rank].kind == NODE_FREE;
    h->late[rank] |= is_free;
    h->nodes[rank].culprit |= is_free && !h->stuck && ms >= LONG_MS && !is_lively(h, rank);
}

/* Where nobody is stuck, those are the cause; but in a job that goes on all wait now and then. */
static void explain_free(struct why *w)
{
    struct hang *h = w->h;
    memset(h->late, 0, (size_t)h->count);
    for (int i = 0; i < h->meeting_count; i++)
        for (int j = 0; j < h->meetings[i].late_count; j++)
            note_free(h, h->meetings[i].late[j], h->meetings[i].entries[0]->thread->ms);
    for (int i = 0; i < h->item_count; i++)
        for (struct targets t = graph_targets(h, h->items[i]);
             h->nodes[h->items[i]->owner].kind == NODE_WAITS && graph_next(&t);)
            note_free(h, t.rank, h->items[i]->thread->ms);
    for (int r = 0; r < h->count; r++)
        if (h->late[r] && !h->nodes[r].named)
            (void)why_tell(w, "  Others wait for rank %d, which %s\n", r, words_state(h, r, false));
}

/* ---- the whole ---- */

void why_write(struct hang *h)
{
    static void (*const causes[])(struct why *w) = {why_messages, explain_cycles, why_collectives,
                                                    explain_gone, explain_free};
    struct why w = {.h = h};
    w.settled = memory_take(&h->memory, (size_t)h->part_count + 1);
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        causes[i](&w);
        if (w.left_out)
            fprintf(h->to, "  ... and %d more of the kind.\n", w.left_out);
        w.lines = w.left_out = 0;
    }
}
