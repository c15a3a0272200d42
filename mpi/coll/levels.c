/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two levels: the processes of each host among themselves, and one of each host, its leader, with
 * the leaders of the others, so that data cross the network once a host. The root leads its host,
 * elsewhere the first rank does, in scans the last. Each part is a collective of its own, whose algorithm is chosen as
 * for any other.
 */
#include <string.h>

#include "mpi/coll/choose.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm_hosts.h"

struct levels {
    struct sched *s;
    const struct coll *c;
    const struct comm_hosts *hosts;
    const int *here;          /* ranks of this process's host */
    int here_count, me, lead; /* of here: how many, this process, the leader */
    int *leaders;             /* [hosts->count] */
};

/* root: -1 if there is none. Returns whether there was memory. */
static bool begin(struct levels *l, struct sched *s, const struct coll *c, int root)
{
    const struct comm_hosts *h = c->hosts;
    const int *here = h->ranks + h->first[h->mine];
    *l = (struct levels){s, c, h, here, h->first[h->mine + 1] - h->first[h->mine], 0, 0, NULL};
    for (int i = 0; i < l->here_count; i++) {
        l->me = here[i] == c->rank ? i : l->me;
        l->lead = here[i] == root ? i : l->lead;
    }
    l->leaders = sched_temp(s, h->count * (MPI_Count)sizeof(*l->leaders));
    if (s->broken)
        return false;
    for (int i = 0; i < h->count; i++)
        l->leaders[i] = root >= 0 && h->host[root] == i ? root : h->ranks[h->first[i]];
    return true;
}

static bool leads(const struct levels *l)
{
    return l->me == l->lead;
}

static int host_size(const struct levels *l, int host)
{
    return l->hosts->first[host + 1] - l->hosts->first[host];
}

/* Append a part of the call, among count ranks; this process is number rank of them. */
static void append(const struct levels *l, struct coll *part, const int *ranks, int count, int rank,
                   coll_fn run)
{
    struct sched_place all = l->s->place, some = all;
    some.ranks = ranks;
    part->comm = l->c->comm;
    part->op = l->c->op;
    part->rank = rank;
    part->size = part->peers = count;
    part->hosts = &comm_hosts_one;
    sched_go(l->s, &some);
    run(l->s, part);
    sched_wait(l->s);
    sched_go(l->s, &all);
}

static void on_host(const struct levels *l, struct coll part)
{
    append(l, &part, l->here, l->here_count, l->me, choose_append);
}

static void among_leaders(const struct levels *l, struct coll part)
{
    if (leads(l))
        append(l, &part, l->leaders, l->hosts->count, l->hosts->mine, choose_append);
}

void coll_barrier_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    struct coll part = {.kind = COLL_BARRIER};
    if (!begin(&l, s, c, -1))
        return;
    append(&l, &part, l.here, l.here_count, l.me, coll_barrier_up);
    among_leaders(&l, part);
    append(&l, &part, l.here, l.here_count, l.me, coll_barrier_down);
}

void coll_bcast_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    struct coll part = {.kind = COLL_BCAST, .recv = c->recv};
    if (!begin(&l, s, c, c->root))
        return;
    part.root = l.hosts->host[c->root];
    among_leaders(&l, part);
    part.root = l.lead;
    on_host(&l, part);
}

/* ---- reductions: where the order counts, hosts have ranks that follow each other ---- */

/* The values of this host, at the leader in result. */
static void reduce_on_host(const struct levels *l, void *result)
{
    struct coll part = {
        .kind = COLL_REDUCE, .root = l->lead, .send = l->c->send, .recv = l->c->recv};
    if (part.send.buf == MPI_IN_PLACE && (!leads(l) || result != part.recv.buf))
        part.send.buf = part.recv.buf;
    part.recv.buf = leads(l) ? result : NULL;
    on_host(l, part);
}

