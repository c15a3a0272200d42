/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Operations in a region: words, and waiting for them; see region.h.
 *
 * A member that is about to sleep stores in its word sleeps for whom: the member whose word is to
 * grow, or everybody, in the upper half. The member that stores that word replaces this by a range of
 * members, in the lower half, and rings. The one that wakes finds the range, and rings those in it
 * that sleep for the same: so each sleeper is rung by one, and each range is had by one.
 *
 * If ranks outnumber processors, a waiting member yields. But the last waiter of a processor has
 * nobody to yield to: each of the others would cost a switch and go on waiting. So members announce
 * their processor, and the last one spins a little, for a word from another processor.
 */
#include <mpi.h>
#include <sched.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/region/region.h"
#include "os/clock.h"
#include "os/memory/copy.h"
#include "os/cpu/cpus.h"

enum {
    EVERYBODY = -1,
    PACKED = 8192,      /* bytes of data with gaps, at once */
    BARE_LOOKS = 64,    /* at a word before a pause between them */
    PAUSED_LOOKS = 200, /* before progress is made between them */
    BARE_YIELDS = 3,    /* the same, where ranks outnumber processors */
    SPIN_NS = 2000,     /* before each of these, with nobody to yield to: about one switch */
    SPIN_LOOKS = 16,    /* between two looks at the clock */
    CPUS = 1 << 16      /* of word waits: below it the processor, above it the operation */
};

/* ---- sleepers ---- */

static uint64_t sleeps_for(int whom)
{
    return (uint64_t)(whom + 2) << 32;
}

/* Ring those in a range that sleep for this. */
static __attribute__((noinline)) void ring(struct region *r, uint64_t what, int first, int end)
{
    for (int i = first; i < end; i++) {
        _Atomic uint64_t *sleeps = &r->members[i].sleeps;
        int middle = i + 1 + (end - i - 1) / 2;
        uint64_t seen = what, range = (uint64_t)middle << 16 | (uint64_t)end;
        if (atomic_load_explicit(sleeps, memory_order_relaxed) != what ||
            !atomic_compare_exchange_strong(sleeps, &seen, range))
            continue;
        struct vc *vc = comm_vc(r->comm, i);
        if (vc)
            mpid_ring(vc);
        end = middle; /* the rest is for the one that was rung */
    }
}

/* A word has been stored that others may sleep for. Without fenced, their heavy fence orders that
 * store before this load. */
static inline void wake(struct region *r, int whose)
{
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t sleepers = atomic_load_explicit(&r->head->sleepers, memory_order_relaxed);
    if (__builtin_expect(r->fenced, 0)) /* one order with those who announce their sleep */
        sleepers = atomic_fetch_add(&r->head->sleepers, 0);
    if (__builtin_expect(sleepers != 0, 0))
        ring(r, sleeps_for(whose), 0, r->size);
}

/* ---- waiting ---- */

static inline bool has_come(const _Atomic uint64_t *word, uint64_t least)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)word, memory_order_acquire) >= least;
}

static bool is_over(void *arg)
{
    const struct region_run *a = arg;
    return has_come(a->word, a->least) || a->r->at_odds ||
           atomic_load_explicit(&a->r->comm->failed, memory_order_relaxed);
}

/* ---- members that wait in different calls ---- */

/*
 * Where the members' calls have different lengths, one of them may go by messages and others through the region: then
 * each waits for ever. So a member that waits in a blocking call, or goes by messages, says which call that is, with
 * its number; one that sleeps looks at those of the others, at least every 100 ms. Numbers are alike at all members,
 * and so are the calls of a number. In a bcast or scatter all do as the root does.
 */

static void say_call(struct region *r, uint64_t number, uint32_t call)
{
    atomic_store_explicit(&r->members[r->rank].call, number << 32 | call, memory_order_release);
}

void region_say_elsewhere(struct region *r, enum coll_kind kind)
{
    uint64_t next = r->comm->coll_tag + 1;
    say_call(r, next, (uint32_t)kind << REGION_CALL_KIND | REGION_ELSEWHERE);
}

