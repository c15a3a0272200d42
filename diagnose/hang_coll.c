/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that do not end: who is missing, who called another function; see hang_why.h. */
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_why.h"

enum {
    LATE_APART = 4, /* ranks of which each is told what it waits for */
    SUSPECTS_MAX = 1000
};

/* Whether a rank waits in this collective. */
static bool is_in(const struct why *w, const struct meeting *m, int rank)
{
    return w->h->nodes[rank].meeting == (int)(m - w->h->meetings);
}

/* ---- members that are missing ---- */

/* "MPI_Barrier on MPI_COMM_WORLD: ranks 0-2 wait in it". */
static void write_meeting(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    why_clear(w, h->set);
    for (int i = 0; i < m->count; i++)
        h->set[m->entries[i].rank] = true;
    fprintf(h->to, "  %s on ", words_function(m->entries->thread));
    words_name(h->to, m->comm, true);
    fputs(": ", h->to);
    fputs(words_ranks(h->to, h->set, h->count) > 1 ? " wait in it" : " waits in it", h->to);
}

static void write_state(struct why *w, FILE *to, int rank)
{
    words_brief(to, w->h, rank, w->brief);
}

/* Who is late: those of whom the lines above tell, then groups of those that do the same. Where
 * they are many, what each waits for is left to the table of all ranks. */
static void write_late(struct why *w)
{
    struct hang *h = w->h;
    int explained = 0, others = 0;
    for (int m = 0; m < h->count; m++) {
        h->set[m] = w->late[m] && h->nodes[m].explained;
        w->late[m] &= !h->set[m];
        explained += h->set[m];
        others += w->late[m];
    }
    if (explained) {
        fputs("    not there: ", h->to);
        words_ranks(h->to, h->set, h->count);
        fputs(", as told above\n", h->to);
    }
    w->brief = others > LATE_APART;
    for (int m = 0; m < h->count; m++) {
        if (!w->late[m])
            continue;
        if (!why_has_room(w))
            return;
        char *does = why_alike(w, m, write_state);
        fputs("    not there: ", h->to);
        bool several = words_ranks(h->to, h->set, h->count) > 1;
        fprintf(h->to, ", %swhich %s\n", several ? "each of " : "", does ? does : "");
        free(does);
        for (int r = m; r < h->count; r++) {
            h->nodes[r].explained |= h->set[r] && graph_is_stuck(h, r);
            w->late[r] &= !h->set[r];
        }
    }
}

/* Those in a collective for whom others wait elsewhere may be wrong. */
static void suspect_awaited(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    for (int r = 0; r < h->count; r++) {
        const struct hang_answer *answer = &h->nodes[r].answer;
        for (int i = 0; i < answer->item_count && graph_is_stuck(h, r) && !is_in(w, m, r); i++) {
            struct targets targets = graph_targets(h, r, &answer->items[i]);
            int target;
            while ((target = graph_next(&targets)) >= 0)
                h->nodes[target].weak |= is_in(w, m, target);
        }
    }
}

/* Who is late in a collective because it waits in another one: of those who belong to both, the
 * smaller part may be wrong. */
static void suspect(struct why *w, int late, const struct meeting *m)
{
    struct hang *h = w->h;
    int index = w->suspected++ < SUSPECTS_MAX ? h->nodes[late].meeting : -1;
    const struct meeting *other = index < 0 ? NULL : &h->meetings[index];
    int here = 0, there = 0, first, last;
    for (const char *list = other ? other->comm->members : "";
         (list = hang_text_range(list, &first, &last));)
        for (int r = first; r <= last && r < h->count; r++) {
            here += is_in(w, m, r);
            there += w->late[r] && is_in(w, other, r);
        }
    bool is_smaller = !here || there <= here;
    h->nodes[late].weak |= is_smaller;
    for (const char *list = is_smaller ? "" : other->comm->members;
         (list = hang_text_range(list, &first, &last));)
        for (int r = first; r <= last && r < h->count; r++)
            h->nodes[r].weak |= is_in(w, m, r);
}

