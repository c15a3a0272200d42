/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives through memory that all members of a communicator share, being on one host.
 *
 * Operations. All that goes on in a region is a sequence of operations, numbered from 1 in the
 * same order at all members; a collective takes one, or one for each chunk of its data. In an
 * operation a member may have a part to give: it opens the operation, which waits until there is
 * room for the part, writes it, and publishes it. Others wait for it and read it.
 *
 * A part of up to REGION_SMALL bytes lies beside the word that publishes it, in one of the
 * member's REGION_PLACES places; others lie in one of its REGION_DEPTH chunks. Operations take
 * these in turn, so who gives may be some operations ahead of who reads: there is room once every
 * member is done with the operation that had it before.
 *
 * Waiting is for words that only grow. A member that goes to sleep says for whose word, and
 * whoever stores that word rings it. Of several that sleep for one word, the first that is rung
 * rings half of the others. Where ranks outnumber processors the members of a synchronizing
 * operation count themselves; the last one does the work and releases the others, so that each has
 * to run only once.
 *
 * Each communicator gets its region at one of its first blocking collectives, when all members
 * agree that they can map it. Nonblocking and persistent ones go by messages. What another process
 * has written is not trusted: words are compared, and never used as indices unchecked.
 */
#ifndef MPI_COLL_REGION_H
#define MPI_COLL_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/coll/coll.h"

enum {
    REGION_DEPTH = 8,      /* chunks of a member */
    REGION_PLACES = 32,    /* places of a member for what is small */
    REGION_SMALL = 120,    /* bytes beside a word */
    REGION_CHUNK = 32768,  /* bytes of other places, at most */
    REGION_RESULT = 8192,  /* bytes of what a last one computes for all */
    REGION_MEMBERS = 512   /* of a communicator, at most */
};

struct sched_misfit;

/* In the region. A pair of cache lines each, as processors fetch them in pairs. */
struct region_place {
    _Alignas(128) _Atomic uint32_t number; /* of the operation whose part is here */
    uint32_t call; /* which call that is: see struct region */
    _Alignas(8) unsigned char bytes[REGION_SMALL];
};

struct region_member {
    _Alignas(128) _Atomic uint32_t done; /* operations; may be behind by less than half the depth */
    _Alignas(128) _Atomic uint64_t sleeps; /* see region_wait.c */
    struct region_place places[REGION_PLACES];
};

struct region_head {
    _Alignas(128) _Atomic uint32_t sleepers;
    /* At synchronizing operations, in all: members that have come, and above them the sum of their
     * calls. */
    _Alignas(128) _Atomic uint64_t arrived;
    _Alignas(128) _Atomic uint32_t released; /* such operations that are over */
    uint32_t mixed;   /* the last of them in which the members made different calls */
    uint64_t arrivals; /* the word arrived at its end */
    _Alignas(128) unsigned char result[REGION_RESULT];
};

/* One member's view of a region. */
struct region {
    struct comm *comm;
    struct mpid_region *memory;
    struct region_head *head;
    struct region_member *members;
    unsigned char *chunks; /* of member 0's place 0 on */
    uint32_t chunk;        /* bytes of one */
    int rank, size;
    bool crowded; /* ranks outnumber processors: no spinning, and members are counted */
    bool counts;  /* synchronizing operations count members, rather than look at each */
    bool fenced;  /* a full fence is needed between storing a word and looking who sleeps */
    uint32_t call;   /* kind and bytes of the collective that runs; the same at all members */
    int stranger;    /* one whose call is another; -1: none; size: it is not known which */
    uint32_t number; /* of the last operation begun */
    uint32_t known;  /* all others are done with operations up to here */
    uint32_t read;   /* this member is done with those up to here, ... */
    uint32_t told;   /* ... and others know of it up to here */
    uint32_t syncs;    /* synchronizing operations that counted members */
    uint64_t arrivals; /* the word arrived after them */
};

/* ---- for coll.c ---- */

/* Run a collective through the communicator's region, which is made where it is time for that.
 * Returns whether it was run; then *rc is MPI_SUCCESS or an error class, and *misfit tells more of
 * MPI_ERR_COUNT and MPI_ERR_TRUNCATE. All members find alike. */
bool region_run(const struct coll *c, int *rc, struct sched_misfit *misfit);
/* Whether there may be a region for this. */
static inline bool region_may_run(const struct coll *c)
{
    return !c->comm->no_region;
}
/* Reserve what is needed in each communicator and each region: once, before the first of them.
 * Returns 0 or -errno. */
int region_reserve(void);
/* The communicator ends, and so does its use of a region, if it has one. */
void region_end(struct comm *comm);

/* ---- operations, in region_wait.c ---- */

/* The number of the next operation, in which this member may write a part of len bytes on return.
 * Returns 0 or an error class. */
int region_open(struct region *r, size_t len, uint32_t *number);
/* The same where this member has no part to give. */
static inline uint32_t region_next(struct region *r)
{
    return ++r->number;
}
/* This member's part stands in its place. */
void region_publish(struct region *r, uint32_t number);
/* Wait for a member's part. Returns 0, or MPI_ERR_PROC_ABORTED where it cannot come any more. A
 * part of another call is noted, and taken for one of this. */
int region_await(struct region *r, int member, uint32_t number);
/* This member is done with all operations up to here. */
void region_done(struct region *r, uint32_t number);
/* After an operation in which every member has waited for every other. */
void region_met(struct region *r, uint32_t number);

/* Wait until all members have come here. The last one calls work(arg), where that is not NULL,
 * before the others go on. Only where the region counts. Returns as region_await() does. */
int region_meet(struct region *r, void (*work)(void *arg), void *arg);

/* ---- places ---- */

static inline struct region_place *region_place(const struct region *r, int member, uint32_t number)
{
    return &r->members[member].places[number % REGION_PLACES];
}

/* Where a member's part of so many bytes is. */
static inline unsigned char *region_part(const struct region *r, int member, uint32_t number,
                                         size_t len)
{
    if (len <= REGION_SMALL)
        return region_place(r, member, number)->bytes;
    return r->chunks + ((size_t)member * REGION_DEPTH + number % REGION_DEPTH) * r->chunk;
}

/* Copy len bytes of a place in user memory, from offset on, into a part. */
void region_put(unsigned char *part, const struct mpid_bytes *from, size_t offset, size_t len);

/* ---- the collectives; each returns MPI_SUCCESS or an error class ---- */

int region_barrier(struct region *r, const struct coll *c);
int region_allreduce(struct region *r, const struct coll *c);
int region_allreduce_short(struct region *r, const struct coll *c); /* of what fits into one part */
int region_reduce(struct region *r, const struct coll *c);
int region_reduce_scatter(struct region *r, const struct coll *c);
int region_scan(struct region *r, const struct coll *c);
int region_bcast(struct region *r, const struct coll *c);
int region_gather(struct region *r, const struct coll *c);
int region_scatter(struct region *r, const struct coll *c);
int region_allgather(struct region *r, const struct coll *c);
int region_alltoall(struct region *r, const struct coll *c);

#endif
