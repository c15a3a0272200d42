/* SPDX-License-Identifier: BSD-3-Clause */

/* The region of a communicator: made, and which collectives go through it; see region.h. */
#include "mpi/region/region.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/coll/agree.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/world.h"
#include "os/cpu/cpus.h"
#include "os/net/peer.h"
#include "os/random.h"
#include "os/settings.h"
#include "os/turn.h"

enum {
    PAGE = 4096,
    SPACE = 16 << 20, /* bytes of a region, as far as that leaves chunks */
    FEW = 8,          /* members who look at each other's words */
    SHELVES = 2 << 20, /* the same of its shelves, which only the first in a memory has */
    LEAST_SHELF = 512, /* bytes of one: less is not worth it */
    LINE = 128,        /* bytes that processors fetch together */
    LEAST_PIECE = 64, /* bytes of a part that has a piece for each member */
    LONG_PIECE = 4096, /* of a chunk for each member: if shorter, long blocks are faster pulled */
    LANES = 2,        /* regions in one memory, at most */
    LONG_MEMORIES = 4 /* with long chunks, of a process, at most: the room of all is bounded */
};

/* In each communicator. */
struct of_comm {
    struct region *blocking, *nonblocking; /* NULL: none, or not yet */
};

/* Offsets of these in a communicator, and of struct region in a struct mpid_region. */
static struct {
    int comm, region;
} space;

/* Others read this number to see that they read this process. It is random, and made with the first region; 0 is
 * believed of no process. */
static _Atomic uint64_t proof; /* alone: what agree() tells orders the rest */

/* Memories with long chunks that this process has made, and uses. */
static _Atomic int long_memories;

int region_reserve(void)
{
    comm_at_end = region_end;
    space.comm = mpid_space_reserve(MPID_SPACE_COMM, sizeof(struct of_comm), _Alignof(struct of_comm));
    space.region = mpid_space_reserve(MPID_SPACE_REGION, LANES * sizeof(struct region),
                                      _Alignof(struct region));
    return space.comm < 0 ? space.comm : space.region < 0 ? space.region : 0;
}

static inline struct of_comm *of_comm(const struct comm *comm)
{
    return (struct of_comm *)((uintptr_t)comm + (size_t)space.comm);
}

/* Elements lie in regions as in memory, and others turn what they send: a job of network order has none. All members of a
 * communicator decide alike, wherever they are. */
static int64_t region_after(void)
{
    return os_turn_network ? 0 : os_setting(OS_SETTING_REGION_AFTER);
}

/* ---- layout ---- */

static size_t shelves_at(int size)
{
    size_t at = sizeof(struct region_head) + (size_t)size * sizeof(struct region_member);
    return (at + PAGE - 1) / PAGE * PAGE;
}

/* Bytes of a shelf of so many members, or 0 if there is too little room. */
static uint32_t plan_shelf(int size)
{
    size_t room = SHELVES / ((size_t)size * REGION_PLACES) / LINE * LINE;
    return room >= LEAST_SHELF ? (uint32_t)(room < REGION_SHELF ? room : REGION_SHELF) : 0;
}

/* Bytes of a chunk, for parts of so many: whole pages, at most so many, as far as there is room for them. */
static uint32_t plan_chunk(int size, size_t part, size_t limit)
{
    size_t room = SPACE / ((size_t)size * REGION_DEPTH) / PAGE * PAGE;
    size_t most = room < limit ? room : limit;
    return (uint32_t)(part >= most ? most : part / PAGE * PAGE + PAGE);
}

static size_t shelf_bytes(int size, uint32_t shelf)
{
    return (size_t)size * REGION_PLACES * shelf;
}

static size_t region_bytes(int size, uint32_t shelf, uint32_t chunk)
{
    return shelves_at(size) + shelf_bytes(size, shelf) + (size_t)size * REGION_DEPTH * chunk;
}

static size_t memory_bytes(int size, int lanes, uint32_t shelf, uint32_t chunk)
{
    size_t blocking = region_bytes(size, shelf, chunk);
    return lanes == 1 ? blocking
                      : blocking + region_bytes(size, 0, chunk) + REGION_AHEAD * sizeof(struct region_sync);
}

