/* SPDX-License-Identifier: BSD-3-Clause */

/* The region of a communicator: made, and which collectives go through it; see region.h. */
#include "mpi/coll/region.h"

#include <mpi.h>
#include <stdlib.h>

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
    FEW = 8           /* members who look at each other's words */
};

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

static void init(struct region *r, struct mpid_region *memory, struct comm *comm, bool fenced)
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
    r->crowded = init_world.local_ranks > init_world.cpus;
    r->counts = comm->size > FEW || (comm->size > 2 && r->crowded);
    r->fenced = fenced;
}

/* What members tell each other, of which the maximum counts. */
enum { BID_CANNOT, BID_FENCED, BID_WHERE, BIDS };

static int agree(struct comm *comm, uint64_t *values, int count)
{
    struct agree who = {.comm = comm,
                        .context = comm->context + CONTEXT_COLL,
                        .tag = (int)(comm->coll_tag++ % COMM_AGREE_TAG)};
    return agree_max(&who, values, count);
}

/* The first member makes it. Returns an error class: then some members may have it open, so that it
 * stays where it is until the job ends. */
static int make(struct region *r, struct comm *comm, bool *made)
{
    size_t size = region_bytes(comm->size);
    struct mpid_region *memory = NULL;
    uint64_t bids[BIDS] = {0}, cannot = 0;
    bids[BID_CANNOT] = !r || comm->size > REGION_MEMBERS || !all_near(comm);
    bids[BID_FENCED] = os_heavy_fence_register() != 0;
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
    *made = !rc && !cannot;
    if (*made)
        init(r, memory, comm, bids[BID_FENCED]);
    else
        mpid_region_close(memory, 1);
    return rc;
}

/* It is time. Where it cannot be made it is never tried again. Returns MPI_SUCCESS or an error
 * class. */
static int create(struct comm *comm)
{
    struct region *r = calloc(1, sizeof(*r));
    bool made = false;
    comm->no_region = true;
    int rc = make(r, comm, &made);
    if (made) {
        comm->region = r;
        comm->no_region = false;
    } else {
        free(r);
    }
    return rc;
}

void region_destroy(struct region *r)
{
    if (!r)
        return;
    mpid_region_close(r->memory, 1);
    free(r);
}

/* ---- running ---- */

typedef int (*region_fn)(struct region *r, const struct coll *c);

/* Which function runs a call, by what all members know of it: kind, bytes, operation. NULL: none.
 */
static region_fn choose(const struct region *r, const struct coll *c)
{
    (void)r;
    switch (c->kind) {
    case COLL_BARRIER: return region_barrier;
    case COLL_ALLREDUCE:
        return (uint64_t)type_constant_bytes(c->recv.type, c->recv.count) <= REGION_SMALL
                   ? region_allreduce
                   : NULL;
    default: return NULL;
    }
}

static bool is_time(const struct comm *comm)
{
    int64_t after = os_setting(OS_SETTING_REGION_AFTER);
    return !comm->no_region && !comm->remote && comm->size > 1 && after > 0 &&
           comm->coll_tag + 1 >= (uint64_t)after;
}

bool region_run(const struct coll *c, int *rc)
{
    struct comm *comm = c->comm;
    if (__builtin_expect(!comm->region, 0)) {
        if (!is_time(comm))
            return false;
        *rc = create(comm);
        if (*rc)
            return true;
        if (!comm->region)
            return false;
    }
    region_fn run = choose(comm->region, c);
    if (!run)
        return false;
    comm->coll_tag++;
    *rc = run(comm->region, c);
    return true;
}
