/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why what is stuck is stuck; see hang_graph.h. Messages are explained in hang_message.c,
 * collectives in hang_coll.c.
 *
 * Each kind of cause is looked for in turn, from the sure to the likely: messages under another tag
 * or communicator, requests that were not started, cycles of messages alone, collectives that do
 * not fit together, peers that are gone, members that have not come to a collective, cycles. A
 * cause further down makes culprits only of ranks whose waits do not lead to a culprit already, and
 * a cycle is told of only where none of its ranks has been explained.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_why.h"

enum {
    LINES_MAX = 12,
    CYCLE_SHOWN = 8,
    LONG_CYCLE_SHOWN = 3 /* of its ranks' waits, which are mostly alike */
};

bool why_has_room(struct why *w)
{
    if (w->lines < LINES_MAX) {
        w->lines++;
        return true;
    }
    w->left_out++;
    return false;
}

void why_end_kind(struct why *w)
{
    if (w->left_out)
        fprintf(w->h->to, "  ... and %d more of the kind.\n", w->left_out);
    w->lines = w->left_out = 0;
}

void why_blame(struct why *w, int rank)
{
    w->h->nodes[rank].culprit = w->h->nodes[rank].named = true;
}

void why_pair(struct why *w, int a, int b)
{
    if (w->pair_count == w->pair_room) {
        int room = w->pair_room ? w->pair_room * 2 : 64;
        struct pair *grown = realloc(w->pairs, (size_t)room * sizeof(*grown));
        if (!grown) {
            why_blame(w, a);
            why_blame(w, b);
            return;
        }
        w->pairs = grown;
        w->pair_room = room;
    }
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
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++) {
            int rank = w->pairs[i].rank[j];
            w->h->nodes[rank].named = true;
            if (others[rank] < others[w->pairs[i].rank[!j]])
                continue;
            why_blame(w, rank);
            if (set)
                set[rank] = true;
        }
    w->pair_count = 0;
}

void why_clear(struct why *w, bool *set)
{
    memset(set, 0, (size_t)w->h->count * sizeof(*set));
}

static char *text_of(struct why *w, int rank, void (*write)(struct why *w, FILE *to, int rank))
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return NULL;
    write(w, to, rank);
    return fclose(to) ? NULL : text;
}

char *why_alike(struct why *w, int rank, void (*write)(struct why *w, FILE *to, int rank))
{
    struct hang *h = w->h;
    char *mine = text_of(w, rank, write);
    why_clear(w, h->set);
    h->set[rank] = true;
    for (int r = rank + 1; mine && r < h->count; r++) {
        char *other = w->late[r] ? text_of(w, r, write) : NULL;
        h->set[r] = other && !strcmp(mine, other);
        free(other);
    }
    return mine;
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
        struct targets targets = graph_targets(h, rank, item);
        int target;
        if (item->what == HANG_CLOSE || graph_any(h, rank, item, is_there))
            continue;
        while ((target = graph_next(&targets)) >= 0) {
            waits |= target == peer;
            if (set)
                set[target] = true;
        }
    }
    return waits;
}

static void explain_gone(struct why *w)
{
    struct hang *h = w->h;
    why_clear(w, w->late);
    for (int r = 0; r < h->count; r++)
        if (!h->nodes[r].sure)
            (void)note_gone(h, r, w->late, -1);
    for (int p = 0; p < h->count; p++) {
        bool named = h->nodes[p].named; /* in a collective: the waiters are told of there */
        if (!w->late[p])
            continue;
        why_blame(w, p);
        if (named || !why_has_room(w))
            continue;
        for (int r = 0; r < h->count; r++)
            h->set[r] = note_gone(h, r, NULL, p);
        fprintf(h->to, "  Rank %d ", p);
        words_state(h->to, h, p);
        fputs(", but is waited for by ", h->to);
        words_ranks(h->to, h->set, h->count);
        fputc('\n', h->to);
    }
    why_end_kind(w);
}

/* ---- cycles ---- */

/* A stuck rank that this one waits for, or -1. */
static int next_of(const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count; i++) {
        struct targets targets = graph_targets(h, rank, &answer->items[i]);
        int target = -1;
        while (answer->items[i].what != HANG_CLOSE && (target = graph_next(&targets)) >= 0)
            if (graph_is_stuck(h, target))
                return target;
    }
    return -1;
}

