/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives as meetings: the members inside, and those still to come; see hang_graph.h. */
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

int graph_list(const struct hang *h, const char *list, bool *set)
{
    int first, last, count = 0;
    while ((list = hang_text_range(list, &first, &last)))
        for (int r = first; r <= last && r < h->count; r++)
            count += set[r] = true;
    return count;
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

/* Whether a function waits for what another has begun. */
static bool is_wait(const char *function)
{
    return !strncmp(function, "MPI_Wait", strlen("MPI_Wait"));
}

/* The state of a member; entry: its wait there, or NULL. A member whose communicator is unknown is
 * late if it is awaited, or has ended and nobody can leave before all have come. */
static struct member member_of(const struct hang *h, const struct meeting *m, int rank,
                               const struct hang_item *entry, bool is_awaited)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    const struct hang_comm *comm = NULL;
    for (int i = 0; i < answer->comm_count && !comm; i++)
        comm = compare_comms(&answer->comms[i], m->comm) ? NULL : &answer->comms[i];
    const struct hang_call *call = find_call(comm, m->number);
    struct member one = {rank, MEMBER_UNKNOWN, call ? call->function : NULL, call ? call->root : -1};
    enum diagnose_state state = h->ranks[rank].state;
    bool has_ended = state == DIAGNOSE_ENDED || state == DIAGNOSE_FINALIZED;
    if (entry) {
        const char *function = entry->thread->function;
        one.state = MEMBER_IN;
        one.call = one.call || !*function || is_wait(function) ? one.call : function;
    } else if (comm && m->number != HANG_NO_NUMBER) {
        one.state = comm->begun > (uint32_t)m->number ? MEMBER_PAST : MEMBER_LATE;
    } else if (is_awaited || (m->is_of_all && has_ended)) {
        one.state = MEMBER_LATE;
    }
    return one;
}

static void find_members(struct hang *h, struct meeting *m)
{
    bool *awaited = memory_take(&h->memory, (size_t)h->count);
    memset(h->set, 0, (size_t)h->count);
    int count = graph_list(h, m->comm->members, h->set) + graph_list(h, m->comm->remote, h->set);
    m->members = memory_take(&h->memory, (size_t)count * sizeof(*m->members));
    bool waits_for_any = false;
    m->is_of_all = !*m->comm->remote && m->number != HANG_NO_NUMBER;
    for (int i = 0; i < m->count; i++) {
        const struct hang_thread *thread = m->entries[i]->thread;
        m->is_of_all &= needs_all(m->entries[i], m->number);
        waits_for_any |= m->entries[i]->peer < 0;
        for (int j = 0; j < thread->count; j++)
            if (thread->items[j].meeting == m->entries[i]->meeting &&
                graph_is_rank(h, thread->items[j].peer))
                awaited[thread->items[j].peer] = true;
    }
    for (int r = 0, i = 0; r < h->count; r++) {
        while (i < m->count && m->entries[i]->owner < r)
            i++;
        bool is_in = i < m->count && m->entries[i]->owner == r;
        if (!h->set[r])
            continue;
        struct member *one = &m->members[m->member_count++];
        *one = member_of(h, m, r, is_in ? m->entries[i] : NULL, awaited[r]);
        m->late_count += one->state == MEMBER_LATE;
    }
    /* Of a persistent one the name is not known; but a thread that waits for no single rank waits
     * for all. */
    m->is_of_all |= !*m->comm->remote && m->number >= HANG_KEPT && m->number != HANG_NO_NUMBER &&
                    waits_for_any;
    m->is_of_all &= m->late_count > 0;
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
    if (count)
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
        items[i]->meeting = h->meeting_count - 1;
        h->nodes[items[i]->owner].meets = true;
    }
    for (int i = 0; i < h->meeting_count; i++)
        find_members(h, &h->meetings[i]);
}