/* ---- limits ---- */

/*
 * The most bytes of a call that go through places and chunks: for two ranks with processors of
 * their own, for more such ranks, and for ranks that outnumber processors. Bytes are those of the
 * whole buffer in bcast, reductions and scans, and of one block in other calls. In those that have
 * pieces, the members' blocks share a part. Of longer data two ranks copy less by messages, or by
 * pulling (region_pull.c), which need no place between. But with long chunks most data go through
 * these: they leave a processor's own cache, and the shared cache gives them to another processor
 * faster. With more ranks than processors a giver goes on through chunks, where a long message or a
 * pull has it wait until the others have had a processor. But if a chunk holds only a short piece
 * of each long block, as with many ranks, all take turns at every piece: such blocks are pulled.
 */
enum { K = 1 << 10, M = 1 << 20, MOST = REGION_ELSEWHERE - 1 };
static const struct region_row {
    region_fn prepare;
    bool pieces;
    int32_t two, more, crowded;
    int32_t two_long; /* instead of two, with long chunks */
    bool pulled;  /* longer blocks, between two */
    int32_t short_pieces; /* instead of crowded, if a chunk has short pieces; 0: longer blocks are
                           * not pulled */
} rows[COLL_KINDS] = {
    [COLL_BARRIER] = {region_meet, false, 0, 0, 0, 0, false, 0},
    [COLL_BCAST] = {region_bcast, false, 8 * K, M, 4 * M, MOST, false, 0},
    [COLL_REDUCE] = {region_reduce, false, 16 * K, M, 4 * M, MOST, false, 0},
    [COLL_ALLREDUCE] = {region_allreduce, false, 64 * K, M, 4 * M, MOST, false, 0},
    [COLL_GATHER] = {region_gather, false, 8 * K, 64 * K, M, MOST, false, 0},
    [COLL_SCATTER] = {region_scatter, false, 8 * K, 64 * K, M, MOST, false, 0},
    [COLL_ALLGATHER] = {region_allgather, false, 32 * K, M, M, MOST, true, 0},
    [COLL_ALLTOALL] = {region_alltoall, true, 8 * K, 16 * K, 4 * M, MOST, true, 64 * K},
    [COLL_REDUCE_SCATTER] = {region_reduce_scatter, true, 32 * K, 64 * K, M, 64 * K, false, 0},
    [COLL_SCAN] = {region_scan, false, 16 * K, 64 * K, 4 * M, MOST, false, 0},
    [COLL_EXSCAN] = {region_scan, false, 16 * K, 64 * K, 4 * M, MOST, false, 0},
};

static bool pulls_long(const struct region *r, const struct region_row *row)
{
    return r->size == 2 ? row->pulled && !r->crowded : r->crowded && row->short_pieces;
}

static void set_limits(struct region *r)
{
    for (int i = 0; i < COLL_KINDS; i++) {
        const struct region_row *row = &rows[i];
        int32_t of_two = r->long_chunks ? row->two_long : row->two;
        r->most[i] = r->crowded ? row->crowded : r->size == 2 ? of_two : row->more;
        if (r->crowded && row->short_pieces && r->chunk / (uint32_t)r->size < LONG_PIECE)
            r->most[i] = row->short_pieces;
    }
}

/* ---- making one ---- */

static bool all_near(const struct comm *comm)
{
    for (int i = 0; i < comm->size; i++) {
        struct process process = group_process(comm->group, i);
        if (!mpid_is_near(&process.gid, process.rank))
            return false;
    }
    return true;
}

/* Bids that members tell each other; the maximum counts. */
enum { BID_CANNOT, BID_FENCED, BID_CROWDED, BID_APART, BID_WHERE, BID_SHELF, BID_CHUNK, BID_CALL, BID_CALL_TOO, BIDS };

/* Findings that each tells when it has the memory. */
enum { FOUND_NOT, FOUND_APART, FOUNDS };