/* A rank of a cycle; and where one of several could end its wait, all of those. */
static void blame_in_cycle(struct why *w, int rank)
{
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    why_blame(w, rank);
    for (int i = 0; i < answer->item_count; i++) {
        struct targets targets = graph_targets(w->h, rank, &answer->items[i]);
        bool choice = answer->thread_count > 1 || answer->threads[0].mode == HANG_ANY;
        int target;
        while ((choice || answer->items[i].peer < 0) && (target = graph_next(&targets)) >= 0)
            if (graph_is_stuck(w->h, target))
                why_blame(w, target);
    }
}

/* Whether a rank waits for nothing but messages of known ranks: no collective, no choice. */
static bool is_plain(const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count; i++)
        if (answer->items[i].peer < 0 || graph_collective(answer, answer->items[i].context))
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
    FILE *to = w->h->to;
    int shown = n > CYCLE_SHOWN ? LONG_CYCLE_SHOWN : n;
    fputs(n == 1 ? "  A rank waits for itself: " : "  A cycle of waits: ", to);
    for (int i = 0; i < n && i < CYCLE_SHOWN; i++)
        fprintf(to, "%d -> ", ranks[i]);
    if (n > CYCLE_SHOWN)
        fprintf(to, "... (%d ranks) -> ", n);
    fprintf(to, "%d\n", ranks[0]);
    for (int i = 0; i < shown; i++) {
        fprintf(to, "    rank %d ", ranks[i]);
        words_state(to, w->h, ranks[i]);
        fputc('\n', to);
    }
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
    if (!explained && why_has_room(w))
        write_cycle(w, ranks, n);
}

/* Walk from each stuck rank along its waits; a walk that meets itself is a cycle. plain: only
 * cycles of plain waits. */
static int explain_cycles(struct why *w, bool plain)
{
    struct hang *h = w->h;
    int *walk = calloc((size_t)h->count + 1, sizeof(*walk)); /* number of that which came by */
    if (!walk)
        return -ENOMEM;
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
    free(walk);
    return 0;
}

/* ---- ranks that are elsewhere ---- */

/* Ranks that do not wait, and for whom others do. Where nobody is stuck, they are the cause. */
static void explain_free(struct why *w)
{
    struct hang *h = w->h;
    why_clear(w, w->late);
    for (int r = 0; r < h->count; r++) {
        const struct hang_answer *answer = &h->nodes[r].answer;
        for (int i = 0; i < answer->item_count && h->nodes[r].kind == NODE_WAITS; i++) {
            struct targets targets = graph_targets(h, r, &answer->items[i]);
            int target;
            while ((target = graph_next(&targets)) >= 0)
                w->late[target] |= h->nodes[target].kind == NODE_FREE;
        }
    }
    for (int r = 0; r < h->count; r++) {
        if (!w->late[r])
            continue;
        h->nodes[r].culprit |= !h->stuck;
        if (h->nodes[r].named || !why_has_room(w))
            continue;
        fprintf(h->to, "  Others wait for rank %d, which ", r);
        words_state(h->to, h, r);
        fputc('\n', h->to);
    }
    why_end_kind(w);
}

/* ---- the whole ---- */

static bool is_weak(const struct hang *h, int rank)
{
    return h->nodes[rank].weak;
}

/* Of those that may be to blame, it is who waits for none of the others. */
static void blame_weak(struct why *w)
{
    struct hang *h = w->h;
    int left = 0;
    graph_mark_leads(h);
    for (int r = 0; r < h->count; r++) {
        bool open = h->nodes[r].weak && !h->nodes[r].leads && !h->nodes[r].culprit;
        w->late[r] = open && !graph_any_of_all(h, r, is_weak);
        left += w->late[r];
    }
    for (int r = 0; r < h->count; r++)
        if (left ? w->late[r] : h->nodes[r].weak && !h->nodes[r].leads)
            why_blame(w, r);
    graph_mark_leads(h);
}

int why_write(struct hang *h)
{
    struct why w = {.h = h, .late = calloc((size_t)h->count + 1, sizeof(bool))};
    int rc = w.late ? 0 : -ENOMEM;
    if (!rc) {
        why_messages(&w);
        rc = explain_cycles(&w, true);
    }
    if (!rc) {
        why_collectives(&w);
        explain_gone(&w);
        blame_weak(&w);
        rc = explain_cycles(&w, false);
    }
    if (!rc)
        explain_free(&w);
    free(w.late);
    free(w.pairs);
    return rc;
}
