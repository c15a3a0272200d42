/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreement, by schedules in the place that struct agree names; see agree.h. Each takes O(log n)
 * messages a member.
 *
 * The members of a half are a list of ranks. Of two halves, each agrees by itself, then the leaders
 * exchange the results, and tell their halves. A leader takes part in that even if its half has
 * failed, and says so: the other half would wait for it for ever. If the exchange was good and a
 * member of its half can no longer be told, the leader goes on, and so does the other; the next
 * step then fails for the half.
 */
#include "mpi/coll/agree.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/fold.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/pipe.h"
#include "mpi/known.h"
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

/* Begin a schedule of this half's. */
static void begin(struct agreement *a, const struct agree *who)
{
    const struct group *group = who->group;
    struct sched_place half = {who->comm, who->context - who->comm->context, who->tag, NULL};
    a->who = who;
    a->rank = group ? group->rank : who->comm->rank;
    a->size = group ? group->size : who->comm->size;
    sched_init_at(&a->sched, &half, op_from(MPI_MAX));
    if (group)
        half.ranks = list_ranks(&a->sched, who->comm, group);
    sched_go(&a->sched, &half);
    a->sched.stops = true;
}

static bool leads(const struct agree *who)
{
    return (who->group ? who->group->rank : who->comm->rank) == who->leader;
}

/* Run the schedule to its end, or to a failure. */
static int run(struct sched *s, struct request *give_up)
{
    while (!sched_advance(s)) {
        if (!await((struct awaited){sched_awaited(s)->request, give_up, true}))
            sched_skip(s, MPI_ERR_PROC_ABORTED);
    }
    return sched_end(s);
}

/* ---- two halves ---- */

/* A block as messages carry it. */
static struct coll_data block_of(enum agree_unit unit, const void *block, size_t len)
{
    bool words = unit == AGREE_WORDS;
    return (struct coll_data){.buf = (void *)(uintptr_t)block,
                              .count = (MPI_Count)(words ? len / sizeof(uint64_t) : len),
                              .type = words ? MPI_UINT64_T : MPI_BYTE};
}

/* The leader sends a block to all members of this half. */
static int spread(const struct agree *who, enum agree_unit unit, void *block, size_t len)
{
    struct agreement a;
    begin(&a, who);
    struct coll c = {.rank = a.rank,
                     .size = a.size,
                     .root = who->leader,
                     .recv = block_of(unit, block, len)};
    coll_bcast_tree(&a.sched, &c);
    sched_wait(&a.sched);
    int rc = run(&a.sched, who->give_up);
    return rc == MPI_ERR_PROC_ABORTED && leads(who) ? MPI_SUCCESS : rc;
}

/* Exchange blocks with the other leader. */
static int exchange_blocks(const struct agree *who, enum agree_unit unit, const void *out, size_t out_len, void *in,
                           size_t in_len)
{
    const struct p2p_side *other = &who->other;
    const struct coll_data mine = block_of(unit, out, out_len), theirs = block_of(unit, in, in_len);
    if (who->pipe)
        return pipe_exchange(*who->pipe, out, out_len, in, in_len);
    struct sched_place place = {other->comm, other->context - other->comm->context, other->tag, NULL};
    struct sched s;
    sched_init_at(&s, &place, NULL);
    s.stops = true;
    sched_recv(&s, other->peer, theirs.buf, theirs.count, theirs.type);
    sched_send(&s, other->peer, mine.buf, mine.count, mine.type);
    sched_wait(&s);
    return run(&s, who->give_up);
}

/* A few words, in network byte order: the other leader's job may have another order. */
static int exchange_words(int pipe, const uint64_t *out, uint64_t *in, size_t len)
{
    uint64_t words[AGREE_VALUES + 1] = {0};
    size_t count = len / sizeof(*words);
    for (size_t i = 0; i < count; i++)
        words[i] = htobe64(out[i]);
    int rc = pipe_exchange(pipe, words, len, in, len);
    for (size_t i = 0; i < count; i++)
        in[i] = be64toh(in[i]);
    return rc;
}

/* Exchange words with the other leader. */
static int exchange(const struct agree *who, const uint64_t *out, uint64_t *in, size_t len)
{
    if (who->pipe)
        return exchange_words(*who->pipe, out, in, len);
    return exchange_blocks(who, AGREE_WORDS, out, len, in, len);
}


/* An error class that the other half has sent. */
static int read_class(uint64_t sent)
{
    return sent <= MPI_ERR_LASTCODE ? (int)sent : MPI_ERR_INTERN;
}

