/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreement, by schedules in the place that struct agree names; see agree.h. Each takes O(log n)
 * messages a member.
 *
 * The members of a half are a list of ranks. The exchange of the leaders may fail for the leaders
 * alone; a leader goes on after that, and sends its half the error.
 */
#include "mpi/comm/agree.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/fold.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"

/* ---- waiting for one of two ---- */

struct awaited {
    struct request *first, *second; /* second: or NULL */
    bool is_own; /* the second stands for an event that makes waiting pointless */
};

static bool is_over(void *arg)
{
    struct awaited *a = arg;
    return request_is_complete(a->first) || (a->second && request_is_complete(a->second));
}

static void watch(void *arg, struct sleeper *sleeper)
{
    const struct awaited *a = arg;
    mpid_watch_any(sleeper);
    mpid_watch_request(sleeper, &a->first->dev);
    if (a->second)
        mpid_watch_request(sleeper, &a->second->dev);
}

static void tell(void *arg, struct mpid_wait_report *report)
{
    const struct awaited *a = arg;
    if (a->second)
        mpid_tell_any(report);
    mpid_tell_request(report, &a->first->dev);
    if (a->second && !a->is_own)
        mpid_tell_request(report, &a->second->dev);
}

/* Returns whether the first is complete. */
static bool await(struct awaited a)
{
    static const struct mpid_condition over = {is_over, watch, tell};
    mpid_wait_condition(&over, &a);
    return request_is_complete(a.first);
}

/* One receive names the peer, and so ends with it; the other takes the number of any other process.
 */
int agree_hear(const struct p2p_side *other, int *from, int *word)
{
    struct request *named, *any;
    struct p2p_side anybody = *other;
    MPI_Status status = {.MPI_SOURCE = other->peer};
    int theirs, rc = p2p_irecv(other, word, 1, MPI_INT, &named);
    if (rc)
        return rc;
    anybody.peer = MPI_ANY_SOURCE;
    rc = p2p_irecv(&anybody, &theirs, 1, MPI_INT, &any);
    if (rc) {
        mpid_cancel(&named->dev);
        (void)p2p_finish(named, MPI_STATUS_IGNORE);
        return rc;
    }
    bool is_named = await((struct awaited){named, any, false});
    mpid_cancel(is_named ? &any->dev : &named->dev);
    rc = p2p_finish(named, is_named ? &status : MPI_STATUS_IGNORE);
    int others = p2p_finish(any, is_named ? MPI_STATUS_IGNORE : &status);
    *from = status.MPI_SOURCE;
    if (is_named)
        return rc;
    *word = theirs;
    return others;
}

/* ---- a schedule ---- */

struct agreement {
    struct sched sched;
    const struct agree *who;
    int rank, size; /* in this half */
    struct sched_place half, other;
    int count;    /* of values */
    uint64_t *values, others[AGREE_VALUES], told[AGREE_VALUES + 1];
    const void *mine; /* blocks of bytes, and their lengths */
    void *theirs;
    uint64_t mine_len, their_len;
};

/* Get the ranks in the communicator of a group's members. */
static int *list_ranks(struct sched *s, const struct comm *comm, const struct group *group)
{
    int *ranks = sched_temp(s, group->size * (MPI_Count)sizeof(*ranks));
    for (int i = 0; i < group->size && !s->broken; i++) {
        struct process process = group_process(group, i);
        ranks[i] = group_find(comm->group, &process);
    }
    return ranks;
}

static void begin(struct agreement *a, const struct agree *who)
{
    const struct group *group = who->group;
    const struct p2p_side *other = &who->other;
    a->who = who;
    a->rank = group ? group->rank : who->comm->rank;
    a->size = group ? group->size : who->comm->size;
    a->theirs = NULL;
    a->half = (struct sched_place){who->comm, who->context - who->comm->context, who->tag, NULL};
    if (other->comm)
        a->other = (struct sched_place){other->comm, other->context - other->comm->context,
                                        other->tag, NULL};
    sched_init_at(&a->sched, &a->half, op_from(MPI_MAX));
    if (group)
        a->half.ranks = list_ranks(&a->sched, who->comm, group);
    sched_go(&a->sched, &a->half);
    a->sched.stops = true;
}

static bool leads(const struct agreement *a)
{
    return a->rank == a->who->leader;
}

/* Run the schedule to its end, or to a failure. */
static int run(struct agreement *a)
{
    struct sched *s = &a->sched;
    while (!sched_advance(s)) {
        if (!await((struct awaited){sched_awaited(s)->request, a->who->give_up, true}))
            sched_skip(s, MPI_ERR_PROC_ABORTED);
    }
    return sched_end(s);
}

/* Send the leader's bytes to all members of this half. */
static void append_spread(struct agreement *a, void *bytes, size_t len)
{
    struct coll c = {.rank = a->rank,
                     .size = a->size,
                     .root = a->who->leader,
                     .recv = {.buf = bytes, .count = (MPI_Count)len, .type = MPI_BYTE}};
    sched_go(&a->sched, &a->half);
    coll_bcast_tree(&a->sched, &c);
    sched_wait(&a->sched);
}