static void init(struct region *r, struct mpid_region *memory, unsigned char *base, uint32_t shelf,
                 struct comm *comm, const uint64_t *bids)
{
    uint32_t chunk = (uint32_t)bids[BID_CHUNK];
    r->misfit.peer = -1;
    r->comm = comm;
    r->memory = memory;
    r->head = (struct region_head *)base;
    r->members = (struct region_member *)(r->head + 1);
    r->sync = &r->head->sync;
    r->tally = r->tallies;
    r->shelves = base + shelves_at(comm->size);
    r->chunks = r->shelves + shelf_bytes(comm->size, shelf);
    r->syncs = (struct region_sync *)(void *)(base + region_bytes(comm->size, shelf, chunk));
    r->shelf = shelf ? shelf : REGION_SMALL;
    r->chunk = chunk;
    r->rank = comm->rank;
    r->size = comm->size;
    r->stranger = -1;
    r->crowded = bids[BID_CROWDED];
    r->behind = r->size == world_facts.local_ranks ? 0 : -1;
    r->counts = comm->size > FEW || (comm->size > 2 && r->crowded);
    r->fenced = bids[BID_FENCED];
    r->pulls = !bids[BID_APART];
    r->long_chunks = r->size == 2 && !r->crowded && chunk > REGION_CHUNK;
    set_limits(r);
}

/* ---- reading each other's memory ---- */

static struct region_member *members_of(unsigned char *base)
{
    return (struct region_member *)(void *)((struct region_head *)(void *)base + 1);
}

/* The number of this process; threads that come at once agree on one. */
static uint64_t own_proof(void)
{
    uint64_t random = 0, none = 0;
    if (!atomic_load(&proof) && !os_random(&random, sizeof(random)))
        atomic_compare_exchange_strong(&proof, &none, random);
    return atomic_load(&proof);
}

/* Where others try whether they read the memory of this process, in each region of a memory. */
static void introduce(int rank, unsigned char *base, int lanes, size_t first)
{
    struct region_owner owner = {own_proof(), (uint64_t)(uintptr_t)&proof, getpid()};
    for (int i = 0; i < lanes; i++)
        members_of(base + (size_t)i * first)[rank].owner = owner;
}

/* Whether that works, with every other member. */
static bool reads_all(const struct comm *comm, unsigned char *base)
{
    for (int i = 0; i < comm->size; i++) {
        struct region_owner owner = members_of(base)[i].owner;
        uint64_t found;
        if (i == comm->rank)
            continue;
        if (!owner.proof || os_peer_read((pid_t)owner.pid, &found, owner.proof_at, sizeof(found)) ||
            found != owner.proof)
            return false;
    }
    return true;
}

static int agree(struct comm *comm, uint64_t *values, int count)
{
    struct agree who = {.comm = comm,
                        .context = comm->context + CONTEXT_COLL,
                        .tag = (int)(comm->coll_tag % COMM_AGREE_TAG)};
    comm_count(comm, comm->coll_tag + 1);
    return agree_max(&who, values, count);
}

/* Make memory at the first member: with long chunks if more of these may come, or with shelves, as
 * far as there is room for them. */
static struct mpid_region *make_memory(const struct comm *comm, int lanes, size_t part, uint64_t *bids)
{
    struct mpid_region *memory = NULL;
    bool may_be_long = comm->size == 2 && !bids[BID_CROWDED] && atomic_load(&long_memories) < LONG_MEMORIES;
    uint32_t shelf = bids[BID_CROWDED] && lanes == LANES ? plan_shelf(comm->size) : 0;
    for (bool more = may_be_long || shelf; !memory; more = false) {
        uint32_t chunk = plan_chunk(comm->size, part, more && may_be_long ? REGION_CHUNK_OF_TWO : REGION_CHUNK);
        shelf = more ? shelf : 0;
        size_t size = memory_bytes(comm->size, lanes, shelf, chunk);
        bids[BID_SHELF] = shelf;
        bids[BID_CHUNK] = chunk;
        bids[BID_CANNOT] = mpid_region_create(size, (uint32_t)comm->size, &memory, &bids[BID_WHERE]) != 0;
        if (bids[BID_CANNOT] && !more)
            return NULL;
    }
    return memory;
}

