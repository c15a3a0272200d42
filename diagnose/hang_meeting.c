/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives as meetings; see hang_graph.h.
 *
 * A rank in one waits, step by step, for a message of one member or another. The meaning of the
 * function tells for which members it has still to wait: in some functions, for every member that
 * has not begun it.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_graph.h"

const char *graph_group(const struct hang_comm *comm, bool second)
{
    return (strcmp(comm->members, comm->remote) < 0) != second ? comm->members : comm->remote;
}

int graph_compare_comms(const struct hang_comm *a, const struct hang_comm *b)
{
    int order = (a->context > b->context) - (a->context < b->context);
    if (!order)
        order = strcmp(graph_group(a, false), graph_group(b, false));
    return order ? order : strcmp(graph_group(a, true), graph_group(b, true));
}

const struct hang_comm *graph_same_comm(const struct hang_answer *answer,
                                        const struct hang_comm *comm)
{
    for (int i = 0; i < answer->comm_count; i++)
        if (!graph_compare_comms(&answer->comms[i], comm))
            return &answer->comms[i];
    return NULL;
}

int graph_members(const struct hang *h, const struct hang_comm *comm, bool *set)
{
    int first, last, members = 0;
    memset(set, 0, (size_t)h->count);
    for (int i = 0; i < 2; i++)
        for (const char *list = graph_group(comm, i);
             (list = hang_text_range(list, &first, &last));)
            for (int m = first; m <= last && m < h->count; m++)
                members += set[m] = true;
    return members;
}

static int compare_places(const struct hang_item *a, const struct hang_item *b)
{
    int order = graph_compare_comms(a->comm, b->comm);
    return order ? order : (a->tag > b->tag) - (a->tag < b->tag);
}

static int compare_entries(const void *va, const void *vb)
{
    const struct hang_item *const *a = va, *const *b = vb;
    int order = compare_places(*a, *b);
    return order ? order : ((*a)->owner > (*b)->owner) - ((*a)->owner < (*b)->owner);
}

/* An entry for each thread that waits in a collective. Returns how many. */
static int gather_entries(struct hang *h, const struct hang_item **entries)
{
    int count = 0;
    for (int i = 0; i < h->item_count; i++) {
        const struct hang_item *item = h->items[i];
        bool is_first = !count || entries[count - 1]->thread != item->thread;
        if (hang_is_collective(item->use) && !graph_goes_on(h, item->thread) && is_first)
            entries[count++] = item;
    }
    qsort(entries, (size_t)count, sizeof(entries[0]), compare_entries);
    return count;
}

/* Put those whom ranks wait for in a collective into set. */
static void find_awaited(const struct hang *h, const struct meeting *meeting, bool *set)
{
    memset(set, 0, (size_t)h->count);
    for (int i = 0; i < meeting->count; i++) {
        const struct hang_thread *thread = meeting->entries[i]->thread;
        for (int j = 0; j < thread->count; j++) {
            const struct hang_item *item = &thread->items[j];
            if (hang_is_collective(item->use) && item->comm->context == meeting->comm->context &&
                graph_is_rank(h, item->peer))
                set[item->peer] = true;
        }
    }
}

/* Find the members that have still to come: by what they say, or because they are awaited. */
static void find_late(struct hang *h, struct meeting *meeting, int index)
{
    bool *members = h->set, *awaited = h->late;
    (void)graph_members(h, meeting->comm, members);
    find_awaited(h, meeting, awaited);
    for (int m = 0; m < h->count; m++) {
        const struct hang_comm *comm = graph_same_comm(&h->nodes[m].answer, meeting->comm);
        bool is_late = awaited[m];
        if (comm && meeting->number != HANG_NO_NUMBER)
            is_late = comm->begun <= (uint32_t)meeting->number;
        if (is_late && members[m] && h->nodes[m].meeting != index)
            h->path[meeting->late_count++] = m;
    }
    size_t size = (size_t)meeting->late_count * sizeof(int);
    meeting->late = memcpy(memory_take(&h->memory, size), h->path, size);
}

void graph_meet(struct hang *h)
{
    const struct hang_item **entries =
        memory_take(&h->memory, (size_t)h->item_count * sizeof(entries[0]));
    int count = gather_entries(h, entries);
    h->meetings = memory_take(&h->memory, (size_t)count * sizeof(*h->meetings));
    for (int i = 0, n; i < count; i += n) {
        const struct hang_item **e = entries + i;
        struct meeting *meeting = &h->meetings[h->meeting_count];
        for (n = 1; i + n < count && !compare_places(e[0], e[n]); n++)
            continue;
        *meeting =
            (struct meeting){.comm = e[0]->comm, .number = e[0]->tag, .entries = e, .count = n};
        for (int j = 0; j < n; j++)
            h->nodes[e[j]->owner].meeting = h->meeting_count;
        find_late(h, meeting, h->meeting_count++);
    }
}

/* Whether each member needs something of every other. */
static bool needs_all(const char *function)
{
    static const char *const names[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather",
                                        "MPI_Alltoall", "MPI_Reduce_scatter_block"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(function, names[i]))
            return true;
    return false;
}

struct meeting *graph_meeting_of_all(const struct hang *h, int rank,
                                     const struct hang_thread *thread)
{
    int index = h->nodes[rank].meeting;
    struct meeting *m = index < 0 ? NULL : &h->meetings[index];
    bool known = m && !*m->comm->remote && m->number != HANG_NO_NUMBER;
    if (!known || !needs_all(thread->function) || !thread->count)
        return NULL;
    const struct hang_item *item = thread->items;
    bool is_in = hang_is_collective(item->use) && item->tag == m->number &&
                 !graph_compare_comms(item->comm, m->comm);
    return is_in ? m : NULL;
}
