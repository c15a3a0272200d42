/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that do not end: who is missing, who called another function; see hang_why.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_graph.h"
#include "diagnose/hang_why.h"

enum {
    LATE_APART = 4, /* ranks of which each is told what it waits for */
    SUSPECTS_MAX = 1000
};

/* A rank that waits in a collective. */
struct entry {
    int rank;
    const struct hang_comm *comm;
    const struct hang_thread *thread;
    int number; /* of the collective on the communicator, or HANG_NO_NUMBER */
};

static int compare_entries(const void *va, const void *vb)
{
    const struct entry *a = va, *b = vb;
    int order = graph_compare_comms(a->comm, b->comm);
    if (!order)
        order = (a->number > b->number) - (a->number < b->number);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_same_collective(const struct entry *a, const struct entry *b)
{
    return a->number == b->number && !graph_compare_comms(a->comm, b->comm);
}

static void gather_entries(struct why *w, struct entry *entries, int *count)
{
    struct hang *h = w->h;
    for (int r = 0; r < h->count; r++) {
        const struct hang_told *told = &h->nodes[r].told;
        for (int t = 0; t < told->thread_count; t++) {
            const struct hang_thread *thread = &told->threads[t];
            for (int i = 0; i < thread->count; i++) {
                const struct hang_item *item = &told->items[thread->first + i];
                const struct hang_comm *comm = graph_collective(told, item->context);
                if (!comm || graph_goes_on(h, thread))
                    continue;
                entries[(*count)++] = (struct entry){r, comm, thread, item->tag};
                break;
            }
        }
    }
    if (*count)
        qsort(entries, (size_t)*count, sizeof(*entries), compare_entries);
}

/* Mark those of a group with group, and those that they wait for in the collective with -group. */
static void mark_group(struct why *w, const struct entry *e, int n, int group)
{
    struct hang *h = w->h;
    for (int i = 0; i < n; i++) {
        const struct hang_told *told = &h->nodes[e[i].rank].told;
        for (int j = 0; j < e[i].thread->count; j++) {
            const struct hang_item *item = &told->items[e[i].thread->first + j];
            const struct hang_comm *comm = graph_collective(told, item->context);
            if (comm && comm->context == e->comm->context && item->peer >= 0 &&
                item->peer < h->count && w->mark[item->peer] != group)
                w->mark[item->peer] = -group;
        }
    }
    for (int i = 0; i < n; i++)
        w->mark[e[i].rank] = group;
}

/* Find all members; into w->late. Returns how many. */
static int find_members(struct why *w, const struct hang_comm *comm)
{
    int first, last, members = 0;
    why_clear(w, w->late);
    for (int i = 0; i < 2; i++)
        for (const char *list = graph_group(comm, i);
             (list = hang_text_range(list, &first, &last));)
            for (int m = first; m <= last && m < w->h->count; m++)
                members += w->late[m] = true;
    return members;
}

/* Whether a member that is not in the collective has still to come to it. */
static bool is_late(struct why *w, const struct entry *e, int member, int group)
{
    const struct node *node = &w->h->nodes[member];
    const struct hang_comm *comm = graph_same_comm(&node->told, e->comm);
    if (comm && e->number != HANG_NO_NUMBER)
        return comm->begun <= (uint32_t)e->number;
    return w->mark[member] == -group;
}

/* Find who of a group is missing; into w->late. Returns how many. */
static int find_late(struct why *w, const struct entry *e, int group)
{
    int late = 0;
    (void)find_members(w, e->comm);
    for (int m = 0; m < w->h->count; m++)
        late += w->late[m] = w->late[m] && w->mark[m] != group && is_late(w, e, m, group);
    return late;
}

/* "MPI_Barrier on MPI_COMM_WORLD: ranks 0-2 wait in it". */
static void write_group(struct why *w, const struct entry *e, int n)
{
    struct hang *h = w->h;
    why_clear(w, h->set);
    for (int i = 0; i < n; i++)
        h->set[e[i].rank] = true;
    fprintf(h->to, "  %s on ", words_function(e->thread));
    words_name(h->to, e->comm, true);
    fputs(": ", h->to);
    fputs(words_ranks(h->to, h->set, h->count) > 1 ? " wait in it" : " waits in it", h->to);
}

/* What a rank does, as a string to free(); NULL: no memory. */
static char *state_text(const struct hang *h, int rank, bool brief)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);
    if (!file)
        return NULL;
    words_brief(file, h, rank, brief);
    return fclose(file) ? NULL : text;
}

