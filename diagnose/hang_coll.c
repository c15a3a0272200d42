/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that do not end: members that are missing, or that made another call; see
 * hang_why.h. */
#include <string.h>

#include "diagnose/hang_why.h"
#include "diagnose/hang_words.h"

enum { LATE_APART = 4 }; /* ranks whose waits are told one by one */

/* Put the members that have a state into set. Returns how many. */
static int members_that(const struct hang *h, const struct meeting *m, enum member_state state,
                        bool *set)
{
    int n = 0;
    memset(set, 0, (size_t)h->count);
    for (int i = 0; i < m->member_count; i++)
        if (m->members[i].state == state)
            n += set[m->members[i].rank] = true;
    return n;
}

/* A member's call, or the function that waits for it. */
static const char *name_of(const struct meeting *m)
{
    const char *name = NULL;
    for (int i = 0; i < m->member_count && !name; i++)
        name = m->members[i].state == MEMBER_IN ? m->members[i].call : NULL;
    return name ? name : words_function(m->entries[0]->thread);
}

/* "MPI_Barrier on MPI_COMM_WORLD: ranks 0-2 wait in it" */
static const char *say_meeting(struct hang *h, const struct meeting *m)
{
    memset(h->set, 0, (size_t)h->count);
    for (int i = 0; i < m->count; i++)
        h->set[m->entries[i]->owner] = true;
    return words(h, "%s on %s: %s wait%s in it", name_of(m), words_comm(h, m->comm), words_ranks(h, h->set),
                 words_count(h, h->set) == 1 ? "s" : "");
}

/* The cause of the parts that members are in is known: of those that are gone, or in it too. */
static void settle(struct why *w, const struct meeting *m, bool all)
{
    for (int i = 0; i < m->member_count; i++) {
        int rank = m->members[i].rank, part = w->h->vertices[rank].part;
        bool is_in = all && m->members[i].state == MEMBER_IN;
        if (part >= 0 && (is_in || graph_is_gone(w->h, rank)))
            w->settled[part] = true;
    }
}

/* ---- members that do not fit ---- */

/* Find the calls of the members that are, or were, in a collective. Returns whether two calls
 * differ. */
static bool find_calls(struct why *w, const struct meeting *m, bool with_root)
{
    const char *first = NULL;
    bool differ = false;
    memset(w->said, 0, (size_t)w->h->count * sizeof(*w->said));
    for (const struct member *one = m->members; one < m->members + m->member_count; one++) {
        if (one->state != MEMBER_IN && one->state != MEMBER_PAST)
            continue;
        const char *call = one->call ? one->call : "";
        if (one->root >= 0 && with_root)
            call = words(w->h, "%s with root %d", call, one->root);
        w->said[one->rank] = call;
        first = first || !*call ? first : call;
        differ |= *call && strcmp(first, call) != 0;
    }
    return differ;
}

/* Members that made different calls at the same place of the order: those that are not most ranks'
 * are to blame. */
static void explain_different(struct why *w, struct meeting *m)
{
    struct hang *h = w->h;
    int most = 0, all = 0, *alike = memset(h->path, 0, (size_t)h->count * sizeof(*alike));
    bool other = find_calls(w, m, false);
    if (!other && !find_calls(w, m, true))
        return;
    m->told = true;
    settle(w, m, true);
    (void)why_tell(w, "  Different %s on %s%s:\n", other ? "collectives" : "roots",
                   words_comm(h, m->comm), words_number(h, m->comm, m->number));
    const char *call;
    for (int r = 0; (call = why_next(w, &r));) {
        int n = words_count(h, h->set);
        fprintf(h->to, "    %s: %s\n", *call ? call : "an unknown call", words_ranks(h, h->set));
        for (int s = r; s < h->count; s++)
            alike[s] = h->set[s] ? n : alike[s];
        most = n > most ? n : most;
        all += n;
    }
    for (int i = 0; i < m->member_count; i++) {
        int rank = m->members[i].rank;
        h->nodes[rank].explained |= m->members[i].state == MEMBER_IN;
        if (alike[rank] && (alike[rank] < most || most * 2 <= all))
            why_blame(w, rank);
    }
}

void why_different(struct why *w)
{
    for (struct meeting *m = w->h->meetings; m < w->h->meetings + w->h->meeting_count; m++)
        if (graph_is_stuck(w->h, m->entries[0]->owner) && m->number != HANG_NO_NUMBER)
            explain_different(w, m);
}

