/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives whose blocks are pulled: if all members can read each other's memory, the calls that
 * move long blocks, or blocks whose lengths only the two ends know; see region.h.
 *
 * A call is one operation. The part of a member that gives is a list of its blocks, one for each
 * member or one for all: in its place if all of it fits there, otherwise in its chunk. Blocks lie
 * behind the list as long as there is room; of the others the list has the address, at which
 * members read them. A block that has gaps, or that others cannot read, or that would be
 * overwritten in place, is packed aside first. A member that has given an address stays until the
 * readers are done with the operation. Where the region counts members, and all read from all, and
 * any of them has given an address, all stay until the last one has read, so that each has to run
 * only once more. A member that cannot stay, as another one has failed, takes its blocks back:
 * bytes read from them meanwhile are not used.
 */
#include <mpi.h>
#include <stdlib.h>

#include "mpi/region/region.h"
#include "os/net/peer.h"

enum {
    BEGIN,
    GIVE,
    TAKE,
    CLOSE,
    STAY, /* stages */
    IN_PLACE =
        REGION_SMALL - 8, /* bytes of a list in a place, behind a word with its position */
    GRAIN = 8,            /* blocks behind a list begin at a multiple of it */
    BOUNCE = 8192         /* bytes read at a time into a place with gaps */
};

/* Of a list. */
struct entry {
    uint64_t
        at; /* offset from the beginning of the list, or, from the length of a chunk on, address */
    uint64_t len;
};

/* A member's list, and the bytes of it and the blocks behind it, at most. */
struct list {
    struct entry *entries;
    size_t room;
};

/* Whether there is a block for each member. */
static bool gives_each(const struct coll *c)
{
    return c->kind == COLL_SCATTER || c->kind == COLL_ALLTOALL;
}

static struct mpid_bytes block_for(const struct region_run *run, int i)
{
    const struct coll *c = run->c;
    if (gives_each(c))
        return region_block(c->send.buf == MPI_IN_PLACE ? &c->recv : &c->send, i);
    if (c->kind == COLL_BCAST || c->send.buf != MPI_IN_PLACE)
        return region_block(c->kind == COLL_BCAST ? &c->recv : &c->send, 0);
    return region_block(&c->recv, run->r->rank);
}

static int entries(const struct region_run *run)
{
    return gives_each(run->c) ? run->r->size : 1;
}

static struct list list_at(const struct region_run *run, int member, bool in_place)
{
    const struct region *r = run->r;
    void *place = region_place(r, member, run->number)->bytes + 8;
    return in_place
               ? (struct list){place, IN_PLACE}
               : (struct list){(void *)region_part(r, member, run->number, r->chunk),
                               r->chunk < REGION_CHUNK ? r->chunk : REGION_CHUNK};
}

/* The word in a member's place says of its list: */
enum { IN_CHUNK, LIES_IN_PLACE, HAS_ADDRESSES /* it is in the chunk */ };

static uint64_t *list_word(const struct region_run *run, int member)
{
    return (uint64_t *)(void *)region_place(run->r, member, run->number)->bytes;
}

static struct list list_of(const struct region_run *run, int member)
{
    return list_at(run, member, *list_word(run, member) == LIES_IN_PLACE);
}

static size_t rounded(size_t len)
{
    return (len + GRAIN - 1) / GRAIN * GRAIN;
}

/* ---- giving ---- */

/* A block that goes to nobody: the list of a root, or of alltoall, has one for its owner. */
static bool is_own(const struct region_run *run, int i)
{
    return gives_each(run->c) && i == run->r->rank;
}

/* Whether others can read it in place while this member goes on. */
static bool can_stay(const struct region_run *run, const struct mpid_bytes *bytes)
{
    const struct coll *c = run->c;
    bool is_overwritten = c->kind == COLL_ALLTOALL && c->send.buf == MPI_IN_PLACE;
    return !is_overwritten && !bytes->layout && os_peer_readable(bytes->base, bytes->len);
}

/* The same of block i and all behind it. */
static bool rest_can_stay(const struct region_run *run, int i)
{
    struct mpid_bytes bytes = block_for(run, i);
    bytes.len *= (size_t)(entries(run) - i); /* even blocks lie side by side */
    return can_stay(run, &bytes);
}

static struct mpid_bytes listed_block(const struct region_run *run, int i)
{
    return is_own(run, i) ? (struct mpid_bytes){.len = 0} : block_for(run, i);
}

static bool fits_in_place(const struct region_run *run)
{
    size_t all = (size_t)entries(run) * sizeof(struct entry);
    for (int i = 0; i < entries(run) && all <= IN_PLACE; i++) {
        size_t len = listed_block(run, i).len;
        all += len < IN_PLACE ? rounded(len) : IN_PLACE + 1;
    }
    return all <= IN_PLACE;
}