/* Those of whom the lines above tell. */
static void write_late_told(struct why *w)
{
    struct hang *h = w->h;
    int n = 0;
    for (int m = 0; m < h->count; m++) {
        h->set[m] = w->late[m] && w->told[m];
        n += h->set[m];
        w->late[m] &= !h->set[m];
    }
    if (!n)
        return;
    fputs("    not there: ", h->to);
    words_ranks(h->to, h->set, h->count);
    fputs(", as told above\n", h->to);
}

/* Move those who do the same as rank from w->late to h->set. Returns what that is, to free(). */
static char *take_alike(struct why *w, int rank, bool brief)
{
    struct hang *h = w->h;
    char *mine = state_text(h, rank, brief);
    why_clear(w, h->set);
    for (int i = rank; i < h->count; i++) {
        char *other = w->late[i] && i > rank ? state_text(h, i, brief) : NULL;
        if (i == rank || (mine && other && !strcmp(mine, other))) {
            h->set[i] = true;
            w->late[i] = false;
            w->told[i] |= graph_is_stuck(h, i);
        }
        free(other);
    }
    return mine;
}

/* Whether many are late: then what each waits for is left to the table of all ranks. */
static bool are_many(const struct why *w)
{
    int n = 0;
    for (int m = 0; m < w->h->count; m++)
        n += w->late[m];
    return n > LATE_APART;
}

/* Who is late, in groups of those that do the same. */
static void write_late(struct why *w)
{
    struct hang *h = w->h;
    write_late_told(w);
    bool brief = are_many(w);
    for (int m = 0; m < h->count; m++) {
        if (!w->late[m])
            continue;
        if (!why_has_room(w))
            return;
        char *mine = take_alike(w, m, brief);
        fputs("    not there: ", h->to);
        bool several = words_ranks(h->to, h->set, h->count) > 1;
        fprintf(h->to, ", %swhich %s\n", several ? "each of " : "", mine ? mine : "");
        free(mine);
    }
}

struct weak_mark {
    struct why *w;
    int group;
};

static bool note_weak(void *arg, int target)
{
    struct weak_mark *part = arg;
    if (part->w->mark[target] == part->group)
        part->w->weak[target] = true;
    return false;
}

/* Those in a collective for whom others wait elsewhere. */
static void find_wanted(struct why *w, int group)
{
    struct hang *h = w->h;
    struct weak_mark part = {w, group};
    for (int r = 0; r < h->count; r++)
        if (graph_is_stuck(h, r) && w->mark[r] != group)
            (void)graph_all_targets(h, r, note_weak, &part);
}

/* What a rank waits in, if that is a collective. */
static const struct hang_item *collective_of(const struct hang *h, int rank)
{
    const struct hang_told *told = &h->nodes[rank].told;
    for (int i = 0; i < told->item_count; i++)
        if (graph_collective(told, told->items[i].context))
            return &told->items[i];
    return NULL;
}

static bool is_with(const struct hang *h, int rank, const struct hang_comm *comm, int number)
{
    const struct hang_item *item = collective_of(h, rank);
    return item && item->tag == number &&
           !graph_compare_comms(graph_collective(&h->nodes[rank].told, item->context), comm);
}

/* Who is late in a collective because it waits in another one: of those who belong to both, the
 * smaller part may be wrong. */
static void suspect(struct why *w, int late, int group)
{
    const struct hang *h = w->h;
    const struct hang_item *item = w->suspected++ < SUSPECTS_MAX ? collective_of(h, late) : NULL;
    const struct hang_comm *comm =
        item ? graph_collective(&h->nodes[late].told, item->context) : NULL;
    int here = 0, there = 0, first, last;
    for (const char *list = comm ? comm->members : "";
         (list = hang_text_range(list, &first, &last));)
        for (int m = first; m <= last && m < h->count; m++) {
            here += w->mark[m] == group;
            there += w->late[m] && is_with(h, m, comm, item->tag);
        }
    if (!here || there <= here) {
        w->weak[late] = true;
        return;
    }
    for (const char *list = comm->members; (list = hang_text_range(list, &first, &last));)
        for (int m = first; m <= last && m < h->count; m++)
            w->weak[m] |= w->mark[m] == group;
}

