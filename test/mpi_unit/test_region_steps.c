/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Members of a region in every order of their steps: no part is read before it is there or after it is written anew,
 * no block is used that was taken back, and nobody sleeps for a word that has come. The members are threads here, each
 * with its own view of one memory; the device is the test.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/region/region.h"
#include "os/cpu/cpus.h"
#include "os/net/peer.h"
#include "test/steps/steps.h"

enum {
    MEMBERS = STEPS_THREADS,
    CHUNK = 256,               /* longer than a place has bytes */
    STREAM = REGION_DEPTH + 2, /* chunks that one gives: the last ones wait for room */
    LINKS = REGION_PLACES + 2, /* small operations in a row, alike */
    LONG = 2 * CHUNK           /* bytes of a block that is pulled */
};

static _Alignas(128) struct {
    struct region_head head;
    struct region_member members[MEMBERS];
    unsigned char chunks[MEMBERS * REGION_DEPTH * CHUNK];
} memory;

static struct player {
    struct comm comm;
    struct vc *vcs[MEMBERS]; /* each is the number of a member, plus one */
    struct region r;
    struct region_run run;
    struct coll c;
    int rings;
    bool will_fail; /* another process fails while this member's block is read */
    uint64_t in, out;
    unsigned char block[LONG];
} players[MEMBERS];

/* ---- beneath ---- */

struct vc *comm_vc_slow(struct comm *comm, int rank)
{
    (void)comm, (void)rank;
    abort();
}

void mpid_ring(const struct vc *vc)
{
    __atomic_fetch_add(&players[(uintptr_t)vc - 1].rings, 1, __ATOMIC_SEQ_CST);
}

void mpid_wait_shared(const struct mpid_shared_wait *how, void *arg)
{
    (void)how, (void)arg;
    abort();
}

void mpid_tell_receive(struct mpid_wait_report *report, const struct mpid_envelope *want)
{
    (void)report, (void)want;
}

bool os_peer_readable(const void *memory_of, size_t len)
{
    return memory_of && len;
}

/* In two pieces, so that the owner can write between them. */
int os_peer_read(pid_t pid, void *to, uint64_t at, size_t len)
{
    const char *from = (const char *)(uintptr_t)at;
    (void)pid;
    memcpy(to, from, len / 2);
    if (players[0].will_fail) {
        atomic_store_explicit(&players[0].comm.failed, true, memory_order_relaxed);
        mpid_ring(players[0].vcs[0]);
    }
    steps_point();
    memcpy((char *)to + len / 2, from + len / 2, len - len / 2);
    return 0;
}

int op_apply(const struct op *op, const void *in, void *inout, MPI_Count count, MPI_Datatype type)
{
    (void)op, (void)count, (void)type;
    *(uint64_t *)inout += *(const uint64_t *)in;
    return MPI_SUCCESS;
}

/* ---- a member ---- */

static struct player *me(void)
{
    return &players[steps_self()];
}

static void set_up(struct player *p, int rank, int size, bool counts)
{
    *p = (struct player){.comm = {.rank = rank, .size = size, .peers = size, .vcs = p->vcs}};
    for (int i = 0; i < size; i++)
        p->vcs[i] = (struct vc *)((uintptr_t)i + 1);
    p->c = (struct coll){.comm = &p->comm, .rank = rank, .size = size, .peers = size};
    p->r = (struct region){.comm = &p->comm,
                           .head = &memory.head,
                           .members = memory.members,
                           .chunks = memory.chunks,
                           .shelf = REGION_SMALL,
                           .chunk = CHUNK,
                           .rank = rank,
                           .size = size,
                           .counts = counts,
                           .fenced = steps_light,
                           .stranger = -1,
                           .misfit = {.peer = -1},
                           .behind = -1};
    p->r.sync = &memory.head.sync;
    p->r.tally = p->r.tallies;
}

static void begin(int size, bool counts)
{
    memset(&memory, 0, sizeof(memory));
    for (int i = 0; i < size; i++)
        set_up(&players[i], i, size, counts);
}

static void begin_two(void)
{
    begin(2, false);
}

static void begin_three(void)
{
    begin(3, false);
}

static void begin_two_that_count(void)
{
    begin(2, true);
}

static void begin_three_that_count(void)
{
    begin(3, true);
}

static int rings_of(const struct player *p)
{
    return __atomic_load_n(&p->rings, __ATOMIC_SEQ_CST);
}

/* As the device does: look, announce the sleep, look again after a heavy fence, and sleep until rung. */
static void sleep_for_word(struct player *p)
{
    while (!region_watch.is_done(&p->run)) {
        int seen = rings_of(p);
        region_watch.sleeps(&p->run, true);
        os_heavy_fence();
        bool sleeps = !region_watch.is_done(&p->run);
        while (sleeps && rings_of(p) == seen)
            steps_idle();
        region_watch.sleeps(&p->run, false);
    }
}

/* Returns the outcome. */
static int go(struct player *p)
{
    int rc = p->run.go(&p->run);
    for (; rc == SCHED_WAITS; rc = p->run.go(&p->run))
        sleep_for_word(p);
    return rc;
}

static void must(int rc)
{
    if (rc || me()->r.stranger >= 0)
        steps_fail("a call has failed");
}

/* ---- all meet ---- */

enum { MEETINGS = 2 };

static void meet(void)
{
    struct player *p = me();
    for (uint64_t i = 1; i <= MEETINGS; i++) {
        uint64_t size = (uint64_t)p->r.size, sum = size * i + size * (size - 1) / 2;
        p->in = i + (uint64_t)p->r.rank;
        p->c.kind = COLL_ALLREDUCE;
        p->c.send.buf = &p->in;
        p->c.recv = (struct coll_data){.buf = &p->out, .count = 1};
        region_begin(&p->run, &p->r, &p->c, region_meet, sizeof(p->out));
        must(go(p));
        if (p->out != sum)
            steps_fail("another sum");
    }
}