/* Put blocks behind the list, and have the lengths of the others in it, without an address. Returns
 * the bytes of these, or 0 if all of them can stay in place. */
static size_t list_blocks(struct region_run *run, const struct list *list)
{
    size_t at = (size_t)entries(run) * sizeof(struct entry), aside = 0;
    bool stay = true, even = !run->c->uneven && gives_each(run->c);
    for (int i = 0; i < entries(run); i++) {
        struct mpid_bytes bytes = listed_block(run, i);
        list->entries[i] = (struct entry){at, bytes.len};
        if (bytes.len <= list->room - at) {
            unsigned char *to = (unsigned char *)list->entries + at;
            if (list->room == IN_PLACE)
                type_pack(&bytes, 0, to, bytes.len);
            else
                region_put(to, &bytes, 0, bytes.len);
            at += rounded(bytes.len);
            at = at < list->room ? at : list->room;
            continue;
        }
        list->entries[i].at = UINT64_MAX;
        if (stay && !even)
            stay = can_stay(run, &bytes);
        else if (stay && !aside)
            stay = rest_can_stay(run, i); /* the kernel is asked once */
        aside += rounded(bytes.len);
    }
    return stay ? 0 : aside;
}

/* Give the addresses of the others, packed aside as far as there is memory. */
static void list_addresses(struct region_run *run, struct entry *list, unsigned char *to)
{
    for (int i = 0; i < entries(run); i++) {
        if (list[i].at != UINT64_MAX)
            continue;
        struct mpid_bytes bytes = block_for(run, i);
        list[i].at = (uint64_t)(uintptr_t)bytes.base;
        if (run->failed)
            list[i] = (struct entry){0, 0}; /* which is not what they expect */
        if (!to)
            continue;
        type_pack(&bytes, 0, to, bytes.len);
        list[i].at = (uint64_t)(uintptr_t)to;
        to += rounded(bytes.len);
    }
}

static bool has_addresses(const struct region_run *run, const struct entry *list)
{
    for (int i = 0; i < entries(run); i++)
        if (list[i].at >= run->r->chunk)
            return true;
    return false;
}

static int give(struct region_run *run)
{
    struct region *r = run->r;
    bool in_place = fits_in_place(run);
    int rc = region_room(run, in_place ? IN_PLACE : r->chunk, run->number);
    if (rc)
        return rc;
    struct list list = list_at(run, r->rank, in_place);
    run->part_len = in_place ? IN_PLACE : r->chunk;
    size_t len = list_blocks(run, &list);
    run->aside = len ? malloc(len) : NULL;
    if (len && !run->aside)
        run->failed = MPI_ERR_NO_MEM;
    list_addresses(run, list.entries, run->aside);
    bool stays = has_addresses(run, list.entries);
    *list_word(run, r->rank) = in_place ? LIES_IN_PLACE : stays ? HAS_ADDRESSES : IN_CHUNK;
    run->stays |= stays;
    region_publish(r, run->number);
    return MPI_SUCCESS;
}

/* ---- taking ---- */

/* Read a block into a place, maybe one with gaps, or which the kernel does not write. */
static int read_block(pid_t pid, uint64_t at, const struct mpid_bytes *to, size_t len)
{
    unsigned char piece[BOUNCE];
    if (!to->layout && !os_peer_read(pid, to->base, at, len))
        return MPI_SUCCESS;
    for (size_t done = 0; done < len; done += BOUNCE) {
        size_t part = len - done < BOUNCE ? len - done : BOUNCE;
        if (os_peer_read(pid, piece, at + done, part))
            return MPI_ERR_PROC_ABORTED; /* it could be read before */
        type_unpack(to, done, piece, part);
    }
    return MPI_SUCCESS;
}

/* A block of another length than is due. */
static void note_misfit(struct region_run *run, int member, size_t due, size_t len)
{
    struct region *r = run->r;
    if (len == due || r->stranger >= 0)
        return;
    r->misfit = (struct sched_misfit){member, (MPI_Count)due, (MPI_Count)len};
    r->stranger = member;
}

/* Whether a member has taken its blocks back before they were read, or meanwhile. */
static bool is_taken_back(const struct region_run *run, int member)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&run->r->members[member].taken_back, memory_order_relaxed) >= run->number;
}