static bool is_elsewhere(uint64_t call)
{
    return call % (1u << REGION_CALL_KIND) == REGION_ELSEWHERE;
}

static bool do_as_root(uint64_t a, uint64_t b)
{
    enum coll_kind kind = (enum coll_kind)((uint32_t)a >> REGION_CALL_KIND);
    return a >> REGION_CALL_KIND == b >> REGION_CALL_KIND && (kind == COLL_BCAST || kind == COLL_SCATTER);
}

static void look_for_others(struct region *r)
{
    uint64_t mine = atomic_load_explicit(&r->members[r->rank].call, memory_order_relaxed);
    for (int i = 0; i < r->size && !r->at_odds; i++) {
        uint64_t theirs = atomic_load_explicit(&r->members[i].call, memory_order_acquire);
        if (theirs >> 32 != mine >> 32 || is_elsewhere(theirs) == is_elsewhere(mine) || do_as_root(theirs, mine))
            continue;
        r->at_odds = true;
        r->stranger = i;
    }
}

static void sleeps(void *arg, bool begins)
{
    const struct region_run *a = arg;
    struct region *r = a->r;
    _Atomic uint64_t *mine = &r->members[r->rank].sleeps;
    if (begins) {
        atomic_store(mine, sleeps_for(a->whose));
        atomic_fetch_add(&r->head->sleepers, 1);
        return;
    }
    uint64_t range = atomic_exchange(mine, 0);
    atomic_fetch_sub(&r->head->sleepers, 1);
    int first = (int)(range >> 16 & 0xffff), end = (int)(range & 0xffff);
    if (!(range >> 32) && first < end && end <= r->size)
        ring(r, sleeps_for(a->whose), first, end);
}

static void sleeps_in_call(void *arg, bool begins)
{
    const struct region_run *a = arg;
    if (begins)
        look_for_others(a->r);
    sleeps(arg, begins);
}

/* Name one that has not come; if members count themselves, the next one. */
static void tell(void *arg, struct mpid_wait_report *report)
{
    const struct region_run *a = arg;
    const struct region *r = a->r;
    int whom = a->whose == EVERYBODY ? coll_around(r->rank, 1, r->size) : a->whose;
    mpid_tell_receive(report, &(struct mpid_envelope){r->comm->context + CONTEXT_COLL, whom,
                                                    (int32_t)(r->comm->coll_tag - 1)});
}

static void tell_done(struct region *r)
{
    r->told = r->read;
    atomic_store_explicit(&r->members[r->rank].done, r->read, memory_order_release);
    wake(r, r->rank);
}

const struct mpid_shared_wait region_watch = {.is_done = is_over, .sleeps = sleeps, .tell = tell};
static const struct mpid_shared_wait in_call = {.is_done = is_over, .sleeps = sleeps_in_call, .tell = tell};

static uint64_t waits_of(const struct region *r, int member)
{
    return atomic_load_explicit(&r->members[member].waits, memory_order_relaxed);
}

/* Whether there is nobody to yield to: all who last waited on this processor have come as far as
 * this member. The answer is wrong if a member has moved or waits elsewhere; that costs a short
 * spin, or a yield. */
static bool is_idle_here(const struct region_run *run)
{
    struct region *r = run->r;
    uint64_t cpu = (uint32_t)sched_getcpu() % CPUS;
    atomic_store_explicit(&r->members[r->rank].waits, r->number * CPUS | cpu, memory_order_relaxed);
    if (run->whose != EVERYBODY && waits_of(r, run->whose) % CPUS == cpu)
        return false;
    for (int i = 0; i < r->size; i++) {
        uint64_t waits = waits_of(r, r->behind);
        if (waits % CPUS == cpu && waits / CPUS < r->number)
            return false;
        r->behind = coll_around(r->behind, 1, r->size);
    }
    return true;
}

/* Not if each waits for one other, as in scans and long allreduces: a yield is faster there, as
 * more has come after it. */
