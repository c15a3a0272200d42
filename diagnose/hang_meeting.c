/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives as meetings: who is in them, and who has still to come; see hang_graph.h. */
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_graph.h"

const char *graph_group(const struct hang_comm *comm, bool second)
{
    return (strcmp(comm->members, comm->remote) < 0) != second ? comm->members : comm->remote;
}

/* Whether it is the same communicator: 0; or the order of two. */
static int compare_comms(const struct hang_comm *a, const struct hang_comm *b)
{
    int order = (a->context > b->context) - (a->context < b->context);
    if (!order)
        order = strcmp(graph_group(a, false), graph_group(b, false));
    return order ? order : strcmp(graph_group(a, true), graph_group(b, true));
}

/* The communicator of a collective as another member knows it, or NULL. */
static const struct hang_comm *comm_at(const struct hang *h, const struct meeting *m, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->comm_count; i++)
        if (!compare_comms(&answer->comms[i], m->comm))
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

/* The number of a collective. One that has none stands where the owner's next one would. */
static uint32_t place_of(const struct hang_item *item)
{
    return item->tag == HANG_NO_NUMBER ? item->comm->begun : (uint32_t)item->tag;
}

static int compare_places(const struct hang_item *a, const struct hang_item *b)
{
    int order = compare_comms(a->comm, b->comm);
    return order ? order : (place_of(a) > place_of(b)) - (place_of(a) < place_of(b));
}

static int compare_items(const void *va, const void *vb)
{
    const struct hang_item *const *a = va, *const *b = vb;
    int order = compare_places(*a, *b);
    order = order ? order : (*a)->owner - (*b)->owner;
    return order ? order : (*a > *b) - (*a < *b);
}

/* The call that a rank has made, or makes, as a collective of its communicator, or NULL. */
static const struct hang_call *find_call(const struct hang_comm *comm, int number)
{
    for (int i = 0; comm && i < comm->call_count; i++)
        if (comm->calls[i].number == (uint32_t)number)
            return &comm->calls[i];
    return NULL;
}

/* Whether an item is of a collective in which each member needs something of every other. */
static bool needs_all(const struct hang_item *item, int number)
{
    const struct hang_call *call = find_call(item->comm, number);
    const char *function = call ? call->function : item->thread->function;
    static const char *const names[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather",
                                        "MPI_Alltoall", "MPI_Reduce_scatter_block"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(function, names[i]))
            return true;
    return false;
}

/* The ranks that are in both sets. */
static int *list_of(struct hang *h, const bool *a, const bool *b, int *count)
{
    *count = 0;
    for (int r = 0; r < h->count; r++)
        if (a[r] && b[r])
            h->path[(*count)++] = r;
    size_t size = (size_t)*count * sizeof(int);
    return memcpy(memory_take(&h->memory, size), h->path, size);
}

/* Find the members that are late: they have not begun it, where that is known, or else they are
 * awaited; or have ended, where nobody can leave it before all have come. And those that are
 * awaited: where each needs every other, all who are late. */
static void find_late(struct hang *h, struct meeting *m, int index)
{
    bool *awaited = memory_take(&h->memory, (size_t)h->count), *late = h->late;
    bool of_all = !*m->comm->remote && m->number != HANG_NO_NUMBER;
    for (int i = 0; i < m->count; i++) {
        const struct hang_thread *thread = m->entries[i]->thread;
        of_all &= needs_all(m->entries[i], m->number);
        for (int j = 0; j < thread->count; j++)
            if (thread->items[j].meeting == index && graph_is_rank(h, thread->items[j].peer))
                awaited[thread->items[j].peer] = true;
    }
    (void)graph_members(h, m->comm, late);
    for (int r = 0; r < h->count; r++) {
        const struct hang_comm *comm = comm_at(h, m, r);
        bool knows = comm && m->number != HANG_NO_NUMBER;
        bool has_ended = h->ranks[r].state == DIAGNOSE_ENDED ||
                         h->ranks[r].state == DIAGNOSE_FINALIZED;
        late[r] &= knows ? comm->begun <= (uint32_t)m->number : awaited[r] || (of_all && has_ended);
        late[r] &= !graph_is_in(h, m, r);
    }
    m->late = list_of(h, late, late, &m->late_count);
    m->is_of_all = of_all && m->late_count;
    m->awaited = list_of(h, late, m->is_of_all ? late : awaited, &m->awaited_count);
    if (!m->awaited_count)
        m->awaited = list_of(h, awaited, awaited, &m->awaited_count);
}

void graph_meet(struct hang *h)
{
    int count = 0;
    struct hang_item **items = memory_take(&h->memory, (size_t)h->item_count * sizeof(items[0]));
    const struct hang_item **entries =
        memory_take(&h->memory, (size_t)h->item_count * sizeof(entries[0]));
    for (int i = 0; i < h->item_count; i++)
        if (hang_is_collective(h->items[i]->use) && !graph_goes_on(h, h->items[i]->thread))
            items[count++] = h->items[i];
    qsort(items, (size_t)count, sizeof(items[0]), compare_items);
    h->meetings = memory_take(&h->memory, (size_t)count * sizeof(*h->meetings));
    for (int i = 0; i < count; i++) {
        struct meeting *m = &h->meetings[h->meeting_count - 1];
        if (!i || compare_places(items[i - 1], items[i])) {
            m = &h->meetings[h->meeting_count++];
            *m = (struct meeting){
                .comm = items[i]->comm, .number = HANG_NO_NUMBER, .entries = entries + i};
        }
        if (items[i]->tag != HANG_NO_NUMBER)
            m->number = items[i]->tag;
        if (!m->count || m->entries[m->count - 1]->thread != items[i]->thread)
            m->entries[m->count++] = items[i];
        items[i]->meeting = h->nodes[items[i]->owner].meeting = h->meeting_count - 1;
    }
    for (int i = 0; i < h->meeting_count; i++)
        find_late(h, &h->meetings[i], i);
}

bool graph_is_in(const struct hang *h, const struct meeting *m, int rank)
{
    return h->nodes[rank].meeting == (int)(m - h->meetings);
}

bool graph_is_past(const struct hang *h, const struct meeting *m, int rank)
{
    const struct hang_comm *comm = comm_at(h, m, rank);
    return !graph_is_in(h, m, rank) && comm && m->number != HANG_NO_NUMBER &&
           comm->begun > (uint32_t)m->number;
}

const char *graph_call(const struct hang *h, const struct meeting *m, int rank, int *root)
{
    const struct hang_call *call = find_call(comm_at(h, m, rank), m->number);
    const char *name = call ? call->function : NULL;
    *root = call ? call->root : -1;
    for (int i = 0; i < m->count && !name; i++)
        if (m->entries[i]->owner == rank && *m->entries[i]->thread->function)
            name = m->entries[i]->thread->function;
    return name;
}