/* Exchange with the other leader. Where that fails, go on, to tell this half. */
static void append_exchange(struct agreement *a, const void *out, uint64_t out_len, void *in,
                            uint64_t in_len)
{
    a->sched.stops = false;
    sched_go(&a->sched, &a->other);
    sched_recv(&a->sched, a->who->other.peer, in, (MPI_Count)in_len, MPI_BYTE);
    sched_send(&a->sched, a->who->other.peer, out, (MPI_Count)out_len, MPI_BYTE);
    sched_wait(&a->sched);
}

/* ---- the maximum ---- */

/* Combine the values of both leaders. Behind them stands what failed. */
static int take_others(struct sched *s, void *arg)
{
    struct agreement *a = arg;
    for (int i = 0; i < a->count; i++)
        a->told[i] = s->error || a->values[i] > a->others[i] ? a->values[i] : a->others[i];
    a->told[a->count] = (uint64_t)s->error;
    return MPI_SUCCESS;
}

static int take_told(struct sched *s, void *arg)
{
    struct agreement *a = arg;
    memcpy(a->values, a->told, (size_t)a->count * sizeof(*a->values));
    return (int)a->told[a->count];
}

static int cross(struct sched *s, void *arg)
{
    struct agreement *a = arg;
    size_t len = (size_t)a->count * sizeof(*a->values);
    if (leads(a)) {
        append_exchange(a, a->values, len, a->others, len);
        sched_call(s, take_others, a);
    }
    append_spread(a, a->told, len + sizeof(*a->told));
    sched_call(s, take_told, a);
    return MPI_SUCCESS;
}

int agree_max(const struct agree *who, uint64_t *values, int count)
{
    struct agreement a;
    struct fold f;
    begin(&a, who);
    a.values = values;
    a.count = count;
    fold_init(&f, &a.sched, MPI_IN_PLACE, values, count, MPI_UINT64_T);
    fold_all(&f, a.rank, a.size);
    fold_end(&f);
    sched_wait(&a.sched);
    if (who->bridged)
        sched_call(&a.sched, cross, &a);
    return run(&a);
}

/* ---- blocks ---- */

int agree_gather(const struct agree *who, void *all, size_t size)
{
    struct agreement a;
    struct coll c = {.rank = who->comm->rank,
                     .size = who->comm->size,
                     .send = {.buf = MPI_IN_PLACE},
                     .recv = {.buf = all, .count = (MPI_Count)size, .type = MPI_BYTE}};
    begin(&a, who);
    coll_allgather_bruck(&a.sched, &c);
    return run(&a);
}

enum { TOLD_LEN, TOLD_ERROR, TOLD };

static int make_room(struct agreement *a)
{
    if (a->their_len < PTRDIFF_MAX)
        a->theirs = calloc(1, a->their_len ? (size_t)a->their_len : 1);
    return a->theirs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* All members know how many bytes follow, or why none do. */
static int spread_block(struct sched *s, void *arg)
{
    struct agreement *a = arg;
    if (a->told[TOLD_ERROR])
        return (int)a->told[TOLD_ERROR];
    a->their_len = a->told[TOLD_LEN];
    int rc = leads(a) ? MPI_SUCCESS : make_room(a);
    if (!rc)
        append_spread(a, a->theirs, (size_t)a->their_len);
    return rc;
}

static int spread_length(struct sched *s, void *arg)
{
    struct agreement *a = arg;
    if (leads(a) && !a->told[TOLD_ERROR])
        a->told[TOLD_ERROR] = (uint64_t)s->error;
    a->told[TOLD_LEN] = a->their_len;
    append_spread(a, a->told, TOLD * sizeof(*a->told));
    sched_call(s, spread_block, a);
    return MPI_SUCCESS;
}

static int swap_blocks(struct sched *s, void *arg)
{
    struct agreement *a = arg;
    int rc = s->error ? s->error : make_room(a);
    if (!rc)
        append_exchange(a, a->mine, a->mine_len, a->theirs, a->their_len);
    sched_call(s, spread_length, a);
    return rc;
}

int agree_swap(const struct agree *who, const void *mine, size_t len, void **theirs,
               size_t *their_len)
{
    struct agreement a;
    begin(&a, who);
    a.mine = mine;
    a.mine_len = len;
    a.their_len = 0;
    a.told[TOLD_ERROR] = leads(&a) ? (uint64_t)who->failed : MPI_SUCCESS;
    if (leads(&a) && !who->failed) {
        append_exchange(&a, &a.mine_len, sizeof(a.mine_len), &a.their_len, sizeof(a.their_len));
        sched_call(&a.sched, swap_blocks, &a);
    } else {
        sched_call(&a.sched, spread_length, &a);
    }
    int rc = run(&a);
    if (rc) {
        free(a.theirs);
        return rc;
    }
    *theirs = a.theirs;
    *their_len = (size_t)a.their_len;
    return MPI_SUCCESS;
}