static void end(void)
{
}

/* ---- parts ---- */

/* The number of the operation, in both halves. */
static void give_number(struct region_run *run, unsigned char *part)
{
    memcpy(part, &run->number, sizeof(run->number));
    memcpy(part + run->len - sizeof(run->number), &run->number, sizeof(run->number));
}

static void take_number(struct region_run *run, int member)
{
    const unsigned char *part = region_part(run->r, member, run->number, run->part_len);
    uint64_t first, last;
    memcpy(&first, part, sizeof(first));
    steps_point();
    memcpy(&last, part + run->len - sizeof(last), sizeof(last));
    if (first != run->number || last != run->number)
        steps_fail("the part of another operation");
}

static const struct region_form numbers = {give_number, take_number, NULL};

/* Rank 0 gives to all. */
static void prepare_stream(struct region_run *run)
{
    bool is_root = run->r->rank == 0;
    region_set_cycle(run, &numbers, STREAM * CHUNK, CHUNK);
    run->gives = is_root;
    run->takes = !is_root;
    run->from = 0;
}

static void stream(void)
{
    struct player *p = me();
    region_begin(&p->run, &p->r, &p->c, prepare_stream, CHUNK);
    must(go(p));
}

/* All give to all, several chunks at once. */
static void prepare_exchange(struct region_run *run)
{
    region_set_cycle(run, &numbers, STREAM * CHUNK, CHUNK);
    region_set_meeting(run);
    run->takes = run->r->size - 1;
}

static void exchange(void)
{
    struct player *p = me();
    region_begin(&p->run, &p->r, &p->c, prepare_exchange, CHUNK);
    must(go(p));
}

/* ---- a chain ---- */

static void pass_number(struct region_run *run, int before)
{
    if (run->r->rank)
        take_number(run, before);
    if (run->gives)
        region_publish(run->r, run->number);
}

static const struct region_form links = {give_number, pass_number, NULL};

static void prepare_chain(struct region_run *run)
{
    int rank = run->r->rank;
    region_set_cycle(run, &links, LINKS * sizeof(uint64_t), sizeof(uint64_t));
    run->gives = rank + 1 < run->r->size;
    run->chains = true;
    run->from = rank ? rank - 1 : 0;
    run->takes = 1;
}

static void chain(void)
{
    struct player *p = me();
    region_begin(&p->run, &p->r, &p->c, prepare_chain, sizeof(uint64_t));
    must(go(p));
}

/* ---- a block that is pulled, and maybe taken back ---- */

static void begin_pull(void)
{
    begin_two();
    for (int i = 0; i < 2; i++) {
        players[i].c.kind = COLL_BCAST;
        players[i].c.recv = (struct coll_data){.buf = players[i].block, .count = LONG, .type = MPI_BYTE};
    }
    memset(players[0].block, 1, LONG);
}

static void begin_pull_that_fails(void)
{
    begin_pull();
    players[0].will_fail = true;
}

static int pull(struct player *p)
{
    region_begin(&p->run, &p->r, &p->c, region_pull, LONG);
    return go(p);
}

/* Its owner uses the block again as soon as it can. */
static void give_block(void)
{
    struct player *p = me();
    (void)pull(p);
    memset(p->block, 2, LONG);
}

static void read_block(void)
{
    struct player *p = me();
    if (pull(p) == MPI_SUCCESS && (p->block[0] != 1 || p->block[LONG - 1] != 1))
        steps_fail("a block that was taken back is used");
}

/* ---- all of that ---- */

/* Threads change at most so many times where they need not, and so many stores are late. */
static const struct {
    const char *what;
    struct steps steps;
    bool light; /* the kernel has no heavy fence */
} rows[] = {
    {"two meet", {begin_two, {meet, meet}, end, 2, 1}, false},
    {"also without a heavy fence", {begin_two, {meet, meet}, end, 2, 1}, true},
    {"three meet", {begin_three, {meet, meet, meet}, end, 1, 1}, false},
    {"two that count meet", {begin_two_that_count, {meet, meet}, end, 2, 1}, false},
    {"also without a heavy fence", {begin_two_that_count, {meet, meet}, end, 2, 1}, true},
    {"three that count meet", {begin_three_that_count, {meet, meet, meet}, end, 2, 0}, false},
    {"also if stores are late", {begin_three_that_count, {meet, meet, meet}, end, 1, 1}, false},
    {"chunks wait until they are read", {begin_two, {stream, stream}, end, 2, 0}, false},
    {"also if stores are late", {begin_two, {stream, stream}, end, 1, 1}, false},
    {"also by two readers", {begin_three, {stream, stream, stream}, end, 1, 0}, false},
    {"chunks that go at once", {begin_two_that_count, {exchange, exchange}, end, 1, 1}, false},
    {"places of a chain wait until the next has read them", {begin_two, {chain, chain}, end, 1, 0}, false},
    {"a block is pulled", {begin_pull, {give_block, read_block}, end, 2, 1}, false},
    {"a block that is taken back is not used", {begin_pull_that_fails, {give_block, read_block}, end, 2, 1}, false},
};

int main(void)
{
    int count = sizeof(rows) / sizeof(rows[0]);
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        steps_light = rows[i].light;
        long orders = steps_run(&rows[i].steps);
        printf("# %ld orders\n%s %d - %s\n", orders, orders > 100 ? "ok" : "not ok", i + 1, rows[i].what);
        fflush(stdout);
        if (orders < 0)
            _exit(1); /* threads of a bad order stay as they are */
    }
    return 0;
}