/* Where those who are missing wait in turn, the smaller part is to blame. Returns whether it is
 * they. */
static bool blame_late(struct why *w, int waiting, int group)
{
    int late = 0;
    for (int m = 0; m < w->h->count; m++)
        late += w->late[m];
    for (int m = 0; m < w->h->count; m++) {
        struct node *node = &w->h->nodes[m];
        if (!w->late[m])
            continue;
        node->named = true;
        if (node->kind == NODE_GONE || (node->kind == NODE_FREE && !w->h->stuck))
            why_blame(w, m);
        else if (graph_is_stuck(w->h, m) && late <= waiting)
            suspect(w, m, group);
    }
    if (late > waiting)
        find_wanted(w, group);
    return late <= waiting;
}

static void explain_late(struct why *w, const struct entry *e, int n, int group)
{
    struct hang *h = w->h;
    why_missing(w, group, blame_late(w, n, group));
    if (!why_has_room(w))
        return;
    write_group(w, e, n);
    fputs("; some members are missing:\n", h->to);
    write_late(w);
}

/* ---- who does not fit ---- */

/* How many of a group are in this function. */
static int count_function(const struct entry *e, int n, const char *function)
{
    int same = 0;
    for (int i = 0; i < n; i++)
        same += !strcmp(words_function(e[i].thread), function);
    return same;
}

/* Whether a member has said to have gone past a collective. */
static bool is_past(const struct hang *h, int member, const struct entry *e)
{
    const struct hang_comm *comm = graph_same_comm(&h->nodes[member].told, e->comm);
    return comm && comm->begun > (uint32_t)e->number;
}

/* Whether one of a group is in the same function as another. */
static bool is_same_function(const struct entry *e, int n, int i, int rank)
{
    for (int j = 0; j < n; j++)
        if (e[j].rank == rank)
            return !strcmp(words_function(e[i].thread), words_function(e[j].thread));
    return true;
}

/* A pair for each who waits in the collective for one that went past it, or into another one at the
 * same place. */
static void pair_waits(struct why *w, const struct entry *e, int n, int group)
{
    const struct hang *h = w->h;
    for (int i = 0; i < n; i++) {
        const struct hang_told *told = &h->nodes[e[i].rank].told;
        for (int j = 0; j < e[i].thread->count; j++) {
            const struct hang_item *item = &told->items[e[i].thread->first + j];
            if (graph_collective(told, item->context) != graph_same_comm(told, e->comm) ||
                item->peer < 0 || item->peer >= h->count)
                continue;
            bool other = w->mark[item->peer] == group && !is_same_function(e, n, i, item->peer);
            if (other || (w->mark[item->peer] != group && is_past(h, item->peer, e)))
                why_pair(w, e[i].rank, item->peer);
        }
    }
}

/* A pair for each message of the collective that has come to one who went past it: its sender took
 * the collective for another one. */
static void pair_left_over(struct why *w, const struct entry *e, int group)
{
    const struct hang *h = w->h;
    for (int m = 0; m < h->count; m++) {
        const struct hang_told *told = &h->nodes[m].told;
        for (int q = 0; q < told->queue_count; q++) {
            const struct hang_queue *queue = &told->queues[q];
            const struct hang_comm *comm = graph_collective(told, queue->context);
            if (queue->kind == 'U' && comm && queue->tag == e->number && queue->peer >= 0 &&
                queue->peer < h->count && w->mark[m] != group && is_past(h, m, e) &&
                !graph_compare_comms(comm, e->comm))
                why_pair(w, m, queue->peer);
        }
    }
}

/* Blame those who do not fit with most of the others; into h->set. Returns whether there are. */
static bool blame_misfits(struct why *w, const struct entry *e, int n, int group)
{
    pair_waits(w, e, n, group);
    if (!w->pair_count)
        return false;
    pair_left_over(w, e, group);
    why_clear(w, w->h->set);
    why_blame_pairs(w, w->h->set);
    return true;
}

