/* SPDX-License-Identifier: BSD-3-Clause */

/* Collective calls compared across ranks; see checked.h. */
#include "mpi/coll/checked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/call_text.h"
#include "mpi/coll/algorithm.h"
#include "mpi/coll/sched.h"
#include "mpi/known.h"
#include "mpi/request/busy.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type_hash.h"

enum { NO_OP = 0, USER_OP = 64 };

/* What one process calls, as it is sent: numbers in the byte order of the job, which is one. */
struct checked_call {
    struct mpid_call_site site;
    int32_t kind, root, op, rank;
    uint64_t block; /* signature of the data between two processes, or of all; 0: not compared */
    uint64_t given; /* of what this process gives; 0 likewise */
    uint64_t number;
};

struct checked_pair {
    struct checked_call mine, theirs;
};

/* What processes know, as it goes round. */
struct checked_round {
    struct known *mine;
    struct known theirs;
};

/* What this process has heard of those that give what they know, and the buffers that it uses. */
struct checked_end {
    struct known known;
    struct coll c;
    struct mpid_call_site site;
    uint32_t step;
    bool gives, learns;
};

/* ---- the calls ---- */

static uint64_t signature(const struct coll_data *data)
{
    struct type_hash hash = type_hash(type_from(data->type), data->count);
    return (hash.value ^ hash.elements * 0xff51afd7ed558ccdu) | 1;
}

/* Of blocks that differ in length: all processes name the same lengths. */
static uint64_t lengths(const struct coll_data *data, int size)
{
    uint64_t all = 0;
    for (int i = 0; i < size; i++) {
        struct coll_block block = coll_block(data, i);
        all = all * 0x9e3779b97f4a7c15u + (uint64_t)(block.count * coll_size(block.type)) + 1;
    }
    return all | 1;
}

static void describe_data(const struct coll *c, struct checked_call *call)
{
    bool is_root = c->rank == c->root, in_place = c->send.buf == MPI_IN_PLACE;
    switch (c->kind) {
    case COLL_BCAST:
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN: call->block = signature(&c->recv); break;
    case COLL_REDUCE_SCATTER:
        call->block = c->uneven ? lengths(&c->recv, c->size) : signature(&c->recv);
        break;
    case COLL_GATHER:
        if (!c->uneven)
            call->block = signature(is_root ? &c->recv : &c->send);
        break;
    case COLL_SCATTER:
        if (!c->uneven)
            call->block = signature(is_root ? &c->send : &c->recv);
        break;
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
        if (!c->uneven)
            call->block = signature(&c->recv);
        else if (c->kind == COLL_ALLGATHER)
            call->block = lengths(&c->recv, c->size);
        if (!c->uneven && !in_place)
            call->given = signature(&c->send);
        break;
    default: break;
    }
}

static void describe(const struct coll *c, struct checked_call *call, uint64_t number)
{
    memset(call, 0, sizeof(*call));
    mpid_find_site(&call->site);
    call->kind = c->kind;
    call->rank = c->rank;
    call->number = number;
    call->root = -1;
    if (c->comm->remote)
        return;
    if (c->kind == COLL_BCAST || c->kind == COLL_REDUCE || c->kind == COLL_GATHER ||
        c->kind == COLL_SCATTER)
        call->root = c->root;
    if (c->op)
        call->op = c->op->predefined ? c->op->code : USER_OP + c->op->commutative;
    describe_data(c, call);
}

/* ---- the sentences ---- */

/* The difference in words, or NULL. */
static const char *difference(const struct checked_call *a, const struct checked_call *b)
{
    if (a->kind != b->kind ||
        strncmp(a->site.function, b->site.function, sizeof(a->site.function)) != 0)
        return "different collectives, or the same in another order";
    if (a->root != b->root)
        return "different roots";
    if (a->op != b->op)
        return "different operations";
    if (a->block && b->block && a->block != b->block)
        return "different counts or types";
    if ((a->block && b->given && a->block != b->given) ||
        (b->block && a->given && b->block != a->given))
        return "what one sends is not what the other receives";
    return NULL;
}

static int compare(struct sched *s, void *arg)
{
    const struct checked_pair *pair = arg;
    const char *what = difference(&pair->mine, &pair->theirs);
    char mine[CALL_TEXT], theirs[CALL_TEXT], roots[64] = "", text[3 * CALL_TEXT];
    (void)s;
    if (!what)
        return MPI_SUCCESS;
    call_text(mine, pair->mine.rank, &pair->mine.site, &pair->mine.site);
    call_text(theirs, pair->theirs.rank, &pair->theirs.site, &pair->mine.site);
    if (pair->mine.kind == pair->theirs.kind && pair->mine.root != pair->theirs.root)
        snprintf(roots, sizeof(roots), ", %d and %d", pair->theirs.root, pair->mine.root);
    snprintf(text, sizeof(text), "--check: %s, %s, collective %" PRIu64 " of a communicator: %s%s",
             theirs, mine, pair->mine.number, what, roots);
    mpid_abort(MPI_ERR_OTHER & 0xff, text);
}

/* ---- what is known ---- */