void coll_reduce_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    if (!begin(&l, s, c, c->root))
        return;
    bool is_root = c->rank == c->root;
    struct coll part = {.kind = COLL_REDUCE, .root = l.hosts->host[c->root], .recv = c->recv};
    void *ours = !leads(&l) ? NULL
                 : is_root  ? c->recv.buf
                            : sched_temp_of(s, c->recv.count, c->recv.type);
    reduce_on_host(&l, ours);
    part.send.buf = is_root ? MPI_IN_PLACE : ours;
    among_leaders(&l, part);
}

void coll_allreduce_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    if (!begin(&l, s, c, -1))
        return;
    struct coll part = {.kind = COLL_ALLREDUCE, .recv = c->recv, .send.buf = MPI_IN_PLACE};
    reduce_on_host(&l, c->recv.buf);
    among_leaders(&l, part);
    part = (struct coll){.kind = COLL_BCAST, .recv = c->recv, .root = l.lead};
    on_host(&l, part);
}

/* ---- blocks: they travel packed, host by host ---- */

/* Data of count ranks, in packed blocks of so many bytes. */
static struct coll_data packed(void *base, MPI_Count bytes)
{
    return (struct coll_data){.buf = base, .count = bytes, .type = MPI_BYTE};
}

/* The blocks of the hosts, for the leaders: as many bytes as each host has ranks. */
static struct coll_data packed_hosts(const struct levels *l, char *base, MPI_Count bytes)
{
    int count = l->hosts->count;
    MPI_Count *counts = sched_temp(l->s, count * (MPI_Count)sizeof(*counts));
    MPI_Aint *displs = sched_temp(l->s, count * (MPI_Count)sizeof(*displs));
    for (int i = 0; i < count && !l->s->broken; i++) {
        counts[i] = bytes * host_size(l, i);
        displs[i] = bytes * l->hosts->first[i];
    }
    return (struct coll_data){.buf = base, .counts = counts, .displs = displs, .type = MPI_BYTE};
}

/* Copy the block of the rank at each place between the packed blocks and where the user has them.
 */
static void place_blocks(const struct levels *l, const struct coll_data *user, char *base,
                         MPI_Count bytes, bool pack)
{
    for (int i = 0; i < l->c->size; i++) {
        struct coll_block block = coll_block(user, l->hosts->ranks[i]);
        char *at = base + bytes * i;
        if (pack)
            sched_copy_as(l->s, block.buf, block.count, block.type, at, bytes, MPI_BYTE);
        else
            sched_copy_as(l->s, at, bytes, MPI_BYTE, block.buf, block.count, block.type);
    }
}

/* This process's block, which may be in place in the user's. Returns how long it is. */
static MPI_Count own_block(const struct coll *c, struct coll_data *own)
{
    *own = c->send;
    if (c->send.buf == MPI_IN_PLACE) {
        struct coll_block block = coll_block(&c->recv, c->rank);
        *own = (struct coll_data){.buf = block.buf, .count = block.count, .type = block.type};
    }
    return own->count * coll_size(own->type);
}

/* Have the blocks of all at the leaders, of all hosts or only of that of a root: packed, in the
 * order of hosts. */
static char *collect(const struct levels *l, enum coll_kind kind, const struct coll_data *own,
                     MPI_Count bytes)
{
    struct sched *s = l->s;
    bool gets_all = leads(l) && (kind == COLL_ALLGATHER || l->c->rank == l->c->root);
    char *all = gets_all ? sched_temp(s, bytes * l->c->size) : NULL;
    char *ours = gets_all   ? all + bytes * l->hosts->first[l->hosts->mine]
                 : leads(l) ? sched_temp(s, bytes * l->here_count)
                            : NULL;
    struct coll part = {.kind = COLL_GATHER, .root = l->lead, .send = *own};
    part.recv = packed(ours, bytes);
    on_host(l, part);
    part = (struct coll){.kind = kind, .uneven = true};
    part.root = kind == COLL_GATHER ? l->hosts->host[l->c->root] : 0;
    part.send =
        gets_all ? (struct coll_data){.buf = MPI_IN_PLACE} : packed(ours, bytes * l->here_count);
    part.recv = packed_hosts(l, all, bytes);
    if (!s->broken)
        among_leaders(l, part);
    return all;
}