/* Ranks that call another function than the others at the same place of the order. */
static bool explain_mix(struct why *w, const struct entry *e, int n, int group)
{
    struct hang *h = w->h;
    int most = 0;
    for (int i = 0; i < n; i++) {
        if (!*e[i].thread->function)
            return false;
        if (i && !strcmp(words_function(e[i].thread), words_function(e[i - 1].thread)))
            continue; /* counted already */
        int same = count_function(e, n, words_function(e[i].thread));
        most = same > most ? same : most;
    }
    if (most == n || e->number == HANG_NO_NUMBER)
        return false;
    if (why_has_room(w)) {
        fputs("  Different collectives on ", h->to);
        words_name(h->to, e->comm, true);
        words_number(h->to, e->number);
        fputs(":\n", h->to);
    }
    bool tie = most * 2 == n || most == 1;
    if (most == 1 && blame_misfits(w, e, n, group))
        tie = false;
    for (int i = 0; i < n; i++) {
        const char *function = words_function(e[i].thread);
        if (count_function(e, i, function))
            continue; /* shown already */
        int same = count_function(e, n, function);
        why_clear(w, h->set);
        for (int j = i; j < n; j++) {
            if (strcmp(words_function(e[j].thread), function))
                continue;
            h->set[e[j].rank] = w->told[e[j].rank] = w->sure[e[j].rank] = true;
            if (tie || same < most)
                why_blame(w, e[j].rank);
        }
        fprintf(h->to, "    %s: ", function);
        words_ranks(h->to, h->set, h->count);
        fputc('\n', h->to);
    }
    return true;
}

/* All members are there, or have been, and yet it does not end: one that others have left. */
static void explain_left(struct why *w, const struct entry *e, int n, int group)
{
    struct hang *h = w->h;
    int passed = 0, members = find_members(w, e->comm);
    if (!graph_is_stuck(h, e->rank) || e->number == HANG_NO_NUMBER)
        return;
    for (int m = 0; m < h->count; m++)
        passed += w->late[m] = w->late[m] && w->mark[m] != group && h->nodes[m].told.comm_count;
    if (!passed && n < members)
        return;
    for (int i = 0; i < n; i++)
        w->told[e[i].rank] = w->sure[e[i].rank] = true;
    if (!why_has_room(w))
        return;
    write_group(w, e, n);
    if (!passed) {
        fputs(", all its members:\n    the roots or counts that they gave do not fit\n", h->to);
        return;
    }
    fputs(", but ", h->to);
    words_ranks(h->to, w->late, h->count);
    fputs(" went past it.\n", h->to);
    if (blame_misfits(w, e, n, group))
        memcpy(w->late, h->set, (size_t)h->count * sizeof(*h->set));
    else
        for (int i = 0; i < n && n * 2 <= members; i++)
            why_blame(w, e[i].rank);
    fputs("    What ", h->to);
    words_ranks(h->to, w->late, h->count);
    fprintf(h->to,
            " called there as collective number %d does not fit: another function, root or "
            "count.\n",
            e->number + 1);
}

/* Whether the entries behind a group are in another collective of the communicator, which has no
 * number, and nobody else is late: then they differ. Returns how many. */
static int count_unnumbered(struct why *w, const struct entry *e, int n, int left, int group)
{
    int more = 0;
    while (more < left && e[n + more].number == HANG_NO_NUMBER &&
           !graph_compare_comms(e->comm, e[n + more].comm))
        more++;
    if (!more || e->number == HANG_NO_NUMBER || !graph_is_stuck(w->h, e->rank))
        return 0;
    mark_group(w, e, n, group);
    int late = find_late(w, e, group);
    for (int i = 0; i < more; i++)
        late -= w->late[e[n + i].rank];
    return late ? 0 : more;
}

static void explain_entries(struct why *w, const struct entry *entries, int count)
{
    int group = 0;
    for (int i = 0, n; i < count; i += n) {
        const struct entry *e = &entries[i];
        for (n = 1; i + n < count && is_same_collective(e, e + n); n++)
            continue;
        group++;
        n += count_unnumbered(w, e, n, count - i - n, group);
        mark_group(w, e, n, group);
        if (explain_mix(w, e, n, group))
            continue;
        if (find_late(w, e, group))
            explain_late(w, e, n, group);
        else
            explain_left(w, e, n, group);
    }
    why_end_kind(w);
}

int why_collectives(struct why *w)
{
    size_t threads = 1;
    int count = 0;
    for (int r = 0; r < w->h->count; r++)
        threads += (size_t)w->h->nodes[r].told.thread_count;
    struct entry *entries = calloc(threads, sizeof(*entries));
    if (!entries)
        return -ENOMEM;
    gather_entries(w, entries, &count);
    explain_entries(w, entries, count);
    free(entries);
    return 0;
}
