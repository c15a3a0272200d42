/* SPDX-License-Identifier: BSD-3-Clause */

/* All take O(log n) messages a member; see agree.h. */
#include "mpi/comm/agree.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"

static int member_count(const struct agree *who)
{
    return who->group ? who->group->size : who->comm->size;
}

static int my_index(const struct agree *who)
{
    return who->group ? who->group->rank : who->comm->rank;
}

/* The i-th member, as the communicator numbers it. */
static struct p2p_side side(const struct agree *who, int i)
{
    if (who->group) {
        struct process process = group_process(who->group, i);
        i = group_find(who->comm->group, &process);
    }
    return (struct p2p_side){who->comm, who->context, i, who->tag};
}

/* ---- receiving from who may be gone ---- */

enum { LAST_LOOKS = 3 }; /* turns of progress for what a process has sent right before its end */

struct hope {
    struct request *request, *in_vain;
    const struct vc *vc;
    int lost; /* turns since it was */
};

static bool is_over(void *arg)
{
    struct hope *hope = arg;
    if (request_is_complete(hope->request))
        return true;
    if (hope->in_vain && request_is_complete(hope->in_vain))
        return true;
    hope->lost += mpid_is_lost(hope->vc);
    return hope->lost > LAST_LOOKS;
}

static void tell(void *arg, struct mpid_tale *tale)
{
    const struct hope *hope = arg;
    mpid_tell_request(tale, &hope->request->dev);
    if (hope->in_vain)
        mpid_tell_own(tale, &hope->in_vain->dev);
}

/* Who makes a communicator with processes that it shares none with cannot know that one of them
 * has ended: wait for a message from it only as long as it may come. */
static int finish_receive(const struct agree *who, const struct p2p_side *from,
                          struct request *request, MPI_Status *status)
{
    struct hope hope = {request, who ? who->in_vain : NULL, comm_vc(from->comm, from->peer), 0};
    if (!hope.vc)
        return MPI_ERR_NO_MEM;
    if (!request_is_complete(request))
        mpid_wait_telling(is_over, &hope, tell);
    if (request_is_complete(request))
        return p2p_finish(request, status);
    mpid_cancel(&request->dev); /* unless it has come at the last moment */
    int rc = p2p_finish(request, MPI_STATUS_IGNORE);
    return rc ? rc : MPI_ERR_PROC_ABORTED;
}

static int receive(const struct agree *who, const struct p2p_side *from, void *buf,
                   MPI_Count count, MPI_Datatype type)
{
    struct request *request;
    int rc = p2p_irecv(from, buf, count, type, &request);
    return rc ? rc : finish_receive(who, from, request, MPI_STATUS_IGNORE);
}

int agree_hear(const struct p2p_side *other, int *from, int *word)
{
    struct request *request;
    struct p2p_side anybody = *other;
    MPI_Status status = {.MPI_SOURCE = other->peer};
    anybody.peer = MPI_ANY_SOURCE;
    int rc = p2p_irecv(&anybody, word, 1, MPI_INT, &request);
    if (!rc)
        rc = finish_receive(NULL, other, request, &status);
    *from = status.MPI_SOURCE;
    return rc;
}

/* ---- one step ---- */

/* Send out to one side and receive in from another. */
static int exchange(const struct agree *who, const struct p2p_side *there, const void *out,
                    size_t out_len, const struct p2p_side *here, void *in, size_t in_len)
{
    struct request *sending, *receiving;
    int rc = p2p_irecv(here, in, (MPI_Count)in_len, MPI_BYTE, &receiving);
    if (rc)
        return rc;
    rc = p2p_isend(there, out, (MPI_Count)out_len, MPI_BYTE, &sending);
    int sent = rc ? rc : p2p_finish(sending, MPI_STATUS_IGNORE);
    int received = finish_receive(who, here, receiving, MPI_STATUS_IGNORE);
    return sent ? sent : received;
}

/* The same with two members and equal lengths. */
static int exchange_members(const struct agree *who, int to, const void *out, int from, void *in,
                            size_t len)
{
    struct p2p_side there = side(who, to), here = side(who, from);
    return exchange(who, &there, out, len, &here, in, len);
}

/* The leader's bytes to all members of this half, down a binomial tree. */
static int spread(const struct agree *who, void *bytes, size_t len)
{
    int n = member_count(who), me = my_index(who), rc = MPI_SUCCESS;
    int place = me >= who->leader ? me - who->leader : me - who->leader + n;
    int64_t bit = 1;
    while (bit < n && !(place & bit))
        bit *= 2;
    if (place) {
        struct p2p_side up = side(who, (int)((place - bit + who->leader) % n));
        rc = receive(who, &up, bytes, (MPI_Count)len, MPI_BYTE);
    }
    for (bit /= 2; bit && !rc; bit /= 2) {
        if (place >= n - bit)
            continue;
        struct p2p_side down = side(who, (int)((place + bit + who->leader) % n));
        rc = p2p_send(&down, bytes, (MPI_Count)len, MPI_BYTE);
    }
    return rc;
}

/* ---- the maximum ---- */

static void maximum(uint64_t *values, const uint64_t *others, int count)
{
    for (int i = 0; i < count; i++)
        if (others[i] > values[i])
            values[i] = others[i];
}