/* This member uses a memory no more. */
static void leave_memory(const struct region *r)
{
    if (r->rank == 0 && r->chunk > REGION_CHUNK)
        atomic_fetch_sub(&long_memories, 1);
    mpid_region_close(r->memory, 1);
}

/* What a member wants memory for. */
struct wish {
    int lanes;   /* regions in it */
    size_t part; /* bytes of a part */
    struct coll *c; /* the call that it is for; NULL: it is for all that come */
    int64_t bytes;  /* its length; -1: at this member it does not go through a region */
};

/* Bid on a call: with a word and its complement, the greatest of both tell whether all have made the same. */
static void bid_call(const struct wish *wish, uint64_t *bids)
{
    uint64_t call = (uint64_t)wish->c->kind << REGION_CALL_KIND | (uint64_t)wish->bytes;
    bids[BID_CANNOT] |= wish->bytes < 0;
    bids[BID_CALL] = call;
    bids[BID_CALL_TOO] = ~call;
}

/* After all have bid. Members that follow their root (region_cycle.c) may differ; but of two, one might lack long
 * chunks for its call. */
static void compare_calls(struct coll *c, uint64_t *bids)
{
    c->unlike = bids[BID_CALL] != ~bids[BID_CALL_TOO];
    if (c->unlike && (c->size == 2 || (c->kind != COLL_BCAST && c->kind != COLL_SCATTER)))
        bids[BID_CANNOT] = true;
}

/* The first member makes memory. Returns an error class: then some members may have it open, so it must stay until the
 * job ends. */
static int make(struct comm *comm, const struct wish *wish, struct region **made)
{
    int lanes = wish->lanes;
    struct mpid_region *memory = NULL;
    uint64_t bids[BIDS] = {0}, found[FOUNDS] = {0};
    bids[BID_CANNOT] = comm->size > REGION_MEMBERS || !all_near(comm);
    bids[BID_FENCED] = os_heavy_fence_register() != 0;
    bids[BID_CROWDED] = world_facts.local_ranks > world_facts.cpus;
    bids[BID_APART] = !os_setting(OS_SETTING_SINGLE_COPY);
    if (wish->c)
        bid_call(wish, bids);
    if (comm->rank == 0 && !bids[BID_CANNOT])
        memory = make_memory(comm, lanes, wish->part, bids);
    int rc = agree(comm, bids, BIDS);
    if (wish->c)
        compare_calls(wish->c, bids);
    uint32_t chunk = (uint32_t)bids[BID_CHUNK];
    uint32_t shelf = (uint32_t)bids[BID_SHELF];
    size_t first = region_bytes(comm->size, shelf, chunk), size = memory_bytes(comm->size, lanes, shelf, chunk);
    if (!rc && bids[BID_CANNOT])
        mpid_region_close(memory, (uint32_t)comm->size);
    if (rc || bids[BID_CANNOT])
        return rc;
    if (comm->rank) {
        struct process owner = group_process(comm->group, 0);
        found[FOUND_NOT] =
            mpid_region_open(&owner.gid, owner.rank, bids[BID_WHERE], size, &memory) != 0;
    }
    unsigned char *base = found[FOUND_NOT] ? NULL : mpid_region_memory(memory);
    if (base)
        introduce(comm->rank, base, lanes, first);
    rc = agree(comm, &found[FOUND_NOT], 1);
    if (!rc && !found[FOUND_NOT]) {
        found[FOUND_APART] = bids[BID_APART] || !reads_all(comm, base);
        rc = bids[BID_APART] ? MPI_SUCCESS : agree(comm, &found[FOUND_APART], 1);
    }
    if (rc || found[FOUND_NOT]) {
        mpid_region_close(memory, 1);
        return rc;
    }
    bids[BID_APART] = found[FOUND_APART];
    *made = mpid_region_space(memory, space.region);
    for (int i = 0; i < lanes; i++)
        init(*made + i, memory, base + (size_t)i * first, i ? 0 : shelf, comm, bids);
    if (comm->rank == 0 && chunk > REGION_CHUNK)
        atomic_fetch_add(&long_memories, 1);
    return MPI_SUCCESS;
}

