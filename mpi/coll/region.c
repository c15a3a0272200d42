/* SPDX-License-Identifier: BSD-3-Clause */

/* The region of a communicator: made, and which collectives go through it; see region.h. */
#include "mpi/coll/region.h"

#include <mpi.h>
#include <stdlib.h>

#include "mpi/coll/sched.h"
#include "mpi/comm/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/init.h"
#include "os/cpus.h"
#include "os/settings.h"

enum {
    PAGE = 4096,
    SPACE = 16 << 20, /* bytes of a region, as far as that leaves chunks */
    FEW = 8,          /* members who look at each other's words */
    LEAST_PIECE = 64  /* bytes of a part that has a piece for each member */
};

/* In each communicator. */
struct of_comm {
    struct region *region; /* NULL: none, or not yet */
};

/* Where these lie in a communicator, and where struct region lies in a struct mpid_region. */
static struct {
    int comm, region;
} space;

int region_reserve(void)
{
    space.comm = mpid_space_reserve(MPID_SPACE_COMM, sizeof(struct of_comm), _Alignof(struct of_comm));
    space.region =
        mpid_space_reserve(MPID_SPACE_REGION, sizeof(struct region), _Alignof(struct region));
    return space.comm < 0 ? space.comm : space.region < 0 ? space.region : 0;
}

static inline struct of_comm *of_comm(const struct comm *comm)
{
    return (struct of_comm *)((uintptr_t)comm + (size_t)space.comm);
}

/* ---- layout ---- */

static size_t chunks_at(int size)
{
    size_t at = sizeof(struct region_head) + (size_t)size * sizeof(struct region_member);
    return (at + PAGE - 1) / PAGE * PAGE;
}

/* Bytes of a chunk: whole pages, or 0 where there is room for none. */
static uint32_t plan_chunk(int size)
{
    size_t most = SPACE / ((size_t)size * REGION_DEPTH) / PAGE * PAGE;
    return (uint32_t)(most < REGION_CHUNK ? most : REGION_CHUNK);
}

