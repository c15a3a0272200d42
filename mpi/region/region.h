/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives through memory that all members of a communicator share, being on one host.
 *
 * Operations. All that goes on in a region is a sequence of operations, numbered from 1 in the
 * same order at all members; a collective takes one, or one for each chunk of its data. In an
 * operation a member may have a part to give: it opens the operation, which waits until there is
 * room for the part, writes it, and publishes it. Others wait for it and read it.
 *
 * A part of up to REGION_SMALL bytes lies beside the word that publishes it, in one of the member's places; others
 * lie in one of its REGION_DEPTH chunks or, up to a few KiB where ranks outnumber processors, of its shelves, as many
 * as places. Operations take these in turn, so a giver may be some operations ahead of its readers:
 * a place is free once every member is done with its previous operation. Long blocks from one
 * member to each lie in the chunks of their takers.
 *
 * Waiting is for words that only grow: they have 64 bits, and never wrap. A member that goes to
 * sleep names the owner of the word, and the owner rings it after the store. Of several that sleep
 * for one word, the first that is rung rings half of the others. Where ranks outnumber processors
 * the members of a synchronizing operation count themselves; the last one does the work and
 * releases the others, so that each has to run only once.
 *
 * Long blocks, and blocks whose lengths only some members know, are pulled if the kernel lets
 * members read each other's memory: a part is then a list of blocks (region_pull.c).
 *
 * A collective that goes through a region is a run: a machine that goes on until a word is awaited, and from there
 * when it has come. The blocking form waits for the word; the others are tasks (region_task.h). Tasks end one after
 * the other, but those of one operation give their parts ahead, before they take any: so a member that has had a
 * processor once leaves the others as much as they can take in one go.
 *
 * Each communicator gets its memory at one of its first blocking collectives, when all members agree that they can
 * map it: a region for blocking collectives, and one for nonblocking ones, so that neither waits for the other's room.
 * A persistent one has a region of its own. Words that another process has written are not trusted: they are
 * compared, and never used as indices unchecked.
 */
#ifndef MPI_COLL_REGION_H
#define MPI_COLL_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"
#include "mpi/region/region_memory.h"
#include "os/lock.h"

struct region_task;

/* What a member knows of one of these. */
struct region_tally {
    uint64_t syncs;    /* synchronizing operations that counted members */
    uint64_t arrivals; /* the word arrived after them */
};

/* One member's view of a region. */
struct region {
    struct comm *comm;
    struct mpid_region *memory;
    struct region_head *head;
    struct region_member *members;
    unsigned char *shelves, *chunks; /* of member 0's place 0 on */
    uint32_t shelf;        /* bytes of a shelf; REGION_SMALL: there are none */
    uint32_t chunk;        /* bytes of one */
    bool long_chunks;      /* of two that have a processor each: longer than more have */
    int rank, size;
    bool crowded; /* ranks outnumber processors: waiting members yield, and are counted */
    bool counts;  /* synchronizing operations count members, rather than look at each */
    bool pulls;   /* every member can read every other's memory */
    bool fenced;  /* a full fence is needed between storing a word and looking for sleepers */
    int32_t most[COLL_KINDS]; /* bytes of a call that goes through places and chunks */
    uint32_t call;   /* kind and bytes of the collective that runs; the same at all members */
    int stranger;    /* one whose call is another; -1: none; size: it is not known which */
    bool at_odds;    /* it was found while this member waited, maybe for a part that never comes */
    struct sched_misfit misfit; /* of a block that was pulled; its peer is the stranger */
    uint64_t number; /* of the last operation begun */
    uint64_t known;  /* all members are done with operations up to here */
    uint64_t read;   /* this member is done with those up to here, ... */
    uint64_t told;   /* ... and others know of it up to here */
    uint64_t chain, chained; /* first and last of the small operations in a row that were chains */
    uint64_t passed;         /* the next member is done with those up to here */
    struct region_sync *sync;   /* of the run, ... */
    struct region_tally *tally; /* ... and facts about it */
    struct region_sync *syncs;  /* tasks take REGION_AHEAD of them in turn; all others have one */
    struct region_tally tallies[REGION_AHEAD];
    int behind;        /* member found to have something to do here; -1: not all ranks of this host are members */
    struct os_lock lock;       /* guards all of this where tasks go through it */
    struct region_task *tasks, *last; /* in line; the first is on its way */
    struct region_task *next_ahead;   /* the first that has not given its part; NULL: all have */
    uint32_t ahead;                   /* tasks before that one */
    uint32_t begun;                   /* tasks, in all */
};

/* ---- runs ---- */