static bool awaits_all(const struct region_run *run)
{
    enum coll_kind kind = run->c->kind;
    return run->whose == EVERYBODY || kind == COLL_ALLGATHER || kind == COLL_ALLTOALL || kind == COLL_REDUCE_SCATTER;
}

/* Returns whether the word has come. */
static bool spin(const struct region_run *run)
{
    uint64_t end = os_now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < SPIN_LOOKS; i++) {
            if (has_come(run->word, run->least))
                return true;
            os_pause();
        }
    } while (os_now_ns() < end);
    return false;
}

static bool wait_crowded(const struct region_run *run)
{
    for (int i = 0; i < BARE_YIELDS; i++) {
        if (run->r->behind >= 0 && awaits_all(run) && is_idle_here(run) && spin(run))
            return true;
        sched_yield();
        if (has_come(run->word, run->least))
            return true;
    }
    return false;
}

void region_wait(struct region_run *run)
{
    struct region *r = run->r;
    for (int i = 0; !r->crowded && i < BARE_LOOKS + PAUSED_LOOKS; i++) {
        if (has_come(run->word, run->least))
            return;
        if (i >= BARE_LOOKS)
            os_pause();
    }
    if (r->crowded && wait_crowded(run))
        return;
    say_call(r, r->comm->coll_tag, r->call);
    mpid_wait_shared(&in_call, run);
}

/* Tell first what this member is done with, so that no other waits for it meanwhile. */
static __attribute__((noinline)) int note_wait(struct region_run *run, const _Atomic uint64_t *word,
                                               uint64_t least, int whose)
{
    struct region *r = run->r;
    if (atomic_load_explicit(&r->comm->failed, memory_order_relaxed))
        return has_come(word, least) ? MPI_SUCCESS : comm_failure(r->comm);
    if (r->at_odds)
        return has_come(word, least) ? MPI_SUCCESS : MPI_ERR_COUNT;
    if (r->told != r->read)
        tell_done(r);
    run->word = word;
    run->least = least;
    run->whose = whose;
    return SCHED_WAITS;
}

static inline int await(struct region_run *run, const _Atomic uint64_t *word, uint64_t least,
                        int whose)
{
    return __builtin_expect(has_come(word, least), 1) ? MPI_SUCCESS
                                                      : note_wait(run, word, least, whose);
}

/* ---- copying ---- */

/* The lines of a part were last read by other processors. Each would cost a round trip between
 * them before it can be written, so data with gaps are packed elsewhere first. */
void region_put(unsigned char *part, const struct mpid_bytes *from, size_t offset, size_t len)
{
    unsigned char piece[PACKED];
    if (len && !from->layout) {
        os_copy_over(part, (const char *)from->base + offset, len);
        return;
    }
    for (size_t at = 0; at < len; at += PACKED) {
        size_t now = at + PACKED < len ? PACKED : len - at;
        type_pack(from, offset + at, piece, now);
        os_copy_over(part + at, piece, now);
    }
}

/* ---- operations ---- */

/* Wait until all are done with the operations up to here. This member itself is behind only when it
 * gives ahead. */
static __attribute__((noinline)) int learn(struct region_run *run, uint64_t least)
{
    struct region *r = run->r;
    uint64_t known = r->read;
    if (known < least)
        return note_wait(run, &r->members[r->rank].done, least, r->rank);
    for (int i = 0; i < r->size; i++) {
        if (i == r->rank)
            continue;
        int rc = await(run, &r->members[i].done, least, i);
        if (rc)
            return rc;
        /* Maybe more than was awaited: the reads before that come before the writes to those parts, too. */
        uint64_t done = atomic_load_explicit(&r->members[i].done, memory_order_acquire);
        if (done < known)
            known = done;
    }
    r->known = known;
    return MPI_SUCCESS;
}

/* When there is no room, wait until the others are done with this number. For short parts that
 * frees half of the places (three quarters if ranks take turns), so that we do not wait at each
 * one. All operations before this one have all they need to go on. */
