/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that do not end: members that are missing, or that made another call; see
 * hang_why.h. */
#include <string.h>

#include "diagnose/hang_why.h"
#include "diagnose/hang_words.h"

enum { LATE_APART = 4 }; /* ranks of which each is told what it waits for */

/* "MPI_Barrier on MPI_COMM_WORLD: ranks 0-2 wait in it" */
static const char *say_meeting(struct hang *h, const struct meeting *m)
{
    memset(h->set, 0, (size_t)h->count);
    for (int i = 0; i < m->count; i++)
        h->set[m->entries[i]->owner] = true;
    return words(h, "%s on %s: %s wait%s in it", words_function(m->entries[0]->thread),
                 words_comm(h, m->comm), words_ranks(h, h->set),
                 words_count(h, h->set) == 1 ? "s" : "");
}

/* Those for whom a collective waits, and who are gone, are not to blame. */
static void excuse_gone(struct why *w, const struct meeting *m)
{
    for (int i = 0; i < m->awaited_count; i++)
        if (graph_is_gone(w->h, m->awaited[i]) && w->h->part[m->awaited[i]] >= 0)
            w->settled[w->h->part[m->awaited[i]]] = true;
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
        const char *what = said[r];
        int several = what ? why_alike(w, said, r) > 1 : 0;
        if (what && !why_tell(w, "    not there: %s, %swhich %s\n", words_ranks(h, h->set),
                              several ? "each of " : "", what))
            return;
        for (int other = r; what && other < h->count; other++)
            h->nodes[other].explained |= h->set[other] && graph_is_stuck(h, other);
    }
}

/* Whether more members are gone than wait: these call once more than the others. */
static bool is_once_more(const struct hang *h, const struct meeting *m)
{
    int gone = 0;
    for (int i = 0; i < m->late_count; i++)
        gone += graph_is_gone(h, m->late[i]);
    return gone == m->late_count && gone > m->count;
}

static void explain_late(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    bool once_more = is_once_more(h, m);
    why_missing(w, m);
    memset(h->late, 0, (size_t)h->count);
    for (int i = 0; i < m->late_count; i++) {
        struct node *node = &h->nodes[m->late[i]];
        h->late[m->late[i]] = node->named = true;
    }
    if (once_more)
        excuse_gone(w, m);
    for (int i = 0; i < m->count && once_more; i++)
        why_blame(w, m->entries[i]->owner);
    if (why_tell(w, once_more ? "  %s, once more than the others do:\n"
                              : "  %s; some members are missing:\n", say_meeting(h, m)))
        write_late(w);
}

/* ---- members that do not fit ---- */

/* The call that a member has made as this collective, in words; "": unknown. */
static const char *say_call(struct hang *h, const struct meeting *m, int rank, bool with_root)
{
    int root;
    const char *call = graph_call(h, m, rank, &root);
    return !call ? "" : root >= 0 && with_root ? words(h, "%s with root %d", call, root) : call;
}

/* Find what each of h->late has called. Returns whether two calls differ. */
static bool find_calls(struct hang *h, const struct meeting *m, const char **calls, bool with_root)
{
    const char *first = NULL;
    bool differ = false;
    for (int r = 0; r < h->count; r++) {
        calls[r] = h->late[r] ? say_call(h, m, r, with_root) : NULL;
        if (!calls[r] || !*calls[r])
            continue;
        first = first ? first : calls[r];
        differ |= strcmp(first, calls[r]) != 0;
    }
    return differ;
}

/* How many ranks make the call that most make. */
static int most_alike(struct why *w, const char *const *calls, size_t size)
{
    const char **left = memcpy(memory_take(&w->h->memory, size), calls, size);
    int most = 0;
    for (int r = 0; r < w->h->count; r++) {
        int n = left[r] ? why_alike(w, left, r) : 0;
        most = n > most ? n : most;
    }
    return most;
}

/* Members that made different calls at the same place of the order: those that are not most ranks'
 * are to blame. h->late: the members that are in, or have been. */
