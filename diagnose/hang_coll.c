/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that do not end: members that are missing, or that called another function; see
 * hang_why.h. */
#include <string.h>

#include "diagnose/hang_why.h"
#include "diagnose/hang_words.h"

enum {
    LATE_APART = 4, /* ranks of which each is told what it waits for */
    SUSPECTS_MAX = 1000
};

/* Whether a rank waits in this collective. */
static bool is_in(const struct hang *h, const struct meeting *m, int rank)
{
    return h->nodes[rank].meeting == (int)(m - h->meetings);
}

static const char *function_of(const struct meeting *m, int entry)
{
    return words_function(m->entries[entry]->thread);
}

/* "MPI_Barrier on MPI_COMM_WORLD: ranks 0-2 wait in it" */
static const char *say_meeting(struct hang *h, const struct meeting *m)
{
    memset(h->set, 0, (size_t)h->count);
    for (int i = 0; i < m->count; i++)
        h->set[m->entries[i]->owner] = true;
    return words(h, "%s on %s: %s wait%s in it", function_of(m, 0), words_comm(h, m->comm),
                 words_ranks(h, h->set), words_count(h, h->set) == 1 ? "s" : "");
}

/* ---- members that are missing ---- */

/* The late ranks: those of which the lines above tell, then groups of those that do the same. Where
 * they are many, the table of all ranks tells what each waits for. */
static void write_late(struct why *w)
{
    struct hang *h = w->h;
    const char **said = memory_take(&h->memory, (size_t)h->count * sizeof(*said));
    for (int r = 0; r < h->count; r++) {
        h->set[r] = h->late[r] && h->nodes[r].explained;
        h->late[r] &= !h->set[r];
    }
    if (words_count(h, h->set))
        fprintf(h->to, "    not there: %s, as told above\n", words_ranks(h, h->set));
    bool brief = words_count(h, h->late) > LATE_APART;
    for (int r = 0; r < h->count; r++)
        said[r] = h->late[r] ? words_state(h, r, brief) : NULL;
    for (int r = 0; r < h->count; r++) {
        int several = said[r] ? why_alike(w, said, r) > 1 : 0;
        if (!said[r])
            continue;
        if (!why_tell(w, "    not there: %s, %swhich %s\n", words_ranks(h, h->set),
                      several ? "each of " : "", said[r]))
            return;
        for (int other = r; other < h->count; other++) {
            h->nodes[other].explained |= h->set[other] && graph_is_stuck(h, other);
            said[other] = h->set[other] ? NULL : said[other];
        }
    }
}

/* Those in a collective for whom others wait elsewhere may be wrong. */
static void suspect_awaited(struct hang *h, const struct meeting *m)
{
    for (int i = 0; i < h->item_count; i++) {
        int owner = h->items[i]->owner;
        for (struct targets t = graph_targets(h, h->items[i]);
             graph_is_stuck(h, owner) && !is_in(h, m, owner) && graph_next(&t);)
            h->nodes[t.rank].weak |= is_in(h, m, t.rank);
    }
}

/* A rank is late in a collective because it waits in another one: of the ranks that belong to both,
 * the smaller part may be wrong. */
static void suspect(struct why *w, int late, const struct meeting *m)
{
    struct hang *h = w->h;
    int index = w->suspected++ < SUSPECTS_MAX ? h->nodes[late].meeting : -1;
    const struct meeting *other = index < 0 ? NULL : &h->meetings[index];
    int here = 0, there = 0;
    if (other)
        (void)graph_members(h, other->comm, h->set);
    for (int r = 0; other && r < h->count; r++) {
        here += h->set[r] && is_in(h, m, r);
        there += h->set[r] && h->late[r] && is_in(h, other, r);
    }
    bool is_smaller = !here || there <= here;
    h->nodes[late].weak |= is_smaller;
    for (int r = 0; r < h->count && !is_smaller; r++)
        h->nodes[r].weak |= h->set[r] && is_in(h, m, r);
}