/* Make it now; after a failure it is never tried again. Returns MPI_SUCCESS or an error class. */
static __attribute__((noinline)) int create(struct comm *comm)
{
    struct of_comm *of = of_comm(comm);
    comm->no_region = true; /* meanwhile, too */
    int rc = make(comm, &(struct wish){.lanes = LANES, .part = SPACE}, &of->blocking);
    of->nonblocking = of->blocking ? of->blocking + 1 : NULL;
    comm->no_region = !of->blocking;
    return rc;
}

/* A task that is still on its way goes on looking at the region: it stays until the job ends. */
void region_end(struct comm *comm)
{
    const struct of_comm *of = of_comm(comm);
    if (of->blocking && !of->nonblocking->tasks)
        leave_memory(of->blocking);
}

struct region *region_of_nonblocking(const struct comm *comm)
{
    return of_comm(comm)->nonblocking;
}

void region_destroy(struct region *r)
{
    if (r)
        leave_memory(r);
}

/* ---- running ---- */

/* Bytes of the longest block. */
static int64_t longest(const struct region *r, const struct coll_data *data)
{
    MPI_Count most = 0;
    for (int i = 0; i < r->size; i++)
        most = data->counts[i] > most ? data->counts[i] : most;
    return most * coll_size(data->type);
}

/* Bytes of a call that moves data; -1: not all members know them. */
static __attribute__((noinline)) int64_t moved_bytes(const struct region *r, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    bool is_root = r->rank == c->root;
    if (c->uneven)
        return c->kind == COLL_ALLGATHER ? longest(r, data) : -1;
    if ((c->kind == COLL_GATHER && !is_root) || (c->kind == COLL_SCATTER && is_root))
        data = &c->send;
    int64_t bytes = type_constant_bytes(data->type, data->count);
    return bytes >= 0 ? bytes : data->count * coll_size(data->type);
}

/* Bytes as the table counts them, which all members find alike; -1: there are none such, or
 * elements with gaps, or of a derived type, are to be reduced. */
static inline int64_t bytes_of(const struct region *r, const struct coll *c)
{
    if (c->op && !c->uneven)
        return type_constant_bytes(c->recv.type, c->recv.count);
    return rows[c->kind].prepare && !c->op ? moved_bytes(r, c) : -1;
}

static bool has_pieces(const struct region *r, int64_t bytes)
{
    return bytes * r->size <= REGION_SMALL || r->chunk / (uint32_t)r->size >= LEAST_PIECE;
}

/* How calls go that are longer than the table has, or of lengths that not all members know: pulled, or by messages,
 * which between two are as fast for the latter. */
static __attribute__((noinline)) region_fn choose_longer(const struct region *r,
                                                          const struct coll *c, int64_t *counted)
{
    const struct region_row *row = &rows[c->kind];
    bool is_pulled = c->uneven ? r->size > 2 : pulls_long(r, row);
    size_t list = (size_t)r->size * 2 * sizeof(uint64_t);
    if (!r->pulls || !is_pulled || !row->prepare || c->op || list > r->chunk / 2)
        return NULL;
    *counted = c->uneven ? 0 : *counted % (1 << REGION_CALL_KIND);
    return region_pull;
}

static inline __attribute__((always_inline)) region_fn
choose(const struct region *r, const struct coll *c, int64_t *counted)
{
    const struct region_row *row = &rows[c->kind];
    *counted = 0;
    if (c->kind == COLL_BARRIER)
        return row->prepare;
    int64_t bytes = bytes_of(r, c);
    *counted = bytes;
    if (bytes < 0 || bytes > r->most[c->kind] || (row->pieces && !has_pieces(r, bytes)))
        return choose_longer(r, c, counted);
    return bytes <= REGION_SMALL || r->chunk ? row->prepare : NULL;
}

region_fn region_choose(const struct region *r, const struct coll *c, int64_t *bytes)
{
    return choose(r, c, bytes);
}

static bool is_time(const struct comm *comm)
{
    int64_t after = region_after();
    return after > 0 && comm->coll_tag + 1 >= (uint64_t)after;
}

/* Another member has made another call, as far as that can be seen: the parts were of other
 * lengths. */
