/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives as meetings; see hang_graph.h.
 *
 * A rank in one waits, step by step, for a message of one member or another. Whom it has still to
 * wait for follows from what the function means: of some, every member that has not begun it.
 */
#include <errno.h>
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
    memset(set, 0, (size_t)h->count * sizeof(*set));
    for (int i = 0; i < 2; i++)
        for (const char *list = graph_group(comm, i);
             (list = hang_text_range(list, &first, &last));)
            for (int m = first; m <= last && m < h->count; m++)
                members += set[m] = true;
    return members;
}

/* ---- who has come ---- */

static int compare_entries(const void *va, const void *vb)
{
    const struct entry *a = va, *b = vb;
    int order = graph_compare_comms(a->comm, b->comm);
    if (!order)
        order = (a->number > b->number) - (a->number < b->number);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* An entry for each thread that waits in a collective. */
static int gather_entries(struct hang *h)
{
    size_t threads = 1;
    for (int r = 0; r < h->count; r++)
        threads += (size_t)h->nodes[r].answer.thread_count;
    h->entries = calloc(threads, sizeof(*h->entries));
    h->meetings = calloc(threads, sizeof(*h->meetings));
    if (!h->entries || !h->meetings)
        return -ENOMEM;
    for (int r = 0; r < h->count; r++) {
        const struct hang_answer *answer = &h->nodes[r].answer;
        for (int i = 0, last = -1; i < answer->item_count; i++) {
            const struct hang_item *item = &answer->items[i];
            const struct hang_thread *thread = &answer->threads[item->thread];
            const struct hang_comm *comm = graph_collective(answer, item->context);
            if (!comm || graph_goes_on(h, thread) || item->thread == last)
                continue;
            h->entries[h->entry_count++] = (struct entry){r, comm, thread, item->tag};
            last = item->thread;
        }
    }
    if (h->entry_count)
        qsort(h->entries, (size_t)h->entry_count, sizeof(*h->entries), compare_entries);
    return 0;
}

/* ---- who has not ---- */

static int add_late(struct hang *h, struct meeting *meeting, int rank)
{
    if (h->late_count == h->late_room) {
        int room = h->late_room ? h->late_room * 2 : 64;
        int *grown = realloc(h->late, (size_t)room * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        h->late = grown;
        h->late_room = room;
    }
    h->late[h->late_count++] = rank;
    meeting->late_count++;
    return 0;
}

/* Put those whom ranks wait for in a collective into set. */
static void find_awaited(const struct hang *h, const struct meeting *meeting, bool *set)
{
    memset(set, 0, (size_t)h->count * sizeof(*set));
    for (int i = 0; i < meeting->count; i++) {
        const struct entry *e = &meeting->entries[i];
        const struct hang_answer *answer = &h->nodes[e->rank].answer;
        for (int j = e->thread->first; j < e->thread->first + e->thread->count; j++) {
            const struct hang_comm *comm = graph_collective(answer, answer->items[j].context);
            int peer = answer->items[j].peer;
            if (comm && comm->context == meeting->comm->context && graph_is_rank(h, peer))
                set[peer] = true;
        }
    }
}

/* Find the members that have still to come: by what they say, or because they are awaited. */
static int find_late(struct hang *h, struct meeting *meeting, int index, bool *members,
                     bool *awaited)
{
    int rc = 0;
    (void)graph_members(h, meeting->comm, members);
    find_awaited(h, meeting, awaited);
    meeting->first_late = h->late_count;
    for (int m = 0; m < h->count && !rc; m++) {
        if (!members[m] || h->nodes[m].meeting == index)
            continue;
        const struct hang_comm *comm = graph_same_comm(&h->nodes[m].answer, meeting->comm);
        bool is_late = awaited[m];
        if (comm && meeting->number != HANG_NO_NUMBER)
            is_late = comm->begun <= (uint32_t)meeting->number;
        if (is_late)
            rc = add_late(h, meeting, m);
    }
    return rc;
}

int graph_meet(struct hang *h)
{
    bool *awaited = calloc((size_t)h->count + 1, sizeof(*awaited));
    int rc = awaited ? gather_entries(h) : -ENOMEM;
    for (int i = 0, n; i < h->entry_count && !rc; i += n) {
        const struct entry *e = &h->entries[i];
        struct meeting *meeting = &h->meetings[h->meeting_count];
        for (n = 1; i + n < h->entry_count && e[n].number == e->number &&
                    !graph_compare_comms(e->comm, e[n].comm);
             n++)
            continue;
        *meeting = (struct meeting){e->comm, e->number, e, n, 0, 0, 0};
        for (int j = 0; j < n; j++)
            h->nodes[e[j].rank].meeting = h->meeting_count;
        rc = find_late(h, meeting, h->meeting_count++, h->set, awaited);
    }
    free(awaited);
    return rc;
}

/* ---- what it means ---- */

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
    struct meeting *meeting = index < 0 ? NULL : &h->meetings[index];
    bool known = meeting && !*meeting->comm->remote && meeting->number != HANG_NO_NUMBER;
    if (!known || !needs_all(thread->function) || !thread->count)
        return NULL;
    const struct hang_answer *answer = &h->nodes[rank].answer;
    const struct hang_item *item = &answer->items[thread->first];
    const struct hang_comm *comm = graph_collective(answer, item->context);
    return comm == graph_same_comm(answer, meeting->comm) && item->tag == meeting->number ? meeting
                                                                                          : NULL;
}
