/* SPDX-License-Identifier: BSD-3-Clause */

/* Both collectives take O(log n) messages a member; see agree.h. */
#include "mpi/agree.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "mpi/group.h"
#include "mpi/p2p.h"

enum { VALUES = 4 };

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

/* Send out to one member and receive in from another, len bytes at most both. */
static int exchange(const struct agree *who, int to, const void *out, int from, void *in,
                    size_t len)
{
    struct request *sending, *receiving;
    struct p2p_side there = side(who, to), here = side(who, from);
    int rc = p2p_irecv(&here, in, (MPI_Count)len, MPI_BYTE, &receiving);
    if (rc)
        return rc;
    rc = p2p_isend(&there, out, (MPI_Count)len, MPI_BYTE, &sending);
    int sent = rc ? rc : p2p_finish(sending, MPI_STATUS_IGNORE);
    int received = p2p_finish(receiving, MPI_STATUS_IGNORE);
    return sent ? sent : received;
}

static void maximum(uint32_t *values, const uint32_t *others, int count)
{
    for (int i = 0; i < count; i++)
        if (others[i] > values[i])
            values[i] = others[i];
}

/* Recursive doubling among the first 2^k members. */
static int double_up(const struct agree *who, int me, int power, uint32_t *values, int count)
{
    for (int bit = 1; bit < power; bit *= 2) {
        uint32_t others[VALUES];
        int rc = exchange(who, me ^ bit, values, me ^ bit, others,
                          (size_t)count * sizeof(*values));
        if (rc)
            return rc;
        maximum(values, others, count);
    }
    return MPI_SUCCESS;
}

int agree_max(const struct agree *who, uint32_t *values, int count)
{
    int n = member_count(who), me = my_index(who), power = 1;
    uint32_t others[VALUES];
    while (power <= n / 2)
        power *= 2;
    /* Member power + i stays out: i speaks for it. */
    if (me >= power) {
        struct p2p_side speaker = side(who, me - power);
        int rc = p2p_send(&speaker, values, count, MPI_UINT32_T);
        return rc ? rc : p2p_recv(&speaker, values, count, MPI_UINT32_T, MPI_STATUS_IGNORE);
    }
    bool speaks = me + power < n;
    if (speaks) {
        struct p2p_side silent = side(who, me + power);
        int rc = p2p_recv(&silent, others, count, MPI_UINT32_T, MPI_STATUS_IGNORE);
        if (rc)
            return rc;
        maximum(values, others, count);
    }
    int rc = double_up(who, me, power, values, count);
    if (!rc && speaks) {
        struct p2p_side silent = side(who, me + power);
        rc = p2p_send(&silent, values, count, MPI_UINT32_T);
    }
    return rc;
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
        rc = exchange(who, to, blocks, from, blocks + (size_t)have * size, (size_t)get * size);
        have += get;
    }
    size_t behind = (size_t)(n - me) * size; /* bytes from my block to the end */
    memcpy((char *)all + (size_t)me * size, blocks, behind);
    memcpy(all, blocks + behind, (size_t)me * size);
    free(blocks);
    return rc;
}