static int blame(const struct region_run *run, struct sched_misfit *misfit)
{
    struct region *r = run->r;
    if (r->misfit.peer >= 0) {
        *misfit = r->misfit;
        r->misfit.peer = r->stranger = -1;
        return misfit->len > misfit->due ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
    }
    int who = r->stranger < r->size ? r->stranger : r->rank;
    uint32_t theirs = region_place(r, who, run->number)->call;
    MPI_Count len = theirs % (1u << REGION_CALL_KIND), due = r->call % (1u << REGION_CALL_KIND);
    if (due == REGION_ELSEWHERE)
        due = moved_bytes(r, run->c);
    *misfit = (struct sched_misfit){len == due || who == r->rank ? -1 : who, due, len};
    r->stranger = -1;
    return len > due ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
}

/* The same where that was found while this member waited: one of both calls goes by messages. */
static int blame_for_wait(const struct region_run *run, struct sched_misfit *misfit)
{
    struct region *r = run->r;
    *misfit = (struct sched_misfit){.peer = -1};
    r->stranger = -1;
    r->at_odds = false;
    return MPI_ERR_COUNT;
}

int region_outcome(const struct region_run *run, int rc, struct sched_misfit *misfit)
{
    if (__builtin_expect(run->r->stranger >= 0 && !rc, 0))
        return run->r->at_odds ? blame_for_wait(run, misfit) : blame(run, misfit);
    if (__builtin_expect(rc == MPI_ERR_COUNT && run->r->at_odds, 0))
        return blame_for_wait(run, misfit);
    return rc;
}

/* Its chunks are no longer than the parts of the call, unless these need long ones. */
int region_create(struct coll *c, struct region **made)
{
    struct comm *comm = c->comm;
    const struct of_comm *of = of_comm(comm);
    struct wish wish = {.lanes = 1, .c = c};
    *made = NULL;
    if (!of->blocking && !comm->no_region && region_after() > 0) {
        int rc = create(comm);
        if (rc)
            return rc;
    }
    if (!of->blocking)
        return MPI_SUCCESS;
    if (!region_choose(of->blocking, c, &wish.bytes))
        wish.bytes = -1;
    wish.part = (size_t)wish.bytes * (rows[c->kind].pieces ? (size_t)c->size : 1);
    if (c->uneven || (of->blocking->long_chunks && wish.bytes > rows[c->kind].two))
        wish.part = SPACE;
    return make(comm, &wish, made);
}

/* The root has said that the call goes by messages. */
static __attribute__((noinline)) bool leave_for_messages(const struct region_run *run, int *rc,
                                                         struct sched_misfit *misfit)
{
    comm_count(run->r->comm, run->r->comm->coll_tag - 1); /* the messages take the number of the notice */
    region_say_elsewhere(run->r, run->c->kind);
    run->r->stranger = -1; /* its message has another length, too */
    misfit->len = run->root_bytes;
    *rc = REGION_BY_MESSAGES;
    return false;
}

bool region_run(const struct coll *c, int *rc, struct sched_misfit *misfit)
{
    struct comm *comm = c->comm;
    const struct of_comm *of = of_comm(comm);
    if (__builtin_expect(!of->blocking, 0)) {
        *rc = is_time(comm) ? create(comm) : MPI_SUCCESS;
        if (!of->blocking)
            return *rc != MPI_SUCCESS;
    }
    int64_t bytes;
    region_fn prepare = choose(of->blocking, c, &bytes);
    if (!prepare)
        prepare = region_choose_notice(c, &bytes);
    if (!prepare) {
        region_say_elsewhere(of->blocking, c->kind);
        return false;
    }
    struct region_run run;
    comm_count(comm, comm->coll_tag + 1);
    region_begin(&run, of->blocking, c, prepare, bytes);
    int outcome = run.go(&run);
    while (__builtin_expect(outcome < 0, 0)) {
        if (outcome == REGION_BY_MESSAGES)
            return leave_for_messages(&run, rc, misfit);
        region_wait(&run);
        outcome = run.go(&run);
    }
    *rc = region_outcome(&run, outcome, misfit);
    return true;
}