static int begin_known(struct sched *s, void *arg)
{
    struct checked_end *end = arg;
    (void)s;
    end->step = known_step();
    if (end->gives)
        end->known = known_now();
    return MPI_SUCCESS;
}

static int hear(struct sched *s, void *arg)
{
    struct checked_round *round = arg;
    (void)s;
    known_join(round->mine, &round->theirs);
    return MPI_SUCCESS;
}

static void touch(const struct checked_end *end, const struct coll_data *data, bool writes, bool blocks)
{
    if (!data->buf || data->buf == MPI_IN_PLACE)
        return;
    for (int i = 0; i < (blocks ? end->c.size : 1); i++) {
        struct coll_block block = {data->buf, data->count, data->type};
        if (blocks)
            block = coll_block(data, i);
        struct busy_place place = {block.buf, block.count, type_placed(block.type), writes};
        busy_claim(&place, &end->site);
        busy_touch(&place, &end->site, end->step);
    }
}

/* The buffers of this process. Those of intercommunicators, of neighbours and of MPI_Reduce_scatter are left out. */
static void touch_all(const struct checked_end *end)
{
    const struct coll *c = &end->c;
    bool is_root = c->rank == c->root;
    if (c->comm->remote)
        return;
    switch (c->kind) {
    case COLL_BCAST: touch(end, &c->recv, !is_root, false); break;
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
        touch(end, &(struct coll_data){.buf = c->send.buf, .count = c->recv.count, .type = c->recv.type},
              false, false);
        if (c->kind != COLL_REDUCE || is_root)
            touch(end, &c->recv, true, false);
        break;
    case COLL_GATHER:
        touch(end, &c->send, false, false);
        if (is_root)
            touch(end, &c->recv, true, true);
        break;
    case COLL_SCATTER:
        if (is_root)
            touch(end, &c->send, false, true);
        touch(end, &c->recv, true, false);
        break;
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
        touch(end, &c->send, false, c->kind == COLL_ALLTOALL);
        touch(end, &c->recv, true, true);
        break;
    default: break;
    }
}

static int end_known(struct sched *s, void *arg)
{
    struct checked_end *end = arg;
    (void)s;
    if (end->learns)
        known_learn(&end->known);
    touch_all(end);
    return MPI_SUCCESS;
}

/* Each process of the other group hears from one of this group. */
static void cross(struct sched *s, const struct coll *c, struct checked_end *end)
{
    int peers = c->comm->peers, from = c->rank % peers;
    struct checked_round *round = sched_temp(s, sizeof(*round));
    if (s->broken)
        return;
    *round = (struct checked_round){.mine = &end->known};
    sched_recv(s, from, &round->theirs, sizeof(round->theirs), MPI_BYTE);
    for (int i = c->rank; i < peers; i += c->size)
        sched_send(s, i, &end->known, sizeof(end->known), MPI_BYTE);
    sched_wait(s);
    sched_call(s, hear, round);
}

/* In each round, everybody hears from one who is twice as far away. */
static void append_known(struct sched *s, const struct coll *c)
{
    bool rooted = !c->comm->remote && (c->kind == COLL_BCAST || c->kind == COLL_SCATTER);
    bool to_root = !c->comm->remote && (c->kind == COLL_REDUCE || c->kind == COLL_GATHER);
    struct checked_end *end = sched_temp(s, sizeof(*end));
    if (s->broken)
        return;
    memset(end, 0, sizeof(*end));
    end->c = *c;
    mpid_find_site(&end->site);
    end->gives = !rooted || c->rank == c->root;
    end->learns = !to_root || c->rank == c->root;
    sched_call(s, begin_known, end);
    if (c->comm->remote)
        sched_over(s, c->comm->local);
    for (int far = 1; far < c->size; far *= 2) {
        struct checked_round *round = sched_temp(s, sizeof(*round));
        if (s->broken)
            return;
        *round = (struct checked_round){.mine = &end->known};
        sched_recv(s, coll_around(c->rank, -far, c->size), &round->theirs, sizeof(round->theirs), MPI_BYTE);
        sched_send(s, coll_around(c->rank, far, c->size), &end->known, sizeof(end->known), MPI_BYTE);
        sched_wait(s);
        sched_call(s, hear, round);
    }
    if (c->comm->remote) {
        sched_over(s, c->comm);
        cross(s, c, end);
    }
    sched_call(s, end_known, end);
}

void checked_append(struct sched *s, const struct coll *c)
{
    int size = c->size, left = coll_around(c->rank, -1, size), right = coll_around(c->rank, 1, size);
    if (size < 2) {
        append_known(s, c);
        return;
    }
    struct checked_pair *pair = sched_temp(s, sizeof(*pair));
    if (s->broken)
        return;
    describe(c, &pair->mine, c->comm->coll_tag);
    if (c->comm->remote)
        sched_over(s, c->comm->local);
    sched_recv(s, left, &pair->theirs, sizeof(pair->theirs), MPI_BYTE);
    sched_send(s, right, &pair->mine, sizeof(pair->mine), MPI_BYTE);
    sched_wait(s);
    sched_call(s, compare, pair);
    if (c->comm->remote)
        sched_over(s, c->comm);
    append_known(s, c);
}