enum { REGION_BY_MESSAGES = SCHED_WAITS - 1 }; /* besides outcomes */

struct region_run;

typedef void region_prepare(struct region_run *run);

/* The parts of a collective that differ from operation to operation. */
struct region_form {
    /* Write this member's part, if it gives one. It is then published; in a chain, by take. */
    void (*give)(struct region_run *run, unsigned char *part);
    /* The part of a member has come, or this member's own turn has: take it. NULL: nothing. */
    void (*take)(struct region_run *run, int member);
    /* Only the root gives: prepares for its bytes a run that takes, where the calls differ in length. NULL: others
     * give, too. */
    region_prepare *follow;
};

/* A chunk of a long reduction on its way. */
struct region_flying {
    size_t at, len;
    uint64_t input, result; /* operations */
};

struct region_run {
    struct region *r;
    const struct coll *c;
    const struct region_form *form;
    int (*go)(struct region_run *run); /* go on; returns an outcome, or SCHED_WAITS */
    /* A word that is awaited: whose, and what it is to be at least. */
    const _Atomic uint64_t *word;
    uint64_t least;
    int whose;

    size_t bytes; /* those of region_choose(): what the table goes by */
    int failed;  /* what went wrong here; the other members still have their parts given */
    int stage;
    bool gives;  /* this member has a part in each operation */
    bool meets;  /* every member waits for every other in each operation */
    bool collects; /* the others only give to this member, so their next parts have often come already */
    bool chains; /* only the next member takes a part; the form publishes it, made of what it has taken */
    int from, way, takes, taken; /* whose parts are taken: so many, from one on, up or down */
    uint32_t ahead;       /* operations that go at once, at most */
    uint32_t count, turn; /* how many do, and which of them it is at */
    uint64_t first, number; /* the first of those that do; the operation */
    size_t begins, end, step;    /* bytes before those, of all operations, and of one */
    size_t at, len;              /* bytes before the operation, and its own */
    size_t pieces, part_len;     /* of a member's part: pieces of len; bytes in all */

    void *aside; /* blocks that others pull from here, packed */
    bool pulled, stays; /* it has read another's memory; a list that it has seen has an address */
    int64_t root_bytes; /* of REGION_BY_MESSAGES: how many the root has */

    /* reductions */
    const char *input;
    char *result; /* NULL: not at this member */
    size_t element;
    struct region_flying flying[4];
};

/* Prepare a run of a collective: set what it does. */
typedef region_prepare *region_fn;

/* Have it go through operations by a form: end bytes in all, step in each. It gives and takes nothing yet. */
void region_set_cycle(struct region_run *run, const struct region_form *form, size_t end, size_t step);
/* It gives, and every member waits for every other. */
void region_set_meeting(struct region_run *run);

/* ---- for mpi/calls/ and region_task.c ---- */

/* Run a collective through the communicator's region, which is made when due. Returns whether it
 * was run; then *rc is an outcome, and *misfit tells more of MPI_ERR_COUNT and MPI_ERR_TRUNCATE.
 * All find alike. Otherwise *rc may be REGION_BY_MESSAGES, and misfit->len the root's bytes. */
bool region_run(const struct coll *c, int *rc, struct sched_misfit *misfit);
/* Whether there may be a region for this. */
static inline bool region_may_run(const struct coll *c)
{
    return !c->comm->no_region;
}
/* That of the communicator's nonblocking collectives; NULL: there is none, or not yet. */
struct region *region_of_nonblocking(const struct comm *comm);
/* A region for one collective that runs again and again; NULL: by messages. Sets c->unlike where members
 * differ. Returns an error class. All call it. */
int region_create(struct coll *c, struct region **made);
void region_destroy(struct region *r);
/* Which function prepares runs of a call, and of how many bytes: all members find the same; NULL: none does. */
region_fn region_choose(const struct region *r, const struct coll *c, int64_t *bytes);
/* The same for a call that is too long for that, but whose root says first that it goes by messages; NULL: none. */
region_fn region_choose_notice(const struct coll *c, int64_t *bytes);
/* Prepare a run. */
static inline void region_begin(struct region_run *run, struct region *r, const struct coll *c, region_fn prepare,
                                int64_t bytes)
{
    r->call = (uint32_t)c->kind << REGION_CALL_KIND | (uint32_t)bytes;
    run->r = r;
    run->c = c;
    run->bytes = (size_t)bytes;
    run->failed = MPI_SUCCESS;
    run->stage = run->taken = 0;
    prepare(run);
}
/* The outcome of a run that has ended with rc. REGION_BY_MESSAGES stays: the call goes on so, as the root's does. */
int region_outcome(const struct region_run *run, int rc, struct sched_misfit *misfit);
/* Reserve space in each communicator and region: once, before the first of them. Returns 0 or
 * -errno. */