/* ---- the maximum ---- */

static int maximum_of_half(const struct agree *who, uint64_t *values, int count)
{
    struct agreement a;
    struct fold f;
    begin(&a, who);
    fold_init(&f, &a.sched, MPI_IN_PLACE, values, count, MPI_UINT64_T);
    fold_all(&f, a.rank, a.size);
    fold_end(&f);
    sched_wait(&a.sched);
    return run(&a.sched, who->give_up);
}

/* The leader combines its half's values with those of the other half. Behind them stands the
 * failure. */
static void combine(const struct agree *who, uint64_t *told, int count)
{
    uint64_t others[AGREE_VALUES + 1];
    size_t len = ((size_t)count + 1) * sizeof(*told);
    int rc = exchange(who, told, others, len);
    for (int i = 0; i < count && !rc; i++)
        if (others[i] > told[i])
            told[i] = others[i];
    if (!told[count])
        told[count] = (uint64_t)(rc ? rc : read_class(others[count]));
}

/* failed: what this half's own agreement has come to. */
static int cross(const struct agree *who, uint64_t *values, int count, int failed)
{
    uint64_t told[AGREE_VALUES + 1];
    memcpy(told, values, (size_t)count * sizeof(*values));
    told[count] = (uint64_t)failed;
    if (leads(who))
        combine(who, told, count);
    else if (failed)
        return failed;
    int rc = spread(who, AGREE_WORDS, told, ((size_t)count + 1) * sizeof(*told));
    if (!rc)
        rc = read_class(told[count]);
    if (!rc)
        memcpy(values, told, (size_t)count * sizeof(*values));
    return rc;
}

int agree_max(const struct agree *who, uint64_t *values, int count)
{
    int rc = maximum_of_half(who, values, count);
    if (known_is_kept)
        known_any();
    return who->bridged ? cross(who, values, count, rc) : rc;
}

/* ---- blocks ---- */

int agree_gather(const struct agree *who, enum agree_unit unit, void *all, size_t size)
{
    struct agreement a;
    struct coll c = {.rank = who->comm->rank,
                     .size = who->comm->size,
                     .send = {.buf = MPI_IN_PLACE},
                     .recv = block_of(unit, all, size)};
    begin(&a, who);
    coll_allgather_bruck(&a.sched, &c);
    int rc = run(&a.sched, who->give_up);
    if (known_is_kept)
        known_any();
    return rc;
}

static void *make_room(uint64_t len)
{
    return len < PTRDIFF_MAX ? calloc(1, len ? (size_t)len : 1) : NULL;
}

/* The leaders exchange their lengths, and then their bytes. */
static int swap_blocks(const struct agree *who, enum agree_unit unit, const void *mine, uint64_t len, void **theirs,
                       uint64_t *their_len)
{
    int rc = exchange(who, &len, their_len, sizeof(len));
    if (rc)
        return rc;
    *theirs = make_room(*their_len);
    if (!*theirs)
        return MPI_ERR_NO_MEM;
    return exchange_blocks(who, unit, mine, len, *theirs, *their_len);
}

enum { TOLD_LEN, TOLD_ERROR, TOLD };

/* All members hear how many bytes follow, or why none do. */
static int spread_block(const struct agree *who, enum agree_unit unit, uint64_t told[TOLD], void **theirs)
{
    int rc = spread(who, AGREE_WORDS, told, TOLD * sizeof(*told));
    if (!rc)
        rc = read_class(told[TOLD_ERROR]);
    if (!rc && !*theirs && !(*theirs = make_room(told[TOLD_LEN])))
        rc = MPI_ERR_NO_MEM;
    return rc ? rc : spread(who, unit, *theirs, (size_t)told[TOLD_LEN]);
}

int agree_swap(const struct agree *who, enum agree_unit unit, const void *mine, size_t len, void **theirs,
               size_t *their_len)
{
    uint64_t told[TOLD] = {0};
    void *got = NULL;
    if (leads(who))
        told[TOLD_ERROR] = (uint64_t)(who->failed
                                          ? who->failed
                                          : swap_blocks(who, unit, mine, len, &got, &told[TOLD_LEN]));
    int rc = spread_block(who, unit, told, &got);
    if (rc) {
        free(got);
        return rc;
    }
    *theirs = got;
    *their_len = (size_t)told[TOLD_LEN];
    return MPI_SUCCESS;
}