void coll_allgather_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    struct coll_data own;
    MPI_Count bytes = own_block(c, &own);
    if (!begin(&l, s, c, -1))
        return;
    char *all = collect(&l, COLL_ALLGATHER, &own, bytes);
    if (!all)
        all = sched_temp(s, bytes * c->size);
    struct coll part = {.kind = COLL_BCAST, .root = l.lead};
    part.recv = packed(all, bytes * c->size);
    if (s->broken)
        return;
    on_host(&l, part);
    place_blocks(&l, &c->recv, all, bytes, false);
}

void coll_gather_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    struct coll_data own;
    MPI_Count bytes = own_block(c, &own);
    if (!begin(&l, s, c, c->root))
        return;
    char *all = collect(&l, COLL_GATHER, &own, bytes);
    if (all && !s->broken)
        place_blocks(&l, &c->recv, all, bytes, false);
}

void coll_scatter_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    bool is_root = c->rank == c->root;
    const struct coll_data *data = is_root ? &c->send : &c->recv;
    MPI_Count bytes = data->count * coll_size(data->type);
    if (!begin(&l, s, c, c->root))
        return;
    char *all = is_root ? sched_temp(s, bytes * c->size) : NULL;
    char *ours = is_root     ? all + bytes * l.hosts->first[l.hosts->mine]
                 : leads(&l) ? sched_temp(s, bytes * l.here_count)
                             : NULL;
    if (is_root && !s->broken)
        place_blocks(&l, &c->send, all, bytes, true);
    struct coll part = {.kind = COLL_SCATTER, .uneven = true, .root = l.hosts->host[c->root]};
    part.send = packed_hosts(&l, all, bytes);
    part.recv =
        is_root ? (struct coll_data){.buf = MPI_IN_PLACE} : packed(ours, bytes * l.here_count);
    if (s->broken)
        return;
    among_leaders(&l, part);
    part = (struct coll){.kind = COLL_SCATTER, .root = l.lead, .recv = c->recv};
    part.send = packed(ours, bytes);
    on_host(&l, part);
}

/* ---- alltoall: one message from each host to each other ---- */

/* Bytes of what all of this host have for each other host, or get from it, in the order of hosts. */
static struct coll_data exchanged(const struct levels *l, char *base, MPI_Count bytes)
{
    return packed_hosts(l, base, bytes * l->here_count);
}

/* Reorder blocks. One side orders them by rank here, then by any rank; the other by host, and
 * within the blocks that a host gets by sender, then by receiver. */
static void turn(const struct levels *l, char *by_rank, char *by_host, MPI_Count bytes, bool to_hosts)
{
    const struct comm_hosts *h = l->hosts;
    for (int host = 0; host < h->count; host++) {
        MPI_Count at = bytes * l->here_count * h->first[host];
        for (int i = 0; i < l->here_count; i++) {
            for (int k = 0; k < host_size(l, host); k++) {
                MPI_Count place = to_hosts ? i * host_size(l, host) + k : k * l->here_count + i;
                char *one = by_rank + bytes * ((MPI_Count)i * l->c->size + h->ranks[h->first[host] + k]);
                char *other = by_host + at + bytes * place;
                sched_copy(l->s, to_hosts ? one : other, to_hosts ? other : one, bytes, MPI_BYTE);
            }
        }
    }
}

static bool are_hosts_equal(const struct levels *l)
{
    bool are_equal = true;
    for (int host = 0; host < l->hosts->count; host++)
        are_equal &= host_size(l, host) == l->here_count;
    return are_equal;
}

/* Hosts of as many ranks exchange blocks of one size: if these are tiny they go through others, so that a leader has
 * few peers. */
