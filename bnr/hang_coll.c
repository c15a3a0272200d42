/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that do not end: who is missing, who called another function; see hang_why.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/hang_graph.h"
#include "bnr/hang_why.h"

/* A rank that waits in a collective. */
struct entry {
    int rank;
    const struct hang_comm *comm;
    const struct hang_thread *thread;
    int number; /* of the collective on the communicator, or HANG_NO_NUMBER */
};

/* The two groups of an intercommunicator, in an order that all of its members agree on. */
static const char *group_of(const struct hang_comm *comm, bool second)
{
    return (strcmp(comm->members, comm->remote) < 0) != second ? comm->members : comm->remote;
}

/* Whether it is the same communicator: 0; or the order of two. */
static int compare_comms(const struct hang_comm *a, const struct hang_comm *b)
{
    int order = (a->context > b->context) - (a->context < b->context);
    if (!order)
        order = strcmp(group_of(a, false), group_of(b, false));
    return order ? order : strcmp(group_of(a, true), group_of(b, true));
}

static int compare_entries(const void *va, const void *vb)
{
    const struct entry *a = va, *b = vb;
    int order = compare_comms(a->comm, b->comm);
    if (!order)
        order = (a->number > b->number) - (a->number < b->number);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_same_collective(const struct entry *a, const struct entry *b)
{
    return a->number == b->number && !compare_comms(a->comm, b->comm);
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
                if (!comm || thread->mode == HANG_POLL)
                    continue;
                entries[(*count)++] = (struct entry){r, comm, thread, item->tag};
                break;
            }
        }
    }
    if (*count)
        qsort(entries, (size_t)*count, sizeof(*entries), compare_entries);
}

/* The communicator of a group of entries, as another member knows it. */
static const struct hang_comm *same_comm(const struct hang_told *told, const struct hang_comm *comm)
{
    for (int i = 0; i < told->comm_count; i++)
        if (!compare_comms(&told->comms[i], comm))
            return &told->comms[i];
    return NULL;
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
        for (const char *list = group_of(comm, i); (list = hang_text_range(list, &first, &last));)
            for (int m = first; m <= last && m < w->h->count; m++)
                members += w->late[m] = true;
    return members;
}

/* Whether a member that is not in the collective has still to come to it. */
static bool is_late(struct why *w, const struct entry *e, int member, int group)
{
    const struct node *node = &w->h->nodes[member];
    const struct hang_comm *comm = same_comm(&node->told, e->comm);
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
    fprintf(h->to, "  %s on %s: ", words_function(e->thread), words_name(e->comm));
    fputs(words_ranks(h->to, h->set, h->count) > 1 ? " wait in it" : " waits in it", h->to);
}

/* What a rank does, as a string to free(); NULL: no memory. */
static char *state_text(const struct hang *h, int rank)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);
    if (!file)
        return NULL;
    words_state(file, h, rank);
    return fclose(file) ? NULL : text;
}

/* Those of whom the lines above tell. */
static void write_late_told(struct why *w)
{
    struct hang *h = w->h;
    int n = 0;
    for (int m = 0; m < h->count; m++) {
        h->set[m] = w->late[m] && w->told[m] && graph_is_stuck(h, m);
        n += h->set[m];
        w->late[m] &= !h->set[m];
    }
    if (!n)
        return;
    fputs("    not there: ", h->to);
    words_ranks(h->to, h->set, h->count);
    fputs(", as told above\n", h->to);
}

/* Who is late, in groups of those that do the same. */
static void write_late(struct why *w)
{
    struct hang *h = w->h;
    write_late_told(w);
    for (int m = 0; m < h->count; m++) {
        if (!w->late[m])
            continue;
        if (!why_has_room(w))
            return;
        char *mine = state_text(h, m);
        why_clear(w, h->set);
        for (int i = m; i < h->count; i++) {
            char *other = w->late[i] ? state_text(h, i) : NULL;
            if (i == m || (mine && other && !strcmp(mine, other))) {
                h->set[i] = true;
                w->late[i] = false;
                w->told[i] |= graph_is_stuck(h, i);
            }
            free(other);
        }
        fputs("    not there: ", h->to);
        bool several = words_ranks(h->to, h->set, h->count) > 1;
        fprintf(h->to, ", %swhich %s\n", several ? "each of " : "", mine ? mine : "");
        free(mine);
    }
}

struct part {
    struct why *w;
    int group;
};

static bool note_weak(void *arg, int target)
{
    struct part *part = arg;
    if (part->w->mark[target] == part->group)
        part->w->weak[target] = true;
    return false;
}

/* Those in a collective for whom others wait elsewhere. */
static void find_wanted(struct why *w, int group)
{
    struct hang *h = w->h;
    struct part part = {w, group};
    for (int r = 0; r < h->count; r++)
        if (graph_is_stuck(h, r) && w->mark[r] != group)
            (void)graph_all_targets(h, r, note_weak, &part);
}

/* Where those who are missing wait in turn, the smaller part is to blame. */
static void blame_late(struct why *w, int waiting, int group)
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
            w->weak[m] = true;
    }
    if (late > waiting)
        find_wanted(w, group);
}

static void explain_late(struct why *w, const struct entry *e, int n, int group)
{
    struct hang *h = w->h;
    blame_late(w, n, group);
    if (!why_has_room(w))
        return;
    write_group(w, e, n);
    fputs("; some members are missing:\n", h->to);
    write_late(w);
}

/* How many of a group are in this function. */
static int count_function(const struct entry *e, int n, const char *function)
{
    int same = 0;
    for (int i = 0; i < n; i++)
        same += !strcmp(words_function(e[i].thread), function);
    return same;
}

/* Ranks that call another function than the others at the same place of the order. */
static bool explain_mix(struct why *w, const struct entry *e, int n)
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
        fprintf(h->to, "  Different collectives on %s", words_name(e->comm));
        words_number(h->to, e->number);
        fputs(":\n", h->to);
    }
    bool tie = most * 2 == n || most == 1;
    for (int i = 0; i < n; i++) {
        const char *function = words_function(e[i].thread);
        if (count_function(e, i, function))
            continue; /* shown already */
        int same = count_function(e, n, function);
        why_clear(w, h->set);
        for (int j = i; j < n; j++) {
            if (strcmp(words_function(e[j].thread), function))
                continue;
            h->set[e[j].rank] = w->told[e[j].rank] = true;
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
    if (!passed || !why_has_room(w))
        return;
    write_group(w, e, n);
    fputs(", but ", h->to);
    words_ranks(h->to, w->late, h->count);
    fprintf(
        h->to,
        " went past it.\n    As their collective number %d there they called another function, or "
        "gave another root or count.\n",
        e->number + 1);
    for (int i = 0; i < n; i++) {
        w->told[e[i].rank] = true;
        if (n * 2 <= members)
            why_blame(w, e[i].rank);
    }
}

static void explain_entries(struct why *w, const struct entry *entries, int count)
{
    int group = 0;
    for (int i = 0, n; i < count; i += n) {
        const struct entry *e = &entries[i];
        for (n = 1; i + n < count && is_same_collective(e, e + n); n++)
            continue;
        group++;
        mark_group(w, e, n, group);
        if (explain_mix(w, e, n))
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
