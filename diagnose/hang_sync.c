/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives that nobody leaves before all have come; see hang_graph.h.
 *
 * A rank in one waits, step by step, for a message of one member or another. Whom it has still to
 * wait for follows from what the function means: every member that has not begun it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_graph.h"

/* One such collective. */
struct sync {
    const struct hang_comm *comm;
    int number;
    int first, count; /* of late: members that have not begun it */
    int live;         /* so many of these from the first on can go on */
};

struct syncs {
    struct sync *syncs;
    int *late; /* ranks */
    int count, late_count, late_room;
    int *of;     /* [ranks]: the one that it is in, or -1 */
    int *thread; /* [ranks]: with that thread */
};

/* The two groups of an intercommunicator, in an order that all of its members agree on. */
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

const struct hang_comm *graph_same_comm(const struct hang_told *told, const struct hang_comm *comm)
{
    for (int i = 0; i < told->comm_count; i++)
        if (!graph_compare_comms(&told->comms[i], comm))
            return &told->comms[i];
    return NULL;
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

static int add_late(struct syncs *s, int rank)
{
    if (s->late_count == s->late_room) {
        int room = s->late_room ? s->late_room * 2 : 64;
        int *grown = realloc(s->late, (size_t)room * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        s->late = grown;
        s->late_room = room;
    }
    s->late[s->late_count++] = rank;
    return 0;
}

/* Find who has said not to have begun it. Who has not answered is not among them. */
static int find_late(struct hang *h, struct sync *sync)
{
    struct syncs *s = h->syncs;
    const char *list = sync->comm->members;
    int first, last, rc = 0;
    sync->first = s->late_count;
    while ((list = hang_text_range(list, &first, &last)))
        for (int m = first; m <= last && m < h->count && !rc; m++) {
            const struct hang_comm *comm = graph_same_comm(&h->nodes[m].told, sync->comm);
            if (comm && comm->begun <= (uint32_t)sync->number)
                rc = add_late(s, m);
        }
    sync->count = s->late_count - sync->first;
    return rc;
}

/* The collective of this kind that a thread waits in, in *comm and *number. */
static bool is_in_one(const struct hang *h, const struct hang_told *told,
                      const struct hang_thread *thread, const struct hang_comm **comm, int *number)
{
    if (graph_goes_on(h, thread) || !thread->count || !needs_all(thread->function))
        return false;
    const struct hang_item *item = &told->items[thread->first];
    *comm = graph_collective(told, item->context);
    *number = item->tag;
    return *comm && !*(*comm)->remote && item->tag >= 0 && item->tag != HANG_NO_NUMBER;
}

static int place(struct hang *h, int rank, int thread, const struct hang_comm *comm, int number)
{
    struct syncs *s = h->syncs;
    int i = s->count;
    while (i > 0 &&
           (s->syncs[i - 1].number != number || graph_compare_comms(s->syncs[i - 1].comm, comm)))
        i--;
    s->of[rank] = i ? i - 1 : s->count;
    s->thread[rank] = thread;
    if (i)
        return 0;
    struct sync *sync = &s->syncs[s->count++];
    *sync = (struct sync){.comm = comm, .number = number};
    return find_late(h, sync);
}

int graph_sync_init(struct hang *h)
{
    size_t n = (size_t)h->count + 1;
    struct syncs *s = h->syncs = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->syncs = calloc(n, sizeof(*s->syncs));
    s->of = malloc(n * sizeof(*s->of));
    s->thread = calloc(n, sizeof(*s->thread));
    int rc = s->syncs && s->of && s->thread ? 0 : -ENOMEM;
    for (int r = 0; r < h->count && !rc; r++) {
        const struct hang_told *told = &h->nodes[r].told;
        const struct hang_comm *comm;
        int number;
        s->of[r] = -1;
        for (int t = 0; t < told->thread_count && s->of[r] < 0 && !rc; t++)
            if (is_in_one(h, told, &told->threads[t], &comm, &number))
                rc = place(h, r, t, comm, number);
    }
    return rc;
}

void graph_sync_reset(struct hang *h)
{
    for (int i = 0; i < h->syncs->count; i++)
        h->syncs->syncs[i].live = 0;
}

bool graph_sync_can_end(struct hang *h, int rank, int thread)
{
    struct syncs *s = h->syncs;
    if (s->of[rank] < 0 || s->thread[rank] != thread)
        return true;
    struct sync *sync = &s->syncs[s->of[rank]];
    while (sync->live < sync->count && graph_can_come(h, s->late[sync->first + sync->live]))
        sync->live++;
    return sync->live == sync->count;
}

void graph_sync_fini(struct hang *h)
{
    if (!h->syncs)
        return;
    free(h->syncs->syncs);
    free(h->syncs->late);
    free(h->syncs->of);
    free(h->syncs->thread);
    free(h->syncs);
}