/* Recursive doubling among the first 2^k members. */
static int double_up(const struct agree *who, int me, int power, uint64_t *values, int count)
{
    for (int bit = 1; bit < power; bit *= 2) {
        uint64_t others[AGREE_VALUES];
        int rc = exchange_members(who, me ^ bit, values, me ^ bit, others,
                                  (size_t)count * sizeof(*values));
        if (rc)
            return rc;
        maximum(values, others, count);
    }
    return MPI_SUCCESS;
}

/* Over this half. */
static int half_max(const struct agree *who, uint64_t *values, int count)
{
    int n = member_count(who), me = my_index(who), power = 1;
    uint64_t others[AGREE_VALUES];
    while (power <= n / 2)
        power *= 2;
    /* Member power + i stays out: i speaks for it. */
    if (me >= power) {
        struct p2p_side speaker = side(who, me - power);
        int rc = p2p_send(&speaker, values, count, MPI_UINT64_T);
        return rc ? rc : receive(who, &speaker, values, count, MPI_UINT64_T);
    }
    bool speaks = me + power < n;
    if (speaks) {
        struct p2p_side silent = side(who, me + power);
        int rc = receive(who, &silent, others, count, MPI_UINT64_T);
        if (rc)
            return rc;
        maximum(values, others, count);
    }
    int rc = double_up(who, me, power, values, count);
    if (!rc && speaks) {
        struct p2p_side silent = side(who, me + power);
        rc = p2p_send(&silent, values, count, MPI_UINT64_T);
    }
    return rc;
}

/* The leader tells its half in any case, be it that it failed. */
int agree_max(const struct agree *who, uint64_t *values, int count)
{
    uint64_t all[AGREE_VALUES + 1], others[AGREE_VALUES];
    size_t len = (size_t)count * sizeof(*values);
    int rc = half_max(who, values, count);
    if (rc || !who->bridged)
        return rc;
    if (my_index(who) == who->leader) {
        rc = exchange(who, &who->other, values, len, &who->other, others, len);
        if (!rc)
            maximum(values, others, count);
    }
    memcpy(all, values, len);
    all[count] = (uint64_t)rc;
    int spreading = spread(who, all, len + sizeof(all[0]));
    memcpy(values, all, len);
    return spreading ? spreading : (int)all[count];
}

/* ---- blocks ---- */

/* What the leaders do. *theirs is NULL unless that succeeds. */
static int swap_leaders(const struct agree *who, const void *mine, uint64_t len, void **theirs,
                        uint64_t *their_len)
{
    const struct p2p_side *other = &who->other;
    int rc = exchange(who, other, &len, sizeof(len), other, their_len, sizeof(*their_len));
    if (rc)
        return rc;
    *theirs = *their_len < PTRDIFF_MAX ? calloc(1, *their_len ? (size_t)*their_len : 1) : NULL;
    if (!*theirs)
        return MPI_ERR_NO_MEM;
    rc = exchange(who, other, mine, (size_t)len, other, *theirs, (size_t)*their_len);
    if (rc) {
        free(*theirs);
        *theirs = NULL;
    }
    return rc;
}

int agree_swap(const struct agree *who, const void *mine, size_t len, void **theirs,
               size_t *their_len)
{
    bool leads = my_index(who) == who->leader;
    uint64_t told[2] = {0, MPI_SUCCESS}; /* the length, and whether the leader failed */
    void *bytes = NULL;
    if (leads)
        told[1] = (uint64_t)(who->failed ? who->failed
                                         : swap_leaders(who, mine, len, &bytes, &told[0]));
    int rc = spread(who, told, sizeof(told));
    if (!rc)
        rc = (int)told[1];
    if (!rc && !leads) {
        bytes = calloc(1, told[0] ? (size_t)told[0] : 1);
        rc = bytes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    if (!rc)
        rc = spread(who, bytes, (size_t)told[0]);
    if (rc) {
        free(bytes);
        return rc;
    }
    *theirs = bytes;
    *their_len = (size_t)told[0];
    return MPI_SUCCESS;
}

/*
 * Each member keeps the blocks rotated, its own first. With have blocks, it gets
 * the first have of the member have further on, which go behind its own.
 */
int agree_gather(const struct agree *who, void *all, size_t size)
{
    int n = member_count(who), me = my_index(who), rc = MPI_SUCCESS;
    if (n == 1)
        return MPI_SUCCESS;
    char *blocks = malloc((size_t)n * size);
    if (!blocks)
        return MPI_ERR_NO_MEM;
    memcpy(blocks, (char *)all + (size_t)me * size, size);
    for (int have = 1; have < n && !rc;) {
        int get = have <= n - have ? have : n - have;
        int to = me - have + (me < have ? n : 0);
        int from = me < n - have ? me + have : me - (n - have);
        rc = exchange_members(who, to, blocks, from, blocks + (size_t)have * size,
                              (size_t)get * size);
        have += get;
    }
    size_t behind = (size_t)(n - me) * size; /* bytes from my block to the end */
    memcpy((char *)all + (size_t)me * size, blocks, behind);
    memcpy(all, blocks + behind, (size_t)me * size);
    free(blocks);
    return rc;
}