static void exchange_hosts(const struct levels *l, char *out, char *in, MPI_Count bytes)
{
    bool are_equal = are_hosts_equal(l);
    MPI_Count each = bytes * l->here_count * l->here_count;
    struct coll part = {.kind = COLL_ALLTOALL, .uneven = !are_equal};
    part.send = are_equal ? packed(out, each) : exchanged(l, out, bytes);
    part.recv = are_equal ? packed(in, each) : exchanged(l, in, bytes);
    if (!l->s->broken)
        among_leaders(l, part);
}

void coll_alltoall_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    const struct coll_data *mine = c->send.buf == MPI_IN_PLACE ? &c->recv : &c->send;
    MPI_Count bytes = mine->count * coll_size(mine->type), each = bytes * c->size;
    if (!begin(&l, s, c, -1))
        return;
    char *by_rank = leads(&l) ? sched_temp(s, each * l.here_count) : NULL;
    char *out = leads(&l) ? sched_temp(s, each * l.here_count) : NULL;
    char *in = leads(&l) ? sched_temp(s, each * l.here_count) : NULL;
    struct coll part = {.kind = COLL_GATHER, .root = l.lead, .send = *mine};
    part.send.count = mine->count * c->size;
    part.recv = packed(by_rank, each);
    on_host(&l, part);
    if (s->broken)
        return;
    if (leads(&l))
        turn(&l, by_rank, out, bytes, true);
    exchange_hosts(&l, out, in, bytes);
    if (s->broken)
        return;
    if (leads(&l))
        turn(&l, by_rank, in, bytes, false);
    part = (struct coll){.kind = COLL_SCATTER, .root = l.lead, .recv = c->recv};
    part.recv.count = c->recv.count * c->size;
    part.send = packed(by_rank, each);
    on_host(&l, part);
}

/* ---- reduce_scatter ---- */

static MPI_Count count_of(const struct coll *c, int rank)
{
    return c->recv.counts ? c->recv.counts[rank] : c->recv.count;
}

/* The blocks of the vector at from, which are in the order of ranks, in the order of hosts. */
static void sort_blocks(const struct levels *l, char *from, char *to)
{
    const struct coll *c = l->c;
    MPI_Count *start = sched_temp(l->s, c->size * (MPI_Count)sizeof(*start)), at = 0;
    for (int i = 0; i < c->size && !l->s->broken; i++) {
        start[i] = at;
        at += count_of(c, i);
    }
    at = 0;
    for (int i = 0; i < c->size && !l->s->broken; i++) {
        int rank = l->hosts->ranks[i];
        sched_copy(l->s, coll_at(from, start[rank], c->recv.type), coll_at(to, at, c->recv.type),
                   count_of(c, rank), c->recv.type);
        at += count_of(c, rank);
    }
}

/* How many elements the ranks at these places have; where each begins after the first, too. */
static struct coll_data blocks_of(const struct levels *l, void *base, int count, const int *first)
{
    MPI_Count *counts = sched_temp(l->s, count * (MPI_Count)sizeof(*counts)), at = 0;
    MPI_Aint *displs = sched_temp(l->s, count * (MPI_Count)sizeof(*displs));
    for (int i = 0; i < count && !l->s->broken; i++) {
        counts[i] = 0;
        displs[i] = (MPI_Aint)at;
        for (int k = first[i]; k < first[i + 1]; k++)
            counts[i] += count_of(l->c, l->hosts->ranks[k]);
        at += counts[i];
    }
    return (struct coll_data){
        .buf = base, .counts = counts, .displs = displs, .type = l->c->recv.type};
}