int region_reserve(void);
/* The communicator ends, and so does its use of a region, if it has one. */
void region_end(struct comm *comm);

/* ---- operations, in region_wait.c ---- */

/* This and all that may wait return MPI_SUCCESS, or SCHED_WAITS with the word noted, after which they are called
 * again, or MPI_ERR_PROC_ABORTED if the word cannot come any more, or MPI_ERR_COUNT if another member is in another
 * call. */

/* Have room for a part of so many bytes in the operation number. */
int region_room(struct region_run *run, size_t len, uint64_t number);
/* The same for a small part that the next member alone takes. */
int region_room_in_chain(struct region_run *run, uint64_t number);
/* This member's part stands in its place. */
void region_publish(struct region *r, uint64_t number);
/* Have a member's part. One of another call is noted, and taken for one of this. */
int region_await(struct region_run *run, int member, uint64_t number);
/* This member is done with all operations up to here; the last one has parts of len bytes. */
void region_done(struct region *r, uint64_t number, size_t len);
/* After an operation in which every member has waited for every other: they are done with those before. */
void region_met(struct region *r, uint64_t number);
/* The same at once, for a member that waits for this. */
void region_done_now(struct region *r, uint64_t number);
/* Have a member done with all operations up to here; this member has begun the last one. */
int region_done_by(struct region_run *run, int member, uint64_t number);
/* Wait, blocking, for the noted word, or until it cannot come any more: the run learns that when it
 * goes on. */
void region_wait(struct region_run *run);

/* Come to an operation that all members come to; only where the region counts. Returns whether all others have come,
 * and made the same call: then what they wait for is to be made, and they are released by region_release(). Otherwise
 * region_released() has them waited for. */
bool region_arrive(struct region *r);
void region_release(struct region *r);
int region_released(struct region_run *run);

/* Of a run of one operation: the function that gives this member's part, before its turn to take those of others. It
 * returns as those above do, and does nothing once the part is given. NULL: the run has more operations, or its part
 * depends on others. */
typedef int region_give_fn(struct region_run *run);
region_give_fn *region_meet_ahead(const struct region_run *run);
region_give_fn *region_cycle_ahead(const struct region_run *run);
region_give_fn *region_pull_ahead(const struct region_run *run);

/* Tell others, should they wait long, of a blocking call that goes by messages. */
void region_say_elsewhere(struct region *r, enum coll_kind kind);

/* How a process waits for the word of a run while others do other things. */
extern const struct mpid_shared_wait region_watch;

/* ---- places ---- */

static inline struct region_place *region_place(const struct region *r, int member, uint64_t number)
{
    return &r->members[member].places[number % REGION_PLACES];
}

/* Where a member's part of so many bytes is. */
static inline unsigned char *region_part(const struct region *r, int member, uint64_t number, size_t len)
{
    if (len <= REGION_SMALL)
        return region_place(r, member, number)->bytes;
    if (len <= r->shelf)
        return r->shelves + ((size_t)member * REGION_PLACES + number % REGION_PLACES) * r->shelf;
    return r->chunks + ((size_t)member * REGION_DEPTH + number % REGION_DEPTH) * r->chunk;
}

/* Where the block of a member lies. */
struct mpid_bytes region_block_slow(const struct coll_data *data, int rank);
static inline struct mpid_bytes region_block(const struct coll_data *data, int rank)
{
    int64_t len = data->counts ? -1 : type_constant_bytes(data->type, data->count);
    if (__builtin_expect(len < 0, 0))
        return region_block_slow(data, rank);
    uintptr_t at = (uintptr_t)data->buf + (uintptr_t)len * (uintptr_t)rank;
    return (struct mpid_bytes){.base = (void *)at, .len = (size_t)len};
}

/* Copy len bytes of a place in user memory, from offset on, into a part. */
void region_put(unsigned char *part, const struct mpid_bytes *from, size_t offset, size_t len);

/* ---- the collectives: each prepares a run ---- */

region_prepare region_allreduce, region_reduce, region_reduce_scatter, region_scan;
region_prepare region_bcast, region_gather, region_scatter, region_allgather, region_alltoall;

/* Any that moves data, where members can read each other's memory. */
void region_pull(struct region_run *run);
/* The root says that its call goes by messages; others may find that it does not. */
void region_notice(struct region_run *run);
/* Copy the block of this process unless it is in its place. */
void region_copy_own(struct region_run *run);
/* Barrier, and allreduce of data that fit into one part. */
void region_meet(struct region_run *run);

#endif