static uint64_t room_least(const struct region *r, bool is_short, uint64_t number)
{
    if (!is_short)
        return number - REGION_DEPTH;
    return number - REGION_PLACES / (r->crowded ? 4 : 2);
}

int region_room(struct region_run *run, size_t len, uint64_t number)
{
    bool is_short = len <= run->r->shelf;
    uint64_t before = number - (is_short ? REGION_PLACES : REGION_DEPTH);
    if (__builtin_expect((int64_t)(before - run->r->known) <= 0, 1))
        return MPI_SUCCESS;
    return learn(run, room_least(run->r, is_short, number));
}

/* Once all are done with the operations before the chain, every place has a part that the next member alone reads. */
int region_room_in_chain(struct region_run *run, uint64_t number)
{
    struct region *r = run->r;
    int next = r->rank + 1, rc = MPI_SUCCESS;
    if (r->chained + 1 != number) {
        r->chain = number;
        r->passed = r->known;
    }
    r->chained = number;
    uint64_t before = number - REGION_PLACES;
    if ((int64_t)(before - r->chain) < 0) {
        rc = region_room(run, 0, number);
    } else if ((int64_t)(before - r->passed) > 0) {
        rc = await(run, &r->members[next].done, room_least(r, true, number), next);
        r->passed = atomic_load_explicit(&r->members[next].done, memory_order_acquire);
    }
    if (rc)
        r->chained = number - 1;
    return rc;
}

void region_publish(struct region *r, uint64_t number)
{
    struct region_place *place = region_place(r, r->rank, number);
    place->call = r->call;
    atomic_store_explicit(&place->number, number, memory_order_release);
    wake(r, r->rank);
}

int region_await(struct region_run *run, int member, uint64_t number)
{
    struct region *r = run->r;
    const struct region_place *place = region_place(r, member, number);
    int rc = await(run, &place->number, number, member);
    if (__builtin_expect(!rc && place->call != r->call && r->stranger < 0, 0))
        r->stranger = member;
    return rc;
}

void region_done(struct region *r, uint64_t number, size_t len)
{
    r->read = number;
    if (number - r->told >= (len <= r->shelf ? REGION_DEPTH : REGION_DEPTH / 2))
        tell_done(r);
}

void region_done_now(struct region *r, uint64_t number)
{
    r->read = number;
    tell_done(r);
}

int region_done_by(struct region_run *run, int member, uint64_t number)
{
    return await(run, &run->r->members[member].done, number, member);
}

void region_met(struct region *r, uint64_t number)
{
    r->known = r->told = number - 1; /* they have come to this one from there */
    r->read = number;
}

/* Equal calls add equal numbers. */
static void note_arrivals(struct region *r, uint64_t each)
{
    struct region_tally *known = r->tally;
    known->arrivals += each * (uint64_t)r->size;
    if (__builtin_expect(r->sync->mixed != known->syncs, 1))
        return;
    known->arrivals = r->sync->arrivals;
    r->stranger = r->size;
}

bool region_arrive(struct region *r)
{
    struct region_sync *all = r->sync;
    uint64_t sync = ++r->tally->syncs, size = (uint64_t)r->size;
    uint64_t mine = (uint64_t)r->call << 32 | 1;
    uint64_t now = atomic_fetch_add_explicit(&all->arrived, mine, memory_order_acq_rel) + mine;
    if ((uint32_t)now != (uint32_t)(sync * size))
        return false;
    if (__builtin_expect(now != r->tally->arrivals + mine * size, 0)) {
        all->mixed = sync;
        all->arrivals = now;
        r->stranger = r->size;
    }
    return true;
}

void region_release(struct region *r)
{
    atomic_store_explicit(&r->sync->released, r->tally->syncs, memory_order_release);
    wake(r, EVERYBODY);
}

int region_released(struct region_run *run)
{
    struct region *r = run->r;
    int rc = await(run, &r->sync->released, r->tally->syncs, EVERYBODY);
    if (!rc)
        note_arrivals(r, (uint64_t)r->call << 32 | 1);
    return rc;
}