/* All members are there, or have been, and yet it does not end: the fewer ones are to blame. */
static void explain_full(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    const char *meeting = say_meeting(h, m);
    int past = members_that(h, m, MEMBER_PAST, w->late);
    settle(w, m, true);
    for (int i = 0; i < m->member_count; i++) {
        const struct member *one = &m->members[i];
        h->nodes[one->rank].explained |= one->state == MEMBER_IN;
        if (one->state == (past && past < m->count ? MEMBER_PAST : MEMBER_IN))
            why_blame(w, one->rank);
    }
    if (past)
        (void)why_tell(w, "  %s, but %s went past it:\n    what was called there does not fit\n",
                       meeting, words_ranks(h, w->late));
    else
        (void)why_tell(w, "  %s, all its members:\n    the counts that they gave do not fit\n",
                       meeting);
}

/* ---- members that are missing ---- */

/* The late ranks: first those in the lines above, then groups with the same wait. If they are many,
 * the table of all ranks tells each wait. */
static void write_late(struct why *w)
{
    struct hang *h = w->h;
    for (int r = 0; r < h->count; r++) {
        h->set[r] = w->late[r] && h->nodes[r].explained;
        w->late[r] &= !h->set[r];
    }
    if (words_count(h, h->set))
        fprintf(h->to, "    not there: %s, as told above\n", words_ranks(h, h->set));
    bool brief = words_count(h, w->late) > LATE_APART;
    for (int r = 0; r < h->count; r++)
        w->said[r] = w->late[r] ? words_state(h, r, brief) : NULL;
    const char *what;
    for (int r = 0; (what = why_next(w, &r));) {
        const char *each = words_count(h, h->set) > 1 ? "each of " : "";
        if (!why_tell(w, "    not there: %s, %swhich %s\n", words_ranks(h, h->set), each, what))
            return;
        for (int other = r; other < h->count; other++)
            h->nodes[other].explained |= h->set[other] && graph_is_stuck(h, other);
    }
}

static void explain_late(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    int gone = 0;
    (void)members_that(h, m, MEMBER_LATE, w->late);
    for (int r = 0; r < h->count; r++) {
        h->nodes[r].named |= w->late[r];
        gone += w->late[r] && graph_is_gone(h, r);
    }
    bool once_more = gone == m->late_count && gone > m->count;
    if (once_more)
        settle(w, m, false);
    for (int i = 0; i < m->count && once_more; i++)
        why_blame(w, m->entries[i]->owner);
    if (why_tell(w, once_more ? "  %s, once more than the others do:\n"
                              : "  %s; some members are missing:\n", say_meeting(h, m)))
        write_late(w);
}

/* ---- ranks that wait for each other in several collectives ---- */

/* Whether a vertex waits for a rank of set. */
static bool leads_to(const struct hang *h, int vertex, const bool *set)
{
    const struct vertex *v = &h->vertices[vertex];
    for (int e = v->first; e < v->first + v->count; e++) {
        int to = h->edges[e].to;
        if (to < h->count ? set[to] : leads_to(h, to, set))
            return true;
    }
    return false;
}

/* Of those that wait for each other, those that keep most threads are to blame; of these, those that
 * wait for none of the others. */
static void explain_crossed(struct why *w, int part)
{
    struct hang *h = w->h;
    int most = 0, *kept = memset(h->path, 0, (size_t)h->count * sizeof(*kept));
    for (const struct meeting *m = h->meetings; m < h->meetings + h->meeting_count; m++) {
        int n = 0;
        for (int i = 0; i < m->count; i++)
            n += graph_part_of(h, m->entries[i]->thread) == part;
        for (int i = 0; i < m->member_count; i++) {
            int rank = m->members[i].rank;
            if (m->members[i].state == MEMBER_LATE && h->vertices[rank].part == part)
                kept[rank] = n > kept[rank] ? n : kept[rank];
            most = kept[rank] > most ? kept[rank] : most;
        }
    }
    for (int r = 0; r < h->count; r++)
        w->late[r] = h->vertices[r].part == part && kept[r] == most;
    for (int pass = 0; pass < 2 && !w->settled[part]; pass++)
        for (int r = 0; r < h->count; r++)
            if (w->late[r] && (pass || !leads_to(h, r, w->late)))
                why_blame(w, r);
}

void why_collectives(struct why *w)
{
    struct hang *h = w->h;
    for (const struct meeting *m = h->meetings; m < h->meetings + h->meeting_count; m++)
        if (!m->told && m->late_count)
            explain_late(w, m);
        else if (!m->told && graph_is_stuck(h, m->entries[0]->owner) && m->number != HANG_NO_NUMBER)
            explain_full(w, m);
    for (int i = 0; i < h->item_count; i++)
        if (h->items[i]->meeting >= 0 && h->items[i]->thread->vertex >= 0 &&
            why_is_open(w, h->items[i]->thread->vertex))
            explain_crossed(w, graph_part_of(h, h->items[i]->thread));
}