static size_t region_bytes(int size)
{
    return chunks_at(size) + (size_t)size * REGION_DEPTH * plan_chunk(size);
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

/* What members tell each other, of which the maximum counts. */
enum { BID_CANNOT, BID_FENCED, BID_CROWDED, BID_WHERE, BIDS };

static void init(struct region *r, struct mpid_region *memory, struct comm *comm,
                 const uint64_t *bids)
{
    unsigned char *base = mpid_region_memory(memory);
    r->comm = comm;
    r->memory = memory;
    r->head = (struct region_head *)base;
    r->members = (struct region_member *)(r->head + 1);
    r->chunks = base + chunks_at(comm->size);
    r->chunk = plan_chunk(comm->size);
    r->rank = comm->rank;
    r->size = comm->size;
    r->stranger = -1;
    r->crowded = bids[BID_CROWDED];
    r->counts = comm->size > FEW || (comm->size > 2 && r->crowded);
    r->fenced = bids[BID_FENCED];
}

static int agree(struct comm *comm, uint64_t *values, int count)
{
    struct agree who = {.comm = comm,
                        .context = comm->context + CONTEXT_COLL,
                        .tag = (int)(comm->coll_tag++ % COMM_AGREE_TAG)};
    return agree_max(&who, values, count);
}

/* The first member makes it. Returns an error class: then some members may have it open, so that it
 * stays where it is until the job ends. */
static int make(struct comm *comm, struct region **made)
{
    size_t size = region_bytes(comm->size);
    struct mpid_region *memory = NULL;
    uint64_t bids[BIDS] = {0}, cannot = 0;
    bids[BID_CANNOT] = comm->size > REGION_MEMBERS || !all_near(comm);
    bids[BID_FENCED] = os_heavy_fence_register() != 0;
    bids[BID_CROWDED] = init_world.local_ranks > init_world.cpus;
    if (comm->rank == 0 && !bids[BID_CANNOT])
        bids[BID_CANNOT] =
            mpid_region_create(size, (uint32_t)comm->size, &memory, &bids[BID_WHERE]) != 0;
    int rc = agree(comm, bids, BIDS);
    if (!rc && bids[BID_CANNOT])
        mpid_region_close(memory, (uint32_t)comm->size);
    if (rc || bids[BID_CANNOT])
        return rc;
    if (comm->rank) {
        struct process owner = group_process(comm->group, 0);
        cannot = mpid_region_open(&owner.gid, owner.rank, bids[BID_WHERE], size, &memory) != 0;
    }
    rc = agree(comm, &cannot, 1);
    if (rc || cannot) {
        mpid_region_close(memory, 1);
        return rc;
    }
    *made = mpid_region_space(memory, space.region);
    init(*made, memory, comm, bids);
    return MPI_SUCCESS;
}

/* It is time. Where it cannot be made it is never tried again. Returns MPI_SUCCESS or an error
 * class. */
static int create(struct comm *comm)
{
    struct of_comm *of = of_comm(comm);
    comm->no_region = true; /* meanwhile, too */
    int rc = make(comm, &of->region);
    comm->no_region = !of->region;
    return rc;
}

void region_end(struct comm *comm)
{
    if (of_comm(comm)->region)
        mpid_region_close(of_comm(comm)->region->memory, 1);
}

/* ---- running ---- */

typedef int (*region_fn)(struct region *r, const struct coll *c);

/*
 * Up to how many bytes of a call go through the region, where two ranks have processors of their
 * own, where more have, and where ranks outnumber processors. Bytes are those of the whole buffer
 * in bcast, reductions and scans, else of one block. In those that have pieces, the members'
 * blocks share a part. Of long data two ranks copy less by messages, which need no place between.
 */
enum { K = 1 << 10, M = 1 << 20, CALL_KIND = 24 /* bytes of a call are below it */ };
static const struct region_row {
    region_fn run;
    bool pieces;
    int64_t two, more, crowded;
} rows[COLL_KINDS] = {
    [COLL_BARRIER] = {region_barrier, false, 0, 0, 0},
    [COLL_BCAST] = {region_bcast, false, 8 * K, M, 4 * M},
    [COLL_REDUCE] = {region_reduce, false, 8 * K, M, 4 * M},
    [COLL_ALLREDUCE] = {region_allreduce, false, 64 * K, M, 4 * M},
    [COLL_GATHER] = {region_gather, false, 8 * K, 64 * K, M},
    [COLL_SCATTER] = {region_scatter, true, 8 * K, 16 * K, 4 * K},
    [COLL_ALLGATHER] = {region_allgather, false, 128 * K, M, M},
    [COLL_ALLTOALL] = {region_alltoall, true, 8 * K, 16 * K, 4 * K},
    [COLL_REDUCE_SCATTER] = {region_reduce_scatter, true, 32 * K, 64 * K, 64 * K},
    [COLL_SCAN] = {region_scan, false, 16 * K, 64 * K, 64 * K},
    [COLL_EXSCAN] = {region_scan, false, 16 * K, 64 * K, 64 * K},
};

/* Bytes as the table counts them, which all members find alike; -1: elements with gaps, or of a
 * derived type, are to be reduced. */
static int64_t bytes_of(const struct region *r, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    bool is_root = r->rank == c->root;
    if (c->op)
        return type_constant_bytes(data->type, data->count);
    if (c->kind == COLL_BARRIER)
        return 0;
    if ((c->kind == COLL_GATHER && !is_root) || (c->kind == COLL_SCATTER && is_root))
        data = &c->send;
    return data->count * coll_size(data->type);
}

/* Which function runs a call, by what all members know of it, which is noted. NULL: none. */
static region_fn choose(struct region *r, const struct coll *c)
{
    const struct region_row *row = &rows[c->kind];
    int64_t most = r->crowded ? row->crowded : r->size == 2 ? row->two : row->more;
    if (!row->run || c->uneven)
        return NULL;
    int64_t bytes = bytes_of(r, c);
    if (bytes < 0 || bytes > most)
        return NULL;
    if (row->pieces && bytes * r->size > REGION_SMALL &&
        r->chunk / (uint32_t)r->size < LEAST_PIECE)
        return NULL;
    r->call = (uint32_t)c->kind << CALL_KIND | (uint32_t)bytes;
    return bytes <= REGION_SMALL || r->chunk ? row->run : NULL;
}

static bool is_time(const struct comm *comm)
{
    int64_t after = os_setting(OS_SETTING_REGION_AFTER);
    return after > 0 && comm->coll_tag + 1 >= (uint64_t)after;
}

/* Another member has made another call, as far as that can be seen: the parts were of other
 * lengths. */
static int blame(struct region *r, struct sched_misfit *misfit)
{
    int who = r->stranger < r->size ? r->stranger : r->rank;
    uint32_t theirs = region_place(r, who, r->number)->call;
    uint32_t len = theirs % (1u << CALL_KIND), due = r->call % (1u << CALL_KIND);
    *misfit = (struct sched_misfit){len == due || who == r->rank ? -1 : who, due, len};
    r->stranger = -1;
    return len > due ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
}

bool region_run(const struct coll *c, int *rc, struct sched_misfit *misfit)
{
    struct comm *comm = c->comm;
    const struct of_comm *of = of_comm(comm);
    if (__builtin_expect(!of->region, 0)) {
        if (!is_time(comm))
            return false;
        *rc = create(comm);
        if (*rc)
            return true;
        if (!of->region)
            return false;
    }
    struct region *r = of->region;
    region_fn run = choose(r, c);
    if (!run)
        return false;
    comm->coll_tag++;
    *rc = run(r, c);
    if (__builtin_expect(r->stranger >= 0 && !*rc, 0))
        *rc = blame(r, misfit);
    return true;
}