static bool explain_different(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    size_t size = (size_t)h->count * sizeof(char *);
    const char **calls = memory_take(&h->memory, size);
    bool other = find_calls(h, m, calls, false);
    if (!other && !find_calls(h, m, calls, true))
        return false;
    excuse_gone(w, m);
    (void)why_tell(w, "  Different %s on %s%s:\n", other ? "collectives" : "roots",
                   words_comm(h, m->comm), words_number(h, m->comm, m->number));
    int most = most_alike(w, calls, size);
    bool is_tie = most * 2 <= words_count(h, h->late);
    for (int r = 0; r < h->count; r++) {
        const char *call = calls[r];
        int n = call ? why_alike(w, calls, r) : 0;
        for (int s = r; s < h->count && n; s++) {
            h->nodes[s].explained |= h->set[s] && graph_is_in(h, m, s);
            if (h->set[s] && (n < most || is_tie))
                why_blame(w, s);
        }
        if (n)
            fprintf(h->to, "    %s: %s\n", *call ? call : "an unknown call",
                    words_ranks(h, h->set));
    }
    return true;
}

/* All members are there, or have been, and yet it does not end. */
static void explain_full(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    bool all = true;
    for (int r = 0; r < h->count; r++) {
        h->late[r] &= !graph_is_in(h, m, r);
        all &= !h->late[r];
    }
    for (int i = 0; i < m->count; i++)
        h->nodes[m->entries[i]->owner].explained = true;
    excuse_gone(w, m);
    const char *meeting = say_meeting(h, m);
    if (all)
        (void)why_tell(w, "  %s, all its members:\n    the counts that they gave do not fit\n",
                       meeting);
    else
        (void)why_tell(w, "  %s, but %s went past it:\n    what was called there does not fit\n",
                       meeting, words_ranks(h, h->late));
    for (int i = 0; i < m->count && m->count <= words_count(h, h->late); i++)
        why_blame(w, m->entries[i]->owner);
}

static void explain(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    (void)graph_members(h, m->comm, h->late);
    for (int r = 0; r < h->count; r++)
        h->late[r] &= graph_is_in(h, m, r) || graph_is_past(h, m, r);
    bool is_stuck = graph_is_stuck(h, m->entries[0]->owner) && m->number != HANG_NO_NUMBER;
    if (is_stuck && explain_different(w, m))
        return;
    if (m->late_count)
        explain_late(w, m);
    else if (is_stuck)
        explain_full(w, m);
}

/* ---- ranks that wait for each other in several collectives ---- */

/* How many ranks of a collective wait in a part. */
static int count_in(const struct hang *h, const struct meeting *m, int part)
{
    int n = 0;
    for (int i = 0; i < m->count; i++)
        n += h->part[m->entries[i]->owner] == part;
    return n;
}

/* Of those that wait for each other, the fewest are to blame; of these, those that wait for none of
 * the others. */
static void blame_fewest(struct why *w, int part)
{
    struct hang *h = w->h;
    int first = h->count, fewest = h->count, left = 0;
    memset(h->late, 0, (size_t)h->count);
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < h->meeting_count; i++) {
            const struct meeting *m = &h->meetings[i];
            int n = h->part[first + i] == part ? count_in(h, m, part) : 0;
            if (pass == 0 && n)
                fewest = n < fewest ? n : fewest;
            bool waits = false;
            for (int j = 0; j < m->awaited_count && n; j++)
                waits |= h->late[m->awaited[j]];
            for (int j = 0; j < m->count && n == fewest && n; j++) {
                int rank = m->entries[j]->owner;
                if (pass == 1)
                    h->late[rank] = h->part[rank] == part;
                else if (pass == 2 && !waits && h->late[rank]) {
                    why_blame(w, rank);
                    left++;
                }
            }
        }
    for (int r = 0; r < h->count && !left; r++)
        if (h->late[r])
            why_blame(w, r);
}

void why_collectives(struct why *w)
{
    struct hang *h = w->h;
    for (int i = 0; i < h->meeting_count; i++)
        explain(w, &h->meetings[i]);
    for (int i = 0; i < h->meeting_count; i++)
        if (why_is_open(w, h->count + i) && h->meetings[i].awaited_count)
            blame_fewest(w, h->part[h->count + i]);
}