/* Where those who are missing wait in turn, the smaller part is to blame. */
static void explain_late(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    bool are_fewer = m->late_count <= m->count;
    memset(h->late, 0, (size_t)h->count);
    for (int i = 0; i < m->late_count; i++)
        h->late[m->late[i]] = true;
    for (int i = 0; i < m->late_count; i++) {
        struct node *node = &h->nodes[m->late[i]];
        node->named = true;
        if (node->kind == NODE_GONE || (node->kind == NODE_FREE && !h->stuck))
            why_blame(w, m->late[i]);
        else if (graph_is_stuck(h, m->late[i]) && are_fewer)
            suspect(w, m->late[i], m);
    }
    if (!are_fewer)
        suspect_awaited(h, m);
    w->meeting = (int)(m - h->meetings);
    why_missing(w, are_fewer);
    if (why_tell(w, "  %s; some members are missing:\n", say_meeting(h, m)))
        write_late(w);
}

/* ---- members that do not fit ---- */

/* Whether a member has said to have gone past a collective. */
static bool is_past(const struct hang *h, int member, const struct meeting *m)
{
    const struct hang_comm *comm = graph_same_comm(&h->nodes[member].answer, m->comm);
    return !is_in(h, m, member) && comm && comm->begun > (uint32_t)m->number;
}

/* Whether a rank is in the collective, in another function than this. */
static bool is_in_other(const struct hang *h, const struct meeting *m, int rank,
                        const char *function)
{
    for (int i = 0; i < m->count && is_in(h, m, rank); i++)
        if (m->entries[i]->owner == rank)
            return strcmp(function_of(m, i), function) != 0;
    return false;
}

/* A pair for each rank that waits in the collective for one that went past it, or into another one
 * at the same place. */
static void pair_waits(struct why *w, const struct meeting *m)
{
    for (int i = 0; i < m->count; i++) {
        const struct hang_thread *thread = m->entries[i]->thread;
        for (int j = 0; j < thread->count; j++) {
            const struct hang_item *item = &thread->items[j];
            if (graph_is_rank(w->h, item->peer) && hang_is_collective(item->use) &&
                !graph_compare_comms(item->comm, m->comm) &&
                (is_in_other(w->h, m, item->peer, function_of(m, i)) ||
                 is_past(w->h, item->peer, m)))
                why_pair(w, item->owner, item->peer);
        }
    }
}

/* A pair for each message of the collective that has come to a rank that went past it: its sender
 * took the collective for another one. */
