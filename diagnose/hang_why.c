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

#include "diagnose/hang_graph.h"
#include "diagnose/hang_why.h"

enum {
    LINES_MAX = 12,
    CYCLES_MAX = 4,
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
    int n = 0, *others = w->path;
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

/* ---- peers that are gone ---- */

static bool is_gone(const struct hang *h, int rank)
{
    return h->nodes[rank].kind == NODE_GONE || h->nodes[rank].finalizing;
}

struct lookout {
    const struct hang *h;
    bool *set;
    int wanted;
};

static bool is_there(void *arg, int target)
{
    return !is_gone(((struct lookout *)arg)->h, target);
}

static bool is_wanted(void *arg, int target)
{
    return ((struct lookout *)arg)->wanted == target;
}

static bool note_target(void *arg, int target)
{
    ((struct lookout *)arg)->set[target] = true;
    return false;
}

/* Whether all that could end this wait are gone. */
static bool is_forlorn(struct lookout *lookout, int rank, const struct hang_item *item)
{
    return item->what != HANG_CLOSE && !graph_targets(lookout->h, rank, item, is_there, lookout);
}

/* Set those of h->set that wait for lookout->wanted, which is gone. */
static void find_waiters(struct why *w, struct lookout *lookout)
{
    struct hang *h = w->h;
    why_clear(w, h->set);
    for (int r = 0; r < h->count; r++) {
        const struct hang_told *told = &h->nodes[r].told;
        for (int i = 0; i < told->item_count && graph_is_stuck(h, r) && !h->set[r]; i++)
            h->set[r] = is_forlorn(lookout, r, &told->items[i]) &&
                        graph_targets(h, r, &told->items[i], is_wanted, lookout);
    }
}

/* Stuck ranks that wait for one that is gone. */
static void explain_gone(struct why *w)
{
    struct hang *h = w->h;
    struct lookout lookout = {.h = h, .set = w->late};
    why_clear(w, w->late);
    for (int r = 0; r < h->count; r++) {
        const struct hang_told *told = &h->nodes[r].told;
        for (int i = 0; i < told->item_count && graph_is_stuck(h, r) && !w->sure[r]; i++)
            if (is_forlorn(&lookout, r, &told->items[i]))
                (void)graph_targets(h, r, &told->items[i], note_target, &lookout);
    }
    for (int p = 0; p < h->count; p++) {
        if (!w->late[p])
            continue;
        bool named = h->nodes[p].named; /* in a collective: the waiters are told of there */
        why_blame(w, p);
        if (named || !why_has_room(w))
            continue;
        lookout.wanted = p;
        find_waiters(w, &lookout);
        fprintf(h->to, "  Rank %d ", p);
        words_state(h->to, h, p);
        fputs(", but is waited for by ", h->to);
        words_ranks(h->to, h->set, h->count);
        fputc('\n', h->to);
    }
    why_end_kind(w);
}

/* ---- cycles ---- */

struct step {
    struct why *w;
    int next;
};

static bool take_stuck(void *arg, int target)
{
    struct step *step = arg;
    if (!graph_is_stuck(step->w->h, target))
        return false;
    step->next = target;
    return true;
}

/* A stuck rank that this one waits for, or -1. */
static int next_of(struct why *w, int rank)
{
    struct step step = {w, -1};
    const struct hang_told *told = &w->h->nodes[rank].told;
    for (int i = 0; i < told->item_count && step.next < 0; i++)
        if (told->items[i].what != HANG_CLOSE)
            (void)graph_targets(w->h, rank, &told->items[i], take_stuck, &step);
    return step.next;
}

static bool blame_stuck(void *arg, int target)
{
    struct why *w = arg;
    if (graph_is_stuck(w->h, target))
        why_blame(w, target);
    return false;
}

/* A rank of a cycle; and where one of several could end its wait, all of those. */
static void blame_in_cycle(struct why *w, int rank)
{
    const struct hang_told *told = &w->h->nodes[rank].told;
    why_blame(w, rank);
    for (int i = 0; i < told->item_count; i++)
        if (told->thread_count > 1 || told->threads[0].mode == HANG_ANY || told->items[i].peer < 0)
            (void)graph_targets(w->h, rank, &told->items[i], blame_stuck, w);
}

/* Whether a rank waits for nothing but messages of known ranks: no collective, no choice. */
static bool is_plain(const struct hang *h, int rank)
{
    const struct hang_told *told = &h->nodes[rank].told;
    for (int i = 0; i < told->item_count; i++)
        if (told->items[i].peer < 0 || graph_collective(told, told->items[i].context))
            return false;
    return told->thread_count == 1 && told->threads[0].mode == HANG_ALL;
}

static bool has_culprit(const struct hang *h)
{
    for (int r = 0; r < h->count; r++)
        if (h->nodes[r].culprit)
            return true;
    return false;
}

static void write_cycle(struct why *w, const int *ranks, int n, bool plain)
{
    struct hang *h = w->h;
    bool known = false, told = false;
    for (int i = 0; i < n; i++) {
        if (plain && !is_plain(h, ranks[i]))
            return;
        known |= h->nodes[ranks[i]].culprit || (!plain && h->nodes[ranks[i]].leads);
        told |= w->told[ranks[i]];
    }
    known |= told && has_culprit(h);
    for (int i = 0; i < n; i++) {
        w->told[ranks[i]] = true;
        if (!known)
            blame_in_cycle(w, ranks[i]);
    }
    if (told || !why_has_room(w))
        return;
    fputs(n == 1 ? "  A rank waits for itself: " : "  A cycle of waits: ", h->to);
    for (int i = 0; i < n && i < CYCLE_SHOWN; i++)
        fprintf(h->to, "%d -> ", ranks[i]);
    if (n > CYCLE_SHOWN)
        fprintf(h->to, "... (%d ranks) -> ", n);
    fprintf(h->to, "%d\n", ranks[0]);
    for (int i = 0; i < n && i < (n > CYCLE_SHOWN ? LONG_CYCLE_SHOWN : n); i++) {
        fprintf(h->to, "    rank %d ", ranks[i]);
        words_state(h->to, h, ranks[i]);
        fputc('\n', h->to);
    }
}

/* Walk from each stuck rank along its waits; mark is the number of the walk that came by. plain:
 * only cycles of plain waits. */
static void explain_cycles(struct why *w, bool plain)
{
    struct hang *h = w->h;
    memset(w->mark, 0, (size_t)h->count * sizeof(*w->mark));
    for (int start = 0; start < h->count; start++) {
        int at = start, n = 0;
        if (!graph_is_stuck(h, start) || w->mark[start])
            continue;
        while (at >= 0 && !w->mark[at]) {
            w->mark[at] = start + 1;
            w->path[n++] = at;
            at = next_of(w, at);
        }
        if (at < 0 || w->mark[at] != start + 1)
            continue;
        int begin = n - 1;
        while (w->path[begin] != at)
            begin--;
        write_cycle(w, w->path + begin, n - begin, plain);
    }
    why_end_kind(w);
}

/* ---- ranks that are elsewhere ---- */

struct wanted {
    const struct hang *h;
    bool *set;
};

static bool note_free(void *arg, int target)
{
    struct wanted *wanted = arg;
    if (wanted->h->nodes[target].kind == NODE_FREE)
        wanted->set[target] = true;
    return false;
}

/* Nobody is stuck: all wait, in the end, for ranks that do not. */
static void explain_free(struct why *w)
{
    struct hang *h = w->h;
    struct wanted wanted = {h, w->late};
    why_clear(w, w->late);
    for (int r = 0; r < h->count; r++)
        if (h->nodes[r].kind == NODE_WAITS)
            (void)graph_all_targets(h, r, note_free, &wanted);
    for (int r = 0; r < h->count; r++) {
        if (!w->late[r])
            continue;
        if (!h->stuck)
            h->nodes[r].culprit = true;
        if (h->nodes[r].named || !why_has_room(w))
            continue;
        fprintf(h->to, "  Others wait for rank %d, which ", r);
        words_state(h->to, h, r);
        fputc('\n', h->to);
    }
    why_end_kind(w);
}

/* ---- the whole ---- */

static bool is_weak(void *arg, int target)
{
    return ((struct why *)arg)->weak[target];
}

/* Of those that may be to blame, it is who waits for none of the others. */
static void blame_weak(struct why *w)
{
    struct hang *h = w->h;
    int left = 0;
    graph_mark_leads(h);
    why_clear(w, w->late);
    for (int r = 0; r < h->count; r++) {
        bool open = w->weak[r] && !h->nodes[r].leads && !h->nodes[r].culprit;
        w->late[r] = open && !graph_all_targets(h, r, is_weak, w);
        left += w->late[r];
    }
    for (int r = 0; r < h->count; r++)
        if (left ? w->late[r] : w->weak[r] && !h->nodes[r].leads)
            why_blame(w, r);
    graph_mark_leads(h);
}

/* Arrays of so many ranks. Returns 0 or -ENOMEM. */
static int init(struct why *w, size_t n)
{
    w->mark = calloc(n, sizeof(*w->mark));
    w->late = calloc(n, sizeof(*w->late));
    w->weak = calloc(n, sizeof(*w->weak));
    w->told = calloc(n, sizeof(*w->told));
    w->sure = calloc(n, sizeof(*w->sure));
    w->path = calloc(n, sizeof(*w->path));
    return w->mark && w->late && w->weak && w->told && w->sure && w->path ? 0 : -ENOMEM;
}

static void fini(struct why *w)
{
    free(w->mark);
    free(w->late);
    free(w->weak);
    free(w->told);
    free(w->sure);
    free(w->path);
    free(w->pairs);
}

int why_write(struct hang *h)
{
    size_t n = (size_t)h->count + 1;
    struct why w = {.h = h};
    int rc = init(&w, n);
    if (!rc) {
        why_near(&w);
        why_idle(&w);
        explain_cycles(&w, true);
        memset(w.mark, 0, n * sizeof(*w.mark));
        rc = why_collectives(&w);
    }
    if (!rc) {
        explain_gone(&w);
        blame_weak(&w);
        explain_cycles(&w, false);
        explain_free(&w);
    }
    fini(&w);
    return rc;
}