static void take(struct region_run *run, int member)
{
    const struct region *r = run->r;
    const struct coll *c = run->c;
    bool many = c->kind == COLL_GATHER || c->kind == COLL_ALLGATHER || c->kind == COLL_ALLTOALL;
    struct mpid_bytes to = region_block(&c->recv, many ? member : 0);
    struct list list = list_of(run, member);
    struct entry block = list.entries[gives_each(c) ? r->rank : 0];
    size_t len = block.len < to.len ? block.len : to.len;
    note_misfit(run, member, to.len, block.len);
    run->pulled |= block.at >= r->chunk; /* the giver stays until this member is done */
    run->stays |= *list_word(run, member) == HAS_ADDRESSES;
    if (run->failed || !len)
        return;
    if (block.at >= r->chunk) {
        run->failed = read_block((pid_t)r->members[member].owner.pid, block.at, &to, len);
        if (is_taken_back(run, member))
            run->failed = MPI_ERR_PROC_ABORTED;
    } else if (block.at <= list.room && len <= list.room - block.at) {
        type_unpack(&to, 0, (const unsigned char *)list.entries + block.at, len);
    }
    if (list.room != IN_PLACE)
        run->part_len = r->chunk;
}

static int take_all(struct region_run *run)
{
    const struct region *r = run->r;
    for (; run->taken < run->takes; run->taken++) {
        int member = coll_around(run->from, run->taken, r->size);
        int rc = region_await(run, member, run->number);
        if (rc)
            return rc;
        take(run, member);
    }
    run->taken = 0;
    return MPI_SUCCESS;
}

/* Wait for those who read this member's memory. */
static int await_readers(struct region_run *run)
{
    const struct region *r = run->r;
    const struct entry *list = run->gives ? list_of(run, r->rank).entries : NULL;
    for (; run->gives && run->taken < r->size; run->taken++) {
        bool reads =
            run->c->kind == COLL_GATHER ? run->taken == run->c->root : run->taken != r->rank;
        if (!reads || list[gives_each(run->c) ? run->taken : 0].at < r->chunk)
            continue;
        int rc = region_done_by(run, run->taken, run->number);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* Wait until all have read. Every member has seen every list, so all find alike whether to. */
static int await_all(struct region_run *run)
{
    struct region *r = run->r;
    if (run->stage == CLOSE && region_arrive(r))
        region_release(r);
    run->stage = STAY;
    return region_released(run);
}

/* ---- the call ---- */

static int give_own(struct region_run *run)
{
    struct region *r = run->r;
    if (run->stage == BEGIN) {
        run->number = ++r->number;
        run->stage = GIVE;
    }
    if (run->stage != GIVE)
        return MPI_SUCCESS;
    int rc = run->gives ? give(run) : MPI_SUCCESS;
    if (rc)
        return rc;
    if (!run->failed && (run->meets || (r->rank == run->c->root && run->c->kind != COLL_BCAST)))
        region_copy_own(run);
    run->stage = TAKE;
    return MPI_SUCCESS;
}

static int go_on(struct region_run *run)
{
    struct region *r = run->r;
    bool counts = run->meets && r->counts;
    int rc = give_own(run);
    if (rc)
        return rc;
    if (run->stage == TAKE) {
        rc = take_all(run);
        if (rc)
            return rc;
        if (run->meets)
            region_met(r, run->number);
        if (run->pulled && !counts)
            region_done_now(r, run->number);
        else if (!run->meets)
            region_done(r, run->number, run->part_len);
        run->stage = CLOSE;
    }
    return !counts ? await_readers(run) : run->stays ? await_all(run) : MPI_SUCCESS;
}

/* Before the blocks change or go; pairs with is_taken_back(). */
static void take_back(const struct region_run *run)
{
    const struct region *r = run->r;
    atomic_store_explicit(&r->members[r->rank].taken_back, run->number, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Leaves nothing behind, even after an error. */
static int pull(struct region_run *run)
{
    int rc = go_on(run);
    if (rc == SCHED_WAITS)
        return rc;
    if (rc)
        take_back(run);
    free(run->aside);
    return rc ? rc : run->failed;
}

region_give_fn *region_pull_ahead(const struct region_run *run)
{
    return run->go == pull ? give_own : NULL;
}

void region_pull(struct region_run *run)
{
    const struct region *r = run->r;
    const struct coll *c = run->c;
    bool is_root = r->rank == c->root;
    run->go = pull;
    run->aside = NULL;
    run->pulled = run->stays = false;
    run->part_len = IN_PLACE;
    run->from = r->rank + 1 < r->size ? r->rank + 1 : 0;
    run->meets = c->kind == COLL_ALLGATHER || c->kind == COLL_ALLTOALL;
    run->gives = run->meets || is_root == (c->kind != COLL_GATHER);
    run->takes = run->meets ? r->size - 1 : !run->gives ? 1 : 0;
    if (!run->meets && !is_root)
        run->from = c->root;
    if (c->kind == COLL_GATHER)
        run->takes = is_root ? r->size - 1 : 0;
}