void coll_reduce_scatter_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    MPI_Count all = 0, ours = 0;
    MPI_Datatype type = c->recv.type;
    if (!begin(&l, s, c, -1))
        return;
    for (int i = 0; i < c->size; i++) {
        all += count_of(c, i);
        ours += l.hosts->host[i] == l.hosts->mine ? count_of(c, i) : 0;
    }
    char *sum = leads(&l) ? sched_temp_of(s, all, type) : NULL, *sorted = sum;
    struct coll part = {.kind = COLL_REDUCE, .root = l.lead, .send = c->send};
    if (c->send.buf == MPI_IN_PLACE)
        part.send.buf = c->recv.buf;
    part.recv = (struct coll_data){.buf = sum, .count = all, .type = type};
    on_host(&l, part);
    if (leads(&l) && !l.hosts->in_order) {
        sorted = sched_temp_of(s, all, type);
        sort_blocks(&l, sum, sorted);
    }
    char *result = leads(&l) ? sched_temp_of(s, ours, type) : NULL;
    part = (struct coll){.kind = COLL_REDUCE_SCATTER, .uneven = true, .send.buf = sorted};
    part.recv = blocks_of(&l, result, l.hosts->count, l.hosts->first);
    if (s->broken)
        return;
    among_leaders(&l, part);
    int *places = sched_temp(s, ((MPI_Count)l.here_count + 1) * (MPI_Count)sizeof(*places));
    for (int i = 0; i <= l.here_count && !s->broken; i++)
        places[i] = l.hosts->first[l.hosts->mine] + i;
    if (s->broken)
        return;
    part = (struct coll){.kind = COLL_SCATTER, .uneven = true, .root = l.lead};
    part.send = blocks_of(&l, result, l.here_count, places);
    part.recv = (struct coll_data){
        .buf = c->recv.buf, .count = count_of(c, c->rank), .type = type};
    if (!s->broken)
        on_host(&l, part);
}

/* ---- scans: hosts have ranks that follow each other, and the last one leads ---- */

/* Leaders hold the result of each host. Put the result of all hosts before ours in front of our
 * own, which is empty for the first rank of an exscan. */
static void put_before(struct levels *l, const void *sum, bool has_value)
{
    const struct coll_data *data = &l->c->recv;
    void *before = sched_temp_of(l->s, data->count, data->type);
    struct coll part = {.kind = COLL_EXSCAN, .send.buf = (void *)(uintptr_t)sum, .recv = *data};
    part.recv.buf = before;
    if (l->s->broken)
        return;
    among_leaders(l, part);
    if (l->hosts->mine == 0)
        return;
    part = (struct coll){.kind = COLL_BCAST, .root = l->lead, .recv = part.recv};
    on_host(l, part);
    if (has_value)
        sched_reduce(l->s, before, data->buf, data->count, data->type);
    else
        sched_copy(l->s, before, data->buf, data->count, data->type);
}

static bool begin_scan(struct levels *l, struct sched *s, const struct coll *c)
{
    if (!begin(l, s, c, -1))
        return false;
    l->lead = l->here_count - 1;
    for (int i = 0; i < l->hosts->count; i++)
        l->leaders[i] = l->hosts->ranks[l->hosts->first[i + 1] - 1];
    return true;
}

void coll_scan_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    struct coll part = {.kind = COLL_SCAN, .send = c->send, .recv = c->recv};
    if (!begin_scan(&l, s, c))
        return;
    on_host(&l, part);
    put_before(&l, c->recv.buf, true);
}

void coll_exscan_hosts(struct sched *s, const struct coll *c)
{
    struct levels l;
    const struct coll_data *data = &c->recv;
    struct coll part = {.kind = COLL_EXSCAN, .send = c->send, .recv = c->recv};
    if (!begin_scan(&l, s, c))
        return;
    void *sum = leads(&l) ? sched_temp_of(s, data->count, data->type) : NULL;
    if (leads(&l))
        sched_copy(s, c->send.buf == MPI_IN_PLACE ? data->buf : c->send.buf, sum, data->count,
                   data->type);
    on_host(&l, part);
    if (leads(&l) && l.me > 0)
        sched_reduce(s, data->buf, sum, data->count, data->type);
    put_before(&l, sum, l.me > 0);
}