/* Where those who are missing wait in turn, the smaller part is to blame. */
static void explain_late(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    bool are_fewer = m->late_count <= m->count;
    why_clear(w, w->late);
    for (int i = 0; i < m->late_count; i++)
        w->late[h->late[m->first_late + i]] = true;
    for (int i = 0; i < m->late_count; i++) {
        int rank = h->late[m->first_late + i];
        struct node *node = &h->nodes[rank];
        node->named = true;
        if (node->kind == NODE_GONE || (node->kind == NODE_FREE && !h->stuck))
            why_blame(w, rank);
        else if (graph_is_stuck(h, rank) && are_fewer)
            suspect(w, rank, m);
    }
    if (!are_fewer)
        suspect_awaited(w, m);
    w->meeting = (int)(m - h->meetings);
    why_missing(w, are_fewer);
    if (!why_has_room(w))
        return;
    write_meeting(w, m);
    fputs("; some members are missing:\n", h->to);
    write_late(w);
}

/* ---- members that do not fit ---- */

/* How many of the first n in a collective are in this function. */
static int count_function(const struct meeting *m, int n, const char *function)
{
    int same = 0;
    for (int i = 0; i < n; i++)
        same += !strcmp(words_function(m->entries[i].thread), function);
    return same;
}

/* Whether a member has said to have gone past a collective. */
static bool is_past(const struct why *w, int member, const struct meeting *m)
{
    const struct hang_comm *comm = graph_same_comm(&w->h->nodes[member].answer, m->comm);
    return !is_in(w, m, member) && comm && comm->begun > (uint32_t)m->number;
}

/* Whether a rank is in the collective, in another function than this. */
static bool is_in_other(const struct why *w, const struct meeting *m, int rank,
                        const char *function)
{
    for (int i = 0; i < m->count && is_in(w, m, rank); i++)
        if (m->entries[i].rank == rank)
            return strcmp(words_function(m->entries[i].thread), function) != 0;
    return false;
}

/* A pair for each who waits in the collective for one that went past it, or into another one at the
 * same place. */
static void pair_waits(struct why *w, const struct meeting *m)
{
    for (int i = 0; i < m->count; i++) {
        const struct entry *e = &m->entries[i];
        const struct hang_answer *answer = &w->h->nodes[e->rank].answer;
        for (int j = e->thread->first; j < e->thread->first + e->thread->count; j++) {
            int peer = answer->items[j].peer;
            if (graph_is_rank(w->h, peer) &&
                graph_collective(answer, answer->items[j].context) ==
                    graph_same_comm(answer, m->comm) &&
                (is_in_other(w, m, peer, words_function(e->thread)) || is_past(w, peer, m)))
                why_pair(w, e->rank, peer);
        }
    }
}

/* A pair for each message of the collective that has come to one who went past it: its sender took
 * the collective for another one. */
static void pair_left_over(struct why *w, const struct meeting *m)
{
    const struct hang *h = w->h;
    for (int r = 0; r < h->count; r++) {
        const struct hang_answer *answer = &h->nodes[r].answer;
        for (int q = 0; q < answer->queue_count; q++) {
            const struct hang_queue *queue = &answer->queues[q];
            const struct hang_comm *comm = graph_collective(answer, queue->context);
            if (queue->kind == 'U' && comm && queue->tag == m->number &&
                graph_is_rank(h, queue->peer) && is_past(w, r, m) &&
                !graph_compare_comms(comm, m->comm))
                why_pair(w, r, queue->peer);
        }
    }
}

/* Blame those who do not fit with most of the others; into h->set. Returns whether there are. */
static bool blame_misfits(struct why *w, const struct meeting *m)
{
    pair_waits(w, m);
    if (!w->pair_count)
        return false;
    pair_left_over(w, m);
    why_clear(w, w->h->set);
    why_blame_pairs(w, w->h->set);
    return true;
}