static void pair_left_over(struct why *w, const struct meeting *m)
{
    const struct hang *h = w->h;
    for (int r = 0; r < h->count; r++) {
        const struct hang_answer *answer = &h->nodes[r].answer;
        for (int q = 0; q < answer->queue_count && is_past(h, r, m); q++) {
            const struct hang_queue *queue = &answer->queues[q];
            if (queue->kind == 'U' && hang_is_collective(queue->use) && queue->tag == m->number &&
                graph_is_rank(h, queue->peer) && !graph_compare_comms(queue->comm, m->comm))
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
    memset(w->h->set, 0, (size_t)w->h->count);
    why_blame_pairs(w, w->h->set);
    return true;
}

/* How many of the first n in a collective are in this function. */
static int count_function(const struct meeting *m, int n, const char *function)
{
    int same = 0;
    for (int i = 0; i < n; i++)
        same += !strcmp(function_of(m, i), function);
    return same;
}

/* The functions that ranks call in one place, and those that are not most ranks' are to blame. */
static void write_functions(struct why *w, const struct meeting *m, int most, bool tie)
{
    struct hang *h = w->h;
    for (int i = 0; i < m->count; i++) {
        const char *function = function_of(m, i);
        if (count_function(m, i, function))
            continue; /* shown already */
        bool few = count_function(m, m->count, function) < most;
        memset(h->set, 0, (size_t)h->count);
        for (int j = i; j < m->count; j++) {
            int rank = m->entries[j]->owner;
            if (strcmp(function_of(m, j), function))
                continue;
            h->set[rank] = h->nodes[rank].explained = h->nodes[rank].sure = true;
            if (tie || few)
                why_blame(w, rank);
        }
        fprintf(h->to, "    %s: %s\n", function, words_ranks(h, h->set));
    }
}

/* Ranks that call another function than the others at the same place of the order. */
static bool explain_mix(struct why *w, const struct meeting *m)
{
    int most = 0;
    for (int i = 0; i < m->count; i++) {
        if (!*m->entries[i]->thread->function)
            return false;
        if (i && !strcmp(function_of(m, i), function_of(m, i - 1)))
            continue; /* counted already */
        int same = count_function(m, m->count, function_of(m, i));
        most = same > most ? same : most;
    }
    if (most == m->count || m->number == HANG_NO_NUMBER)
        return false;
    (void)why_tell(w, "  Different collectives on %s%s:\n", words_comm(w->h, m->comm),
                   words_number(w->h, m->number));
    bool tie = most == 1 ? !blame_misfits(w, m) : most * 2 == m->count;
    write_functions(w, m, most, tie);
    return true;
}

/* All members are there, or have been, and yet it does not end: one that others have left. */
static void explain_left(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    int members = graph_members(h, m->comm, h->late);
    if (!graph_is_stuck(h, m->entries[0]->owner) || m->number == HANG_NO_NUMBER)
        return;
    for (int r = 0; r < h->count; r++)
        h->late[r] &= !is_in(h, m, r) && h->nodes[r].answer.comm_count;
    bool passed = words_count(h, h->late) > 0;
    if (!passed && m->count < members)
        return;
    for (int i = 0; i < m->count; i++) {
        struct node *node = &h->nodes[m->entries[i]->owner];
        node->explained = node->sure = true;
    }
    const char *meeting = say_meeting(h, m);
    if (!passed) {
        (void)why_tell(w,
                       "  %s, all its members:\n    the roots or counts that they gave do not "
                       "fit\n",
                       meeting);
        return;
    }
    if (!why_tell(w, "  %s, but %s went past it.\n", meeting, words_ranks(h, h->late)))
        return;
    bool misfits = blame_misfits(w, m);
    for (int i = 0; i < m->count && m->count * 2 <= members && !misfits; i++)
        why_blame(w, m->entries[i]->owner);
    fprintf(h->to,
            "    What %s called there as collective number %d does not fit: another function, root "
            "or count.\n",
            words_ranks(h, misfits ? h->set : h->late), m->number + 1);
}

/* Where all who are late are in another collective of the communicator, which has no number, that
 * is the same one by mistake: join them. Returns whether. */
static bool join(struct hang *h, struct meeting *m, const struct meeting *next)
{
    if (next == h->meetings + h->meeting_count || next->number != HANG_NO_NUMBER ||
        m->number == HANG_NO_NUMBER || graph_compare_comms(m->comm, next->comm) ||
        !graph_is_stuck(h, m->entries[0]->owner))
        return false;
    for (int i = 0; i < m->late_count; i++)
        if (!is_in(h, next, m->late[i]))
            return false;
    for (int i = 0; i < next->count; i++)
        h->nodes[next->entries[i]->owner].meeting = (int)(m - h->meetings);
    m->count += next->count;
    m->late_count = 0;
    return true;
}

void why_collectives(struct why *w)
{
    struct hang *h = w->h;
    for (int i = 0; i < h->meeting_count; i++) {
        struct meeting *m = &h->meetings[i];
        i += join(h, m, m + 1);
        if (explain_mix(w, m))
            continue;
        if (m->late_count)
            explain_late(w, m);
        else
            explain_left(w, m);
    }
    why_end_kind(w);
}