/* The functions that ranks call in one place, and those that are not most ranks' are to blame. */
static void write_functions(struct why *w, const struct meeting *m, int most, bool tie)
{
    struct hang *h = w->h;
    for (int i = 0; i < m->count; i++) {
        const char *function = words_function(m->entries[i].thread);
        if (count_function(m, i, function))
            continue; /* shown already */
        bool few = count_function(m, m->count, function) < most;
        why_clear(w, h->set);
        for (int j = i; j < m->count; j++) {
            struct node *node = &h->nodes[m->entries[j].rank];
            if (strcmp(words_function(m->entries[j].thread), function))
                continue;
            h->set[m->entries[j].rank] = node->explained = node->sure = true;
            if (tie || few)
                why_blame(w, m->entries[j].rank);
        }
        fprintf(h->to, "    %s: ", function);
        words_ranks(h->to, h->set, h->count);
        fputc('\n', h->to);
    }
}

/* Ranks that call another function than the others at the same place of the order. */
static bool explain_mix(struct why *w, const struct meeting *m)
{
    int most = 0;
    for (int i = 0; i < m->count; i++) {
        const char *function = words_function(m->entries[i].thread);
        if (!*m->entries[i].thread->function)
            return false;
        if (i && !strcmp(function, words_function(m->entries[i - 1].thread)))
            continue; /* counted already */
        int same = count_function(m, m->count, function);
        most = same > most ? same : most;
    }
    if (most == m->count || m->number == HANG_NO_NUMBER)
        return false;
    if (why_has_room(w)) {
        fputs("  Different collectives on ", w->h->to);
        words_name(w->h->to, m->comm, true);
        words_number(w->h->to, m->number);
        fputs(":\n", w->h->to);
    }
    bool tie = most == 1 ? !blame_misfits(w, m) : most * 2 == m->count;
    write_functions(w, m, most, tie);
    return true;
}

/* All members are there, or have been, and yet it does not end: one that others have left. */
static void explain_left(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    int passed = 0, members = graph_members(h, m->comm, w->late);
    if (!graph_is_stuck(h, m->entries->rank) || m->number == HANG_NO_NUMBER)
        return;
    for (int r = 0; r < h->count; r++)
        passed += w->late[r] = w->late[r] && !is_in(w, m, r) && h->nodes[r].answer.comm_count;
    if (!passed && m->count < members)
        return;
    for (int i = 0; i < m->count; i++)
        h->nodes[m->entries[i].rank].explained = h->nodes[m->entries[i].rank].sure = true;
    if (!why_has_room(w))
        return;
    write_meeting(w, m);
    if (!passed) {
        fputs(", all its members:\n    the roots or counts that they gave do not fit\n", h->to);
        return;
    }
    fputs(", but ", h->to);
    words_ranks(h->to, w->late, h->count);
    fputs(" went past it.\n", h->to);
    if (blame_misfits(w, m))
        memcpy(w->late, h->set, (size_t)h->count * sizeof(*h->set));
    else
        for (int i = 0; i < m->count && m->count * 2 <= members; i++)
            why_blame(w, m->entries[i].rank);
    fputs("    What ", h->to);
    words_ranks(h->to, w->late, h->count);
    fprintf(h->to,
            " called there as collective number %d does not fit: another function, root or "
            "count.\n",
            m->number + 1);
}

/* Where all who are late are in another collective of the communicator, which has no number, that
 * is the same one by mistake: join them. Returns whether. */
static bool join(struct why *w, struct meeting *m, const struct meeting *next)
{
    struct hang *h = w->h;
    int index = (int)(m - h->meetings), late = 0;
    if (next == h->meetings + h->meeting_count || next->number != HANG_NO_NUMBER ||
        m->number == HANG_NO_NUMBER || graph_compare_comms(m->comm, next->comm) ||
        !graph_is_stuck(h, m->entries->rank))
        return false;
    for (int i = 0; i < m->late_count; i++)
        late += !is_in(w, next, h->late[m->first_late + i]);
    if (late)
        return false;
    for (int i = 0; i < next->count; i++)
        h->nodes[next->entries[i].rank].meeting = index;
    m->count += next->count;
    m->late_count = 0;
    return true;
}

void why_collectives(struct why *w)
{
    struct hang *h = w->h;
    for (int i = 0; i < h->meeting_count; i++) {
        struct meeting *m = &h->meetings[i];
        if (join(w, m, m + 1))
            i++;
        if (explain_mix(w, m))
            continue;
        if (m->late_count)
            explain_late(w, m);
        else
            explain_left(w, m);
    }
    why_end_kind(w);
}
